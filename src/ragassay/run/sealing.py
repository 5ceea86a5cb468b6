"""A journal to a run in the store: blobs, then the manifest, then the name. Asks nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ragassay.errors import IntegrityError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_set
from ragassay.records.protocol import Run
from ragassay.run.journal import Journal, no_point
from ragassay.run.states import State
from ragassay.store import Store

STOPPED: Mapping[State, str] = {"stopped": "cost_ceiling", "failed": "error_budget"}
"""Why the other questions of a run that ended early were not asked."""


def seal_run(
    store: Store, journal: Journal, *, at: str, on_point: Callable[[str], None] = no_point
) -> tuple[Run, Digest]:
    """Store the run of a complete journal and point `run/NAME` at it last.

    The same journal gives the same bytes, so being killed anywhere in here and called again changes nothing. A journal
    that stopped at a ceiling, or because too much failed, gives a partial run and stays open: the job can go on.
    """
    partial = journal.state in STOPPED
    if journal.envelope is None or (len(journal.entries) != journal.header.questions and not partial):
        raise IntegrityError("this journal is not complete", file=str(journal.path), hint="resume the run first")
    on_point("before_blobs")
    keys = sorted(journal.entries)
    store.put_all(_raws(journal))
    contents = store.put_lines(journal.read(key).content for key in keys)
    measurements = store.put_lines(journal.read(key, check=False).measurements for key in keys)
    texts = store.put_lines(_texts(journal))
    envelope = store.put_record(journal.envelope)
    on_point("after_blobs")
    run = Run(
        subject=journal.header.subject,
        protocol=journal.header.protocol,
        state="partial" if partial else "complete",
        stopped=STOPPED.get(journal.state),
        questions=journal.header.questions,
        answered=len(keys),
        failures=journal.failures,
        content=digest_set(entry.digest for entry in journal.entries.values()),
        contents=contents,
        measurements=measurements,
        texts=texts,
        envelope=envelope,
        mixed=tuple(sorted(name for name, values in journal.versions.items() if len(values) > 1)),
    )
    digest = store.put_record(run)
    on_point("before_ref")
    store.set_ref(f"run/{journal.header.name}", digest, kind="run")
    on_point("after_ref")
    if not partial:
        journal.move("sealed", at, run=digest)
    return run, digest


def _raws(journal: Journal) -> Iterator[bytes]:
    """The raw responses that stand in the lines themselves."""
    for key in journal.entries:
        raw = journal.read(key, check=False).raw
        if raw is not None:
            yield raw


def _texts(journal: Journal) -> Iterator[dict[str, Any]]:
    for key in sorted(journal.entries):
        for digest, text in sorted(journal.read(key, check=False).texts.items()):
            yield {"digest": digest, "text": text}
