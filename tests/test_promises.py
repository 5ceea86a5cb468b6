"""The promises of the design, each with the tests that fail if it breaks; what no other test holds is tested here.

1. No bare floats: here (every estimate, classes apart); `test_every_mean_of_random_runs_with_repeats`,
   `test_counts_add_up_nobody_is_left_out_and_order_does_not_matter`.
2. Nothing is dropped: `test_failures_of_every_kind_are_traces`, `test_timeouts_are_right_censored`,
   `test_ragas_headline_one_good_row_and_nine_failed_rows_is_not_0_9`, `test_bounds_of_a_row_contain_every_completion`,
   `test_bounds_of_a_mean_contain_every_completion`.
3. Empty evidence never passes: `test_nothing_scored_is_undefined_with_a_reason_and_never_1`,
   `test_no_question_at_all_is_not_a_pass`, `test_no_questions_is_an_error_and_never_a_score`.
4. Sealed things do not change: `test_every_changed_byte_of_every_object_is_found_with_its_role`,
   `test_a_changed_byte_anywhere_is_found_before_scoring`, `test_any_flipped_bit_is_found`. Signatures come later.
5. Judging is offline and repeatable: here; `test_equal_records_give_equal_bytes_and_time_is_not_content`.
6. Retrieved text is untrusted: `test_hostile_text_becomes_text`, `test_no_bytes_raise_anything_else`,
   `test_visible_text_has_no_hidden_characters_and_loses_no_letter`,
   `test_style_holds_under_the_policy_and_nothing_hostile_ran`.
7. No network: here; every command of `tests/e2e/test_command_line.py` runs without sockets.
8. Randomness and time are passed in: here (nothing that judges has a clock, a generator of random numbers, or an order
   that hangs on the hash seed); `test_a_second_store_gets_the_same_content_digests`.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay import Assayed, evaluate_sync

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("score", "measures", "stats", "report", "traces", "corpus", "benchmark", "records", "redact")
"""Rooms that judge or are read by what judges."""
OUTSIDE = {"socket", "ssl", "http", "urllib", "ftplib", "smtplib", "xmlrpc", "asyncio", "anyio", "httpx2", "requests"}
CHANCE = {"time", "random", "secrets", "uuid"}
BOTH = ("recall(rel=2)@5", "fact_coverage", "context_precision(rel=2)")

CASES = [
    {"query_id": f"q{n}", "query": "?", "class": kind, "slice": ["odd"] if n % 2 else [],
     **({} if kind == "unanswerable" else {
         "evidence": [{"id": "e", "document_id": "a", "grade": 3, "start": 0, "end": 5}],
         "facts": [{"id": "f", "any_of": [["e"]]}]})}
    for n, kind in enumerate(["answerable"] * 3 + ["unanswerable"] * 2 + ["multi_hop"])
]  # fmt: skip
PROBE = """
from ragassay import evaluate_sync
cases = [{"query_id": f"q{n}", "query": "?", "relevant": [{"document_id": d, "grade": 3}]} for n, d in enumerate("abc")]
found = evaluate_sync(cases, lambda request: ["a", "b"], documents={d: d * 9 for d in "abc"}, as_of="2026-12-01",
                      store="STORE")
from ragassay.records.score import ScoreTable
from ragassay.store import Store
print(Store.open("STORE").get_record(ScoreTable, found.scores).content)
"""


@pytest.fixture(scope="module")
def assayed() -> Assayed:
    """Six questions of three classes; one of them fails."""

    def system(request: object) -> dict[str, object]:
        if request.query_id == "q1":  # type: ignore[attr-defined]
            raise RuntimeError("gone")
        return {"answer": "x", "contexts": [{"document_id": "a", "start": 0, "end": 5}]}

    return evaluate_sync(CASES, system, documents={"a": "hello world"}, as_of="2026-12-01", max_error_rate=1.0)


def test_every_number_stands_with_all_that_it_rests_on(assayed: Assayed) -> None:
    sizes = {"answerable": 3, "unanswerable": 2, "multi_hop": 1}
    assert {one.population.class_ for one in assayed.scorecard.estimates} == set(sizes)
    for one in assayed.scorecard.estimates:
        assert one.attempted == one.scored + one.undefined + one.missing + one.error
        assert one.attempted <= sizes[one.population.class_], "classes were pooled"
        assert (one.value is None) == (one.status != "value")
        if one.value is not None and one.aggregation in ("macro", "micro"):
            assert one.numerator is not None
            assert one.denominator
            assert one.value == pytest.approx(one.numerator / one.denominator, abs=1e-12)
        if one.error and one.unit == "ratio" and one.aggregation in ("macro", "micro"):
            assert one.bounds is not None, (one.measure, one.step)


def test_means_over_questions_and_over_items_both_stand_where_both_make_sense(assayed: Assayed) -> None:
    for measure in BOTH:
        found = {one.aggregation for one in assayed.scorecard.estimates if one.measure == measure}
        assert {"macro", "micro"} <= found, measure


def _imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    named = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    named |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {one.partition(".")[0] for one in named}


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_that_judges_can_reach_a_network_a_clock_or_chance(room: str) -> None:
    files = sorted((ROOT / "src" / "ragassay" / room).rglob("*.py"))
    assert files
    now = re.compile(r"\.(now|utcnow|today)\(|random\.(?!PCG64\(seed\))|default_rng|perf_counter|\bhash\(")
    for path in files:
        assert not _imports(path) & (OUTSIDE | CHANCE), path
        assert not now.search(path.read_text("utf-8")), path


def test_the_corridor_holds() -> None:
    """The contracts of import-linter: data walks one way, and nothing that judges opens a socket."""
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(command), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def _blocked(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "e2e" / "no_network"), **env}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


def test_the_block_of_sockets_blocks() -> None:
    for code in (
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        "import httpx2; httpx2.get('http://127.0.0.1:9')",
    ):
        done = _blocked(code)
        assert done.returncode != 0
        assert "a socket was about to be used" in done.stderr, code


def test_python_door_needs_no_network_and_hangs_on_no_hash_seed(tmp_path: Path) -> None:
    shown = []
    for seed in ("1", "2"):
        done = _blocked(PROBE.replace("STORE", str(tmp_path / seed)), PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        shown.append(done.stdout)
    assert re.fullmatch(r"sha256:[0-9a-f]{64}\n", shown[0])
    assert shown[0] == shown[1]


def test_every_test_that_is_named_above_exists() -> None:
    written = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", __doc__ or ""):
        assert f"def {name}(" in written, name
