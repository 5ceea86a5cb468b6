"""Offline judges against people: WiCE, written contradictions, MTRAG, RAGChecker, LLMJudge.

    python -m bench.people [--out docs/judges-against-people.md]

PEOPLE_DATA names the folder of the data sets. Thresholds are fitted on one half of the articles (by a digest of the
title) and reported on the other. Reads only; takes two to four minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.page import put_out
from bench.people.figures import auc, best_f1, f1_at, paired, spearman
from bench.people.llmjudge import llmjudge

from ragassay.run.judges.contract import Item, Shown
from ragassay.run.judges.lexical import CANNOT_SEE, THRESHOLD, LexicalEvaluator
from ragassay.run.judges.llm.numbers import absent
from ragassay.run.judges.semantic import SemanticEvaluator
from ragassay.run.judges.semantic.formulas import bertscore

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("PEOPLE_DATA", ROOT.parent / "shared" / "data"))
CHECKED, BARE = LexicalEvaluator(), LexicalEvaluator(checked=False)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file."""
    return [json.loads(one) for one in path.read_text("utf-8").splitlines()]


def item(claim: str, evidence: list[str], language: str | None = None) -> Item:
    """A claim beside texts."""
    shown = tuple(Shown(str(at), one) for at, one in enumerate(evidence))
    return Item("q", 0, "claim", "c1", "support/1", claim, "", claim, shown, language=language)


def score(judge: Any, claim: str, evidence: list[str], language: str | None = None) -> float:
    """The score of a claim; 0 where there is none."""
    return judge.judge([item(claim, evidence, language)])[0].score or 0.0


def recall_of_tokens(claim: str, evidence: list[str]) -> float:
    """The trivial baseline: the share of the claim's words that stand anywhere."""
    import re

    there = set(re.findall(r"\w+", " ".join(evidence).casefold()))
    words = re.findall(r"\w+", claim.casefold())
    return sum(one in there for one in words) / len(words) if words else 0.0


def contradictions() -> Iterator[str]:
    """The written set: contradicted twins against supported ones, by kind, on each half of the topics."""
    rows = lines_of(Path(__file__).parent / "contradictions.jsonl")
    yield "## Written contradictions"
    yield ""
    yield "200 pairs of a supported claim and its contradicted twin, 20 topics, written by hand before the checks and"
    yield "by the same hand. The checks were mended by reading the *fit* topics only. AUC of supported:"
    yield ""
    yield "| topics | kind | pairs | token recall | idf recall | with checks | contradictions named | twins accused |"
    yield "|---|---|---|---|---|---|---|---|"
    for part in ("fit", "report"):
        for kind in ("number", "role", "scope", "negation", "date", ""):
            some = [one for one in rows if one["part"] == part and kind in ("", one["kind"])]
            truth = [True] * len(some) + [False] * len(some)
            claims = [(one[name], one) for name in ("supported", "contradicted") for one in some]
            columns = [
                [recall_of_tokens(text, [one["evidence"]]) for text, one in claims],
                [score(BARE, text, [one["evidence"]], one["language"]) for text, one in claims],
                [score(CHECKED, text, [one["evidence"]], one["language"]) for text, one in claims],
            ]
            labels = [CHECKED.judge([item(text, [one["evidence"]], one["language"])])[0].label for text, one in claims]
            caught = sum(one == "contradicted" for one in labels[len(some) :])
            accused = sum(one == "contradicted" for one in labels[: len(some)])
            shown = " | ".join(f"{auc(truth, one):.3f}" for one in columns)
            yield f"| {part} | {kind or '**all**'} | {len(some)} | {shown} | {caught} | {accused} |"
    yield ""


