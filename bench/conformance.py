"""Generated judgements and runs, value by value against pytrec_eval, and which inputs either of the two refuses.

    python -m bench.conformance [CASES]      (20,000 without a number: minutes)

Each case is a pair of files with ties (also ties as float32 only), negative and huge grades, unjudged items, questions
that one side lacks, lists of one item and odd ids, in some legal dress. Every sixth case is made wrong, or odd, in one
way of `ODD`. Files go through `evaluate` in mode=trec, dictionaries through the drop-in for `RelevanceEvaluator`.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytrec_eval

from ragassay.errors import RagassayError
from ragassay.measures import evaluate
from ragassay.measures.drop_in import RelevanceEvaluator
from ragassay.records.text import many

CASES = 20_000
PATIENCE_S = 1
EVERY = 6
SPELLINGS = {
    "map": "ap(mode=trec)", "map_cut_10": "ap(mode=trec)@10", "recip_rank": "rr(mode=trec)",
    "P_5": "precision(mode=trec)@5", "recall_10": "recall(mode=trec)@10", "ndcg": "ndcg(mode=trec)",
    "ndcg_cut_5": "ndcg(mode=trec)@5", "bpref": "bpref(mode=trec)", "Rprec": "r_precision(mode=trec)",
    "infAP": "infap(mode=trec)", "success_1": "hit(mode=trec)@1", "set_P": "set_precision(mode=trec)",
    "set_recall": "recall(mode=trec)", "set_F": "set_f1(mode=trec)", "set_map": "set_ap(mode=trec)",
}  # fmt: skip
ALL = {"map", "map_cut", "gm_map", "recip_rank", "P", "recall", "ndcg", "ndcg_cut", "bpref", "gm_bpref", "Rprec",
       "infAP", "success", "set_P", "set_recall", "set_F", "set_map", "set_relative_P", "iprec_at_recall", "11pt_avg",
       "Rprec_mult", "binG", "relative_P", "utility", "num_ret", "num_rel", "num_rel_ret",
       "num_nonrel_judged_ret"}  # fmt: skip
GRADES = [-2, -1, 0, 0, 1, 1, 2, 3, 50, 1_000]  # its `ndcg` takes time that grows with the square of the greatest grade
Rows = list[list[str]]
Values = dict[str, dict[str, float]]


class Case(NamedTuple):
    """Lines of judgements and of a run as fields, what was made odd, and the files' dress."""

    judged: Rows
    ranked: Rows
    odd: str
    space: str
    end: str


def _again(rows: Rows, at: int) -> None:
    rows.append(list(rows[at]))


def _again_with_another_score(rows: Rows, at: int) -> None:
    rows.append([*rows[at][:4], "0.125", "tag"])


def _all_negative(rows: Rows, _: int) -> None:
    for row in rows:
        row[3] = "-1"


def _all_strangers(rows: Rows, _: int) -> None:
    for row in rows:
        row[0] = "no-such-" + row[0]


def _with_a_comment(rows: Rows, at: int) -> None:
    rows.insert(at, ["#", "a", "comment"])


def _field(number: int, text: str) -> Callable[[Rows, int], None]:
    def put(rows: Rows, at: int) -> None:
        rows[at][number : number + 1] = [text] if text else []

    return put


ODD: dict[str, tuple[int, Callable[[Rows, int], None]]] = {
    # 0: what is done to the judgements, 1: to the run; the number is that of a line by chance
    "an item twice in a list, same score": (1, _again),
    "an item twice in a list, another score": (1, _again_with_another_score),
    "an item judged twice": (0, _again),
    "a score that is NaN": (1, _field(4, "nan")),
    "a score that is infinite": (1, _field(4, "-inf")),
    "a score in hexadecimal": (1, _field(4, "0x1p3")),
    "a score with underscores": (1, _field(4, "1_000")),
    "a score that is a word": (1, _field(4, "high")),
    "a grade with decimals": (0, _field(3, "1.5")),
    "a grade that is a word": (0, _field(3, "yes")),
    "a line of five fields": (1, _field(5, "")),
    "a line of seven fields": (1, _field(6, "more")),
    "a comment": (1, _with_a_comment),
    "a control character in an id": (1, _field(2, "a\x01")),
    "no question in common": (1, _all_strangers),
    "negative grades alone": (0, _all_negative),
}


