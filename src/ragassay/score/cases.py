"""The questions of a benchmark while they are scored: what estimates need of each, and the whole of one at a time."""

from __future__ import annotations

import msgspec

from ragassay.errors import IntegrityError
from ragassay.records.canonical import digest_bytes, digest_set
from ragassay.records.case import Benchmark, Case
from ragassay.score.pile import Pile, Place
from ragassay.store import Store
from ragassay.store.lines import read_record

_CASE = msgspec.json.Decoder(Case)


class Cases:
    """Every case of a benchmark; labels and texts wait in the pile."""

    def __init__(self, store: Store, benchmark: Benchmark, pile: Pile) -> None:
        """IntegrityError unless they are the cases that the benchmark names."""
        self._pile = pile
        self._places: dict[str, Place] = {}
        self.brief: list[Case] = []
        """In the order of the benchmark, without question, labels and notes."""
        self.greatest = 0
        """The greatest grade of their evidence."""
        digests, slices = [], dict[tuple[str, ...], tuple[str, ...]]()
        for number, line in enumerate(store.get_raw_lines(benchmark.blob), 1):
            case = read_record(Case, line, name=benchmark.blob, number=number)
            digests.append(digest_bytes(line))
            self._places[case.query_id] = pile.put(line)
            self.brief.append(_brief(case, slices.setdefault(case.slice, case.slice)))
            self.greatest = max(self.greatest, *(one.grade for one in case.evidence or ()), 0)
        if len(digests) != benchmark.cases or digest_set(digests) != benchmark.cases_digest:
            raise IntegrityError(
                "the stored cases are not those that the benchmark names",
                hint="`ragassay store check` names damaged objects; build the benchmark again from its source",
            )

    def whole(self, query_id: str) -> Case | None:
        """A case with everything in it; None if there is no such question."""
        place = self._places.get(query_id)
        return None if place is None else _CASE.decode(self._pile.get(place))


def _brief(case: Case, slices: tuple[str, ...]) -> Case:
    talk = case.conversation
    return Case(
        query_id=case.query_id,
        query="",
        class_=case.class_,
        slice=slices,
        paraphrase_of=case.paraphrase_of,
        conversation=None if talk is None else msgspec.structs.replace(talk, history=()),
    )
