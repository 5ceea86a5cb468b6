"""The offline judge: overlap of words with checks on top. It asks nothing, understands nothing, and says so.

Claims, citations and facts by idf-weighted recall over the best few sentences, lowered by checks of numbers, dates,
names, negation, opposites, roles and scope. Relevance and correctness of whole answers are weak and say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

from ragassay.claims import language_of
from ragassay.errors import UsageError
from ragassay.records.canonical import digest_of
from ragassay.records.document import Span
from ragassay.records.judgement import About, JudgeIdentity
from ragassay.run.judges.contract import Item, Shown, Verdict
from ragassay.run.judges.lexical import checks
from ragassay.run.judges.lexical.model import Finding
from ragassay.run.judges.lexical.overlap import SENTENCES, Frequencies, Overlap, overlap
from ragassay.run.judges.lexical.terms import RULE, Sentence, sentences
from ragassay.version import VERSION

CANNOT_SEE = (
    "The lexical judge compares words. It does not see a paraphrase in other words (it calls it unsupported), a "
    "contradiction in words that its lists do not have, irony, conclusions that need several steps, or what pronouns "
    "stand for. Its checks read English, German and Spanish; in other languages only overlap, numbers and dates count. "
    "Relevance and correctness by it are weak: shared words and numbers, no meaning."
)
"""Stands wherever a number of this judge stands."""
THRESHOLD = 0.33
"""From here on a claim is called supported: the best F1 on half of the articles of WiCE (`python -m bench.people`)."""
_RELEVANT, _PARTLY = 0.5, 0.2
_ABOUT: frozenset[About] = frozenset({"claim", "citation", "fact", "answer", "item"})
_CONTRADICTED_FROM = 0.3
"""Overlap below which a clash is taken for another subject, and nothing is called contradicted."""
_LANGUAGE_LOOK = 600


class _Read(NamedTuple):
    """All sentences of several texts, with the text that each comes from."""

    sentences: tuple[Sentence, ...]
    owners: tuple[Shown, ...]


class LexicalEvaluator:
    """See the module. Deterministic; reads every text that it is given, whatever stands in it."""

    def __init__(
        self, *, threshold: float = THRESHOLD, corpus: Frequencies | None = None, checked: bool = True
    ) -> None:
        """`corpus`: in how many sentences of it each term stands; without one, rarity is that among what is shown."""
        self._threshold, self._corpus, self._checked = threshold, corpus, checked
        self.about = _ABOUT
        self.identity = JudgeIdentity(
            name="lexical",
            kind="lexical",
            settings={
                "threshold": repr(threshold),
                "terms": RULE,
                "checks": checks.VERSION if checked else "none",
                "sentences": str(SENTENCES),
                "idf": "sentences shown" + (f" and corpus {_digest(corpus)}" if corpus else ""),
            },
            libraries={"ragassay": VERSION, "sentencex": version("sentencex")},
        )

    def judge(self, items: Sequence[Item]) -> list[Verdict]:
        """A verdict for each item, in order."""
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Verdict:
        if item.about in ("claim", "citation"):
            return self._support(item.statement, item.evidence, item.language)
        if item.about == "fact":
            return self._support(item.statement, (Shown("answer", item.answer),), item.language)
        if item.about == "item":
            return self._relevance(item.question, item.statement, item.language)
        if item.about == "answer" and item.target == "relevance":
            return self._relevance(item.question, item.statement, item.language)
        if item.about == "answer" and item.target == "correctness":
            return self._correctness(item)
        return Verdict("missing", reason="not_judged")

    def _support(self, statement: str, shown: Sequence[Shown], language: str | None) -> Verdict:
        language = _code(language) or language_of(statement)
        claim = sentences(statement, language)
        if not any(one.keys for one in claim):
            return Verdict("undefined", reason="nothing_claimed")
        read = _read(shown)
        found = overlap(claim, read.sentences, self._corpus)
        said = checks.findings(claim, read.sentences, found.chosen, found.weights, language) if self._checked else []
        score = round(checks.lowered(found.recall, said), 6)
        against = checks.contradiction(said)
        if against is not None and found.recall >= _CONTRADICTED_FROM:
            label = "contradicted"
            score = min(score, round(self._threshold / 2, 6))
        else:
            label = "supported" if score >= self._threshold else "unsupported"
        return Verdict(
            "value", label, score=score, spans=_spans(read, found, against), rationale=_why(found, said, len(claim))
        )

    def _relevance(self, question: str, text: str, language: str | None) -> Verdict:
        """The share of the question's terms in a text: weak, since a short right answer repeats no question."""
        code = _code(language) or language_of(question)
        asked = sentences(question, code)
        if not any(one.keys for one in asked):
            return Verdict("undefined", reason="nothing_asked")
        found = overlap(asked, sentences(text, code), self._corpus, most=10)
        score = round(found.recall, 6)
        label = "relevant" if score >= _RELEVANT else "partly" if score >= _PARTLY else "irrelevant"
        return Verdict("value", label, score=score, rationale=f"{score:.2f} of the question's terms; weak: words only")

    def _correctness(self, item: Item) -> Verdict:
        """F1-like: the mean of support of the best reference by the answer and the other way round, with checks."""
        best = Verdict("missing", reason="no_reference")
        for reference in item.references:
            there = self._support(reference, (Shown("answer", item.statement),), item.language)
            back = self._support(item.statement, (Shown("reference", reference),), item.language)
            if there.score is None or back.score is None:
                continue
            total = there.score + back.score
            score = round(2 * there.score * back.score / total, 6) if total else 0.0
            clash = "contradicted" in (there.label, back.label)
            label = "incorrect" if clash or score < _PARTLY else "correct" if score >= self._threshold else "partly"
            if best.score is None or score > best.score:
                why = f"recall {there.score:.2f}, precision {back.score:.2f}; weak: words only. {there.rationale or ''}"
                best = Verdict("value", label, score=score, rationale=why[:500])
        return best


