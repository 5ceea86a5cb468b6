"""What an OpenAI-compatible chat endpoint returns, at once or as a stream, in the contract's form. Prompts nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragassay.records.canonical import SAFE_INTEGER
from ragassay.records.trace import Failure
from ragassay.run.systems.http import HttpSystem

TRANSPORT = ("headers", "retries", "retry_on", "max_wait_s", "max_bytes", "use_proxy_settings", "endpoint")
"""What of `HttpSystem` may be declared about a chat endpoint."""
_TOKEN = re.compile(rb'"content"\s*:\s*"[^"]')
_TAIL_BYTES = 256 * 1024
"""So much of the end of a stream is looked at for the first token."""
_BREAKS = re.compile(r"\r\n|\n|\r")
_TOOLS = ("tool_calls", "function_call")
"""Where a message asks for tools, in today's form and in the one before it; and the reasons to finish that say so."""
Read = tuple[Any, Failure | None, str | None]


class Completions(HttpSystem):
    """A `/v1/chat/completions` endpoint. The value of a reply: answer, usage, versions, first_token_ms.

    `versions` are the model and system_fingerprint that the reply names. A refusal of the model (`message.refusal`) is
    an answer whose outcome is abstained, by the endpoint's own word. A stream that ends without a finish_reason and
    without [DONE] is a failure, whatever came before; so is a reply that asks for tools, whatever else it says.
    """

    def __init__(self, url: str, *, stream: bool = False, **transport: Any) -> None:
        super().__init__(url, **transport)
        self.stream = stream
        if stream:
            self.accept, self.piece_bytes = "text/event-stream", None

    def is_token(self, body: bytes) -> bool:
        """Whether a content that is not empty has begun."""
        return self.stream and _TOKEN.search(body[-_TAIL_BYTES:]) is not None

    def read(self, body: bytes, first_token_ms: float | None) -> Read:
        """The value of a complete body: one object, or the events of a stream."""
        text = body.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        if self.stream and not text.lstrip().startswith("{"):
            return self._read_stream(text, first_token_ms)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as cause:
            return _invalid("json", f"the body is not JSON: {cause}")
        if not isinstance(found, Mapping) or "choices" not in found:
            return (
                _error(found) if isinstance(found, Mapping) and "error" in found else _invalid("choices", "no choices")
            )
        choice = _first(found["choices"])
        message = choice.get("message") if choice else None
        if choice is None or not isinstance(message, Mapping):
            return _invalid("choices", "the first choice has no message")
        return _made(found, message, choice.get("finish_reason"), None)

    def _read_stream(self, text: str, first_token_ms: float | None) -> Read:
        parts: dict[str, list[str]] = {"content": [], "refusal": []}
        said: dict[str, Any] = {}
        finish: Any = None
        done = False
        tools: dict[str, Any] = {}
        for data in _events(text):
            if data == "[DONE]":
                done = True
                break
            try:
                event = json.loads(data)
            except (ValueError, RecursionError) as cause:
                return _invalid("json", f"an event of the stream is not JSON: {cause}")
            if not isinstance(event, Mapping):
                return _invalid("json", "an event of the stream is not an object")
            if event.get("error") is not None:
                return _error(event)
            said |= {
                key: one for key in ("model", "usage", "system_fingerprint") if (one := event.get(key)) is not None
            }
            choice = _first(event.get("choices")) or {}
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta")
            if not isinstance(delta, Mapping):
                continue
            tools |= {key: one for key in _TOOLS if (one := delta.get(key))}
            for key, texts in parts.items():
                if isinstance(delta.get(key), str):
                    texts.append(delta[key])
        if not done and finish is None:
            return None, Failure(cause="connection", code="stream_ended"), "the stream ended before the answer did"
        message = tools | {key: "".join(texts) if texts else None for key, texts in parts.items()}
        return _made(said, message, finish, first_token_ms)


def _events(text: str) -> Iterator[str]:
    """The data of each server-sent event; comments and other fields are not read."""
    data: list[str] = []
    for line in _BREAKS.split(text):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


def _made(found: Mapping[str, Any], message: Mapping[str, Any], finish: Any, first_token_ms: float | None) -> Read:
    if finish in _TOOLS or any(message.get(key) for key in _TOOLS):
        return _invalid("tools", "the reply asks for tools; none were offered, and nobody runs them")
    text, refusal = _text(message.get("content")), message.get("refusal")
    if text is None and isinstance(refusal, str):
        text = refusal
    else:
        refusal = None
    if text is None:
        return _invalid("content", "the message has no content")
    answer: dict[str, Any] = {"text": text}
    if isinstance(finish, str):
        answer["finish_reason"] = finish
    if refusal is not None:
        answer["outcome"] = "abstained"
    value: dict[str, Any] = {"answer": answer}
    versions = {key: str(found[key]) for key in ("model", "system_fingerprint") if found.get(key)}
    usage = found.get("usage")
    if versions:
        value["versions"] = versions
    if isinstance(usage, Mapping):
        tokens = {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")}
        value["usage"] = {key: one for key, one in tokens.items() if _is_count(one)} or None
    if first_token_ms is not None:
        value["first_token_ms"] = first_token_ms
    return {key: one for key, one in value.items() if one is not None}, None, None


def _is_count(value: Any) -> bool:
    """Whether it can be a number of tokens: one that cannot was not reported."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < SAFE_INTEGER


def _text(content: Any) -> str | None:
    """The text of a message, which may be a list of parts."""
    if isinstance(content, list):
        texts = [one["text"] for one in content if isinstance(one, Mapping) and isinstance(one.get("text"), str)]
        return "".join(texts) if texts else None
    return content if isinstance(content, str) else None


def _first(choices: Any) -> Mapping[str, Any] | None:
    one = choices[0] if isinstance(choices, list) and choices else None
    return one if isinstance(one, Mapping) else None


def _error(found: Mapping[str, Any]) -> Read:
    error = found["error"]
    said = error.get("message") if isinstance(error, Mapping) else error
    return _invalid("error", f"the endpoint reports an error: {str(said)[:1000]}")


def _invalid(code: str, detail: str) -> Read:
    return None, Failure(cause="invalid_response", code=code), detail
