"""A project with a system of which the test decides what it answers, driven through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragassay.cli import exit_code_of

SETTINGS = """
[corpus]
documents = "documents.jsonl"
default_tenants = ["*"]
[benchmark]
cases = "cases.jsonl"
completeness = "complete"
[system]
kind = "python"
callable = "{module}:answer"
[run]
as_of = "2026-08-01"
max_error_rate = 1.0
[scoring]
measures = [{measures}]
"""
MEASURES = ["recall(rel=2)@5", "fact_coverage", "false_refusal", "abstention_rate", "outcome", "latency", "error_rate"]
RECALL = 'measure = "recall(rel=2)@5"\nstep = "context"\n'
FLOOR = f"[[policy.rules]]\n{RECALL}at_least = 0.8\n"
POLICY = f'[policy]\nname = "release"\n{FLOOR}'
GOOD = """
def answer(request):
    number = request.query_id[1:]
    if int(number) >= 1000:
        return {"answer": {"text": "I do not know.", "outcome": "abstained"}, "contexts": []}
    return {"answer": {"text": f"word{number}", "outcome": "answered"},
            "contexts": [{"document_id": f"d{number}", "text": f"The answer is word{number}."}]}
"""


class Project:
    """Thirty questions, each answered by a document of its own; a folder of its own; the commands."""

    def __init__(
        self,
        folder: Path,
        capsys: Any,
        *,
        system: str = GOOD,
        policy: str = POLICY,
        size: int = 30,
        each: dict[str, Any] | None = None,
        measures: list[str] | None = None,
    ) -> None:
        self.folder, self.capsys = folder, capsys
        self.measures = MEASURES if measures is None else measures
        self.lines("documents.jsonl", [
            {"document_id": f"d{one}", "version": "1", "text": f"The answer is word{one}."} for one in range(size)
        ])  # fmt: skip
        self.cases([self.case(one, **(each or {})) for one in range(size)])
        self.system(system)
        self.policy(policy)

    @staticmethod
    def case(number: int, **more: Any) -> dict[str, Any]:
        """One question with its evidence."""
        evidence = [{"id": "e", "document_id": f"d{number}", "grade": 3, "quote": f"word{number}"}]
        made = {
            "query_id": f"q{number}", "query": f"What is {number}?", "evidence": evidence,
            "facts": [{"id": "f", "any_of": [["e"]]}], **more,
        }  # fmt: skip
        return {key: value for key, value in made.items() if value is not None}

    def lines(self, name: str, rows: list[dict[str, Any]]) -> None:
        """A file of JSON lines."""
        (self.folder / name).write_text("".join(json.dumps(one) + "\n" for one in rows))

    def cases(self, rows: list[dict[str, Any]]) -> None:
        """The questions."""
        self.lines("cases.jsonl", rows)

    def system(self, text: str) -> None:
        """What answers; each text is a module of its own, since Python keeps modules."""
        self.module = f"sut_{abs(hash((str(self.folder), text)))}"
        (self.folder / f"{self.module}.py").write_text(text)

    def policy(self, text: str) -> None:
        """The settings with this policy."""
        self.said = text
        self.settings()

    def settings(self, **replaced: str) -> None:
        """The settings file as it is now; `replaced`: text instead of text."""
        text = SETTINGS.format(module=self.module, measures=", ".join(f'"{one}"' for one in self.measures))
        for key, value in replaced.items():
            text = text.replace(key, value)
        (self.folder / "ragassay.toml").write_text(text + self.said)

    def do(self, *words: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of one command."""
        self.capsys.readouterr()
        config = () if "--help" in words else ("--config", str(self.folder / "ragassay.toml"))
        code = exit_code_of([*words, *config])
        told = self.capsys.readouterr()
        assert "Traceback" not in told.err
        return code, told.out, told.err

    def run(self, name: str = "candidate") -> None:
        """Ask and score."""
        self.settings()
        code, out, err = self.do("run", "--name", name)
        assert code == 0, out + err
        code, out, err = self.do("score", name)
        assert code == 0, out + err

    def gate(self, *words: str, as_of: bool = True) -> tuple[int, dict[str, Any]]:
        """The exit code and the decision."""
        code, out, err = self.do("gate", *words, "--json", *(("--as-of", "2099-01-01") if as_of else ()))
        return code, json.loads(out) if out.startswith("{") else {"error": err}

    def reasons(self, decision: dict[str, Any]) -> set[str]:
        """All reason codes of a decision."""
        return {reason for one in decision["results"] for reason in one.get("reasons", ())}
