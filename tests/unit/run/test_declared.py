"""What is declared about an HTTP endpoint is checked before a single question is asked."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay.errors import UsageError
from ragassay.run.systems.declared import Secret
from ragassay.run.systems.http import HttpSystem

URL = "http://127.0.0.1:1/ask"


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("url", {"url": 5}),
        ("url", {"url": "nope"}),
        ("url", {"url": "ftp://a/"}),
        ("url", {"url": "http://[::1"}),
        ("url", {"url": "http://127.0.0.1:99999/"}),
        ("url", {"url": "http://127.0.0.1:x/"}),
        ("url", {"url": "http://a/\0"}),
        ("url", {"url": "http://a/ b"}),
        ("url", {"url": "http://user:secret@a/"}),
        ("method", {"method": "EVIL"}),
        ("method", {"method": 5}),
        ("headers", {"headers": "x"}),
        ("headers", {"headers": {"a\nb": "c"}}),
        ("headers", {"headers": {"": "c"}}),
        ("headers.a", {"headers": {"a": "b\r\nx: y"}}),
        ("headers.a", {"headers": {"a": 5}}),
        ("response", {"response": 3}),
        ("retries", {"retries": "3"}),
        ("retries", {"retries": -1}),
        ("max_wait_s", {"max_wait_s": float("nan")}),
        ("max_wait_s", {"max_wait_s": True}),
        ("max_bytes", {"max_bytes": 0}),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_field(field: str, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        HttpSystem(**{"url": URL, **more})
    assert caught.value.field == field
    assert caught.value.hint
    assert "secret" not in str(caught.value)


def test_what_can_be_sent_is_kept() -> None:
    system = HttpSystem(URL, method="put", headers={"X-Team": "search", "Authorization": {"env": "T"}}, max_wait_s=0)
    assert (system.url, system.method) == (URL, "PUT")
    assert system.headers == {"X-Team": "search", "Authorization": Secret(env="T")}


def test_a_secret_with_a_line_end_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "hush-hush\n")
    with pytest.raises(UsageError, match="TOKEN_OF_TEST holds a control character") as caught:
        Secret(env="TOKEN_OF_TEST").resolve()
    assert "hush" not in str(caught.value)
