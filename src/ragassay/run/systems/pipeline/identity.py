"""Everything of a pipeline that can change a score, part by part. Runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragassay.records.base import Metadata
from ragassay.records.canonical import canonical_bytes, digest_text
from ragassay.records.protocol import Stated, SystemIdentity
from ragassay.run.systems.pipeline.settings import PipelineSettings
from ragassay.run.systems.pipeline.settings_models import AgenticModel, AgenticRule, Chat, Extractive, ModelRewrite

if TYPE_CHECKING:
    from ragassay.run.systems.pipeline.system import PipelineSystem

_LONGEST = 512


def identity_of(system: PipelineSystem) -> SystemIdentity:
    """The identity: the retriever is rewriting, retrievers, filters, fusion, reranker and dedup in one line."""
    made = system.settings
    line = " | ".join(retrieval_parts(system).values())
    generate = made.generate
    if isinstance(generate, Chat):
        assert system.prompt is not None
        generator, prompt = Stated(value=generate.model[:_LONGEST]), Stated(value=system.prompt.version[:_LONGEST])
    else:
        generator = Stated(value="extractive/1")
        prompt = Stated(absent="nothing is prompted: answers are copied from passages")
    return SystemIdentity(
        name=made.name,
        adapter="pipeline",
        retriever=Stated(value=shortened(line)),
        generator=generator,
        prompt=prompt,
        settings={**retrieval_parts(system), **_rest(system)},
    )


def retrieval_parts(system: PipelineSystem) -> dict[str, str]:
    """Step by step what decides a list, by the name of the step."""
    made = system.settings
    parts = {"rewrite": _rewrite(system)}
    for declared, retriever in zip(made.retrievers, system.retrievers, strict=True):
        parts[f"retriever {declared.name}"] = f"{_count(declared.candidates)} by {retriever.identity}"
    parts["where"] = canonical_bytes(made.where).decode() if made.where else "no metadata asked for"
    if len(made.retrievers) > 1:
        parts["fusion"] = _fusion(made)
    if made.agentic is not None:
        parts["agentic"] = _agentic(system, made.agentic)
    if system.reranker is not None:
        declared_rerank = made.rerank
        read = declared_rerank.candidates if declared_rerank is not None else None
        kept = declared_rerank.top_n if declared_rerank is not None else None
        parts["rerank"] = f"{_count(kept)} of {read or 'all'} by {system.reranker.identity}"
    parts["dedup"] = "equal text or inside another" if made.dedup else "none"
    return parts


def _rewrite(system: PipelineSystem) -> str:
    declared = system.settings.rewrite
    if not isinstance(declared, ModelRewrite):
        return f"the last {declared.history_turns} user turns before the question"
    assert system.rewrite_prompt is not None
    turns = "all turns" if declared.history_turns is None else f"the last {declared.history_turns} turns"
    when = "always" if declared.always else "with a history"
    return f"by {declared.model}, {when}, {turns}, prompt {system.rewrite_prompt.version}"


def _joined(declared: AgenticRule | AgenticModel) -> str:
    return f"rrf k={declared.k}" if declared.join == "rrf" else "turns"


def _agentic(system: PipelineSystem, declared: AgenticRule | AgenticModel) -> str:
    shared = f"up to {declared.rounds} rounds, {declared.read} items read, joined by {_joined(declared)}"
    if isinstance(declared, AgenticRule):
        return f"{shared}, bridge/1 terms={declared.terms} enough={declared.enough:g}"
    assert system.follow_prompt is not None
    return f"{shared}, query by {declared.model}, prompt {system.follow_prompt.version}"


def _fusion(made: PipelineSettings) -> str:
    fusion = made.fusion
    weights = fusion.weights or (1.0,) * len(made.retrievers)
    how = f"rrf k={fusion.k}" if fusion.method == "rrf" else f"weighted {fusion.normalise}"
    return f"{how} weights={','.join(f'{one:g}' for one in weights)} top_n={fusion.top_n or 'all'}"


def _count(number: int | None) -> str:
    return "top_k" if number is None else str(number)


def _rest(system: PipelineSystem) -> Metadata:
    """Assembly and generation."""
    made = system.settings
    found: Metadata = {
        **system.assembly.to_metadata(),
        "context_top": made.context.top or "all that fit",
        "context_order": made.context.order,
        "evidence_floor": made.floor,
        "insufficient": made.insufficient,
    }
    if system.follower is not None and system.follow_prompt is not None:
        found |= {**system.follower.to_metadata("follow"), "follow_prompt": system.follow_prompt.template}
    if system.rewriter is not None and system.rewrite_prompt is not None:
        found |= {**system.rewriter.to_metadata("rewrite"), "rewrite_prompt": system.rewrite_prompt.template}
    generate = made.generate
    if isinstance(generate, Extractive):
        return found | {"max_sentences": generate.max_sentences}
    assert system.model is not None
    assert system.prompt is not None
    assert system.form is not None
    turns = generate.history_turns
    return found | {
        **system.model.to_metadata("generate"),
        "engine": system.prompt.engine,
        "prompt": system.prompt.template,
        "system_prompt": generate.system_prompt,
        "history": "as messages" if turns is None else f"the last {turns} turns as messages",
        **system.form.to_metadata(),
    }


def shortened(line: str) -> str:
    """A line that fits a name: its beginning and the digest of all of it where it is too long."""
    if len(line) <= _LONGEST:
        return line
    return f"{line[: _LONGEST - 30]} ... {digest_text(line)[:23]}"
