"""What a chat model is sent: retrieved texts within a declared budget, and a template with a version. Sends nothing."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragassay.corpus.words import TOKENIZER, words
from ragassay.errors import UsageError
from ragassay.records.base import Metadata
from ragassay.records.canonical import digest_text
from ragassay.records.case import Turn
from ragassay.records.text import many
from ragassay.run.contract import Request

NAMES = ("question", "context", "items", "as_of")
"""What a template may use; `items` only in jinja."""
DEFAULT_PROMPT = (
    "Answer from the documents only. If they do not hold the answer, say so.\n\n$context\n\nQuestion: $question"
)
DEFAULT_ITEM = "[$n] $text"


class Text(NamedTuple):
    """A retrieved text: the id by which it is cited, and where it came from, as far as that is known."""

    item_id: str
    text: str | None
    document_id: str | None = None
    score: float | None = None


class Assembled(NamedTuple):
    """Which of the retrieved texts fit, by their place in the list, what was left out and why, and the context."""

    kept: tuple[int, ...]
    dropped: tuple[tuple[int, str], ...]
    context: str
    items: tuple[dict[str, Any], ...]


class Assembly:
    """The first `top` texts, in their order, that fit into `tokens` word tokens; one that does not fit is left out.

    `item` is a `string.Template` of one text ($n, $id, $text, $document_id), `separator` stands between two. Only the
    texts count against the budget.
    """

    def __init__(self, *, top: int = 10, tokens: int = 2000, item: str = DEFAULT_ITEM, separator: str = "\n\n") -> None:
        for key, value in (("top", top), ("tokens", tokens)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"{key} is {value!r}", field=f"context.{key}", hint="1 or more")
        self.top, self.tokens, self.separator = top, tokens, separator
        self._item = _string_template(item, ("n", "id", "text", "document_id"), ("text",), "context.item")

    def assemble(self, texts: Sequence[Text]) -> Assembled:
        """What generation sees of these texts."""
        kept: list[int] = []
        dropped: list[tuple[int, str]] = []
        left = self.tokens
        for place, one in enumerate(texts):
            size = len(words(one.text)) if one.text else 0
            if not one.text:
                dropped.append((place, "no text"))
            elif len(kept) >= self.top:
                dropped.append((place, f"beyond the first {self.top}"))
            elif size > left:
                dropped.append((place, f"{many(size, 'token')}, {left:,} left"))
            else:
                kept.append(place)
                left -= size
        items = tuple(
            {"n": n, "id": one.item_id, "text": one.text, "document_id": one.document_id or "", "score": one.score}
            for n, one in enumerate((texts[place] for place in kept), 1)
        )
        context = self.separator.join(self._item.substitute(one) for one in items)
        return Assembled(tuple(kept), tuple(dropped), context, items)

    def to_metadata(self) -> Metadata:
        """What is sealed of it."""
        return {
            "context_top": self.top,
            "context_tokens": self.tokens,
            "context_item": self._item.template,
            "context_separator": self.separator,
            "tokenizer": TOKENIZER,
        }


class Prompt:
    """A template of the user's message: `string` ($question, $context) or `jinja` (sandboxed, also `items`).

    A name that the template uses and nobody fills, or a template that shows no context, is a UsageError. What was
    retrieved is filled in as text and never read as a template.
    """

    def __init__(self, template: str = DEFAULT_PROMPT, *, engine: str = "string", version: str = "") -> None:
        if engine not in ("string", "jinja"):
            raise UsageError(f"there is no engine {engine!r}", field="engine", hint="string or jinja")
        self.template, self.engine = template, engine
        self.version = f"{version or 'unnamed'} {digest_text(f'{engine} {template}')}"
        self._render = self._jinja() if engine == "jinja" else self._string()

    def _string(self) -> Any:
        found = _string_template(self.template, ("question", "context", "as_of"), ("question", "context"), "prompt")
        return found.substitute

    def _jinja(self) -> Any:
        import jinja2
        from jinja2.meta import find_undeclared_variables
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False)
        try:
            used = find_undeclared_variables(environment.parse(self.template))
            made = environment.from_string(self.template)
        except jinja2.TemplateError as cause:
            raise UsageError(
                f"the template cannot be read: {cause}", field="prompt", hint="see docs/systems.md"
            ) from None
        _check_names(used, NAMES, "prompt")
        if "question" not in used or not used & {"context", "items"}:
            raise _unused("prompt", "question and context (or items)")
        return made.render

    def render(self, request: Request, assembled: Assembled) -> str:
        """The user's message; ValueError if the template cannot be filled."""
        values: Mapping[str, Any] = {
            "question": request.query,
            "context": assembled.context,
            "items": assembled.items,
            "as_of": request.as_of,
        }
        try:
            return str(self._render(values))
        except Exception as cause:  # noqa: BLE001  a template may do anything that its sandbox allows
            raise ValueError(f"the prompt cannot be made: {type(cause).__name__}: {cause}") from None


def shown_beside_labels(prompt: Prompt, system_prompt: str, turns: Sequence[Turn], request: Request) -> list[str]:
    """What a model is shown beside the items of its context: the template, the system's message, the conversation."""
    return [prompt.template, system_prompt, *(one.text for one in turns), request.query]


def last_turns(history: Sequence[Turn], turns: int | None) -> Sequence[Turn]:
    """The last so many turns, or all if that is not said or there are fewer."""
    return history if turns is None else history[max(0, len(history) - turns) :]


def _string_template(text: Any, allowed: Sequence[str], needed: Sequence[str], field: str) -> string.Template:
    if not isinstance(text, str):
        raise UsageError(f"a template is a text, got {type(text).__name__}", field=field)
    found = string.Template(text)
    if not found.is_valid():
        raise UsageError("a $ that begins no name", field=field, hint="$$ stands for a dollar sign")
    used = set(found.get_identifiers())
    _check_names(used, allowed, field)
    if set(needed) - used:
        raise _unused(field, " and ".join(f"${one}" for one in needed))
    return found


def _check_names(used: set[str], allowed: Sequence[str], field: str) -> None:
    unknown = sorted(used - set(allowed))
    if unknown:
        raise UsageError(f"the template uses {unknown[0]!r}", field=field, hint=f"it may use {', '.join(allowed)}")


def _unused(field: str, what: str) -> UsageError:
    return UsageError(f"the template does not use {what}", field=field, hint="what it leaves out is never seen")
