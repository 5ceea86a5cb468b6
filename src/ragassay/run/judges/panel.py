"""A panel of judges: a set of its own out of the finished sets of its members. Asks nobody.

By majority, by Dawid and Skene's model, or by the first member that rules, so that people overrule a judge; what the
members do not settle is missing, and goes to people.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

from ragassay.errors import UsageError
from ragassay.records.base import Digest, QueryId
from ragassay.records.judgement import SCALES, About, AnswerClaims, JudgeIdentity, Judgement, JudgementSet
from ragassay.records.protocol import Run
from ragassay.run.judges.sealing import content_of, supersede
from ragassay.score.named import of_judges
from ragassay.score.verdicts import Ruling, Verdicts, verdicts_of
from ragassay.stats.agreement import dawid_skene
from ragassay.store import Store

Vote = Literal["majority", "dawid_skene", "first"]
VOTES: tuple[Vote, ...] = ("majority", "dawid_skene", "first")
DISAGREEMENT, DOUBT = "disagreement", "no_label_likely_enough"
SURE = 0.75
"""The least chance of a label by Dawid and Skene's model; below, it is left to people."""
RULE = "panel/1"
Item = tuple[QueryId, int, About, str]


class Member(NamedTuple):
    """One judge of a panel."""

    name: str
    digest: Digest
    record: JudgementSet
    identity: JudgeIdentity
    verdicts: Verdicts


def panel(store: Store, run_digest: str, name: str, own: Mapping[str, Any]) -> tuple[JudgementSet, Digest]:
    """The set of a panel of two or more heterogeneous judges, in force as `judgements/NAME/RUN`.

    `own`: what [judges.NAME] says besides its kind: `members`, and `vote`. Majority: the label that more than half of
    all members give; Dawid and Skene's model, of three members or more: the label with a chance of at least 0.75 over
    all items of one kind, where the errors of the members are taken for independent. Its score is the share of members,
    or the chance, that give the good label. First: what the first of `members` with a label says, with its score: a
    person who is named before a judge overrules it, item by item, and the judge's own words stay as they are. Members
    that are disqualified do not vote; with fewer than two left the panel is disqualified.

    Raises UsageError for members that have not judged this run, are unknown, or are of one kind and model.
    """
    names, vote = _settings(name, own)
    run = store.get_record(Run, run_digest)
    found = of_judges(store, run, names).judged
    absent = [one for one in names if one not in found]
    if absent:
        raise UsageError(
            f"{absent[0]} has not judged this run",
            field=f"judges.{name}.members",
            hint=f"ragassay judge --judge {absent[0]}, and the panel after it",
        )
    members = [_member(store, one, found[one]) for one in names]
    _check_heterogeneous(name, members)
    voting = [one for one in members if not one.verdicts.disqualified]
    identity = JudgeIdentity(
        name=name,
        kind="panel",
        settings={"vote": vote, **{f"member {one.name}": one.record.judge for one in members}},
        parser=RULE,
        libraries={"numpy": version("numpy")} if vote == "dawid_skene" else {},
    )
    enough = len(voting) >= (3 if vote == "dawid_skene" else 2)
    judge = store.put_record(identity)
    judgements = sorted(_votes(voting, vote, judge), key=lambda one: one.key) if enough else []
    claims = _claims(store, members)
    stopped = None if enough else "members_disqualified"
    partly = [one.record.stopped for one in members if one.record.state == "partial"]
    partial = next(iter(partly), None) if vote != "first" or len(partly) == len(members) else None
    return supersede(
        store,
        JudgementSet(
            name=name,
            run=run.identity(),
            judge=judge,
            state="complete" if enough and not partial else "partial" if enough else "disqualified",
            claims=store.put_lines(claims),
            judgements=store.put_lines(judgements),
            content=content_of(claims, judgements),
            splitter=members[0].record.splitter,
            cut=members[0].record.cut,
            asked=len(judgements),
            valued=sum(one.status == "value" for one in judgements),
            stopped=stopped or partial,
        ),
    )


def _settings(name: str, own: Mapping[str, Any]) -> tuple[tuple[str, ...], Vote]:
    field = f"judges.{name}"
    members, vote = own.get("members"), own.get("vote", "majority")
    if not isinstance(members, list | tuple) or not all(isinstance(one, str) for one in members):
        raise UsageError("a panel names its members", field=f"{field}.members", hint='members = ["words", "llm"]')
    if len(set(members)) != len(members) or name in members:
        raise UsageError("a member stands twice, or is the panel", field=f"{field}.members", hint="each judge once")
    if vote not in VOTES:
        raise UsageError(f"{vote!r} is no way to vote", field=f"{field}.vote", hint=", ".join(VOTES))
    least = 3 if vote == "dawid_skene" else 2
    if len(members) < least:
        raise UsageError(f"{vote} needs {least} members", field=f"{field}.members", hint="heterogeneous ones")
    unknown = sorted(set(own) - {"members", "vote"})
    if unknown:
        raise UsageError(f"a panel has no setting {unknown[0]!r}", field=f"{field}.{unknown[0]}", hint="members, vote")
    return tuple(members), vote


def _member(store: Store, name: str, digest: Digest) -> Member:
    record = store.get_record(JudgementSet, digest)
    return Member(name, digest, record, store.get_record(JudgeIdentity, record.judge), verdicts_of(store, record))


