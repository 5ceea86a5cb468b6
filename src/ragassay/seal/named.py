"""What the ledger says was run, scored and decided, and under which names, against what a store names now. Reads only.

A name is a file that can be put there by hand, so that an older run or verdict stands under it; the last line of the
ledger with that name says what was put there by a command.
"""

from __future__ import annotations

from collections.abc import Iterable

from ragassay.errors import LedgerError
from ragassay.records.base import Digest
from ragassay.records.ledger import Act, Entry
from ragassay.store import Store
from ragassay.store.absence import absence_of

NAMED: dict[Act, str] = {"sealed": "protocol", "ran": "run", "scored": "scores", "decided": "decision"}
"""Act with a name -> what it names, as a role of its objects and as the first part of the name in the store."""
_FROM = {"ran": "protocol", "scored": "run", "decided": "scores"}
_COMMANDS = {"sealed": "seal", "ran": "run", "scored": "score", "decided": "gate"}


def check_known(entries: Iterable[Entry], made: dict[Act, tuple[Digest, Digest | None]]) -> None:
    """LedgerError for something that the ledger does not know to have been made of that from which it was.

    `made`: act -> the object, and what it was made of (None: not known any more).
    """
    known = list(entries)
    for act, (digest, of) in made.items():
        role = NAMED[act]
        lines = [one.objects for one in known if one.act == act and one.objects.get(role) == digest]
        if not any(of is None or one.get(_FROM[act]) == of for one in lines):
            raise LedgerError(
                f"the ledger does not know the {role} {digest}" + ("" if not lines else f" to be of {of}"),
                hint=f"it was put there by hand, or `ragassay {_COMMANDS[act]}` was cut short: ask that again",
            )


def check_names(store: Store, entries: Iterable[Entry], ours: set[Digest]) -> None:
    """LedgerError for a name of one of `ours` that stands for another object than the ledger says, or for none.

    A name that stood for one of `ours` and was given to something else since is no error, nor is one of which the
    ledger knows nothing.
    """
    last: dict[tuple[Act, str], Entry] = {}
    for one in entries:
        if one.act in NAMED and one.name is not None:
            last[one.act, one.name] = one
    named = {one.name: one.digest for kind in NAMED.values() for one in store.refs(f"{kind}/")}
    for (act, name), one in last.items():
        role = NAMED[act]
        said, got = one.objects.get(role), named.get(f"{role}/{name}")
        if got is None and said is not None and absence_of(store, said) is not None:
            continue  # erased, or left out: a copy of the store has no name for it
        if got != said and ours & {said, got}:
            stands = "stands for nothing" if got is None else f"stands for {got}"
            raise LedgerError(
                f"the name {role}/{name} {stands}; the ledger says in line {one.number} that it is {said}",
                hint=f"it was set back, moved or taken away by hand, or `ragassay {_COMMANDS[act]}` was cut short: "
                "ask that again",
            )
