"""A run of many questions in a store, judged by a judge of known errors, so that people can be held against it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import msgspec
from tests.unit.score.score_material import case, ev, item, step, trace
from tests.unit.score.test_score_table import sealed_run

from ragassay.records.base import Digest
from ragassay.records.judgement import JudgeIdentity, Judgement, JudgementSet
from ragassay.records.protocol import Envelope, Run, Stated
from ragassay.records.trace import Answer, Cost
from ragassay.run.judges.matter import Matter
from ragassay.run.judges.sealing import content_of
from ragassay.score.named import judgements_ref
from ragassay.store import Store

GOT = item("a", 0, 27)
QUESTIONS = 60


class Judged(NamedTuple):
    """A store, its run, and the truth of every claim."""

    store: Store
    run: Digest
    truth: dict[tuple[str, str], bool]
    record: JudgementSet


def judged_run(folder: Path, *, name: str = "words", formula: bool = False) -> Judged:
    """60 questions, two claims each: 75 % are true; the judge errs at 10 % of them, with scores to match."""
    rng = random.Random(5)
    store = Store.open(folder, create=True)
    known = [
        case(f"q{n:02}", evidence=(ev("e", "a", 0, 7),), class_="answerable" if n % 3 else "multi_hop")
        for n in range(QUESTIONS)
    ]
    first = "=HYPERLINK(1) starts claim one" if formula else "It is one, says the first claim of all"
    said = Answer(text=f"{first}. It is two. [1]", outcome="answered", outcome_source="system")
    seen = [
        trace(step("s", "lexical", [GOT], ()), step("assemble", "assemble", [GOT], ("s",)), query_id=one.query_id,
              answer=said, context=[GOT])
        for one in known
    ]  # fmt: skip
    blank, _ = sealed_run(store, seen, known)
    around = Envelope(
        started_at="2026-08-01T00:00:00Z", code_revision=Stated(absent="none"), python="3", platform="p", machine="m",
        cpu_count=1, packages=(), hash_seed="0", concurrency=1, resumed=0, ragassay_version="0", clock="none",
    )  # fmt: skip
    run = store.put_record(msgspec.structs.replace(store.get_record(Run, blank), envelope=store.put_record(around)))
    matter = Matter(store, run)
    truth: dict[tuple[str, str], bool] = {}
    judge = store.put_record(JudgeIdentity(name=name, kind="lexical", settings={"version": "1"}))
    made: list[Judgement] = []
    claims = [one.claims for one in matter.answers()]
    for batch in matter.batches(("claim",)):
        for one in batch.items:
            good = truth[one.query_id, one.target] = rng.random() < 0.75
            wrong = rng.random() < 0.1
            supported = good != wrong
            label = "supported" if supported else "contradicted" if rng.random() < 0.3 else "unsupported"
            score = (0.5 if supported else 0.0) + rng.random() / 2
            made.append(
                Judgement(query_id=one.query_id, repeat=0, judge=judge, about="claim", target=one.target,
                          scale="support/1", status="value", label=label, score=score,
                          cost=Cost(amount=0.5, currency="EUR"))
            )  # fmt: skip
    record = JudgementSet(
        name=name, run=store.get_record(Run, run).identity(), judge=judge, state="complete",
        claims=store.put_lines(claims), judgements=store.put_lines(made), content=content_of(claims, made),
        splitter="s", asked=len(made), valued=len(made),
    )  # fmt: skip
    store.set_ref(judgements_ref(name, record.run), store.put_record(record), kind="judgementset")
    return Judged(store, run, truth, record)
