"""What must not be stored is gone before anything is hashed; the digest says which transform ran."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import UsageError
from ragassay.records.canonical import digest_bytes
from ragassay.redact import MAX_TEXT, Redaction
from ragassay.redact.patterns import nested_repeat

CARD = Redaction(patterns={"card": r"\b\d{16}\b", "mail": r"[\w.]+@[\w.]+"})
NUMBER = "1234567812345678"


def test_text() -> None:
    text, counts = CARD.text(f"pay {NUMBER} or {NUMBER}, write to a.b@c.de")
    assert text == "pay [redacted:card] or [redacted:card], write to [redacted:mail]"
    assert counts == {"card": 2, "mail": 1}
    assert CARD.text("nothing") == ("nothing", {})
    assert CARD.text("") == ("", {})
    assert Redaction().text(NUMBER) == (NUMBER, {})


@pytest.mark.parametrize(
    "name",
    [
        "Authorization", "AUTHORIZATION", "authorization", " Authorization ", "Proxy-Authorization", "Cookie",
        "Set-Cookie", "X-API-Key", "x-api-key", "Api-Key", "X-Auth-Token", "X-Amz-Security-Token",
    ],
)  # fmt: skip
def test_credential_headers_always_go(name: str) -> None:
    assert Redaction().headers({name: "secret", "Content-Type": "text/plain"}) == {"Content-Type": "text/plain"}


def test_declared_headers_go_and_the_others_are_redacted_as_text() -> None:
    redaction = Redaction(headers=["X-Customer"], patterns={"card": r"\d{16}"})
    given = {"x-customer": "c", "X-Note": f"paid by {NUMBER}", "Accept": "*/*"}
    assert redaction.headers(given) == {"X-Note": "paid by [redacted:card]", "Accept": "*/*"}


@pytest.mark.parametrize(
    "key",
    [
        "authorization", "Authorization", "api_key", "apiKey", "api-key", "API_KEY", "password", "token", "secret",
        "access_token", "refreshToken", "client_secret", "set-cookie", "private_key", "X-Api-Key", "session.token",
    ],
)  # fmt: skip
@pytest.mark.parametrize("secret", ["hush", 12345, 1.5, ["hush"], {"inner": "hush"}])
def test_values_under_credential_keys_go_as_a_whole(key: str, secret: Any) -> None:
    value, counts = Redaction().value({"debug": [{key: secret, "kept": 1}]})
    assert value == {"debug": [{key: "[redacted:credential]", "kept": 1}]}
    assert counts == {"credential": 1}
    assert "hush" not in json.dumps(value)


@pytest.mark.parametrize("harmless", [None, True, False, "", [], {}])
def test_what_tells_nothing_stays(harmless: Any) -> None:
    assert Redaction().value({"token": harmless}) == ({"token": harmless}, {})


@pytest.mark.parametrize("key", ["tokens", "input_tokens", "secretary", "monkey", "author", "key", "passage"])
def test_other_keys_stay(key: str) -> None:
    assert Redaction().value({key: "text"}) == ({key: "text"}, {})


def test_values_are_redacted_at_every_depth_and_the_argument_is_left_alone() -> None:
    given = {"a": [{"b": (f"x {NUMBER}", 3, 2.5, None, True)}], NUMBER: 1, "9" * 16: 2}
    before = json.dumps(given)
    value, counts = CARD.value(given)
    assert value == {
        "a": [{"b": ["x [redacted:card]", 3, 2.5, None, True]}],
        "[redacted:card]": 1,
        "[redacted:card]#2": 2,
    }
    assert counts == {"card": 3}
    assert json.dumps(given) == before
    assert CARD.value("plain") == ("plain", {})
    assert CARD.value(7) == (7, {})


def test_declared_header_names_are_credential_keys_too() -> None:
    assert Redaction(headers=["X-Customer"]).value({"x-customer": "c"})[0] == {"x-customer": "[redacted:credential]"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.text(max_size=10), st.text(max_size=10))
def test_a_secret_never_survives_wherever_it_stands(value: Any, before: str, after: str) -> None:
    secret = "sk-0123456789abcdef"
    redaction = Redaction(patterns={"key": r"sk-[0-9a-f]{16}"}, detect=())
    nested = {"v": value, before + secret + after: [before + secret + after, {"authorization": secret}]}
    redacted, counts = redaction.value(nested)
    assert secret not in json.dumps(redacted, ensure_ascii=False)
    assert counts["key"] >= 2
    assert counts["credential"] >= 1
    assert redaction.value(redacted)[1].get("key") is None


@given(JSON)
def test_without_secrets_nothing_changes(value: Any) -> None:
    redaction = Redaction(patterns={"key": r"sk-[0-9a-f]{40}"})
    if "credential" not in redaction.value(value)[1]:
        assert redaction.value(value) == (value, {})


def test_the_digest_says_what_is_done() -> None:
    assert Redaction().digest == Redaction(headers=["authorization"], patterns={}).digest
    same = Redaction(headers=("B", "a"), patterns={"x": "1", "y": "2"})
    assert same.digest == Redaction(headers=["A", "b "], patterns={"y": "2", "x": "1"}).digest
    assert same == Redaction(headers=["A", "b "], patterns={"y": "2", "x": "1"})
    others = [
        Redaction(),
        Redaction(headers=["a"]),
        Redaction(patterns={"x": "1"}),
        Redaction(patterns={"x": "2"}),
        same,
    ]
    assert len({one.digest for one in others}) == len(set(others)) == 5
    assert digest_bytes(same.declaration()) == same.digest
    assert json.loads(same.declaration())["patterns"] == {"x": "1", "y": "2"}


def test_it_is_frozen() -> None:
    with pytest.raises(AttributeError):
        CARD.digest = "x"  # type: ignore[misc, assignment]
    given = {"x": "1"}
    redaction = Redaction(patterns=given)
    given["x"] = "2"
    assert redaction.text("12")[0] == "[redacted:x]2"


def test_patterns_run_in_the_order_of_their_names() -> None:
    assert Redaction(patterns={"b": "ab", "a": "a"}).text("ab") == ("[redacted:a]b", {"a": 1})


@pytest.mark.parametrize(
    "pattern, message",
    [
        ("(", "not a regular expression"),
        ("[a", "not a regular expression"),
        ("", "empty"),
        ("a*", "empty"),
        ("a?", "empty"),
        ("x|", "empty"),
        (r"\b", "empty"),
        (r"(?=a)", "empty"),
        ("^", "empty"),
        ("a" * 1001, "1,001 characters"),
        ("(a+)+b", "for ever"),
        ("(?:[a-z]*)*x", "for ever"),
        (r"((\d+)-?)+$", "for ever"),
        ("(a{2,})+b", "for ever"),
    ],
)
def test_patterns_that_cannot_be_used_are_refused(pattern: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Redaction(patterns={"bad": pattern})
    assert caught.value.field == "redact.patterns.bad"
    assert caught.value.hint


@pytest.mark.parametrize("name", ["", "a b", "x]", "credential", "too_long", "ü", "a" * 65])
def test_names_that_cannot_be_used_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        Redaction(patterns={name: "x"})


def test_one_text_is_no_list_of_headers() -> None:
    with pytest.raises(UsageError):
        Redaction(headers="x-secret")


@pytest.mark.parametrize(
    "pattern", [r"[+*]+", r"(\+\*)+x", "([)+]x)+", r"(?:\d{4}-?){4}", "a+b+", "([]+*]x)+", "(a+){1,5}", "((ab))+"]
)
def test_safe_patterns_are_not_taken_for_nested_ones(pattern: str) -> None:
    assert not nested_repeat(pattern)


def test_a_text_that_is_too_long_goes_as_a_whole() -> None:
    redaction = Redaction(patterns={"x": "x+"})
    assert redaction.text("a" * (MAX_TEXT + 1)) == ("[redacted:too_long]", {"too_long": 1})
    assert Redaction(detect=()).text("a" * (MAX_TEXT + 1))[1] == {}


def test_a_value_that_is_too_deep_is_cut_off() -> None:
    deep: Any = "secret"
    for _ in range(5000):
        deep = [deep]
    value, counts = Redaction().value(deep)
    assert counts == {"too_long": 1}
    assert "secret" not in str(value)
