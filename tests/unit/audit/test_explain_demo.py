"""Ten questions of the demo explained: `sha256sum` gives each hop's digest for the bytes that the hop names."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest
import zstandard

from ragassay.cli import exit_code_of


def sha256sum(data: bytes) -> str:
    printed = subprocess.run(["sha256sum"], input=data, capture_output=True, check=True).stdout
    return "sha256:" + printed.decode().split()[0]


def test_every_digest_of_ten_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(["demo", "--out", str(tmp_path)]) == 0
    store = tmp_path / "store"
    capsys.readouterr()
    blobs: dict[str, list[bytes]] = {}
    seen: set[str] = set()
    cases = Path(__file__).resolve().parents[3] / "src/ragassay/demo/data/cases.jsonl"
    asked = [json.loads(line) for line in cases.read_text("utf-8").splitlines()[::35]][:10]
    assert len(asked) == 10
    for case in asked:
        query_id = case.get("query_id") or case["queryId"]
        assert exit_code_of(["explain", "demo", query_id, "--store", str(store), "--json"]) == 0
        hops = json.loads(capsys.readouterr().out)
        seen |= {one["what"] for one in hops}
        for hop in hops:
            hex_ = hop["blob"].removeprefix("sha256:")
            if hop["blob"] not in blobs:
                data = (store / "blobs" / "sha256" / hex_[:2] / hex_).read_bytes()
                assert sha256sum(data) == hop["blob"]
                if hop["line"] is not None:
                    plain = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
                    blobs[hop["blob"]] = plain.split(b"\n")
            if hop["line"] is None:
                assert hop["digest"] == hop["blob"]
            else:
                assert sha256sum(blobs[hop["blob"]][hop["line"] - 1]) == hop["digest"], hop
    assert {"score", "question and labels", "trace", "step", "run", "passage", "document"} <= seen
