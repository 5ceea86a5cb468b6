"""What a model's reply says: text, outcome and citations, by the declared form. Asks nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from ragassay.claims import copied
from ragassay.claims.forms import CitationForm
from ragassay.errors import UsageError
from ragassay.records.base import Metadata
from ragassay.records.canonical import canonical_bytes
from ragassay.records.case import Outcome
from ragassay.run.systems.pipeline.generate import Said, outcome_of

Answer = dict[str, Any]
Decision = dict[str, Any]
OUTCOMES: tuple[Outcome, ...] = ("answered", "partial", "abstained", "clarified", "escalated")
"""What a model may say of its answer in the form `json`; *denied* is said by what guards it."""
TOOLS = "none offered; a reply that asks for tools is a failure"
"""The tool policy of every chat generator here."""
_MOST_CITED = 8
_MOST_SHOWN = 200
_KEYS = ("answer", "citations", "outcome")


class AnswerFormError(ValueError):
    """A reply that is not in the declared form."""


class AnswerForm:
    """How a reply is read. Only the reply itself is looked at: what stands in retrieved texts decides nothing.

    `text`: the outcome is that of the marker with which the reply begins (see `outcome_of`), citations are marks in it.
    `json`: the endpoint is asked for an object by a JSON Schema, {answer, citations, outcome}; markers are not read,
    numbers in `citations` are items of the context, beside the marks that stand in the answer.
    A refusal in the endpoint's own field is *abstained* in both.
    """

    def __init__(
        self,
        *,
        insufficient: str,
        citations: str | None = None,
        markers: Mapping[str, Outcome] | None = None,
        outcome: Outcome | None = None,
        form: Literal["text", "json"] = "text",
        longest: int = 600,
    ) -> None:
        """`longest`: characters of an answer in the form `json`, so that it ends before the tokens do."""
        if form not in ("text", "json"):
            raise UsageError(f"there is no form {form!r}", field="form", hint="text or json")
        if form == "json" and (markers or outcome):
            raise UsageError("in the form json the reply says its outcome itself", field="form", hint="no markers")
        if isinstance(longest, bool) or not isinstance(longest, int) or longest < 1:
            raise UsageError(f"longest is {longest!r}", field="longest", hint="1 or more characters")
        if not isinstance(insufficient, str) or not insufficient.strip():
            raise UsageError("the sentence is empty", field="insufficient", hint="an empty answer is not an abstention")
        self.markers: dict[str, Outcome] = _markers(markers or {})
        if outcome is not None and outcome not in get_args(Outcome):
            raise UsageError(f"there is no outcome {outcome!r}", field="outcome", hint=", ".join(get_args(Outcome)))
        self.citations = CitationForm(citations) if citations else None
        self.outcome, self.insufficient, self.form, self.longest = outcome, insufficient, form, longest

    def body(self) -> dict[str, Any]:
        """The fields of a request by which the form is asked for."""
        if self.form == "text":
            return {}
        schema = {"name": "answer", "strict": True, "schema": self.schema()}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def schema(self) -> dict[str, Any]:
        """Of a reply in the form `json`: the answer before what is said of it."""
        numbers = {"type": "integer", "minimum": 1, "maximum": 999}
        parts = {
            "answer": {"type": "string", "maxLength": self.longest},
            "citations": {"type": "array", "items": numbers, "maxItems": _MOST_CITED},
            "outcome": {"type": "string", "enum": list(OUTCOMES)},
        }
        return {"type": "object", "properties": parts, "required": list(_KEYS), "additionalProperties": False}

    def read(
        self, given: Mapping[str, Any], ids: Sequence[str], shown: Iterable[str] = ()
    ) -> tuple[Answer, list[Decision]]:
        """The answer of the contract, and what decided its outcome; `ids` are the items of the context in their order.

        `shown` is all that the model was shown but the labels of the items: a mark that the answer copied from there,
        words and all, is no citation (see `copied.told`), and a decision says so.

        AnswerFormError if a reply in the form `json` is not in it: cut off by max_tokens, or never asked to be.
        """
        listed: list[int] = []
        if given.get("outcome") == "abstained":  # the endpoint's own word: a refusal of the model
            said = Said(str(given["text"]), "abstained", "a refusal of the model")
        elif self.form == "json":
            said, listed = read_json(given["text"], self.insufficient, given.get("finish_reason"))
        else:
            said = outcome_of(given["text"], self.markers, self.outcome, self.insufficient)
        decisions = [{"action": said.outcome or "note", "reason": said.reason}] if said.reason else []
        answer: Answer = {**given, "text": said.text}
        if said.outcome is not None:
            answer["outcome"] = said.outcome
        if self.citations is not None or self.form == "json":
            cited, others = self._cited(said.text, ids, listed, shown)
            decisions += [
                {"action": "cite", "reason": f"{one} is copied from what was shown: no citation"} for one in others
            ]
            unknown = dict.fromkeys(one["item_id"] for one in cited if one["item_id"] not in ids)
            decisions += [{"action": "cite", "reason": f"{name} names nothing in the context"} for name in unknown]
            answer["citations"] = cited
        return answer, decisions

    def _cited(
        self, text: str, ids: Sequence[str], listed: Sequence[int], shown: Iterable[str]
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """The citations, and the marks that are none."""
        marks, others = copied.Told([], [])
        if self.citations is not None:
            marks, others = copied.told(text, self.citations.marks(text, ids), shown, self.citations)
        cited: list[dict[str, Any]] = [
            {"answer_start": one.start, "answer_end": one.end, "item_id": one.name} for one in marks
        ]
        there = {one.name for one in marks}
        names = [ids[one - 1] if one <= len(ids) else f"[{one}]" for one in dict.fromkeys(listed)]
        left_out = list(dict.fromkeys(text[one.start : one.end] for one in others))
        return cited + [{"item_id": one} for one in names if one not in there], left_out

    def to_metadata(self) -> Metadata:
        """What is sealed of it."""
        return {
            "citations": f"{self.citations.form}; {copied.RULE}" if self.citations is not None else "none",
            "markers": canonical_bytes(self.markers).decode(),
            "outcome": "by the reply" if self.form == "json" else self.outcome or "by marker only",
            "insufficient": self.insufficient,
            "answer_form": self.form if self.form == "text" else f"json/1, answers of {self.longest} characters",
            "tools": TOOLS,
        }


def read_json(text: str, insufficient: str, finish: Any = None) -> tuple[Said, list[int]]:
    """What a reply in the form `json` means, and the numbers that it cites; AnswerFormError if it is not in it.

    `insufficient` stands for every answer that calls itself abstained, and for a blank one whose outcome gives none; a
    blank answer that calls itself answered stays empty, and so has no outcome.

    >>> read_json('{"answer": "", "citations": [], "outcome": "abstained"}', "Not in the documents.")[0].text
    'Not in the documents.'
    """
    cut = "; it was cut off: allow more tokens or a shorter answer" if finish == "length" else ""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as cause:
        raise AnswerFormError(f"the reply is not JSON: {cause}{cut}") from None
    if not isinstance(found, Mapping) or set(found) != set(_KEYS):
        raise AnswerFormError(f"the reply is not an object with {', '.join(_KEYS)}")
    answer, numbers, outcome = (found[one] for one in _KEYS)
    if not isinstance(answer, str):
        raise AnswerFormError("answer is not a text")
    if outcome not in OUTCOMES:
        raise AnswerFormError(f"outcome is none of {', '.join(OUTCOMES)}")
    whole = isinstance(numbers, list) and all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
    if not whole or any(not 1 <= n <= 999 for n in numbers):
        raise AnswerFormError("citations are not numbers from 1 to 999")
    if answer.strip() and outcome == "abstained":
        left = " ".join(answer.split())[:_MOST_SHOWN]
        return Said(insufficient, outcome, f"the reply says {outcome}; left out: {left}"), numbers
    if answer.strip():
        return Said(answer, outcome, f"the reply says {outcome}"), numbers
    if outcome in ("answered", "partial"):
        return Said(answer, None, f"the reply says {outcome} and is empty"), numbers
    return Said(insufficient, outcome, f"the reply says {outcome}"), numbers


def _markers(given: Mapping[str, Outcome]) -> dict[str, Outcome]:
    if not isinstance(given, Mapping):
        raise UsageError("markers are a table", field="markers", hint='{ "NO ANSWER" = "abstained" }')
    for marker, outcome in given.items():
        if not isinstance(marker, str) or not marker.strip():
            raise UsageError("a marker is empty", field="markers", hint='{ "NO ANSWER" = "abstained" }')
        if outcome not in get_args(Outcome):
            raise UsageError(
                f"there is no outcome {outcome!r}", field=f"markers.{marker}", hint=", ".join(get_args(Outcome))
            )
    return dict(given)
