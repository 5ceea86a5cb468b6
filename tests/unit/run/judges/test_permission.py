"""Raw text of users leaves the machine only where the benchmark says that it is authorised and redacted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.score.score_material import case

from ragassay.errors import UsageError
from ragassay.records.canonical import digest_of
from ragassay.records.case import NATIVE_RUBRIC, Benchmark
from ragassay.records.provenance import Provenance, Transformation
from ragassay.run.judges.permission import check_permitted

RAW = [case("q1", slice=("text=user",)), case("q2")]
REDACTED = (Transformation(kind="redact", name="names 2"),)
AWAY = "http://127.0.0.1:9"


def benchmark(**said: Any) -> Benchmark:
    blank = digest_of("blank")
    return Benchmark(
        name="b", version="1", corpus=blank, relevance_unit="span", rubric=NATIVE_RUBRIC, completeness="unknown", rel=2,
        cases=2, cases_digest=blank, blob=blank, provenance=Provenance(**said) if said else None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "absent"),
    [
        ({}, "authorised and redacted"),
        ({"authorisation": "by contract"}, "redacted"),
        ({"transformations": REDACTED}, "authorised"),
        ({"authorisation": "x", "transformations": (Transformation(kind="ocr", name="t"),)}, "redacted"),
    ],
)
def test_what_is_not_said_sends_nothing(said: dict[str, Any], absent: str) -> None:
    with pytest.raises(UsageError) as error:
        check_permitted(benchmark(**said), RAW, AWAY)
    assert f"does not say that they are {absent}: nothing was sent" in error.value.message
    check_permitted(benchmark(**said), RAW, "")  # nothing leaves the machine
    check_permitted(benchmark(**said), RAW[1:], AWAY)


def test_authorised_and_redacted_text_may_be_sent() -> None:
    check_permitted(benchmark(authorisation="by contract", transformations=REDACTED), RAW, AWAY)
