"""What may be declared of the steps of a pipeline that ask a model: rewrite, follow-up queries, generate. Asks none."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ragassay.records.base import Record, require
from ragassay.records.case import Outcome

Some = Annotated[int, Meta(ge=1)]
NotNegative = Annotated[float, Meta(ge=0)]
Part = Annotated[float, Meta(ge=0, le=1)]
Text = Annotated[str, Meta(min_length=1)]


class Transport(Record, frozen=True, kw_only=True):
    """How an endpoint is reached, as in `kind = "http"`."""

    headers: dict[str, Any] = {}
    retries: Annotated[int, Meta(ge=0)] | None = None
    retry_on: tuple[str, ...] | None = None
    max_wait_s: NotNegative | None = None
    max_bytes: Some | None = None
    use_proxy_settings: bool | None = None
    endpoint: str | None = None

    def transport(self) -> dict[str, Any]:
        """What was declared of it."""
        named = {name: getattr(self, name) for name in Transport.__struct_fields__}
        return {name: value for name, value in named.items() if value is not None and value != {}}


class RuleRewrite(Record, frozen=True, kw_only=True):
    """The last user turns before the question."""

    history_turns: Annotated[int, Meta(ge=0)] = 1


class ModelRewrite(Transport, frozen=True, kw_only=True):
    """A chat model writes the query; what it writes is searched."""

    url: Text
    model: Text
    prompt: str | None = None
    """A template with $question and $history; a standard one if left out."""
    history_turns: Annotated[int, Meta(ge=0)] | None = None
    """The last turns (of both sides) that it sees; all if left out."""
    always: bool = False
    """Also where there is no history."""
    options: dict[str, Any] = {}
    send_seed: bool = True


class Extractive(Record, frozen=True, kw_only=True):
    """Sentences of the context that cover the question best, copied and cited."""

    max_sentences: Some = 2


class Chat(Transport, frozen=True, kw_only=True):
    """An OpenAI-compatible chat endpoint."""

    url: Text
    model: Text
    prompt: str | None = None
    prompt_file: str | None = None
    engine: Literal["string", "jinja"] = "string"
    prompt_version: str = ""
    system_prompt: str = ""
    history_turns: Annotated[int, Meta(ge=0)] | None = None
    options: dict[str, Any] = {}
    stream: bool = False
    send_seed: bool = True
    citations: str | None = "[n]"
    """How an answer cites: `n` (its number in the context) or `id` between two marks; "" if it does not."""
    markers: dict[str, Outcome] = {}
    """What an answer begins with -> its outcome: { "NO ANSWER" = "abstained" }. The marker is taken off."""
    outcome: Outcome | None = None
    """Of an answer without a marker; left out: unknown, unless there are markers, then answered."""
    form: Literal["text", "json"] = "text"
    """json: the endpoint is asked, by a JSON Schema, for an object of answer, citations and outcome."""
    longest: Some = 600
    """Characters of an answer in the form json."""

    def __post_init__(self) -> None:
        require(self.prompt is None or self.prompt_file is None, "give either prompt or prompt_file")
        require(all(one.strip() for one in self.markers), "a marker is empty")
        said = self.form == "json" and bool(self.markers or self.outcome)
        require(not said, "in the form json the reply says its outcome itself: no markers, no outcome")


class AgenticRule(Record, frozen=True, kw_only=True):
    """Retrieve again for what the best sentence names and the question does not; see `agentic`."""

    rounds: Annotated[int, Meta(ge=1, le=3)] = 3
    """Retrievals at most."""
    read: Some = 5
    """How many of the best items of all rounds so far are read."""
    terms: Some = 3
    """Names (or else words) that a follow-up query takes from a sentence, at most."""
    enough: Part = 1.0
    """No further round where a sentence that was read covers this part of the question (by idf mass)."""
    join: Literal["turns", "rrf"] = "turns"
    """How the rounds become one list: the first of each, then the second of each; or reciprocal rank fusion."""
    k: Annotated[int, Meta(ge=0)] = 60
    """Of rrf."""


class AgenticModel(Transport, frozen=True, kw_only=True):
    """A chat model writes the follow-up query from what was found, or says that it is enough."""

    url: Text
    model: Text
    rounds: Annotated[int, Meta(ge=1, le=3)] = 3
    read: Some = 5
    prompt: str | None = None
    """A template with $question and $found; a standard one if left out."""
    stop: Text = "ENOUGH"
    """A reply that begins with this (case and marks aside) ends the search."""
    join: Literal["turns", "rrf"] = "turns"
    k: Annotated[int, Meta(ge=0)] = 60
    options: dict[str, Any] = {}
    send_seed: bool = True
