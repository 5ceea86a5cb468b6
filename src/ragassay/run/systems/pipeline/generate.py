"""What a chat model is asked in a pipeline, and what its reply means. Searches nothing."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragassay.errors import UsageError
from ragassay.records.canonical import canonical_bytes, digest_text
from ragassay.records.case import Outcome, Turn
from ragassay.run.contract import Reply, Request
from ragassay.run.systems.completions import Completions

_OWN_KEYS = frozenset({"model", "messages", "stream", "seed", "n"})
_MOST_QUERY, _MOST_SHOWN = 2000, 300
DEFAULT_REWRITE = (
    "Rewrite the last question so that it can be searched without the conversation. Reply with the question only.\n\n"
    "$history\n\nLast question: $question"
)


class Model:
    """A chat endpoint with what is sent to it each time."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        options: Mapping[str, Any] | None = None,
        stream: bool = False,
        send_seed: bool = True,
        transport: Mapping[str, Any] | None = None,
    ) -> None:
        if forbidden := _OWN_KEYS & set(options or {}):
            raise UsageError(f"options may not set {min(forbidden)!r}", field="options", hint="it has its own key")
        self.endpoint = Completions(url, stream=stream, **(transport or {}))
        self.name, self.options, self.stream, self.send_seed = model, dict(options or {}), stream, send_seed
        self.fixed: dict[str, Any] = {}
        """Further fields of the body, by which the form of an answer is asked for."""

    async def ask(self, request: Request, messages: Sequence[Mapping[str, str]]) -> Reply:
        """The reply to these messages; its value has `answer`, and `usage`, `versions`, `first_token_ms` if known."""
        body: dict[str, Any] = {"model": self.name, "messages": list(messages), **self.options, **self.fixed}
        if self.send_seed and request.seed is not None:
            body["seed"] = request.seed
        if self.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return await self.endpoint.send(request, body)

    def to_metadata(self, prefix: str) -> dict[str, Any]:
        """What is sealed of it; no address."""
        sent = self.endpoint.identity.settings
        kept = {f"{prefix}_{key}": sent[key] for key in ("retries", "retry_on", "max_wait_s", "max_bytes", "headers")}
        return {
            f"{prefix}_model": self.name,
            f"{prefix}_options": canonical_bytes(self.options).decode(),
            f"{prefix}_stream": self.stream,
            f"{prefix}_send_seed": self.send_seed,
            **kept,
        }


class Said(NamedTuple):
    """What a reply means: its text without the marker, its outcome if it is known, and why."""

    text: str
    outcome: Outcome | None
    reason: str | None


def outcome_of(text: str, markers: Mapping[str, Outcome], usual: Outcome | None, insufficient: str) -> Said:
    """The outcome of an answer by the marker that it begins with (the longest that fits; case and marks aside).

    A marker is taken off, with white space and `: . - *` behind it. `insufficient` stands for every abstention by
    marker, whatever the model added to it, and for an answer of which nothing is left. Without a marker the outcome is
    `usual`; if that is None and there are markers, it is answered. An empty answer has no outcome.

    >>> outcome_of("NO ANSWER.", {"no answer": "abstained"}, None, "Not in the documents.")
    Said(text='Not in the documents.', outcome='abstained', reason="the marker 'no answer'")
    """
    bare = text.strip()
    plain = bare.lstrip("*_\"'[(` ")
    for marker in sorted(markers, key=lambda one: (-len(one), one)):
        wanted = marker.strip()
        after = plain[len(wanted) :]
        if plain[: len(wanted)].casefold() == wanted.casefold() and not (after[:1].isalnum() and wanted[-1].isalnum()):
            rest = after.lstrip(" \t\n:.-*_\"')]`")
            outcome = markers[marker]
            added = f"; left out: {rest[:_MOST_SHOWN]}" if rest and outcome == "abstained" else ""
            shown = insufficient if outcome == "abstained" else rest or insufficient
            return Said(shown, outcome, f"the marker {marker!r}{added}")
    if not bare:
        return Said(text, None, "an empty answer")
    return Said(text, usual or ("answered" if markers else None), None)


class RewritePrompt:
    """The message by which a model is asked for a query: a template with $question and $history."""

    def __init__(self, template: str | None) -> None:
        self.template = DEFAULT_REWRITE if template is None else template
        made = string.Template(self.template)
        names = set(made.get_identifiers()) if made.is_valid() else set()
        if names - {"question", "history"} or "question" not in names:
            raise UsageError(
                "the template of the query uses $question, and $history if it likes", field="rewrite.prompt"
            )
        self.version = digest_text(self.template)
        self._made = made

    def render(self, question: str, history: Sequence[Turn]) -> str:
        """The message."""
        turns = "\n".join(f"{one.role}: {one.text}" for one in history)
        return self._made.substitute(question=question, history=turns)


def query_of(text: str) -> str:
    """The query that a model wrote: its first line that is not blank, marks of quotation off, 2,000 characters at most.

    >>> query_of('\\n "Who wrote Emma?"\\nI hope this helps.')
    'Who wrote Emma?'
    """
    lines = [one.strip().strip("\"'`*").strip() for one in text.splitlines()]
    return next((one for one in lines if one), "")[:_MOST_QUERY]
