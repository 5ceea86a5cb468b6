"""A policy from TOML: a file of its own or `[policy]` of the settings, read strictly. Checks no run against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ragassay.errors import RagassayError, UsageError
from ragassay.measures import parse
from ragassay.records.base import Record
from ragassay.records.canonical import parse_value
from ragassay.records.decision import Kind
from ragassay.records.policy import Policy, Recorded, Rule
from ragassay.records.toml_file import line_of, read_toml, without_dates

HINT = "docs/gate.md shows every key"
MOST_RULES = 1_000
LISTS = ("rules", "must_hold", "budgets", "needs", "verdicts", "recorded")


def read_policy(path: Path) -> Policy:
    """The policy in a TOML file, under `[policy]`; UsageError names file, line and field.

    The file may be one of settings: other sections than `[policy]` are not read.
    """
    text, loaded = read_toml(path, what="a policy", absent=f"a policy stands under [policy]; {HINT}")
    table = loaded.get("policy")
    if not isinstance(table, dict):
        raise UsageError("there is no [policy]", file=str(path), field="policy", hint=HINT)
    if "file" in table:
        raise UsageError(
            "this [policy] names another file",
            file=str(path),
            field="policy.file",
            hint=f"name {table['file']!r} itself",
        )
    return policy_of(table, text, path)


def policy_of(table: Mapping[str, Any], text: str = "", path: Path | None = None) -> Policy:
    """The policy that the values of `[policy]` mean; UsageError names the field, and file and line where given."""
    try:
        made = _spelled(parse_value(Policy, without_dates(dict(table))))
        _check_names(made)
    except RagassayError as error:
        field = ".".join(part for part in ("policy", error.field) if part)
        hint = HINT if not error.hint or "ragassay schema" in error.hint else error.hint
        line = line_of(text, field, error.message) if text else None
        file = "" if path is None else str(path)
        raise UsageError(error.message, file=file, line=line, field=field, hint=hint) from None
    return made


def _spelled(policy: Policy) -> Policy:
    """The same with canonical spellings of all measures."""
    changed: dict[str, Any] = {}
    for name in LISTS:
        rows: tuple[Any, ...] = getattr(policy, name)
        if len(rows) > MOST_RULES:
            raise UsageError(f"{len(rows):,} of them; {MOST_RULES:,} at most", field=name, hint=HINT)
        if name not in ("verdicts", "recorded"):
            changed[name] = tuple(_one(row, f"{name}[{number}]") for number, row in enumerate(rows))
    if policy.review is not None:
        changed["review"] = _one(policy.review, "review")
    return msgspec.structs.replace(policy, **changed)


def _one(row: Any, field: str) -> Any:
    try:
        return msgspec.structs.replace(row, measure=str(parse(row.measure)))
    except UsageError as error:
        error.field = f"{field}.measure"
        raise


def _check_names(policy: Policy) -> None:
    """Names that people gave are different, so that a result can be told from the others."""
    named = [(f"{field}[{number}].name", one.name) for field, number, one in rows_of(policy) if one.name is not None]
    counted = Counter(name for _, name in named)
    for field, name in named:
        if counted[name] > 1:
            raise UsageError(f"{name!r} is the name of {counted[name]} rules", field=field, hint="name them apart")


def rows_of(policy: Policy) -> Iterator[tuple[str, int, Any]]:
    """(list, place in it, rule) of all rules that may have a name."""
    for field in ("rules", "must_hold", "budgets", "verdicts", "recorded"):
        for number, one in enumerate(getattr(policy, field)):
            yield field, number, one


def kind_of(rule: Rule) -> Kind:
    """What sort of demand a rule is."""
    if rule.zero:
        return "zero"
    return "margin" if rule.margin is not None else "floor" if rule.at_least is not None else "ceiling"


def label_of(row: Record) -> str:
    """What a rule is called where it has no name: its measure, place, population and demand."""
    given = {name: getattr(row, name) for name in row.__struct_fields__}
    if given.get("name"):
        return str(given["name"])
    if isinstance(row, Recorded):
        return f"unrecorded parts of {row.identity or 'the five identities'}: at most {row.at_most}"
    words = [str(given["measure"]) if "measure" in given else "share of good questions"]
    if given.get("statistic"):
        words[0] = f"{given['statistic']} of {words[0]}"
    if given.get("step"):
        words.append(f"at {given['step']}")
    people = [
        f"risk {given[one]}" if one == "risk" else str(given[one])
        for one in ("class_", "slice", "risk")
        if given.get(one)
    ]
    if people:
        words.append(f"of {', '.join(people)}")
    if given.get("cases"):
        cases = given["cases"]
        words.append(f"of {', '.join(cases[:3])}{' and others' if len(cases) > 3 else ''}")
    said = {"at_least": "at least", "at_most": "at most", "margin": "margin"}
    demands = [f"{word} {given[key]:g}" for key, word in said.items() if given.get(key) is not None]
    return (" ".join(words) + ": " + (demands[0] if demands else "not one"))[:512]
