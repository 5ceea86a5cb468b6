"""`make judge-demo` with scripted models: a weak one is refused by the gate, a good one is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from trials.scripted_models import Seen, honest, served


def always_yes(seen: Seen) -> dict[str, Any]:
    """Everything is supported, with a quote that stands there."""
    quotes = {"quotes": [seen.evidence[0][:60]]} if seen.quoted else {}
    return {"verdicts": [{"item": one, "reason": "so", **quotes, "verdict": seen.labels[0]} for one in seen.items]}


def test_of_scripted_models_the_weak_one_is_refused_and_the_good_one_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "local_model"))
    import judge

    items = judge.claims(40)
    assert [one.own for one in items] == [True, False] * 20
    assert all((one.text in {x.text for x in items if x is not one}) == (not one.own) for one in items[1::2])
    truth = {one.text + one.case["query"]: one.own for one in items}

    def knows(seen: Seen) -> dict[str, Any]:
        (text,) = seen.items.values()
        own = truth.get(text + seen.parts["question"])
        if own is None:
            return honest(seen)
        return always_yes(seen) if own else {
            "verdicts": [{"item": one, "reason": "no", "quotes": [], "verdict": seen.labels[1]} for one in seen.items]
        }  # fmt: skip

    said = {}
    for name, answer in (("weak", always_yes), ("good", knows)):
        with served(answer) as (url, model):
            judge.write(items, tmp_path / name, url=url, name="scripted", tokens=240)
            passed = judge.judged(tmp_path / name)
        assert all(one.schema is not None and len(one.items) == 1 for one in model.seen)
        said[name] = (passed, capsys.readouterr().out)
    assert not said["weak"][0]
    assert "Nothing was read: judge small is disqualified" in said["weak"][1]
    assert "Nothing was read" not in said["good"][1], said["good"][1]
    assert "controls judged rightly" in said["good"][1]