def _check_heterogeneous(name: str, members: Sequence[Member]) -> None:
    """Two judges of one kind and one model err together: they are one voice."""
    voices: dict[tuple[str, str], str] = {}
    for one in members:
        if one.identity.kind == "panel":
            raise UsageError(f"{one.name} is a panel", field=f"judges.{name}.members", hint="name its members instead")
        voice = (one.identity.kind, one.identity.model or "" if one.identity.kind != "person" else one.name)
        if voice in voices:
            raise UsageError(
                f"{voices[voice]} and {one.name} are of one kind and model, and err together",
                field=f"judges.{name}.members",
                hint="heterogeneous judges: another model, or another kind",
            )
        voices[voice] = one.name


def _claims(store: Store, members: Sequence[Member]) -> list[AnswerClaims]:
    """The answers, cut; members that cut them otherwise judged other items."""
    cut: dict[tuple[str, int], AnswerClaims] = {}
    for one in members:
        for claims in store.get_lines(AnswerClaims, one.record.claims):
            known = cut.setdefault((claims.query_id, claims.repeat), claims)
            if known.claims != claims.claims:
                raise UsageError(
                    f"{members[0].name} and {one.name} judged other claims of {claims.query_id!r}",
                    field="members",
                    hint="judge the run again with both: the answers were cut by other rules",
                )
    return [cut[key] for key in sorted(cut)]


def _votes(members: Sequence[Member], vote: Vote, judge: Digest) -> Iterator[Judgement]:
    """A verdict an item that any member ruled on; similarities, which rule on nothing, are left out."""
    by_kind: dict[tuple[About, str], dict[Item, dict[str, Ruling]]] = defaultdict(lambda: defaultdict(dict))
    for one in members:
        for about in ("claim", "citation", "fact", "item", "answer"):
            for (query_id, repeat), target, ruling in one.verdicts.items(about):
                key: Item = (QueryId(query_id), repeat, about, target)
                by_kind[about, _scale(about, target)][key][one.name] = ruling
    for (_, scale), items in sorted(by_kind.items()):
        chances = _chances(items, scale) if vote == "dawid_skene" else None
        for number, (key, rulings) in enumerate(items.items()):
            if vote == "first":
                yield _first(key, scale, rulings, judge)
            elif chances is None:
                yield _majority(key, scale, rulings, len(members), judge)
            else:
                yield _likeliest(key, scale, rulings, chances[number], judge)


def _scale(about: str, target: str) -> str:
    return {"item": "relevance/1", "answer": f"{target}/1"}.get(about, "support/1")


def _majority(key: Item, scale: str, rulings: Mapping[str, Ruling], members: int, judge: Digest) -> Judgement:
    votes = Counter(one.label for one in rulings.values() if one.label is not None)
    score = votes[SCALES[scale][0]] / members
    label, count = min(votes.items(), key=lambda one: (-one[1], one[0])) if votes else (None, 0)
    if label is None or 2 * count <= members:
        return _verdict(key, scale, judge, None, DISAGREEMENT if len(votes) > 1 else "too_few_verdicts", score, rulings)
    return _verdict(key, scale, judge, label, None, score, rulings)


def _first(key: Item, scale: str, rulings: Mapping[str, Ruling], judge: Digest) -> Judgement:
    """The members' order is that of `members`."""
    ruled = next((one for one in rulings.values() if one.label is not None), None)
    if ruled is None:
        return _verdict(key, scale, judge, None, "too_few_verdicts", None, rulings)
    return _verdict(key, scale, judge, ruled.label, None, ruled.score, rulings)


def _chances(items: Mapping[Item, Mapping[str, Ruling]], scale: str) -> list[dict[str, float]] | None:
    ratings: list[dict[Any, str]] = [
        {name: one.label for name, one in rulings.items() if one.label is not None} for rulings in items.values()
    ]
    return dawid_skene(ratings, SCALES[scale]) if len({name for one in ratings for name in one}) >= 3 else None


def _likeliest(
    key: Item, scale: str, rulings: Mapping[str, Ruling], chances: Mapping[str, float], judge: Digest
) -> Judgement:
    label = max(chances, key=lambda one: (chances[one], one))
    score = chances[SCALES[scale][0]]
    if not any(one.label is not None for one in rulings.values()):
        return _verdict(key, scale, judge, None, "too_few_verdicts", None, rulings)
    if chances[label] < SURE:
        return _verdict(key, scale, judge, None, DOUBT, score, rulings)
    return _verdict(key, scale, judge, label, None, score, rulings)


def _verdict(
    key: Item, scale: str, judge: Digest, label: str | None, reason: str | None, score: float | None,
    rulings: Mapping[str, Ruling],
) -> Judgement:  # fmt: skip
    """With the spans of the first member that agrees and names any, and with who said what."""
    agreeing = [one for one in rulings.values() if one.label == label and label is not None]
    spans = next((one.spans for one in agreeing if one.spans), ())
    said = "; ".join(f"{name}: {one.label or one.reason}" for name, one in rulings.items())
    query_id, repeat, about, target = key
    return Judgement(
        query_id=query_id, repeat=repeat, judge=judge, about=about, target=target, scale=scale,
        status="value" if label is not None else "missing", label=label, reason=reason, score=score, spans=spans,
        rationale=said,
    )  # fmt: skip