def wice(embedder: Any) -> Iterator[str]:
    """WiCE dev: each offline judge."""
    rows = lines_of(DATA / "wice" / "claim_dev.jsonl")
    claims = [(one["claim"], [text for text in one["evidence"] if text.strip()]) for one in rows]
    labels = [one["label"] for one in rows]
    titles = [one["meta"]["claim_title"] for one in rows]
    scores = {
        "all yes": [1.0] * len(rows),
        "token recall": [recall_of_tokens(*one) for one in claims],
        "lexical, overlap only": [score(BARE, *one) for one in claims],
        "lexical": [score(CHECKED, *one) for one in claims],
    }
    if embedder is not None:
        scores |= _near(embedder, claims)
        for name in ("lexical, overlap only", "lexical"):
            scores[f"panel: {name} + BERTScore"] = _summed(scores[name], scores["BERTScore recall"])
    strict = [at for at, one in enumerate(labels) if one != "partially_supported"]
    half = [int(hashlib.sha256(one.encode()).hexdigest(), 16) % 2 for one in titles]
    fit = [at for at in strict if not half[at]]
    held = [at for at in strict if half[at]]
    yield "## WiCE, dev"
    yield ""
    yield f"{len(rows)} claims: {labels.count('supported')} supported, {labels.count('partially_supported')} partly, "
    yield f"{labels.count('not_supported')} not. Thresholds are fitted on {len(fit)}; F1 is of {len(held)} others."
    yield "A prototype had 0.922 (idf recall) and 0.937 (with BERTScore) for supported against not."
    yield ""
    yield "| score | AUC supported, not | supported, rest | not, rest | best F1 | threshold | F1, other articles |"
    yield "|---|---|---|---|---|---|---|"
    good = [one == "supported" for one in labels]
    for name, own in scores.items():
        pick = lambda rows_, values: [values[at] for at in rows_]  # noqa: E731
        threshold = best_f1(pick(fit, good), pick(fit, own))[1]
        yield (
            f"| {name} | {auc(pick(strict, good), pick(strict, own)):.3f} | {auc(good, own):.3f} "
            f"| {auc([one != 'not_supported' for one in labels], own):.3f} "
            f"| {best_f1(pick(strict, good), pick(strict, own))[0]:.3f} | {threshold:.3f} "
            f"| {f1_at(pick(held, good), pick(held, own), threshold):.3f} |"
        )
    yield ""
    yield f"The default threshold of the lexical judge is {THRESHOLD}; on the other articles its F1 is "
    yield f"{f1_at([good[at] for at in held], [scores['lexical'][at] for at in held], THRESHOLD):.3f}."
    if embedder is not None:
        yield from _helps(strict, good, scores, titles)
    yield ""
    yield from _numbers(claims, labels)
    yield ""


def _numbers(claims: list[tuple[str, list[str]]], labels: list[str]) -> Iterator[str]:
    """What the check of numbers that overrules a language model would take back."""
    yield "Claims with a number or date that stands nowhere in the evidence, which a language model may not call"
    told = []
    for label in ("supported", "not_supported"):
        mine = [absent(*one, "en") is not None for one, of in zip(claims, labels, strict=True) if of == label]
        told.append(f"{sum(mine)} of {len(mine)} that people call {label.replace('_', ' ')}")
    yield f"supported (`numbers` of [judges](judges.md)): {', '.join(told)}."


def _helps(strict: list[int], good: list[bool], scores: dict[str, list[float]], titles: list[str]) -> Iterator[str]:
    def of(name: str) -> Any:
        return lambda picked: auc([good[strict[at]] for at in picked], [scores[name][strict[at]] for at in picked])

    low, high = paired(of("panel: lexical + BERTScore"), of("lexical"), [titles[at] for at in strict])
    yield ""
    yield f"Panel less lexical alone, AUC, paired bootstrap over articles: {low:+.3f} to {high:+.3f}. " + (
        "The panel helps here." if low > 0 else "It is not shown that the panel helps."
    )


def _near(embedder: Any, claims: list[tuple[str, list[str]]]) -> dict[str, list[float]]:
    """Cosine and BERTScore recall over the six sentences of most shared words."""
    semantic, cosines, recalls = SemanticEvaluator(embedder), [], []
    for claim, evidence in claims:
        near = sorted(evidence, key=lambda one: -recall_of_tokens(claim, [one]))[:6]
        cosines.append(score(semantic, claim, near))
        tokens = embedder.token_vectors([" ".join(near), claim])
        found = bertscore(*tokens)
        recalls.append(found.recall if found else 0.0)
    return {"cosine (no verdict)": cosines, "BERTScore recall": recalls}


def _summed(one: list[float], other: list[float]) -> list[float]:
    def z(values: list[float]) -> list[float]:
        middle, spread = statistics.fmean(values), statistics.pstdev(values) or 1.0
        return [(value - middle) / spread for value in values]

    return [a + b for a, b in zip(z(one), z(other), strict=True)]


