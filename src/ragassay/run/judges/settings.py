"""`[judges.NAME]` of the settings: what every judge may say there, read strictly. Makes no evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from msgspec import Meta

from ragassay.errors import RagassayError, UsageError
from ragassay.records.base import Record
from ragassay.records.canonical import parse_value
from ragassay.records.judgement import About
from ragassay.records.text import many
from ragassay.run.ceiling import Ceiling, Prices
from ragassay.store.refs import check_name

KINDS = ("lexical", "semantic", "llm", "panel", "decompose")
"""Built in; any other kind is the name of an entry point (`contract.EVALUATORS`)."""
Share = Annotated[float, Meta(ge=0, le=1)]
Whole = Annotated[int, Meta(ge=0)]


class JudgeSettings(Record, frozen=True, kw_only=True):
    """What every judge may say in [judges.NAME]; its other keys are `own`, and belong to its kind."""

    kind: str
    about: tuple[About, ...] = ()
    """What it rules on; empty: all that its kind rules on, `item` aside."""
    repeats: Annotated[int, Meta(ge=1, le=100)] = 1
    """How often each item is put to it; the repeat is part of the key of every verdict."""
    language: str | None = None
    """Of the answers; left out: as the questions' slices say (`language=de`), else guessed."""
    claims: str | None = None
    """Which judge of kind *decompose* cuts the answers; left out: their sentences are their claims."""
    concurrency: Annotated[int, Meta(ge=1, le=1024)] = 4
    timeout_s: Annotated[float, Meta(gt=0)] = 120.0
    """Of one call, or of one batch of an evaluator without a network."""
    max_error_rate: Share = 0.2
    """The job stops when more than this part of all batches has an item in error."""
    max_calls: Whole | None = None
    max_tokens: Whole | None = None
    max_cost: Annotated[float, Meta(ge=0)] | None = None
    prices: Prices = Prices()
    """As in [system.prices]."""
    own: dict[str, Any] = {}
    """Filled by `judge_settings` with the keys that are not of this list."""


def judge_settings(name: str, table: Any) -> JudgeSettings:
    """One section; UsageError with the field, as `judges.NAME.key`."""
    field = f"judges.{name}"
    try:
        check_name(f"judgements/{name}/x")
        if not isinstance(table, Mapping) or not isinstance(table.get("kind"), str):
            raise UsageError("a judge needs its kind", field="kind", hint=f'kind = "{KINDS[0]}"; {", ".join(KINDS)}')
        known = [one for one in JudgeSettings.__struct_fields__ if one != "own"]
        common = {key: value for key, value in table.items() if key in known}
        own = {key: value for key, value in table.items() if key not in known}
        found = parse_value(JudgeSettings, {**common, "own": own})
        if len(set(found.about)) != len(found.about):
            raise UsageError("one kind of item stands twice", field="about", hint=", ".join(get_args(About)))
        _check_claims(name, found)
        ceiling_of(found)
    except RagassayError as error:
        inner = error.field.removeprefix("run.")
        hint = "see docs/judges.md" if "ragassay schema" in error.hint else error.hint
        raise UsageError(error.message, field=f"{field}.{inner}" if inner else field, hint=hint) from None
    return found


def _check_claims(name: str, found: JudgeSettings) -> None:
    if found.claims is not None and (found.kind in ("panel", "decompose") or found.claims == name):
        hint = "judges of other kinds take their claims from it; a panel has those of its members"
        raise UsageError(f"a judge of kind {found.kind} takes no claims of {found.claims}", field="claims", hint=hint)
    if found.kind == "decompose" and found.repeats > 1:
        raise UsageError("an answer is cut once", field="repeats", hint="leave it out")


def ceiling_of(settings: JudgeSettings) -> Ceiling:
    """The ceilings of one judge; UsageError where they cannot be kept."""
    return Ceiling(
        max_cost=settings.max_cost, max_tokens=settings.max_tokens, max_calls=settings.max_calls, prices=settings.prices
    )


def own_texts(name: str, settings: JudgeSettings) -> dict[str, str]:
    """The keys of a kind as texts, which is what an evaluator's factory takes; UsageError for lists and tables."""
    made = {}
    for key, value in settings.own.items():
        if not isinstance(value, str | int | float | bool):
            raise UsageError(
                f"{type(value).__name__} is no value here",
                field=f"judges.{name}.{key}",
                hint="a text, a number, true or false",
            )
        made[key] = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
    return made


def describe(settings: JudgeSettings) -> str:
    """One line for people."""
    about = ", ".join(settings.about) or "all that it rules on"
    again = f", {many(settings.repeats, 'time')} each" if settings.repeats > 1 else ""
    return f"{settings.kind}: {about}{again}"
