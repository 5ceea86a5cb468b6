"""The keys of a judge of kind *llm*, read strictly. Asks nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from ragassay.errors import UsageError
from ragassay.records.base import Record
from ragassay.records.canonical import parse_value

_OWN_KEYS = frozenset({"model", "messages", "stream", "n", "response_format", "logprobs", "top_logprobs", "seed"})


TRANSPORT = ("headers", "retries", "retry_on", "max_wait_s", "max_bytes", "use_proxy_settings", "endpoint")
"""What only moves the bytes."""


class ModelSettings(Record, frozen=True, kw_only=True):
    """What is said of a model behind an endpoint, whatever it is asked."""

    url: str
    """Of the chat completions, such as http://127.0.0.1:8000/v1/chat/completions."""
    model: str
    version: str | None = None
    """What the endpoint must report as its model; left out: what its first reply reports. Another one is refused."""
    headers: dict[str, Any] = {}
    """Name -> text or { env = "NAME", prefix = "Bearer " }."""
    options: dict[str, Any] = {}
    """Fields of the body: temperature (0 if left out), max_tokens (by the items, if left out), top_p, ..."""
    seed: Annotated[int, Meta(ge=0)] | None = None
    """Sent as `seed`, plus the repeat; left out: none is sent."""
    form: Literal["json_schema", "json_object", "text"] = "json_schema"
    """How a reply is asked for; it is read in the same strict way each time."""
    reasks: Annotated[int, Meta(ge=0, le=10)] = 1
    """So many times what got no usable reply is asked again."""
    retries: Annotated[int, Meta(ge=0, le=100)] = 3
    retry_on: tuple[str, ...] = ("rate_limited", "connection", "timeout", "502", "503", "504", "529")
    max_wait_s: Annotated[float, Meta(ge=0)] = 120.0
    max_bytes: Annotated[int, Meta(ge=1)] = 4 * 1024 * 1024
    use_proxy_settings: bool = False
    endpoint: str = ""
    """What the limit of requests at once is kept for; left out: host, port and path."""


class LlmSettings(ModelSettings, frozen=True, kw_only=True):
    """[judges.NAME] with kind = "llm", beside what every judge may say."""

    together: Annotated[int, Meta(ge=1, le=50)] = 6
    """So many items that share their evidence are ruled on in one reply."""
    unquoted: Literal["error", "unsupported"] = "error"
    """What *supported* or *contradicted* is where no quote of it stands in the evidence."""
    numbers: Literal["error", "unsupported", "none"] = "error"
    """What *supported* is where a number or date of the statement stands nowhere in the evidence; none: not looked."""
    evidence_characters: Annotated[int, Meta(ge=1)] = 60_000
    """Items with more evidence are not asked: error(evidence_too_long). Nothing is cut off in silence."""
    score: Literal["none", "logprobs"] = "none"
    """logprobs: a further call an item, whose score is the log-odds of yes over no."""
    top_logprobs: Annotated[int, Meta(ge=2, le=20)] = 20
    order_swap: bool = False
    """Ask again with evidence and items in the reverse order; another verdict is error(order)."""
    counterfactual: bool = False
    """Ask what was called good again as its opposite; what stays good is error(counterfactual)."""
    rubrics: dict[str, Any] = {}
    """claim, citation, fact, relevance, correctness, item -> a text in place of ours."""
    rubric: str = "ragassay/1"
    """What the rubrics are called in records."""


class DecomposeSettings(ModelSettings, frozen=True, kw_only=True):
    """[judges.NAME] with kind = "decompose", beside what every judge may say."""

    most_claims: Annotated[int, Meta(ge=1, le=500)] = 60
    """A reply with more claims is an error."""
    answer_characters: Annotated[int, Meta(ge=1)] = 20_000
    """Longer answers are not asked about: error(answer_too_long)."""


def llm_settings(table: Mapping[str, Any]) -> LlmSettings:
    """The keys of one judge; UsageError names the key."""
    from ragassay.run.judges.llm.texts import rubrics_of

    found = parse_value(LlmSettings, dict(table))
    check_options(found)
    rubrics_of(found.rubrics)
    return found


def check_options(found: ModelSettings) -> None:
    """UsageError for a model without a name, and for options that have a key of their own."""
    if forbidden := sorted(_OWN_KEYS & set(found.options)):
        raise UsageError(f"options may not set {forbidden[0]!r}", field="options", hint="it has a key of its own")
    if not found.model:
        raise UsageError("a judge needs its model", field="model", hint='model = "gpt-x"')
