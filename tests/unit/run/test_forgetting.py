"""What is erased is gone from journals and caches as well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.cli import main
from ragassay.records.protocol import Run
from ragassay.run.forgetting import forget
from ragassay.run.lease import Lease
from ragassay.store import Store

SECRET = "The vault opens at seven for Marguerite Oyelaran."


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert (ended.value.code or 0) == code
    found = capsys.readouterr()
    return found.out, found.err


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Store:
    monkeypatch.chdir(tmp_path)
    said(capsys, "init", ".")
    Path("answering.py").write_text(f"def answer(request):\n    return {{'answer': {SECRET!r}}}\n", "utf-8")
    text = Path("ragassay.toml").read_text("utf-8")
    own = text.replace('kind = "reference"', 'kind = "python"\ncallable = "answering:answer"')
    own = own.replace("evidence_floor = 0.2", "# evidence_floor = 0.2")
    Path("ragassay.toml").write_text(own + '\n[judges.words]\nkind = "lexical"\n', "utf-8")
    said(capsys, "run")
    said(capsys, "judge")
    return Store.open(Path(".ragassay"))


def files_with(store: Store, text: str) -> list[str]:
    return [str(one) for one in store.path.rglob("*") if one.is_file() and text.encode() in one.read_bytes()]


def test_an_erased_answer_stands_in_no_journal_and_no_cache(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert files_with(store, "Marguerite"), "the journal holds it beforehand: the test can fail"
    run = store.get_record(Run, store.resolve("latest", kind_prefix="run"))
    out, err = said(capsys, "store", "erase", run.contents, "--by", "dpo", "--reason", "asked to", "--json")
    told = json.loads(out)
    assert (told["journals"], told["unfinished"]) == (2, [])
    assert told["caches"] == 1
    assert "2 journals and 1 cache taken away too" in err
    assert not files_with(store, "Marguerite")
    said(capsys, "store", "check")


def test_a_job_that_goes_on_and_one_in_somebody_s_hands_keep_their_journals(store: Store) -> None:
    held, open_ = sorted((store.path / "journals").glob("*.journal"))
    lines = open_.read_bytes().splitlines(keepends=True)
    open_.write_bytes(b"".join(lines[:-1]))
    (store.path / "journals" / f"{open_.name}.1").write_bytes(b"".join(lines))
    lease = Lease(held.with_suffix(".lock"))
    found = forget(store)
    lease.release()
    assert set(found.unfinished) == {held.name, open_.name}
    assert found.journals == 1, "the one that was set aside"
    assert forget(store).unfinished == (open_.name,)


@pytest.mark.parametrize("end", [b"", b"\n", b"{", b"\xff\xfe\n", b'{"body":{}}\n', b"[1]\n", b'{"body":{"move":7}}\n'])
def test_a_journal_with_a_broken_end_is_of_no_finished_job(store: Store, end: bytes) -> None:
    path = min((store.path / "journals").glob("*.journal"))
    path.write_bytes(end)
    assert path.name in forget(store).unfinished