def lexical(settings: Mapping[str, str]) -> LexicalEvaluator:
    """The evaluator that `[judges.NAME]` with kind = "lexical" means; its one key is `threshold` (0 to 1).

    Raises UsageError for other keys and values.
    """
    unknown = sorted(set(settings) - {"threshold"})
    if unknown:
        raise UsageError(f"the lexical judge knows no {unknown[0]!r}", field=unknown[0], hint="it takes: threshold")
    try:
        threshold = float(settings.get("threshold", THRESHOLD))
    except ValueError:
        threshold = -1.0
    if not 0 <= threshold <= 1:
        raise UsageError(f"{settings['threshold']!r} is no threshold", field="threshold", hint="a number from 0 to 1")
    return LexicalEvaluator(threshold=threshold)


def _code(language: str | None) -> str:
    return (language or "").casefold().replace("_", "-").partition("-")[0]


def _digest(corpus: Frequencies) -> str:
    return digest_of([corpus.total, dict(sorted(corpus.counts.items()))])


def _read(shown: Sequence[Shown]) -> _Read:
    found: list[Sentence] = []
    owners: list[Shown] = []
    for one in shown:
        mine = sentences(one.text, language_of(one.text[:_LANGUAGE_LOOK]))
        mine += sentences(one.title, language_of(one.title)) if one.title else ()
        found += mine
        owners += [one] * len(mine)
    return _Read(tuple(found), tuple(owners))


def _spans(read: _Read, found: Overlap, against: Finding | None) -> tuple[Span, ...]:
    """The sentences that support, or what contradicts, in the documents; none where a text is no exact slice."""
    if against is not None:
        places = [(against.sentence, against.start, against.end)]
    else:
        places = [(at, read.sentences[at].start, read.sentences[at].end) for at in found.chosen]
    made = []
    for at, start, end in places:
        owner = read.owners[at]
        source = owner.sources[0] if len(owner.sources) == 1 else None
        if source is not None and source.end - source.start == len(owner.text) and end <= len(owner.text):
            if owner.title and read.sentences[at] in sentences(owner.title, language_of(owner.title)):
                continue
            low = source.start + start
            made.append(Span(document_id=source.document_id, version=source.version, start=low, end=source.start + end))
    return tuple(made)


def _why(found: Overlap, said: Sequence[Finding], _sentences: int) -> str:
    first = f"{found.recall:.2f} of the claim's weighted terms stand in {len(found.chosen)} sentences"
    return "; ".join([first, *(f"{one.check}: {one.why}" for one in said[:4])])[:1000]
