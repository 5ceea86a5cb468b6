"""A language model as an evaluator, and its identity. Follows no text that it judges."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from ragassay.records.canonical import digest_of
from ragassay.records.judgement import SCALES, About, JudgeIdentity, judge_digest
from ragassay.run.judges.cache import Replies
from ragassay.run.judges.contract import Item, Verdict
from ragassay.run.judges.llm.asking import TOKENS_A_CALL, TOKENS_AN_ITEM, Asking, spelled
from ragassay.run.judges.llm.call import Endpoint
from ragassay.run.judges.llm.form import PARSER, schema_of
from ragassay.run.judges.llm.numbers import RULE as NUMBERS
from ragassay.run.judges.llm.prompt import QUOTED
from ragassay.run.judges.llm.settings import TRANSPORT, LlmSettings, llm_settings
from ragassay.run.judges.llm.texts import prompt_digest, rubrics_of
from ragassay.run.pace import Conditions
from ragassay.version import VERSION

ABOUT: frozenset[About] = frozenset({"claim", "citation", "fact", "answer", "item"})


class LlmJudge:
    """Rules on claims, citations, facts, answers and items by asking a chat model.

    Never shown: which system answered, scores, ranks, ids. Every reply is strictly read; a verdict that rests on
    evidence needs a quote that stands in it. `secret` makes the nonces; a judging job gives the store's.
    """

    def __init__(self, settings: LlmSettings, *, secret: bytes | None = None) -> None:
        self.settings = settings
        self.chat = Endpoint(settings.url, **{key: getattr(settings, key) for key in TRANSPORT})
        self.endpoint = self.chat.endpoint
        self.rubrics = rubrics_of(settings.rubrics)
        self.secret = secret or secrets.token_bytes(32)
        self.replies: Replies | None = None
        self._identity = _identity(settings, self.rubrics, self.endpoint)
        self.digest = judge_digest(self._identity)

    @property
    def identity(self) -> JudgeIdentity:
        """Everything that can change a verdict; the address only by the name of its endpoint."""
        return self._identity

    @property
    def about(self) -> frozenset[About]:
        """All but similarity."""
        return ABOUT

    def attach(self, conditions: Conditions, replies: Replies | None = None) -> None:
        """Take the job's pace and timeout, and where replies are kept; secrets that are not set are a UsageError."""
        self.chat.attach(conditions)
        self.replies = replies

    async def aclose(self) -> None:
        """Close the connections."""
        await self.chat.aclose()

    async def judge(self, items: Sequence[Item], *, judge_repeat: int = 0) -> Sequence[Verdict]:
        """A verdict for each item; what fails is an error with its cause."""
        return await Asking(self, judge_repeat).verdicts(items)

    def calls_of(self, items: int) -> tuple[int, int]:
        """Requests for so many items of one evidence: if all goes well, and at most."""
        one = ceil(items / self.settings.together)
        scores = items if self.settings.score == "logprobs" else 0
        least = one * (1 + self.settings.order_swap) + scores
        asks = (one + self.settings.reasks * one) * (1 + self.settings.order_swap + self.settings.counterfactual)
        return least, (asks + scores) * (1 + self.settings.retries)


def llm(table: Mapping[str, Any], *, secret: bytes | None = None) -> LlmJudge:
    """The judge that [judges.NAME] describes; UsageError names the key that is wrong."""
    return LlmJudge(llm_settings(table), secret=secret)


def _identity(settings: LlmSettings, rubrics: Mapping[str, str], endpoint: str) -> JudgeIdentity:
    sampling = {key: spelled(value) for key, value in sorted(settings.options.items())}
    sampling.setdefault("temperature", "0")
    sampling.setdefault("max_tokens", f"{TOKENS_A_CALL} and {TOKENS_AN_ITEM} an item")
    if settings.seed is not None:
        sampling["seed"] = f"{settings.seed} plus the repeat"
    schemas = [schema_of(["item"], scale, quotes=quotes) for scale in sorted(SCALES) for quotes in (False, True)]
    told = {
        "endpoint": endpoint,
        "together": str(settings.together),
        "reasks": str(settings.reasks),
        "unquoted": settings.unquoted,
        "numbers": settings.numbers if settings.numbers == "none" else f"{settings.numbers} {NUMBERS}",
        "evidence_characters": str(settings.evidence_characters),
        "score": f"logprobs {settings.top_logprobs}" if settings.score == "logprobs" else "none",
        "order_swap": str(settings.order_swap).lower(),
        "counterfactual": str(settings.counterfactual).lower(),
        "quoted": ", ".join(sorted(QUOTED)),
    }
    if settings.version is not None:
        told["version"] = settings.version
    return JudgeIdentity(
        name="llm",
        kind="model",
        model=settings.model,
        prompt=prompt_digest(),
        rubric=f"{settings.rubric} {digest_of(dict(rubrics))}",
        settings=told,
        sampling=sampling,
        schema=digest_of([settings.form, schemas]),
        parser=PARSER,
        libraries={"ragassay": VERSION},
    )
