"""A measure as a value, with one canonical spelling that parses back; it computes no score.

recall(rel=2)@20    ndcg@10    ndcg(gain=exp)@10    recall(rel=2,unit=document)@20    faithfulness(by=panel-a)
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ragassay.errors import UsageError
from ragassay.measures.declare import Declaration, declaration

ParamValue = int | float | str

_SPELLING = re.compile(
    r"\s*(?P<name>[A-Za-z][A-Za-z0-9_]*)\s*(?:\((?P<params>[^()]*)\))?\s*(?:@\s*(?P<cutoff>[^\s]*))?\s*"
)
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]*")
MAX_CUTOFF = 2**31 - 1


class Param(NamedTuple):
    """What a parameter may say. `choices` for words, else a number in [low, high] (open at both when `open`)."""

    meaning: str
    kind: type
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = 0
    default: ParamValue | None = None


PARAMS: Mapping[str, Param] = {
    "rel": Param("least grade that counts as relevant", int, low=1, high=2**31 - 1),
    "gain": Param("gain of a grade g: lin is g, exp is 2^g - 1", str, ("lin", "exp"), default="lin"),
    "unit": Param("what is counted", str, ("evidence", "passage", "document"), default="evidence"),
    "mode": Param(
        "native; trec: trec_eval 9 and pytrec_eval (float32); trec10: trec_eval 10 (double)",
        str,
        ("native", "trec", "trec10"),
        default="native",
    ),
    "list": Param(
        "full; condensed: unjudged items removed before ranking",
        str,
        ("full", "condensed"),
        default="full",
    ),
    "p": Param("persistence: chance that the reader goes on to the next rank", float, low=0.0, high=1.0),
    "max": Param("greatest grade of the rubric", int, low=1, high=1000),
    "over": Param("divisor: k, or the items retrieved in the first k", str, ("k", "retrieved"), default="k"),
    "norm": Param("text normalisation", str, ("squad", "musique", "unicode"), default="squad"),
    "split": Param("how a summary is cut into sentences", str, ("lines", "none"), default="none"),
    "of": Param("which measure, as in hit/rel:2/at:5 for hit(rel=2)@5", str),
    "by": Param("which judge or panel gave the verdicts", str),
    "kind": Param("kind of step", str),
    "q": Param("quantile", float, low=0.0, high=1.0),
    "least": Param("least value of the measure in `of` that counts as right", float, low=0.0, high=1.0),
    "coverage": Param("share of all questions that is to be answered", float, low=0.0, high=1.0),
    "bins": Param("bins of nearly equally many decisions", int, low=1, high=1000, default=10),
    "score": Param("what ranks the questions", str, ("confidence", "sufficient"), default="confidence"),
    "k": Param("repeats that must all pass", int, low=1, high=1000),
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: its name, its parameters in alphabetical order without defaults, and its cut-off.

    Equal measures have equal spellings and hashes. Build one with `parse`, or by hand with `Measure.of`.
    """

    name: str
    params: tuple[tuple[str, ParamValue], ...] = ()
    cutoff: int | None = None

    @classmethod
    def of(cls, name: str, *, cutoff: int | None = None, **params: ParamValue) -> Measure:
        """A checked measure: `Measure.of("recall", rel=2, cutoff=20)`; raises UsageError as `parse` does."""
        declared = declaration(name)
        checked = {key: _value(declared, key, value) for key, value in params.items()}
        return _build(declared, checked, cutoff)

    @property
    def declared(self) -> Declaration:
        """The declaration that it stands on."""
        return declaration(self.name)

    def get(self, key: str) -> ParamValue | None:
        """The value of a parameter, else its default, else None (`rel` has none: the benchmark seals it)."""
        for name, value in self.params:
            if name == key:
                return value
        return PARAMS[key].default if key in PARAMS else None

    def with_rel(self, rel: int) -> Measure:
        """The same with the least relevant grade filled in, where it takes one and does not say it."""
        inner = self.inner
        if inner is not None and inner.with_rel(rel) != inner:
            rest = tuple(one for one in self.params if one[0] != "of")
            return replace(self, params=tuple(sorted((*rest, ("of", inner.with_rel(rel).nested)))))
        if "rel" not in self.declared.params or self.get("rel") is not None:
            return self
        return replace(self, params=tuple(sorted((*self.params, ("rel", rel)))))

    @property
    def inner(self) -> Measure | None:
        """The measure that `of` names, as in flip_rate(of=hit/rel:2/at:5); None without one."""
        named = self.get("of")
        return None if named is None else _inner(str(named))

    @property
    def nested(self) -> str:
        """As `of` says it: hit(rel=2)@5 is hit/rel:2/at:5."""
        parts = [self.name, *(f"{key}:{_text(value)}" for key, value in self.params)]
        return "/".join([*parts, f"at:{self.cutoff}"] if self.cutoff is not None else parts)

    def with_params(self, **params: ParamValue) -> Measure:
        """The same with these parameters set, where its declaration has them; others are left out."""
        mine = {key: value for key, value in params.items() if key in self.declared.params}
        return Measure.of(self.name, cutoff=self.cutoff, **{**dict(self.params), **mine})

    def __str__(self) -> str:
        inner = ",".join(f"{key}={_text(value)}" for key, value in self.params)
        cut = f"@{self.cutoff}" if self.cutoff is not None else ""
        return f"{self.name}({inner}){cut}" if inner else f"{self.name}{cut}"


