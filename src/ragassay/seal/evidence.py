"""What stands behind one run, checked in order: bytes, ledger, signatures and when they were made. Scores nothing."""

from __future__ import annotations

from typing import NamedTuple

from ragassay.errors import IntegrityError, LedgerError, UntrustedKeyError
from ragassay.records.base import Digest
from ragassay.records.decision import Decision
from ragassay.records.judgement import JudgementSet
from ragassay.records.ledger import Absence, Entry
from ragassay.records.protocol import Run
from ragassay.records.score import ScoreTable
from ragassay.seal.signatures import Signed, check_order, signers
from ragassay.seal.trust import Trust
from ragassay.seal.verify import verify_run
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
    protocol: Digest
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
    scores: list[tuple[int, Digest]] = []
    decisions: list[tuple[int, Digest]] = []
    order = {
        digest: one.entry.number
        for one in store.ledger.lines(torn=True)
        for digest in one.entry.objects.values()
        if one.entry.act in ("scored", "decided")
    }
    for ref in store.refs("scores/"):
        if store.get_record(ScoreTable, ref.digest).run_record == run:
            scores.append((order.get(ref.digest, -1), ref.digest))
    for ref in store.refs("decision/"):
        if store.get_record(Decision, ref.digest).candidate.run_record == run:
            decisions.append((order.get(ref.digest, -1), ref.digest))
    return About(run, max(scores)[1] if scores else None, max(decisions)[1] if decisions else None)


def verify_evidence(store: Store, about: About, trust: Trust | None = None, *, public: bool = False) -> Verified:
    """Every byte that a run reaches, its ledger, and, with a trust policy, every signature that it asks for.

    What was erased is told, and all else is checked. `public`: so is what was left out of a public file, for which
    nothing vouches; without it that is an AbsentError. Raises IntegrityError for changed bytes; LedgerError for a
    broken or rolled back ledger, one that is not the policy's, or a protocol that was signed after its first question;
    UntrustedKeyError for a signature too few; and what `check_bundle` raises for a bundle that does not hold.
    """
    missing: list[Digest] = []
    run: Run = verify_run(store, about.run, missing)
    lines = store.ledger.lines()
    if not lines:
        raise LedgerError(
            "there is no ledger: nobody can tell what was done here in which order",
            file=str(store.ledger.path),
            hint="it was taken away, or the store is older than ledgers: restore it from a copy",
        )
    founded = lines[0].digest
    signed: tuple[Signed, ...] = ()
    if trust is not None:
        _check_ledger(trust, founded)
        signed = _check_signed(store, about, run.protocol, trust, lines, missing)
    _check_told(store, about)
    gone = _gone(store, missing, public=public)
    witnessed = store.ledger.witnessed(lines) is not None
    return Verified(about, run.protocol, signed, len(lines), founded, witnessed, gone)


def _check_told(store: Store, about: About) -> None:
    """Who replaced the verdicts that the table reads, set by set, stands in the ledger."""
    if about.scores is None:
        return
    for digest in store.get_record(ScoreTable, about.scores).judged.values():
        new, record = digest, store.get_record(JudgementSet, digest)
        while record.supersedes is not None:
            check_told(store, "judgementset", new, record.supersedes)
            if record.supersedes not in store:
                break
            new, record = record.supersedes, store.get_record(JudgementSet, record.supersedes)


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
    store: Store, about: About, protocol: Digest, trust: Trust, lines: list[Line], missing: list[Digest]
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
            check_order(entries, protocol, signed, count)
        found += signed
    return tuple(found)


def _erasures(store: Store, trust: Trust, entries: list[Entry]) -> list[Signed]:
    """Every tombstone that the ledger names, each signed as the policy asks."""
    return [each for one, _ in tombstones(store) for each in signers(store, trust, "erasure", one, entries)]
