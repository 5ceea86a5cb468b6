"""A judge's settings to its evaluator: built in, or of another package by entry point. Asks nothing."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay.errors import RagassayError, UsageError
from ragassay.extensions import extension_names, load_extension, unknown_name
from ragassay.records.judgement import JudgeIdentity
from ragassay.run.judges.contract import EVALUATORS
from ragassay.run.judges.settings import KINDS, JudgeSettings, own_texts

_BUILT_IN = {"lexical": "ragassay.run.judges.lexical", "semantic": "ragassay.run.judges.semantic"}


def make_evaluator(name: str, settings: JudgeSettings, *, folder: Path | None = None, store: Path | None = None) -> Any:
    """The evaluator that [judges.NAME] means; UsageError with the field, as `judges.NAME.key`.

    `folder` is where the paths of the settings begin, `store` where secrets and vectors are kept.
    """
    try:
        return _made(name, settings, folder, store)
    except RagassayError as error:
        field = error.field.removeprefix("system.")
        if not field.startswith("judges."):
            error.field = f"judges.{name}.{field}" if field else f"judges.{name}"
        if "ragassay schema" in error.hint:
            error.hint = "see docs/judges.md"
        raise


def _made(name: str, settings: JudgeSettings, folder: Path | None, store: Path | None) -> Any:
    if settings.kind == "llm":
        from ragassay.run.judges.llm.fence import store_secret
        from ragassay.run.judges.llm.judge import llm

        return llm(settings.own, secret=store_secret(store) if store is not None else None)
    if settings.kind == "decompose":
        from ragassay.run.judges.llm.decompose import decomposer
        from ragassay.run.judges.llm.fence import store_secret

        return decomposer(settings.own, secret=store_secret(store) if store is not None else None)
    if settings.kind == "panel":
        raise UsageError(
            "a panel asks nothing: it reads the verdicts of its members", field="kind", hint=", ".join(KINDS)
        )
    if settings.kind in _BUILT_IN:
        factory = getattr(importlib.import_module(_BUILT_IN[settings.kind]), settings.kind)
        given: dict[str, Any] = {}
        if settings.kind == "semantic":
            given["embedder"] = _embedder(settings.own, folder)
        own = {key: value for key, value in settings.own.items() if key != "embedder" or settings.kind != "semantic"}
        return factory(own_texts(name, _with(settings, own)), **given)
    return _extension(name, settings)


def _with(settings: JudgeSettings, own: dict[str, Any]) -> JudgeSettings:
    import msgspec

    return msgspec.structs.replace(settings, own=own)


def _embedder(own: Mapping[str, Any], folder: Path | None) -> Any:
    """The embedder of a semantic judge, as a pipeline declares one: a name, or a table with a `kind`."""
    from ragassay.run.systems.pipeline.parts import make_embedder

    return make_embedder(own.get("embedder", "minilm"), folder=folder, field="embedder")


def _extension(name: str, settings: JudgeSettings) -> Any:
    found = load_extension(EVALUATORS, settings.kind)
    if found is None:
        raise unknown_name("kind", settings.kind, [*KINDS, *extension_names(EVALUATORS)], EVALUATORS)
    try:
        made = found.value(own_texts(name, settings))
    except RagassayError:
        raise
    except Exception as cause:  # code of others
        raise UsageError(
            f"{found.identity} makes no evaluator of these settings: {type(cause).__name__}: {cause}",
            field="kind",
            hint="`ragassay.contracts.evaluator.check_evaluator` says what is missing",
        ) from cause
    if not callable(getattr(made, "judge", None)) or not isinstance(getattr(made, "identity", None), JudgeIdentity):
        raise UsageError(
            f"{found.identity} made no evaluator: it needs `judge(items)`, `about` and an `identity`",
            field="kind",
            hint="`ragassay.contracts.evaluator.check_evaluator` says what is missing",
        )
    return Extended(made, found.identity)


class Extended:
    """An evaluator of another package; its identity also names the package and its version."""

    def __init__(self, inner: Any, extension: str) -> None:
        import inspect

        import msgspec

        self._inner = inner
        known: JudgeIdentity = inner.identity
        self.identity = msgspec.structs.replace(known, settings={**known.settings, "extension": extension})
        self.about = frozenset(inner.about)
        self.judge = inner.judge if inspect.iscoroutinefunction(inner.judge) else self._judge
        self.endpoint = str(getattr(inner, "endpoint", "") or "")

    def _judge(self, items: Any) -> Any:
        return self._inner.judge(items)

    def attach(self, conditions: Any, replies: Any = None) -> None:  # noqa: ARG002  replies are ours
        """Hand the conditions on, if they are wanted."""
        attach = getattr(self._inner, "attach", None)
        if callable(attach):
            attach(conditions)

    async def aclose(self) -> None:
        """Close it, if it can be closed."""
        close = getattr(self._inner, "aclose", None)
        if callable(close):
            await close()
