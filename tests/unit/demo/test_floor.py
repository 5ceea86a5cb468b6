"""The trade-off of the reference pipeline's evidence floor that docs/systems.md prints, counted again."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from ragassay.cli.demo import demo_workspace
from ragassay.cli.workspace import cases_of, get_ready
from ragassay.run.contract import Request

ROOT = Path(__file__).resolve().parents[3]


def test_the_table_of_floors_is_what_the_demo_gives(tmp_path: Path) -> None:
    workspace = demo_workspace(tmp_path)
    system = get_ready(workspace).system
    asked = [one for one in cases_of(workspace) if one.class_ in ("answerable", "unanswerable")]

    async def confidences() -> list[float]:
        found = []
        for case in asked:
            history = case.conversation.history if case.conversation else ()
            request = Request(
                query_id=case.query_id, query=case.query, history=history, principal=case.principal,
                as_of="2026-06-01T00:00:00Z", seed=0, top_k=20,
            )  # fmt: skip
            found.append((await system.ask(request))["retrieval"]["confidence"])
        return found

    told = list(zip(asked, asyncio.run(confidences()), strict=True))
    rows = re.findall(
        r"^\| (0\.\d) \| (\d+) of (\d+) \| (\d+) of (\d+) \|$", (ROOT / "docs" / "systems.md").read_text("utf-8"), re.M
    )
    assert len(rows) == 4
    for floor, *counts in rows:
        refused = [value < float(floor) for case, value in told if case.class_ == "answerable"]
        answered = [value >= float(floor) for case, value in told if case.class_ == "unanswerable"]
        assert [int(one) for one in counts] == [sum(refused), len(refused), sum(answered), len(answered)]