def mtrag() -> Iterator[str]:
    """MTRAG: faithfulness by people against scores."""
    data = json.loads((DATA / "mtrag/evaluations/reference_subset_with_human_evaluations.json").read_text("utf-8"))
    texts = {one["document_id"]: one["text"] for one in data["documents"]}
    shown = {one["task_id"]: [texts[two["document_id"]] for two in one["contexts"]] for one in data["tasks"]}
    people: list[float] = []
    columns: dict[str, list[float]] = {}
    one_person, others = [], []
    for row in data["evaluations"]:
        evidence = shown[row["task_id"]]
        ratings = [float(one["value"]) for _, one in sorted(row["annotations"]["faithfulness"].items())]
        if not evidence or not ratings:
            continue
        people.append(statistics.fmean(ratings))
        own = {"lexical": score(CHECKED, row["model_response"], evidence),
               "lexical, overlap only, by sentence": _by_sentence(BARE, row["model_response"], evidence),
               "lexical, by sentence": _by_sentence(CHECKED, row["model_response"], evidence)}  # fmt: skip
        for name, found in row["annotations"].items():
            value = (found.get("system") or found.get("composite") or {}).get("value")
            if value is not None:
                own[f"{name} (in the file)"] = float(value)
        for name, value in own.items():
            columns.setdefault(name, []).append(value)
        if len(ratings) > 1:
            one_person.append(ratings[0])
            others.append(statistics.fmean(ratings[1:]))
    yield "## MTRAG, faithfulness"
    yield ""
    yield f"{len(people)} responses with contexts, mean of people's ratings 1 to 4. A prototype had 0.653."
    yield ""
    yield "| score | Spearman | AUC, mean below 3 |"
    yield "|---|---|---|"
    yield f"| one person against the others | {spearman(one_person, others):.3f} | |"
    for name, values in columns.items():
        if len(values) == len(people):
            yield f"| {name} | {spearman(values, people):.3f} | {auc([one >= 3 for one in people], values):.3f} |"
    yield ""


def _by_sentence(judge: Any, answer: str, evidence: list[str]) -> float:
    from ragassay.claims import split

    parts = [answer[one.start : one.end] for one in split(answer) if one.kind == "claim"] or [answer]
    return statistics.fmean(score(judge, one, evidence) for one in parts)


def ragchecker() -> Iterator[str]:
    """RAGChecker's pairs: the difference of two answers against both annotators."""
    rows = json.loads((DATA / "ragchecker" / "human_labeled_data.json").read_text("utf-8"))
    theirs = json.loads((DATA / "ragchecker" / "baseline_ragchecker.json").read_text("utf-8"))
    by_pair = {one["instance_id"]: one for one in theirs}
    yield "## RAGChecker, pairs of answers"
    yield ""
    yield "Spearman of the difference of two answers' scores with the label -2 to 2: each annotator, and their mean."
    yield ""
    yield "| label | score | first | second | mean |"
    yield "|---|---|---|---|---|"
    pairs = [(rows[at], rows[at + 1]) for at in range(0, len(rows), 2)]
    ours = [_correct(one, "model2") - _correct(one, "model1") for one, _ in pairs]
    for label in ("correctness_label", "completeness_label", "overall_label"):
        people = [[float(one[label]) for one in each] for each in zip(*pairs, strict=True)]
        mean = [statistics.fmean(each) for each in zip(*people, strict=True)]
        rival = [_theirs(by_pair[one["instance_id"]], label) for one, _ in pairs]
        yield f"| {label} | people with each other | {spearman(*people):.3f} | | |"
        for name, values in (("lexical", ours), ("RAGChecker", rival)):
            shown = " | ".join(f"{spearman(values, each):.3f}" for each in (*people, mean))
            yield f"| {label} | {name} | {shown} |"
    yield ""


def _theirs(row: dict[str, Any], label: str) -> float:
    return float(row["model2"]["ragchecker"][label] - row["model1"]["ragchecker"][label])


def _correct(row: dict[str, Any], model: str) -> float:
    answer = row[model]["response"]
    asked = Item(
        "q", 0, "answer", "correctness", "correctness/1", answer, row["query"], answer, (), (row["gt_answer"],)
    )
    return CHECKED.judge([asked])[0].score or 0.0


def main() -> int:
    """The tables, printed and written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a Markdown file; what stands above its line `<!-- tables -->` stays")
    given = parser.parse_args()
    lines = [f"> {CANNOT_SEE}", "", *contradictions()]
    if DATA.is_dir():
        embedder = None
        try:
            from ragassay.run.systems.pipeline.embedders import embedder as made

            embedder = made("minilm")
        except Exception as error:
            print(f"without the semantic judge: {error}", file=sys.stderr)
        lines += [*wice(embedder), *mtrag(), *ragchecker(), *llmjudge(DATA / "llmjudge")]
    else:
        print(f"no data sets in {DATA}: PEOPLE_DATA names their folder", file=sys.stderr)
    put_out(lines, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