def parse(text: str) -> Measure:
    """The measure that a spelling means; `str` of it is canonical and parses back to an equal value.

    Other tools' names are read (`nDCG@10`, `map`, `P@5`, `ndcg_cut_10`, `recall_100`); parameters may come in any
    order; one equal to its default is dropped.

    Raises:
        UsageError: no such measure, parameter, value or cut-off; the hint says what was expected.
    """
    match = _SPELLING.fullmatch(text)
    if match is None:
        raise UsageError(
            f"cannot read the measure {text!r}",
            hint="a measure is spelled name(key=value,...)@k, as in recall(rel=2)@20",
        )
    name, inner, cut = match["name"], match["params"], match["cutoff"]
    if inner is None and cut is None:
        name, cut = _trec_name(name)
    declared = declaration(name)
    params: dict[str, ParamValue] = {}
    for part in (inner or "").split(","):
        if not part.strip():
            if inner and inner.strip():
                raise UsageError(f"an empty parameter in {text!r}", hint="write key=value, parted by commas")
            continue
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign:
            raise UsageError(f"the parameter {part.strip()!r} of {text!r} has no value", hint="write key=value")
        if key in params:
            raise UsageError(f"the parameter {key!r} of {text!r} is given twice", hint="keep one of them")
        params[key] = _value(declared, key, value)
    return _build(declared, params, None if cut is None else _cutoff(cut, text))


def _trec_name(name: str) -> tuple[str, str | None]:
    """`ndcg_cut_10` as (`ndcg_cut`, `10`), where the stem is a known name; others as they are."""
    stem, _, tail = name.rpartition("_")
    if stem and tail.isdigit() and name not in _DIGIT_NAMES:
        return stem, tail
    return name, None


_DIGIT_NAMES = frozenset({"rouge_1", "rouge_2", "token_f1"})


def _cutoff(cut: str, text: str) -> int:
    if not (cut.isascii() and cut.isdigit() and 1 <= len(cut) <= 10 and 1 <= int(cut) <= MAX_CUTOFF):
        raise UsageError(f"the cut-off {cut!r} of {text!r} is not a whole number from 1 on", hint="as in ndcg@10")
    return int(cut)


