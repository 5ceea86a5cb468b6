"""What stands behind one run, checked in order: bytes, ledger, signatures and when they were made. Scores nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ragassay.errors import AbsentError, IntegrityError, LedgerError, UntrustedKeyError
from ragassay.records.base import Digest
from ragassay.records.decision import Decision
from ragassay.records.judgement import JudgementSet
from ragassay.records.ledger import Absence, Act, Entry
from ragassay.records.score import ScoreTable
from ragassay.seal.named import check_known, check_names
from ragassay.seal.signatures import Signed, check_order, signers
from ragassay.seal.trust import Trust
from ragassay.seal.verify import verify, verify_made, verify_run
from ragassay.store import Store
from ragassay.store.absence import absence_of, absent, tombstones
from ragassay.store.ledger import Line
from ragassay.store.superseding import check_told


class About(NamedTuple):
    """A run, and what was made of it."""

    run: Digest
    scores: Digest | None = None
    decision: Digest | None = None


class Gone(NamedTuple):
    """An object that was erased, or left out of a public file, and what says so."""

    object: Digest
    absence: Absence


class Verified(NamedTuple):
    """What held."""

    about: About
    protocol: Digest | None
    """None: it was erased together with the run's own record, and the ledger does not say which it was."""
    signed: tuple[Signed, ...]
    acts: int
    """Lines of the ledger."""
    founded: Digest
    """Digest of its first line, by which it is told from every other ledger."""
    witnessed: bool
    """Whether a witness outside of the store has seen it."""
    gone: tuple[Gone, ...] = ()
    """What the run reaches and is not there on purpose: nothing was checked of it but who took it away."""


def made_of(store: Store, run: Digest) -> About:
    """A run with the newest table and decision that the store names for it, by their place in the ledger."""
    order: dict[Digest, int] = {}
    told: dict[Digest, Digest] = {}
    for one in store.ledger.lines(torn=True):
        objects = one.entry.objects
        if one.entry.act in ("scored", "decided"):
            order.update(dict.fromkeys(objects.values(), one.entry.number))
            pairs = (("scores", "run"), ("decision", "scores"))
            told.update({objects[made]: objects[of] for made, of in pairs if made in objects and of in objects})
    scores = [one.digest for one in store.refs("scores/") if _run_of_scores(store, one.digest, told) == run]
    decisions = [one.digest for one in store.refs("decision/") if _run_of_decision(store, one.digest, told) == run]
    newest = [max(some, key=lambda one: (order.get(one, -1), one), default=None) for some in (scores, decisions)]
    return About(run, *newest)


def _run_of_scores(store: Store, digest: Digest, told: Mapping[Digest, Digest]) -> Digest | None:
    """Which run a table is of; where it was erased, as the ledger says."""
    try:
        return store.get_record(ScoreTable, digest).run_record
    except AbsentError:
        return told.get(digest)


def _run_of_decision(store: Store, digest: Digest, told: Mapping[Digest, Digest]) -> Digest | None:
    """Which run a decision is about; where it was erased, as the ledger says."""
    try:
        return store.get_record(Decision, digest).candidate.run_record
    except AbsentError:
        scores = told.get(digest)
        return None if scores is None else _run_of_scores(store, scores, told)


def verify_evidence(store: Store, about: About, trust: Trust | None = None, *, public: bool = False) -> Verified:
    """Every byte behind a run, its table and its decision; the ledger; every signature that a trust policy asks for.

    What was erased is told, and all else is checked. `public`: so is what was left out of a public file, for which
    nothing vouches; without it that is an AbsentError. Raises IntegrityError for changed bytes; LedgerError for a
    broken or rolled back ledger, one that is not the policy's or does not know what is verified, a name that was set
    back, or a protocol that was signed after its first question; UntrustedKeyError for a signature too few; and what
    `check_bundle` raises for a bundle that does not hold.
    """
    missing: list[Digest] = []
    lines = store.ledger.lines()
    protocol = _verify_bytes(store, about.run, lines, missing)
    if not lines:
        raise LedgerError(
            "there is no ledger: nobody can tell what was done here in which order",
            file=str(store.ledger.path),
            hint="it was taken away, or the store is older than ledgers: restore it from a copy",
        )
    founded = lines[0].digest
    tables = ((about.scores, ScoreTable), (about.decision, Decision))
    verify_made(store, [(one, kind) for one, kind in tables if one is not None], about.run, missing)
    _check_acts(store, about, protocol, [one.entry for one in lines])
    signed: tuple[Signed, ...] = ()
    if trust is not None:
        _check_ledger(trust, founded)
        signed = _check_signed(store, about, protocol, trust, lines, missing)
    _check_told(store, about, missing)
    gone = _gone(store, missing, public=public)
    witnessed = store.ledger.witnessed(lines) is not None
    return Verified(about, protocol, signed, len(lines), founded, witnessed, gone)


