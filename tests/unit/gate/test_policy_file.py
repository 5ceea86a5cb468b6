"""The reader of policies: whatever TOML it is given, a policy or a UsageError with a place; never a traceback."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import UsageError
from ragassay.gate.policy_file import LISTS, policy_of, read_policy
from ragassay.records.policy import Budget, MustHold, Need, Policy, Rule, Verdicts

FIELDS = sorted({
    *Policy.__struct_encode_fields__, *Rule.__struct_encode_fields__, *MustHold.__struct_encode_fields__,
    *Budget.__struct_encode_fields__, *Need.__struct_encode_fields__, *Verdicts.__struct_encode_fields__,
    "text", "route", "high", "outcomes", "largest", "file",
})  # fmt: skip
WORDS = [
    "recall@5",
    "latency",
    "p95",
    "mean",
    "share",
    "high",
    "block",
    "review",
    "answerable",
    "answered",
    "ndcg(x=1)@3",
]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.sampled_from(WORDS), st.text(max_size=20),
    st.dates(), st.datetimes(), st.times(),
)  # fmt: skip
KEYS = st.sampled_from(FIELDS) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
ROWS = st.lists(st.dictionaries(st.sampled_from(FIELDS), SCALARS, max_size=5), max_size=3)


@given(st.dictionaries(KEYS, VALUES, max_size=6), st.booleans())
def test_any_values_are_a_policy_or_a_usage_error(table: dict[str, Any], named: bool) -> None:
    read({**table, "name": "p"} if named else table)


@given(st.dictionaries(st.sampled_from(LISTS), ROWS, max_size=3))
def test_any_rules_are_read_or_refused(table: dict[str, Any]) -> None:
    read({**table, "name": "p"})


def read(table: dict[str, Any]) -> None:
    made, field = None, "policy"
    try:
        made = policy_of(table)
    except UsageError as error:
        field = error.field
    assert field.startswith("policy")
    assert made is None or policy_of(_written(made)) == made, "what was read can be said again"


def _written(made: Policy) -> dict[str, Any]:
    import msgspec

    return dict(msgspec.to_builtins(made))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_policy_or_a_usage_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "policy.toml"
    for text in (data, b"[policy]\n" + data, b'[policy]\nname = "p"\n[[policy.rules]]\n' + data):
        path.write_bytes(text)
        with contextlib.suppress(UsageError):
            assert read_policy(path).name


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('name = "p"\n[[policy.rules]]\nmeasure = "recal@5"\nat_least = 1', 4, "there is no measure named 'recal'"),
        ('name = "p"\n[[policy.rules]]\nmeasure = "recall@5"\n', 3, "give exactly one of at_least, at_most, margin"),
        ('name = "p"\n[[policy.rules]]\nmeasure = "recall@5"\nzero = true\nat_least = 0.5', 3, "give exactly one of"),
        ('name = "p"\nalpha = 0.7', 3, "< 0.5"),
        ('name = "p"\nrule = 1', 3, "unknown field 'rule'"),
        ('name = "p"\n[[policy.rules]]\nmeasure = "recall@5"\nat_least = nan', 5, "not a finite number"),
        ('name = "p"\n[[policy.rules]]\nmeasure = "recall@5"\nat_leest = 1', 5, "unknown field 'at_leest'"),
        ('name = "p"\n[policy.refusal]\ntext = " "', 3, "text is blank"),
        ('name = "p"\n[[policy.budgets]]\nmeasure = "cost"\nstatistic = "total"\nat_most = 1', 3, "need sample = true"),
        ('name = "p"\n[[policy.must_hold]]\nmeasure = "recall@5"\nat_least = 1\ncases = ["a", "a"]', 3, "named twice"),
        ('name = "p"\n[[policy.rules]]\nmeasure = "recall@5"\nat_least = 1\nname = "x"\n[[policy.rules]]\n'
         'measure = "recall@5"\nat_most = 1\nname = "x"', 6, "is the name of 2 rules"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(f"[policy]\n{text}\n")
    with pytest.raises(UsageError, match=message) as raised:
        read_policy(path)
    assert (raised.value.file, raised.value.line) == (str(path), line), str(raised.value)


def test_measures_are_spelled_in_one_way() -> None:
    rows = [{"measure": "R@5", "at_least": 0.5}]
    assert policy_of({"name": "p", "rules": rows}).rules[0].measure == "recall@5"


@pytest.mark.parametrize(
    "text", ["x" + ".y" * 5000 + " = 1", "x = " + "[" * 900 + "]" * 900, "[" + ".".join("a" * 200) + "]"]
)
def test_what_is_nested_deeper_than_any_settings_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(f"{text}\n")
    with pytest.raises(UsageError, match="nested too deeply") as raised:
        read_policy(path)
    assert raised.value.file == str(path)
