"""`ragassay diff`: what changed between two runs, at which steps, and which facts are lost since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.records.comparison import Change, NewLoss, StepChange
from ragassay.report.words import plain

if TYPE_CHECKING:
    from ragassay.audit.against import Difference

MOST = 30
"""Lines of one part on a terminal."""
_VALUE = 60


def diff(
    baseline: str,
    candidate: str = "latest",
    /,
    *,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Say what changed between two runs: documents, parser, passages, system, prompt, judge, thresholds, each once.

    Then step by step in how many questions the output is another one and where that begins, and, where both runs are
    scored, which facts the context held and holds no longer. A step whose change begins though all that is recorded
    of it is equal is called silent. `docs/what-changed.md` says how each of these is found.

    Parameters
    ----------
    baseline
        The run before: a name, a digest, or its beginning.
    candidate
        The run after; `latest` if left out.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    from ragassay.audit.against import difference

    opened = open_store(config, store)
    found = difference(opened, *(opened.resolve(one, kind_prefix="run") for one in (baseline, candidate)))
    if json:
        talk.data_json(plain_json(found))
    else:
        for line in lines(found):
            talk.data(line)
    talk.then("ragassay report" if found.losses is not None else "ragassay score NAME", config, store)


def lines(found: Difference) -> Iterator[str]:
    """The whole as lines for a terminal."""
    yield f"baseline   {found.runs[0]}"
    yield f"candidate  {found.runs[1]}"
    yield ""
    yield from change_lines(found.changes)
    yield ""
    yield from step_lines(found.steps)
    yield ""
    yield from loss_lines(found.losses)


def change_lines(changes: Sequence[Change]) -> Iterator[str]:
    """What changed, a line each; one that was declared says so."""
    yield f"changed: {len(changes)}" if changes else "changed: nothing that is recorded"
    kinds = max((len(one.artefact) for one in changes), default=0)
    for one in changes[:MOST]:
        was, now = (_value(each) for each in (one.before, one.after))
        yield f"  {one.artefact:{kinds}}  {plain(one.name, 80)}: {was} -> {now}{' (declared)' if one.declared else ''}"
    yield from _more(len(changes))


def _value(value: str | None) -> str:
    if value is None:
        return "nothing"
    return plain(value[:19] if value.startswith("sha256:") else value, _VALUE) or "(empty)"


def step_lines(steps: Sequence[StepChange]) -> Iterator[str]:
    """Where outputs differ, a line a step."""
    silent = [plain(one.step, 80) for one in steps if one.silent]
    yield f"steps: silent at {', '.join(silent)}" if silent else "steps:"
    names = [plain(one.step, 80) for one in steps]
    wide = max(map(len, names), default=0)
    for name, one in list(zip(names, steps, strict=True))[:MOST]:
        yield f"  {name:{wide}}  {_step(one)}"
    yield from _more(len(steps))


def _step(one: StepChange) -> str:
    told = [f"{one.same} of {one.questions} the same"]
    if one.first:
        told.append(f"{one.first} begin here")
    if one.downstream:
        told.append(f"{one.downstream} follow")
    for side, count in (("baseline", one.only_baseline), ("candidate", one.only_candidate)):
        if count:
            told.append(f"{count} in the {side} only")
    why = "; silent: every recorded identity is equal" if one.silent else f"; {one.blamed}" if one.blamed else ""
    return ", ".join(told) + why


def loss_lines(losses: Sequence[NewLoss] | None) -> Iterator[str]:
    """Facts lost anew, a line each; None: it is not known."""
    if losses is None:
        yield "facts lost anew: not known, since not both runs are scored"
        return
    yield f"facts lost anew: {len(losses)}"
    for one in losses[:MOST]:
        repeat = f" repeat {one.repeat}" if one.repeat else ""
        where = f"{one.fate.replace('_', ' ')}{' at ' + ', '.join(one.steps) if one.steps else ''}"
        begins = f"; begins at {', '.join(one.moved)}" if one.moved else ""
        nothing = "the candidate reported no lists" if one.fate == "unknown" else "no step moved"
        if one.failure is not None:
            where, nothing = f"{failed_words(one)}; {where}", "nothing that is recorded"
        why = "silent" if one.silent else ", ".join(one.blamed) or nothing
        yield "  " + plain(f"{one.query_id}{repeat} {one.fact_id}: {where}{begins}: {why}")
    yield from _more(len(losses))


def failed_words(one: NewLoss) -> str:
    """`the candidate failed (timeout) at rerank`."""
    at = f" at {one.failed_at}" if one.failed_at else ""
    return f"the candidate failed ({(one.failure or 'unknown').replace('_', ' ')}){at}"


def _more(count: int) -> Iterator[str]:
    if count > MOST:
        yield f"  … {count - MOST} more; --json has all"


def plain_json(found: Difference) -> dict[str, Any]:
    """The whole for machines."""
    return {
        "baseline": found.runs[0],
        "candidate": found.runs[1],
        "changes": msgspec.to_builtins(found.changes),
        "steps": msgspec.to_builtins(found.steps),
        "losses": msgspec.to_builtins(found.losses),
    }
