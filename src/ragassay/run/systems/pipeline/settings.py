"""What may stand in `[system]` with `kind = "pipeline"`, read strictly. Builds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.errors import RagassayError, RecordError, UsageError
from ragassay.records.base import Record, Scalar
from ragassay.records.canonical import parse_value
from ragassay.records.document import Name
from ragassay.run.systems.pipeline.settings_lists import (
    Context,
    Fusion,
    Lexical,
    Rerank,
    RerankEndpoint,
    RerankFunction,
    RerankMaxSim,
    Vector,
)
from ragassay.run.systems.pipeline.settings_models import (
    AgenticModel,
    AgenticRule,
    Chat,
    Extractive,
    ModelRewrite,
    Part,
    RuleRewrite,
)
from ragassay.run.systems.reference import ABSTENTION


class Plain(Record, frozen=True, kw_only=True):
    """What of a pipeline is of one kind only."""

    name: Name = "pipeline"
    where: dict[str, Scalar] = {}
    """Metadata that every document of a passage must have; who may see it and what is valid is asked always."""
    fusion: Fusion = Fusion()
    dedup: bool = True
    context: Context = Context()
    evidence_floor: Part | None = None
    """The least part of the question (by idf mass) that the best sentence of the context must cover; 0.4 if extractive,
    0 otherwise, if left out."""
    insufficient: str = ABSTENTION
    """What is said where the evidence is not enough."""


class PipelineSettings(Plain, frozen=True, kw_only=True):
    """All of `[system]` but its kind: rewrite, retrievers, fusion, rerank, dedup, context, generate."""

    retrievers: tuple[Lexical | Vector, ...]
    rewrite: RuleRewrite | ModelRewrite = RuleRewrite()
    agentic: AgenticRule | AgenticModel | None = None
    """Left out: one retrieval."""
    rerank: Rerank | None = None
    generate: Extractive | Chat = Extractive()

    @property
    def floor(self) -> float:
        """The evidence floor in force."""
        usual = 0.4 if isinstance(self.generate, Extractive) else 0.0
        return usual if self.evidence_floor is None else float(self.evidence_floor)


def pipeline_settings(given: Mapping[str, Any]) -> PipelineSettings:
    """The settings of a section without its `kind`; UsageError names the key that is wrong."""
    rest = dict(given)
    try:
        parts: dict[str, Any] = {
            key: _of_kind(rest.pop(key), key, kinds) for key, kinds in _KINDS.items() if key in rest
        }
        parts["retrievers"] = _retrievers(rest.pop("retrievers", None))
        if unknown := sorted(rest.keys() - set(Plain.__struct_fields__)):
            known = ", ".join(PipelineSettings.__struct_fields__)
            raise UsageError(f"unknown field {unknown[0]!r}", hint=f"known fields: {known}")
        plain = parse_value(Plain, rest)
        made = PipelineSettings(**{key: getattr(plain, key) for key in Plain.__struct_fields__}, **parts)
    except RecordError as error:
        hint = _HINT if "ragassay schema" in error.hint else error.hint
        raise UsageError(error.message, field=error.field, hint=hint) from None
    _check(made)
    return made


def _retrievers(given: Any) -> tuple[Lexical | Vector, ...]:
    hint = '[[system.retrievers]] with kind = "lexical" or "vector"'
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= _MOST_RETRIEVERS:
        raise UsageError(f"a pipeline has 1 to {_MOST_RETRIEVERS} retrievers", field="retrievers", hint=hint)
    return tuple(_of_kind(one, f"retrievers[{number}]", _RETRIEVERS) for number, one in enumerate(given))


def _of_kind(given: Any, field: str, kinds: Mapping[str, Any]) -> Any:
    """One part, whose `kind` says which keys it may have."""
    known = ", ".join(kinds)
    if not isinstance(given, Mapping):
        raise UsageError(f"{field} is not a table", field=field, hint=f'{{ kind = "..." }}; kinds: {known}')
    rest = dict(given)
    kind = rest.pop("kind", None)
    if kind not in kinds:
        said = "there is no kind" if kind is None else f"there is no kind {kind!r}"
        raise UsageError(said, field=f"{field}.kind" if kind is not None else field, hint=f"kinds: {known}")
    try:
        return parse_value(kinds[kind], rest)
    except RagassayError as error:
        error.field = f"{field}.{error.field}" if error.field else field
        raise


def _check(made: PipelineSettings) -> None:
    names = [one.name for one in made.retrievers]
    twice = next((number for number, one in enumerate(names) if one in (*names[:number], *_TAKEN)), None)
    if twice is not None:
        raise UsageError(
            f"two steps are called {names[twice]!r}",
            field=f"retrievers[{twice}].name",
            hint="give each retriever a name of its own",
        )
    weights = made.fusion.weights
    if weights is not None and (len(weights) != len(names) or not any(weights)):
        raise UsageError(
            f"{len(weights)} weights for {len(names)} retrievers, one of them above 0",
            field="fusion.weights",
            hint="one weight a retriever, in their order",
        )
    if not made.insufficient.strip():
        raise UsageError("the sentence is empty", field="insufficient", hint="an empty answer is not an abstention")


_TAKEN = ("rewrite", "follow", "join", "fuse", "rerank", "dedup", "assemble", "generate")
_MOST_RETRIEVERS = 8
_HINT = "see *A pipeline of real parts* in docs/systems.md"
_RETRIEVERS: dict[str, type[Record]] = {"lexical": Lexical, "vector": Vector}
_KINDS: dict[str, dict[str, type[Record]]] = {
    "rewrite": {"rule": RuleRewrite, "model": ModelRewrite},
    "agentic": {"rule": AgenticRule, "model": AgenticModel},
    "rerank": {"maxsim": RerankMaxSim, "endpoint": RerankEndpoint, "python": RerankFunction},
    "generate": {"extractive": Extractive, "chat": Chat},
}
