"""No credential of a probe is in any artefact: store, journals, outputs, scorecard, decision, exported evidence."""

from __future__ import annotations

import base64
import zipfile
from pathlib import Path
from typing import Any

from tests.unit.gate.project import POLICY, Project
from tests.unit.gate.test_probed import DEMAND, KEY, probe_section
from tests.unit.probe.service import OPERATOR, SECRET, serving
from tests.unit.probe.test_safety import Echo, everything_below
from trials.scripted_models import served


def always_nothing(seen: Any) -> dict[str, Any]:
    return {"verdicts": [{"item": one, "reason": "none", "quotes": [], "verdict": "unsupported"} for one in seen.items]}


def test_what_was_sent_in_secret_is_nowhere_afterwards(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PROBE_OPERATOR", OPERATOR)
    monkeypatch.setenv("RAGASSAY_PROBE_KEY", KEY)
    monkeypatch.setenv("READER_KEY", "sk-reader-0123456789abcdef")
    (tmp_path / "rules.sql").write_text("enable row level security")
    service, told = Echo(), []
    with serving(service) as url, served(always_nothing) as (judge, model):
        reader = (
            f'[probe.judge]\nurl = "{judge}"\nmodel = "m"\n'
            'headers = { Authorization = { env = "READER_KEY", prefix = "Bearer " } }\n[probe.endpoints]'
        )
        section = probe_section(url).replace("[probe.endpoints]", reader)
        project = Project(tmp_path, capsys, policy=POLICY + DEMAND + section)
        page, decision, evidence = (str(tmp_path / one) for one in ("report", "gate.md", "evidence.zip"))
        for command in (
            ("probe", "plan"), ("probe", "run"), ("probe", "advise"), ("probe", "report", "--json"),
            ("probe", "planted"), ("run",), ("score",), ("gate", "--json", "--md", decision),
            ("report", "latest", "--out", page), ("export", evidence), ("explain", "latest", "--question", "q1"),
        ):  # fmt: skip
            code, out, err = project.do(*command)
            told.append(f"{command} {code}\n{out}\n{err}")
    assert model.seen, "the reader was asked"
    (tmp_path / "told.txt").write_text("\n".join(told))
    assert (tmp_path / "report" / "scorecard.html").exists(), told
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(tmp_path / "evidence.zip") as archive:
        archive.extractall(unpacked)
    sent = {value.removeprefix("Bearer ") for _, headers, _ in service.asked for name, value in headers
            if name.lower() in ("authorization", "x-operator")}  # fmt: skip
    sent = {one for one in sent if len(one) > 12 and set(one) != {"A"}} | {"sk-reader-0123456789abcdef"}
    assert len(sent) > 10
    data = everything_below(tmp_path)
    assert b"redacted" in data
    assert b"invented fact away" in data, "the advice is in what was written"
    for secret in (*sent, SECRET.decode(), KEY):
        for part in {secret, *secret.split(".")}:
            if len(part) >= 12:
                assert part.encode() not in data, part
                assert base64.b64encode(part.encode()).rstrip(b"=") not in data
