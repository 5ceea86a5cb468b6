"""Two ways of measuring and two policies: measures and versions, judges, thresholds, rules. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragassay.compare.changes.shown import change, text_of
from ragassay.records.base import Record
from ragassay.records.comparison import Artefact, Change
from ragassay.records.judgement import JudgeIdentity, JudgementSet
from ragassay.records.policy import Policy
from ragassay.records.protocol import Scoring
from ragassay.records.score import ScoreTable
from ragassay.store import Store

LIMITS = frozenset(
    {
        "at_least", "at_most", "margin", "alpha", "max_errors", "judged_gap", "max_age_days", "largest",
        "abstention_at_least", "false_refusal_at_most",
    }
)  # fmt: skip
"""Fields of a policy that hold a threshold; any other is `policy`."""
_THRESHOLDS = ("hold",)
_IDENTIFY = ("measure", "identity", "statistic", "class_", "slice", "risk", "step")
Fields = dict[str, tuple[Artefact, str]]


def scoring_changes(a: Scoring, b: Scoring) -> Iterator[Change]:
    """What of a scoring layer differs: measures that came or went, versions, judges, thresholds, and the rest."""
    if a == b:
        return
    for spelled in sorted({*a.measures} ^ {*b.measures}):
        yield change("measure", spelled, *(spelled if spelled in one.measures else None for one in (a, b)))
    yield from _mapping("measure", a.measure_versions, b.measure_versions, both=True)
    yield from _judges(a.judges, b.judges)
    for name in a.__struct_fields__:
        one, other = getattr(a, name), getattr(b, name)
        if one == other or name in ("measures", "measure_versions", "judges"):
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            kind: Artefact = "threshold" if "threshold" in name else "judge" if "judge" in name else "measure"
            yield from _mapping(kind, one, other)
        else:
            yield change("threshold" if name in _THRESHOLDS else "measure", name, text_of(one), text_of(other))


def _judges(a: tuple[str, ...], b: tuple[str, ...]) -> Iterator[Change]:
    """Judges by name; where one went and one came, one took the other's place."""
    gone, new = sorted({*a} - {*b}), sorted({*b} - {*a})
    if len(gone) == len(new) == 1:
        yield change("judge", new[0], gone[0], new[0])
        return
    for one in gone:
        yield change("judge", one, one, None)
    for one in new:
        yield change("judge", one, None, one)


def judge_changes(store: Store, a: ScoreTable, b: ScoreTable) -> Iterator[Change]:
    """Judges of one name whose identity (model, prompt, sampling, ...) is another one in the two score tables.

    Of one and the same judge: its verdicts, where they are on one run and differ, and what it was calibrated by.
    """
    for name in sorted({*a.judged} & {*b.judged}):
        sets = [store.get_record(JudgementSet, table.judged[name]) for table in (a, b)]
        one, other = (store.get_record(JudgeIdentity, each.judge) for each in sets)
        if one == other:
            if a.run == b.run and sets[0].content != sets[1].content:
                yield change("judge", f"{name} judgements", sets[0].content, sets[1].content)
            before, after = a.calibrations.get(name), b.calibrations.get(name)
            if before != after:
                yield change("judge", f"{name} calibration", before, after)
            continue
        fields = [field for field in one.__struct_fields__ if getattr(one, field) != getattr(other, field)]
        told = [", ".join(f"{field} {text_of(getattr(side, field))}" for field in fields) for side in (one, other)]
        yield change("judge", name, *told)


def policy_changes(a: Policy, b: Policy) -> Iterator[Change]:
    """What of a policy differs, rule by rule: a limit that moved is a threshold, anything else is the policy.

    A rule is known again by its name, else by what it measures, where, and which kind of limit it sets.
    """
    ours, theirs = _rules(a), _rules(b)
    for key in sorted({*ours, *theirs}):
        one, other = ours.get(key), theirs.get(key)
        if one is None or other is None:
            alone = (one or other or {}).get("", ("policy", ""))
            yield change(alone[0], key, _summary(one), _summary(other))
            continue
        for field in sorted({*one, *other}):
            before, after = one.get(field), other.get(field)
            if before != after:
                kind = (before or after or ("policy", ""))[0]
                yield change(
                    kind, f"{key} {field}".strip(), (before and before[1]) or None, (after and after[1]) or None
                )


def _rules(policy: Policy) -> dict[str, Fields]:
    found: dict[str, Fields] = {}
    for section in policy.__struct_fields__:
        value = getattr(policy, section)
        if isinstance(value, tuple) and value and all(isinstance(one, Record) for one in value):
            for one in value:
                base = f"{section} {_base(one)}"
                same = sum(key == base or key.startswith(f"{base} #") for key in found)
                found[f"{base} #{same + 1}" if same else base] = _fields(one)
        elif isinstance(value, Mapping):
            for name, one in value.items():
                found[f"{section} {name}"] = _fields(one)
        elif isinstance(value, Record):
            found[section] = _fields(value)
        elif value is not None:
            kind: Artefact = "threshold" if section in LIMITS else "policy"
            found[section] = {"": (kind, text_of(value) or "")}
    return found


def _base(rule: Record) -> str:
    name = getattr(rule, "name", None)
    if name:
        return str(name)
    parts = [str(getattr(rule, field)) for field in _IDENTIFY if getattr(rule, field, None) is not None]
    return " ".join([*parts, *(field for field in rule.__struct_fields__ if field in LIMITS and _given(rule, field))])


def _given(rule: Record, field: str) -> bool:
    return getattr(rule, field) is not None


def _fields(rule: Record) -> Fields:
    return {
        field.rstrip("_"): ("threshold" if field in LIMITS else "policy", text_of(getattr(rule, field)) or "")
        for field in rule.__struct_fields__
        if _given(rule, field)
    }


def _summary(fields: Fields | None) -> str | None:
    return None if fields is None else ", ".join(f"{name} {text}".strip() for name, (_, text) in fields.items())


def _mapping(kind: Artefact, a: Mapping[str, Any], b: Mapping[str, Any], *, both: bool = False) -> Iterator[Change]:
    """Keys whose values differ; with `both` only those that both sides have."""
    for key in sorted({*a} & {*b} if both else {*a, *b}):
        if a.get(key) != b.get(key):
            yield change(kind, key, text_of(a.get(key)), text_of(b.get(key)))