def generated(seed: int) -> Case:
    """A case; the same for the same seed."""
    rng = random.Random(seed)
    letters, longest = "abcdé猫0123456789#\"'\\%", rng.choice([2, 7, 8, 9, 16, 17, 40])

    def name() -> str:
        text = "".join(rng.choice(letters) for _ in range(rng.randint(1, longest)))
        return "x" + text if text.startswith("#") else text

    items = sorted({name() for _ in range(rng.choice([1, 5, 30, 200]))})
    queries = sorted({name() for _ in range(rng.randint(1, 8))})
    judged, ranked = [], []
    for query in queries:
        if rng.random() < 0.9:
            chosen = rng.sample(items, rng.randint(1, len(items)))
            own = [[query, "0", item, str(rng.choice(GRADES))] for item in chosen]
            own[0][3] = str(abs(int(own[0][3])))  # negative grades alone are one of `ODD`: pytrec_eval may crash
            judged += own
        if rng.random() < 0.9:
            chosen, kind = rng.sample(items, rng.randint(1, len(items))), rng.randint(0, 3)
            ranked += [[query, "Q0", item, "1", _score(rng, kind), "tag"] for item in chosen]
    if rng.random() < 0.5:
        rng.shuffle(ranked)
    if rng.random() < 0.3:
        rng.shuffle(judged)
    odd = "" if judged and ranked else "an empty file"
    if judged and ranked and seed % EVERY == 0:
        odd = list(ODD)[seed // EVERY % len(ODD)]
        side, change = ODD[odd]
        rows = (judged, ranked)[side]
        change(rows, rng.randrange(len(rows)))
    return Case(judged, ranked, odd, rng.choice([" ", "\t", "  ", " \t"]), rng.choice(["\n", "\r\n"]))


def _score(rng: random.Random, kind: int) -> str:
    score = (
        float(rng.randint(-1, 2)), rng.uniform(-100, 100), 33.9211700 + rng.randint(0, 9) * 1e-7,
        rng.choice([1e-30, 1e30, -1e-9, 0.1, 1 / 3]),
    )[kind]  # fmt: skip
    return rng.choice([repr(score), f"{score:.17e}", f"{score:+.18E}"])


def written(case: Case, folder: Path) -> tuple[Path, Path]:
    """The case as files."""
    paths = folder / "qrels", folder / "run"
    for path, rows in zip(paths, (case.judged, case.ranked), strict=True):
        path.write_bytes((case.end.join(case.space.join(row) for row in rows) + case.end).encode())
    return paths


def theirs(qrels: Path, run: Path, odd: str) -> Values | str:
    """pytrec_eval's values, or how it fails. What is odd may end its process or hold it for ever: that is a child."""
    try:
        with qrels.open() as judgements, run.open() as lists:
            judged, ranked = pytrec_eval.parse_qrel(judgements), pytrec_eval.parse_run(lists)
        return _in_a_child(judged, ranked) if odd else _evaluated(judged, ranked)
    except Exception as error:  # whatever it raises is its answer
        return type(error).__name__


def _evaluated(judged: dict[str, dict[str, int]], ranked: Values) -> Values:
    found: Values = pytrec_eval.RelevanceEvaluator(judged, ALL).evaluate(ranked)
    return found


def _in_a_child(judged: dict[str, dict[str, int]], ranked: Values) -> Values | str:
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=lambda: send.send(_evaluated(judged, ranked)))
    child.start()
    send.close()
    try:
        if not receive.poll(PATIENCE_S):
            return f"no end within {PATIENCE_S} s"
        found: Values = receive.recv()
    except EOFError:
        return "its process ends"
    finally:
        child.kill()
        child.join()
    return found


def ours(qrels: Path, run: Path) -> Values | str:
    """Our values of `SPELLINGS` from the same files, or the message of the refusal."""
    try:
        found = evaluate(str(qrels), str(run), SPELLINGS.values(), threads=1)
    except RagassayError as error:
        return error.message
    columns = {name: found.columns[found[spelling].measure] for name, spelling in SPELLINGS.items()}
    return {query: {name: float(one.value[at]) for name, one in columns.items()}
            for at, query in enumerate(found.questions) if found.present[at]}  # fmt: skip


def by_call(qrels: Path, run: Path) -> Values:
    """Our values of `ALL` from dictionaries, by the drop-in."""
    with qrels.open() as judgements, run.open() as lists:
        judged, ranked = pytrec_eval.parse_qrel(judgements), pytrec_eval.parse_run(lists)
    return RelevanceEvaluator(judged, ALL).evaluate(ranked)


def pairs(mine: Values, expected: Values) -> Iterator[tuple[float, float]]:
    """Values that belong together; one that the other side lacks is paired with NaN."""
    for query in mine.keys() | expected.keys():
        own, other = mine.get(query, {}), expected.get(query, {})
        for name in own.keys() if other else {"any"}:
            yield own.get(name, math.nan), other.get(name, math.nan)


def compared(counts: Counter[str], mine: Values, expected: Values, seed: int) -> None:
    """Count values that are equal to 1e-9, those equal in every bit, and those that differ."""
    for own, other in pairs(mine, expected):
        same = abs(own - other) <= 1e-9 * max(1.0, abs(other))
        counts["equal to 1e-9" if same else "different"] += 1
        counts["of them in every bit"] += own == other
        if not same:
            print(f"  case {seed}: {own!r} where pytrec_eval says {other!r}", flush=True)


def main(cases: int) -> int:
    """Run so many cases; exit code 1 if a value differs."""
    files, calls, kinds = Counter[str](), Counter[str](), Counter[tuple[str, str, str]]()
    questions = 0
    with tempfile.TemporaryDirectory() as temporary:
        for seed in range(cases):
            case = generated(seed)
            qrels, run = written(case, Path(temporary))
            mine, expected = ours(qrels, run), theirs(qrels, run, case.odd)
            refused = tuple(f"refuses: {one}" if isinstance(one, str) else "reads" for one in (mine, expected))
            if case.odd or refused != ("reads", "reads"):
                kinds[case.odd or "nothing odd", refused[0].partition(":")[0], refused[1]] += 1
            if isinstance(mine, dict) and isinstance(expected, str):  # the same without what it cannot read
                plain = case._replace(ranked=[row[:6] for row in case.ranked if row[0] != "#"])
                expected = theirs(*written(plain, Path(temporary)), case.odd)
            if isinstance(mine, dict) and isinstance(expected, dict):
                questions += len(expected)
                compared(files, mine, expected, seed)
                compared(calls, by_call(qrels, run), expected, seed)
    print(f"{many(cases, 'case')}, {many(questions, 'question')}")
    for label, counts in (("files, mode=trec", files), ("dictionaries, the drop-in", calls)):
        print(f"  {label}: " + ", ".join(f"{counts[one]:,} {one}" for one in
                                         ("equal to 1e-9", "of them in every bit", "different")))  # fmt: skip
    print("  refused or odd: cases, ragassay, pytrec_eval")
    for (odd, our, their), count in sorted(kinds.items()):
        print(f"    {odd}: {count}, {our}, {their}")
    return int(files["different"] + calls["different"] > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CASES))
