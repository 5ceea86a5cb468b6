"""`ragassay measures`: the glossary, printed from the declarations, those of installed packages too."""

from __future__ import annotations

import dataclasses
import difflib
from typing import Any

from ragassay.cli import talk
from ragassay.errors import UsageError
from ragassay.extensions import extension_names
from ragassay.measures import Declaration, declaration, declarations
from ragassay.measures.foreign import MEASURES


def measures(name: str = "", *, json: bool = False) -> None:
    """Print the glossary of measures: what each is, over whom, and what it does when nothing is there.

    Parameters
    ----------
    name
        One measure in full; without it, one line each.
    json
        Everything as JSON on standard output.
    """
    known = {one.name: one for one in declarations()}
    if not name or name not in known:
        known |= {one: declaration(one) for one in extension_names(MEASURES) if one not in known}
    if name and name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "`ragassay measures` lists them"
        raise UsageError(f"there is no measure {name!r}", hint=hint)
    chosen = [known[name]] if name else list(known.values())
    if json:
        talk.data_json([_as_dict(one) for one in chosen])
    elif name:
        for key, value in _as_dict(chosen[0]).items():
            talk.data(f"{key.replace('_', ' '):>22}  {value}")
    else:
        for one in chosen:
            talk.data(f"{one.name:24} {one.stage:16} {one.summary}")
    talk.then("ragassay measures ndcg")


def _as_dict(declaration: Declaration) -> dict[str, Any]:
    fields = dataclasses.asdict(declaration)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}
