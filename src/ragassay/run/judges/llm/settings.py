"""The keys of a judge of kind *llm*, read strictly. Asks nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from ragassay.errors import UsageError
from ragassay.records.base import Record
from ragassay.records.canonical import parse_value

_OWN_KEYS = frozenset({"model", "messages", "stream", "n", "response_format", "logprobs", "top_logprobs", "seed"})


class LlmSettings(Record, frozen=True, kw_only=True):
    """[judges.NAME] with kind = "llm", beside what every judge may say."""

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
    together: Annotated[int, Meta(ge=1, le=50)] = 6
    """So many items that share their evidence are ruled on in one reply."""
    reasks: Annotated[int, Meta(ge=0, le=10)] = 1
    """So many times what got no usable reply is asked again."""
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
    retries: Annotated[int, Meta(ge=0, le=100)] = 3
    retry_on: tuple[str, ...] = ("rate_limited", "connection", "timeout", "502", "503", "504", "529")
    max_wait_s: Annotated[float, Meta(ge=0)] = 120.0
    max_bytes: Annotated[int, Meta(ge=1)] = 4 * 1024 * 1024
    use_proxy_settings: bool = False
    endpoint: str = ""
    """What the limit of requests at once is kept for; left out: host, port and path."""


def llm_settings(table: Mapping[str, Any]) -> LlmSettings:
    """The keys of one judge; UsageError names the key."""
    from ragassay.run.judges.llm.texts import rubrics_of

    found = parse_value(LlmSettings, dict(table))
    if forbidden := sorted(_OWN_KEYS & set(found.options)):
        raise UsageError(f"options may not set {forbidden[0]!r}", field="options", hint="it has a key of its own")
    rubrics_of(found.rubrics)
    if not found.model:
        raise UsageError("a judge needs its model", field="model", hint='model = "gpt-x"')
    return found
