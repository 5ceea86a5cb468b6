"""A small sealed run with answers, made without asking anybody, and what judges of tests are built of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
from tests.unit.run.small import Small, document

from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.judgement import JudgeIdentity, Judgement, JudgementSet
from ragassay.run import execute
from ragassay.run.judges.contract import Item, Verdict
from ragassay.run.judges.executing import judge
from ragassay.run.judges.settings import judge_settings
from ragassay.run.systems.python import PythonSystem
from ragassay.store import Store

TEXTS = {
    "ferry": "The ferry leaves at 07:40 on weekdays. The crossing takes 55 minutes.",
    "price": "A day return costs 18 euros for an adult. Children travel free of charge.",
    "kiln": "Kiln 3 is fired to 1240 degrees. It is held there for 20 minutes.",
}
ANSWER = "The ferry leaves at 07:40 on weekdays [1]. A day return costs 18 euros [2]."


class RunWorld:
    """A store with a sealed run of `questions` questions, each answered with `answer` from all three documents."""

    def __init__(self, folder: Path, *, questions: int = 3, answer: Callable[[str], Any] | None = None,
                 texts: dict[str, str] | None = None, seed: int = 7) -> None:  # fmt: skip
        made = [document(key, text, title=f"About {key}") for key, text in (texts or TEXTS).items()]
        self.small = Small(folder, documents=made)
        self.store: Store = self.small.store
        first = made[0]
        lines = [
            parse_value(
                CaseLine,
                {
                    "query_id": f"q{number:03d}",
                    "query": f"When does the ferry leave, and what does it cost, number {number}?",
                    "evidence": [{"id": "e1", "document_id": first.document_id, "grade": 3, "start": 0,
                                  "end": min(30, len(first.text))}],
                    "answers": [{"text": "At 07:40 on weekdays; 18 euros for a day return."}],
                    "facts": [{"id": "f1", "any_of": [["e1"]], "text": "The ferry leaves at 07:40."}],
                },
            )
            for number in range(questions)
        ]  # fmt: skip
        self.small.build(lines)
        contexts = [{"id": f"p-{one.document_id}", "document_id": one.document_id, "start": 0, "end": len(one.text),
                     "text": one.text, "score": 0.9} for one in made]  # fmt: skip

        def system(request: Any) -> Any:
            told = answer(request.query_id) if answer else ANSWER
            return {"answer": told, "contexts": contexts} if isinstance(told, str) else told

        asked = PythonSystem(system)
        protocol = self.small.seal(asked.identity, seed=seed)
        self.run, self.digest = anyio.run(lambda: execute(self.store, protocol, asked, name="judged", signals=False))

    def judge(self, evaluator: Any, *, name: str = "j", resume: bool = True, limit: int | None = None,
              **settings: Any) -> tuple[JudgementSet, str]:  # fmt: skip
        declared = judge_settings(name, {"kind": "llm", "max_error_rate": 1.0, **settings})

        async def go() -> Any:
            return await judge(self.store, self.digest, evaluator, name=name, settings=declared, limit=limit,
                               resume=resume, signals=False)  # fmt: skip

        made, digest = anyio.run(go)
        return made, digest

    def judgements(self, made: JudgementSet) -> list[Judgement]:
        return list(self.store.get_lines(Judgement, made.judgements))


class Overlap:
    """An offline evaluator of tests: supported if every word of the statement stands in the evidence."""

    about = frozenset({"claim", "citation", "fact"})

    def __init__(self, **settings: str) -> None:
        self.identity = JudgeIdentity(name="overlap", kind="lexical", settings=settings)
        self.judged = 0

    def judge(self, items: Sequence[Item]) -> list[Verdict]:
        self.judged += len(items)
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Verdict:
        texts = " ".join(one.text for one in item.evidence) or item.answer
        words = set(re.findall(r"\w+", item.statement.lower()))
        share = len(words & set(re.findall(r"\w+", texts.lower()))) / max(1, len(words))
        return Verdict("value", label="supported" if share == 1 else "unsupported", score=share)