def _value(declared: Declaration, key: str, value: ParamValue) -> ParamValue:
    """The checked value of one parameter."""
    if key not in declared.params:
        near = difflib.get_close_matches(key, declared.params, n=1, cutoff=0.4)
        takes = ", ".join(declared.params) or "no parameter"
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"{declared.name} has no parameter {key!r}", hint=f"{hint}{declared.name} takes {takes}")
    spec = PARAMS[key]
    if spec.kind is str:
        return _word(declared, key, str(value), spec)
    try:
        number: int | float = int(value) if spec.kind is int else float(value)
        if spec.kind is int and float(value) != number:
            raise ValueError
    except (ValueError, OverflowError):
        number = -1
    inside = spec.low <= number <= spec.high if spec.kind is int else spec.low < number < spec.high
    if not inside:
        if spec.kind is float:
            kind = f"a number between {spec.low:g} and {spec.high:g}"
        else:
            kind = f"a whole number from {spec.low:g} " + ("on" if spec.high > 1000 else f"to {spec.high:g}")
        raise UsageError(f"{key}={value} of {declared.name} is not {kind}", hint=f"{key}: {spec.meaning}")
    return number


def _word(declared: Declaration, key: str, value: str, spec: Param) -> str:
    if spec.choices and value not in spec.choices:
        near = difflib.get_close_matches(value, spec.choices, n=1, cutoff=0.4)
        hint = f"did you mean {key}={near[0]}? " if near else ""
        raise UsageError(
            f"{key}={value} of {declared.name} is not one of {', '.join(spec.choices)}",
            hint=f"{hint}{key}: {spec.meaning}",
        )
    if not _WORD.fullmatch(value):
        raise UsageError(f"{key}={value!r} of {declared.name} is not a word", hint="letters, digits and _ . : / - only")
    return value


def _build(declared: Declaration, params: Mapping[str, ParamValue], cutoff: int | None) -> Measure:
    if cutoff is None and declared.cutoff == "required":
        raise UsageError(f"{declared.name} needs a cut-off", hint=f"as in {declared.name}@10")
    if cutoff is not None and declared.cutoff == "none":
        raise UsageError(f"{declared.name} takes no cut-off", hint=f"write {declared.name} without @{cutoff}")
    if cutoff is not None and not (isinstance(cutoff, int) and 1 <= cutoff <= MAX_CUTOFF):
        raise UsageError(f"the cut-off {cutoff!r} is not a whole number from 1 on", hint="as in ndcg@10")
    absent = [one for one in declared.requires if one not in params]
    if absent:
        hint = f"{absent[0]}: {PARAMS[absent[0]].meaning}"
        raise UsageError(f"{declared.name} does not say {' and '.join(absent)}", hint=hint)
    if "of" in params:
        params = {**params, "of": _checked_inner(declared, params).nested}
    kept = tuple(sorted((key, value) for key, value in params.items() if value != PARAMS[key].default))
    return Measure(declared.name, kept, cutoff)


def _inner(nested: str) -> Measure:
    """The measure that the value of `of` means."""
    name, *parts = nested.split("/")
    pairs = [(key, value) for key, _, value in (one.partition(":") for one in parts)]
    cut = "".join(f"@{value}" for key, value in pairs if key == "at")
    return parse(f"{name}({','.join(f'{key}={value}' for key, value in pairs if key != 'at')}){cut}")


def _checked_inner(declared: Declaration, params: Mapping[str, ParamValue]) -> Measure:
    """The measure in `of`; UsageError where nothing can be said of it, or not what counts as right."""
    inner = _inner(str(params["of"]))
    told = inner.declared
    if told.aggregation == "set" or not told.bounded or told.stage in ("robustness", "runtime"):
        hint = "of takes a measure of single questions with a greatest value, as in of=hit/rel:2/at:5"
        raise UsageError(f"{declared.name} cannot be of {inner}", hint=hint)
    if declared.of_stages and told.stage not in declared.of_stages:
        hint = f"of takes a measure of {' or '.join(declared.of_stages)}, as in of=exact_match"
        raise UsageError(f"{declared.name} cannot be of {inner}, which is of {told.stage}", hint=hint)
    if "least" in declared.params and (told.unit == "0 or 1") == ("least" in params):
        if "least" in params:
            raise UsageError(f"{inner} is 0 or 1 and takes no least", hint="leave it out: 1 counts as right")
        hint = f"as in {declared.name}(least=0.5,of={inner.nested}): from there on an answer counts as right"
        raise UsageError(f"{declared.name} does not say which {inner} counts as right", hint=hint)
    return inner


def _text(value: ParamValue) -> str:
    return repr(value) if isinstance(value, float) else str(value)