def _verify_bytes(store: Store, run: Digest, lines: list[Line], missing: list[Digest]) -> Digest | None:
    """Everything that a run reaches; the digest of its protocol. Of a run whose own record was erased, what the
    ledger says of its protocol is followed."""
    try:
        return verify_run(store, run, missing).protocol
    except AbsentError as cause:
        if cause.digest != run:
            raise
        missing.append(run)
    ran = (one.entry.objects for one in lines if one.entry.act == "ran")
    protocol = next((one.get("protocol") for one in ran if one.get("run") == run), None)
    if protocol is not None:
        try:
            verify(store, protocol, missing)
        except AbsentError as cause:
            if cause.digest != protocol:
                raise
            missing.append(protocol)
    return protocol


def _check_acts(store: Store, about: About, protocol: Digest | None, entries: list[Entry]) -> None:
    """The ledger knows all of it, and what stands under its names."""
    made: dict[Act, tuple[Digest, Digest | None]] = {"ran": (about.run, protocol)}
    if about.scores is not None:
        made["scored"] = (about.scores, about.run)
    if about.decision is not None:
        made["decided"] = (about.decision, None)
    check_known(entries, made)
    scored = {one.objects.get("scores") for one in entries if one.objects.get("run") == about.run}
    decided = {one.objects.get("decision") for one in entries if one.objects.get("scores") in scored - {None}}
    ours = {about.run, protocol, about.scores, about.decision, *scored, *decided}
    check_names(store, entries, {one for one in ours if one is not None})


def _check_told(store: Store, about: About, missing: list[Digest]) -> None:
    """Who replaced the verdicts that the table reads, set by set, stands in the ledger."""
    if about.scores is None:
        return
    try:
        judged = store.get_record(ScoreTable, about.scores).judged.values()
        for digest in judged:
            _check_replaced(store, digest, missing)
    except AbsentError as cause:
        missing.append(about.scores if cause.digest is None else Digest(cause.digest))


def _check_replaced(store: Store, digest: Digest, missing: list[Digest]) -> None:
    new: Digest | None = digest
    while new is not None:
        if absence_of(store, new) is not None and new not in store:
            missing.append(new)
            return
        old = store.get_record(JudgementSet, new).supersedes
        if old is not None:
            check_told(store, "judgementset", new, old)
        new = old if old is not None and old in store else None


def _gone(store: Store, missing: list[Digest], *, public: bool) -> tuple[Gone, ...]:
    found = []
    for one in dict.fromkeys(missing):
        why = absence_of(store, one)
        if why is None:
            raise IntegrityError(f"{one} came or went while it was looked at", hint="verify again")
        if why.why == "left_out" and not public:
            raise absent(one, why)
        found.append(Gone(one, why))
    return tuple(found)


def _check_ledger(trust: Trust, founded: Digest) -> None:
    if trust.ledger is not None and trust.ledger != founded:
        raise LedgerError(
            f"the trust policy names the ledger {trust.ledger}, this one is {founded}",
            hint="another ledger stands in its place, or the policy is that of another store",
        )


def _check_signed(
    store: Store, about: About, protocol: Digest | None, trust: Trust, lines: list[Line], missing: list[Digest]
) -> tuple[Signed, ...]:
    entries = [one.entry for one in lines]
    targets = {"pre-registration": protocol, "numbers": about.scores, "verdict": about.decision}
    found: list[Signed] = []
    for kind, count in trust.required.items():
        if kind == "erasure":
            found += _erasures(store, trust, entries)
            continue
        target = targets[kind]
        if target is None:
            raise UntrustedKeyError(
                f"the trust policy asks for {count} on a {kind}, and there is none for this run",
                hint="`ragassay score` makes numbers, `ragassay gate` a verdict; then `ragassay sign`",
            )
        signed = signers(store, trust, kind, target, entries, missing)
        if kind == "pre-registration":
            check_order(entries, target, signed, count)
        found += signed
    return tuple(found)


def _erasures(store: Store, trust: Trust, entries: list[Entry]) -> list[Signed]:
    """Every tombstone that the ledger names, each signed as the policy asks."""
    return [each for one, _ in tombstones(store) for each in signers(store, trust, "erasure", one, entries)]
