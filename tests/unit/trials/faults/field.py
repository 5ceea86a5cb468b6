"""Three regressions that teams met in the field, each as two systems: before, and after the change that broke it.

Sixty valves are described, each in a document with an older version that names another pressure. Sixty questions can
be answered from them, forty ask for valves that nobody described.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ragassay import benchmark
from ragassay.assay import Plan, freeze_corpus, measure, perform, seal
from ragassay.gate.policy_file import read_policy
from ragassay.records.base import Digest
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.document import Document
from ragassay.records.policy import Policy
from ragassay.records.score import Observation, ScoreTable
from ragassay.run.systems.python import PythonSystem
from ragassay.store import Store

VALVES, UNKNOWN = 60, 40
AS_OF = "2026-08-01T00:00:00Z"
REFUSAL = "The documents do not say."
MEASURES = (
    "exact_match", "token_f1", "recall(rel=2)@5", "stale_in_context", "false_refusal", "answerability_coverage",
    "abstention_rate", "unsupported_answer",
)  # fmt: skip
MEAN_ONLY = """
[policy]
name = "a mean of correctness"
variation = ["system"]
[[policy.rules]]
measure = "exact_match"
margin = 0.1
"""
FIELD = (
    MEAN_ONLY
    + """
[[policy.rules]]
measure = "stale_in_context"
margin = 0.1
[[policy.rules]]
measure = "false_refusal"
margin = 0.1
[[policy.rules]]
measure = "unsupported_answer"
class = "unanswerable"
margin = 0.1
"""
)
Reply = dict[str, Any]


class Told(NamedTuple):
    """What a system does with one question."""

    right: bool
    refuses: bool
    stale: bool = False


def before(number: int, known: bool) -> Told:
    """Every fifth answer is wrong; of what nobody described every tenth question is answered all the same."""
    return Told(right=number % 5 != 0, refuses=not known and number % 10 != 0)


def poisoned(number: int, known: bool) -> Told:
    """More context: the right document, and the older version of it beside it. A few more answers are right."""
    told = before(number, known)
    return told._replace(stale=True, right=told.right or number % 10 == 0)


def shy(number: int, known: bool) -> Told:
    """What it is not sure of it declines: all that was wrong, and as much again that was right."""
    told = before(number, known)
    return told._replace(refuses=told.refuses or number % 5 in (0, 1))


def bold(number: int, known: bool) -> Told:
    """It always answers. A few more answers are right."""
    told = before(number, known)
    return told._replace(refuses=False, right=told.right or number % 10 == 0)


AFTER: Mapping[str, Callable[[int, bool], Told]] = {
    "context poisoning": poisoned, "silent refusal": shy, "confident answers on unanswerable questions": bold,
}  # fmt: skip


def documents() -> list[Document]:
    """The valves, in two versions each."""
    made = []
    for number in range(VALVES):
        for version, bar, until in (("2", 100 + number, None), ("1", 300 + number, "2026-01-01T00:00:00Z")):
            made.append(
                Document(
                    document_id=f"valve-{number:02}", version=version, text=f"Valve {number} opens at {bar} bar.",
                    parser="text/1", normaliser="none/1", tenants=("*",), valid_until=until,
                )  # type: ignore[arg-type]
            )  # fmt: skip
    return made


def cases() -> list[CaseLine]:
    """The questions."""
    made = []
    for number in range(VALVES + UNKNOWN):
        case: dict[str, Any] = {"query_id": f"q-{number:03}", "query": f"At what pressure does valve {number} open?"}
        if number < VALVES:
            case |= {
                "class": "answerable", "answers": [{"text": f"{100 + number} bar"}],
                "evidence": [{"id": "e", "document_id": f"valve-{number:02}", "version": "2", "grade": 3}],
            }  # fmt: skip
        else:
            case |= {"class": "unanswerable", "answerable": "no", "evidence": []}
        made.append(parse_value(CaseLine, case))
    return made


def system(name: str, does: Callable[[int, bool], Told]) -> PythonSystem:
    """A system that does as told."""

    def ask(request: Any) -> Reply:
        number = int(request.query_id.removeprefix("q-"))
        told, known = does(number, number < VALVES), number < VALVES
        found = number % VALVES
        context = [{"document_id": f"valve-{found:02}", "version": "2"}]
        if told.stale:
            context.append({"document_id": f"valve-{found:02}", "version": "1"})
        if told.refuses:
            return {"answer": {"text": REFUSAL, "outcome": "abstained"}, "contexts": context}
        bar = 100 + found if told.right and known else 300 + found
        return {"answer": {"text": f"{bar} bar", "outcome": "answered"}, "contexts": context}

    return PythonSystem(ask, name=name)


class Field:
    """One store with the runs of before and after, under one policy or another."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, Store.open(folder / "store", create=True)
        self.frozen = freeze_corpus(self.store, documents(), name="valves", chunker="sentences", window=1, stride=1)
        self.built = benchmark.build(
            self.store, cases(), self.frozen.corpus, self.frozen.documents, name="valves", version="1", as_of=AS_OF
        )  # type: ignore[arg-type]

    def policy(self, text: str) -> Policy:
        """A policy as a user writes it."""
        path = self.folder / "policy.toml"
        path.write_text(text, "utf-8")
        return read_policy(path)

    def run(self, name: str, does: Callable[[int, bool], Told], policy: Policy) -> tuple[Digest, Digest]:
        """The score table of a run, and the policy that was sealed with it."""
        plan = Plan(as_of=AS_OF, name=name.replace(" ", "-"), measures=MEASURES, policy=policy)
        made = system("valves", does)
        sealed = seal(self.store, plan, self.frozen, self.built, made.identity)
        _, run = asyncio.run(perform(self.store, plan, sealed, made))
        return measure(self.store, run, sealed.protocol.scoring, name=plan.name), sealed.protocol.policy

    def pooled(self, scores: Digest, measure: str = "exact_match") -> float:
        """The mean of everything that has a value, whatever its class: what tools print that drop the rest."""
        table = self.store.get_record(ScoreTable, scores)
        rows = [one for one in self.store.get_lines(Observation, table.observations) if one.measure == measure]
        values = [one.value for one in rows if one.value is not None]
        return sum(values) / len(values)
