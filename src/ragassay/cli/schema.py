"""`ragassay schema`: JSON Schemas of records, settings and the system contract."""

from __future__ import annotations

import difflib

from ragassay.cli import talk
from ragassay.cli.settings import Settings
from ragassay.errors import UsageError
from ragassay.records.schema import RECORDS, schema_of


def schema(name: str = "", *, json: bool = False) -> None:
    """Print the JSON Schema of a record, of `settings`, or of the `system` contract; without a name, list them.

    Parameters
    ----------
    name
        A record (case, caseline, trace, ...), `settings` or `system`.
    json
        List the names as JSON. A schema is JSON in any case.
    """
    names = sorted([*RECORDS, "settings", "system"])
    if not name:
        talk.data_json(names) if json else talk.data("\n".join(names))
        talk.then("ragassay schema caseline")
        return
    key = name.lower()
    if key == "system":
        from ragassay.run.contract import system_schema

        talk.data_json(system_schema())
    elif key == "settings":
        talk.data_json(schema_of(Settings))
    elif key in RECORDS:
        talk.data_json(schema_of(RECORDS[key]))
    else:
        close = difflib.get_close_matches(key, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "`ragassay schema` lists the names"
        raise UsageError(f"there is no record {name!r}", hint=hint)
