"""Up to three retrievals for one question, each for what the one before left open, joined. Answers nothing."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragassay.errors import UsageError
from ragassay.records.canonical import digest_text
from ragassay.run.systems.bm25 import STOPWORDS, terms
from ragassay.run.systems.extract import extract, sentences
from ragassay.run.systems.opening import DIGITS, Hit
from ragassay.run.systems.pipeline.fusion import rrf
from ragassay.run.systems.pipeline.generate import outcome_of, query_of
from ragassay.run.systems.pipeline.settings_models import AgenticModel, AgenticRule

if TYPE_CHECKING:
    from ragassay.run.systems.pipeline.answering import Answering

FOLLOW, JOIN = "follow", "join"
DEFAULT_FOLLOW = (
    "Question: $question\n\nFound so far:\n$found\n\n"
    "If this is enough to answer the question, reply $stop. Otherwise reply with one short query that would find what "
    "is missing."
)
_WORD = re.compile(r"\w[\w'’-]*")
_WITHIN = frozenset({"of", "de", "von", "van"})
"""Small words that a name may hold between two capitalised ones."""
_SHOWN = 200


class Round(NamedTuple):
    """One retrieval: its query, what it handed on, and the step that did."""

    query: str
    hits: list[Hit]
    step_id: str


class Bridge(NamedTuple):
    """The sentence that a follow-up query comes from, with the part of the last query that it covers.

    `query` is None where it covers enough of the question; then `coverage` is of the question.
    """

    item_id: str
    sentence: str
    coverage: float
    query: str | None


class Rounds:
    """The rounds of one question. Steps: each round's own with its iteration, `follow` before a further one, `join`.

    Stops, whichever comes first: after `rounds`; when a round finds no passage that the earlier ones did not; when the
    rule finds a sentence that covers `enough` of the question, or none that names something new; when the model says
    so or writes nothing; when the follow-up query was searched before. The reason is a decision of `join`.
    """

    def __init__(self, answering: Answering) -> None:
        self.at, self.index = answering, answering.index
        self.rounds: list[Round] = []
        self.used: set[str] = set()

    async def retrieve(self, query: str) -> list[Hit]:
        """The joined list of all rounds."""
        declared = self.at.settings.agentic
        assert declared is not None
        asked: str | None = query
        why = ""
        while asked is not None:
            known = {hit.number for one in self.rounds for hit in one.hits}
            hits = await self.at.retrieve(asked, len(self.rounds) + 1)
            self.rounds.append(Round(asked, hits, self.at.log.leaves()[0]))
            asked, why = await self._next(query, declared, known)
        return self._join(declared, why)

    async def _next(self, query: str, declared: AgenticRule | AgenticModel, known: set[int]) -> tuple[str | None, str]:
        """The query of a further round, or why there is none."""
        number = len(self.rounds)
        if number >= declared.rounds:
            return None, f"{number} of {declared.rounds} rounds"
        if known >= {hit.number for hit in self.rounds[-1].hits}:
            return None, f"round {number} found nothing new"
        if isinstance(declared, AgenticRule):
            return self._by_rule(query, declared)
        return await self._by_model(query, declared)

    def _by_rule(self, query: str, declared: AgenticRule) -> tuple[str | None, str]:
        last = self.rounds[-1]
        with self.at.log.step(FOLLOW, "rewrite", [last.step_id], len(self.rounds) + 1) as step:
            read = [(self.at.id_of(one), self.index.passages[one.number].text) for one in last.hits[: declared.read]]
            asked = [one.query for one in self.rounds]
            found = bridge(
                query, read, asked, self.used, idf=self.index.idf, most=declared.terms, enough=declared.enough
            )
            if found is None:
                why = "no sentence that was read names something new beside a word of the question"
            else:
                said = f"covers {found.coverage:.3f} of the query: {_short(found.sentence)}"
                step["decisions"].append({"action": "read", "item_id": found.item_id, "reason": said})
                self.used.add(found.sentence)
                why = f"a sentence covers {found.coverage:.3f} of the question, enough is {declared.enough:g}"
            return self._decided(step, found.query if found is not None else None, why)

    async def _by_model(self, query: str, declared: AgenticModel) -> tuple[str | None, str]:
        prompt = self.at.system.follow_prompt
        assert prompt is not None
        parents = [one.step_id for one in self.rounds]
        with self.at.log.step(FOLLOW, "rewrite", parents, len(self.rounds) + 1) as step:
            together = [hit for hit, _ in joined([one.hits for one in self.rounds], declared.join, declared.k)]
            items = [(self.at.id_of(one), self.index.passages[one.number].text) for one in together[: declared.read]]
            lines = [extract(query, [one], idf=self.index.idf, most=1).text or _short(one[1]) for one in items]
            step["decisions"] += [
                {"action": "read", "item_id": one, "reason": "shown to the model"} for one, _ in items
            ]
            message = {"role": "user", "content": prompt.render(query, lines)}
            reply = await self.at.ask_model(step, self.at.system.follower, [message])
            text = str(reply.value["answer"]["text"])
            if prompt.stops(text):
                return self._decided(step, None, "the model says that it is enough")
            return self._decided(step, query_of(text) or None, "the model wrote nothing")

    def _decided(self, step: dict[str, object], query: str | None, why: str) -> tuple[str | None, str]:
        """Report the query, or the stop; a query that was searched before is none."""
        if query is not None and terms(query) in [terms(one.query) for one in self.rounds]:
            why, query = f"the follow-up query was searched before: {_short(query)}", None
        decisions = step["decisions"]
        assert isinstance(decisions, list)
        if query is None:
            decisions.append({"action": "stop", "reason": why})
        else:
            step["query_text"] = query
            decisions.append({"action": "search", "reason": f"round {len(self.rounds) + 1}"})
        return query, why

    def _join(self, declared: AgenticRule | AgenticModel, why: str) -> list[Hit]:
        """All rounds as one list, each passage once, with the rounds that brought it."""
        with self.at.log.step(JOIN, "fuse", [one.step_id for one in self.rounds]) as step:
            together = joined([one.hits for one in self.rounds], declared.join, declared.k)
            step["decisions"].append({"action": "stop", "reason": why})
            kept: list[Hit] = []
            for hit, places in together:
                same = next((one for one in kept if self.at.settings.dedup and self._repeats(hit, one)), None)
                if same is None:
                    kept.append(hit)
                    step["decisions"].append({"action": "keep", "item_id": self.at.id_of(hit), "reason": places})
                else:
                    step["decisions"] += self.at.beyond([hit], f"repeats {self.at.id_of(same)}; {places}")
            # Scores of different rounds do not compare, so what goes in carries none.
            step |= {
                "items_in": [{"id": self.at.id_of(hit)} for hit, _ in together],
                "items_out": self.at.entries(kept),
                "score_direction": "higher",
            }
        return kept

    def _repeats(self, hit: Hit, other: Hit) -> bool:
        return self.index.repeats(hit.number, other.number)


def joined(rounds: Sequence[Sequence[Hit]], method: str, k: int) -> list[tuple[Hit, str]]:
    """Lists of rounds as one, with where each passage was found.

    `turns`: the first of each round, then the second of each, ...; a passage counts where it stands first, with the
    score 1 / place. `rrf`: reciprocal rank fusion, ties in passage order.

    >>> a, b = [Hit(4, 9.0), Hit(7, 8.0)], [Hit(2, 5.0), Hit(4, 3.0)]
    >>> [(one.number, one.score) for one, _ in joined([a, b], "turns", 60)]
    [(4, 1.0), (2, 1.0), (7, 0.5)]
    >>> joined([a, b], "turns", 60)[0][1]
    'round 1 place 1, round 2 place 2'
    """
    found: dict[int, list[str]] = {}
    for number, hits in enumerate(rounds, 1):
        for place, hit in enumerate(hits, 1):
            found.setdefault(hit.number, []).append(f"round {number} place {place}")
    if method == "rrf":
        order = rrf([list(hits) for hits in rounds], k, None)
    else:
        longest = max((len(hits) for hits in rounds), default=0)
        turns = [(hits[place].number, place) for place in range(longest) for hits in rounds if place < len(hits)]
        first: dict[int, int] = {}
        for number, place in turns:
            first.setdefault(number, place)
        order = [Hit(number, round(1 / (place + 1), DIGITS)) for number, place in first.items()]
    return [(one, ", ".join(found[one.number])) for one in order]


def bridge(
    question: str,
    read: Sequence[tuple[str, str]],
    asked: Sequence[str],
    used: Collection[str] = (),
    *,
    idf: Callable[[str], float],
    most: int,
    enough: float,
) -> Bridge | None:
    """The follow-up query that the texts (item id, text) suggest: what is still open of the question, and new names.

    The sentence is the one that covers the last query best (idf mass, ties in order) among those that cover some of it
    and name something that no query held; one that was `used` for an earlier query is not read again. The query: the
    words of the question that it does not hold, in their order, then its `most` rarest names (runs of capitalised
    words; else its rarest words) in theirs. If any sentence covers `enough` of the question, there is no query; None
    if no sentence qualifies.

    >>> bridge("spouse of the director of Inception", [("p", "Inception was made by Christopher Nolan. It rains.")],
    ...        ["spouse of the director of Inception"], idf=lambda word: 1.0, most=2, enough=1.0).query
    'spouse director Christopher Nolan'
    """
    whole = {one: idf(one) for one in terms(question)}
    wanted = {one: idf(one) for one in terms(asked[-1] if asked else question)}
    if not sum(whole.values()) or not sum(wanted.values()):
        return None
    known = {word for one in (question, *asked) for word in terms(one)}
    best: Bridge | None = None
    for item_id, text in read:
        for sentence in sentences(text):
            held = set(terms(sentence))
            covered = _covered(whole, held)
            if covered and covered >= enough:
                return Bridge(item_id, sentence, covered, None)
            coverage = _covered(wanted, held)
            if not coverage or sentence in used or (best is not None and coverage <= best.coverage):
                continue
            if new := new_names(sentence, known, idf=idf, most=most):
                left = [one for one in question_words(question) if not set(terms(one)) <= held]
                best = Bridge(item_id, sentence, coverage, " ".join([*left, *new]))
    return best


def _covered(weights: dict[str, float], held: set[str]) -> float:
    return round(sum(weights[one] for one in sorted(held & weights.keys())) / sum(weights.values()), DIGITS)


def question_words(question: str) -> list[str]:
    """The words of a question that can be searched, as they are written, each once.

    >>> question_words("Who is the spouse of the director?")
    ['Who', 'spouse', 'director']
    """
    return [one for one in dict.fromkeys(_WORD.findall(question)) if terms(one)]


def new_names(sentence: str, known: set[str], *, idf: Callable[[str], float], most: int) -> list[str]:
    """The `most` rarest names of a sentence with a word that is not known, in their order; else its rarest such words.

    A capital letter at the beginning of a sentence makes no name of a stop word.

    >>> new_names("The film is by Ann Li and Bo.", {"film", "bo"}, idf=lambda word: 1.0, most=1)
    ['Ann Li']
    """
    for names in (capitalised(sentence), question_words(sentence)):
        new = [one for one in dict.fromkeys(names) if set(terms(one)) - known]
        rarest = sorted(new, key=lambda one: -max(idf(word) for word in set(terms(one)) - known))[:most]
        if rarest:
            return [one for one in new if one in rarest]
    return []


def capitalised(sentence: str) -> list[str]:
    """Runs of words with a capital letter, a space between two (or `of`, `de`, `von`, `van`), no stop word in front.

    >>> capitalised("The Duke of York met Ana de Armas, then Bo.")
    ['Duke of York', 'Ana de Armas', 'Bo']
    """
    runs: list[tuple[int, int]] = []
    for one in _WORD.finditer(sentence):
        if not one[0][0].isupper() or one[0].casefold() in STOPWORDS:
            continue
        gap = sentence[runs[-1][1] : one.start()] if runs else ""
        if gap == " " or (gap[:1] == gap[-1:] == " " and gap[1:-1] in _WITHIN):
            runs[-1] = (runs[-1][0], one.end())
        else:
            runs.append((one.start(), one.end()))
    return [sentence[start:end] for start, end in runs]


def _short(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= _SHOWN else f"{one[: _SHOWN - 1]}…"


class FollowPrompt:
    """The message by which a model is asked what to search next: a template with $question and $found."""

    def __init__(self, template: str | None, stop: str) -> None:
        self.template = DEFAULT_FOLLOW if template is None else template
        made = string.Template(self.template)
        names = set(made.get_identifiers()) if made.is_valid() else set()
        if names - {"question", "found", "stop"} or not names >= {"question", "found"}:
            raise UsageError("the template uses $question and $found, and $stop if it likes", field="agentic.prompt")
        self._made, self._stop = made, stop
        self.version = digest_text(f"{stop} {self.template}")

    def render(self, question: str, found: Sequence[str]) -> str:
        """The message; what was found goes in as text, one line an item."""
        lines = "\n".join(f"- {' '.join(one.split())}" for one in found) or "- nothing"
        return self._made.substitute(question=question, found=lines, stop=self._stop)

    def stops(self, text: str) -> bool:
        """Whether a reply begins with the declared word."""
        return outcome_of(text, {self._stop: "answered"}, None, self._stop).reason == f"the marker {self._stop!r}"
