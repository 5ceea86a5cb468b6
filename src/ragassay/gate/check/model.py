"""What a policy is checked against, and what is found. Finds nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragassay.errors import UsageError
from ragassay.gate.evidence import Evidence
from ragassay.gate.reading import labelled, may_be_answered
from ragassay.measures import Measure, parse
from ragassay.records.case import Case
from ragassay.records.judgement import JudgeIdentity, JudgementSet
from ragassay.records.protocol import Scoring
from ragassay.score.answer import RUNTIME_MEASURES
from ragassay.score.derived import GROUPED
from ragassay.score.fill import LIMITED
from ragassay.score.observe import COUNTS
from ragassay.score.paraphrases import groups
from ragassay.store import Store
from ragassay.traces.graph import context_of


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a policy, or that its author should know."""

    level: Literal["refused", "warning"]
    field: str
    """Such as policy.rules[2].step."""
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """Questions, measures and the run's own limits."""

    cases: Sequence[Case]
    """Without unconfirmed candidates."""
    scoring: Scoring
    rel: int
    top_k: int
    calibrated: frozenset[str] = frozenset()
    """Judges with a calibration record."""
    completeness: str = "unknown"
    """Of the benchmark's labels."""
    repeats: int | None = None
    """Of each question; None where that is not known."""
    received: int | None = None
    """Items that generation received at most, over the traces of a run; None before there is one."""
    places: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    """Measure -> where a run took it; empty before there is one."""
    suites: Mapping[str, int] | None = None
    """Name of each frozen suite of probes -> its probes; None: not known."""

    def spelled(self, measure: str) -> Measure:
        """A measure as the score table will spell it."""
        return parse(measure).with_rel(self.rel)

    @property
    def measured(self) -> frozenset[str]:
        """The spellings of the scoring."""
        return frozenset(str(parse(one).with_rel(self.rel)) for one in self.scoring.measures)

    def has(self, measure: Measure) -> bool:
        """Whether a score table of this scoring will hold a measure."""
        if str(measure) in self.measured or measure.name in COUNTS or str(measure) in self.places:
            return True
        bare = {one.partition("(")[0] for one in self.measured}
        if measure.name in RUNTIME_MEASURES and measure.name in bare:
            return set(dict(measure.params)) <= {"kind"}
        if measure.name == "flip_rate":
            return _of_flips(measure) in self.measured
        if "by" in dict(measure.params):
            plain = Measure(measure.name, tuple(one for one in measure.params if one[0] != "by"), measure.cutoff)
            return str(plain) in self.measured and dict(measure.params)["by"] in self.scoring.judges
        return False

    def members(self, measure: Measure | None, own: Iterable[Case]) -> list[Case]:
        """The questions that a measure can be about, as far as class and expected outcome say it."""
        cases = list(own)
        if measure is None:
            return cases
        if measure.name in GROUPED:
            labelled_ = [one for one in cases if labelled(measure, one, self.rel)]
            return [members[0] for members in groups(labelled_).values()]
        if measure.name not in LIMITED:
            return [one for one in cases if labelled(measure, one, self.rel)]
        if measure.name == "false_refusal":
            return [one for one in cases if may_be_answered(one)]
        if measure.name == "unsupported_answer":
            return [one for one in cases if not may_be_answered(one)]
        if measure.name == "empty_retrieval":
            return [one for one in cases if one.evidence == ()]
        return cases


def given_of(store: Store, evidence: Evidence, *, received: bool = False) -> Given:
    """The questions, measures and limits of a run that is scored already.

    `received`: with how many items generation received at most, which nobody knows before the run: a gate must not
    change its mind about a sealed policy for what the system then did.
    """
    contexts = [context_of(one).items for one in evidence.contents] if received else []
    return Given(
        evidence.cases,
        evidence.scoring,
        evidence.benchmark.rel,
        evidence.subject.top_k,
        calibrated=frozenset({*evidence.table.calibrations, *_people(store, evidence)}),
        completeness=evidence.benchmark.completeness,
        repeats=evidence.subject.repeats,
        received=max((len(one) for one in contexts if one is not None), default=None),
        places=evidence.observed.places,
    )


def _people(store: Store, evidence: Evidence) -> Iterator[str]:
    """Judges that are persons, whom nobody calibrates."""
    for name, digest in evidence.table.judged.items():
        identity = store.get_record(JudgeIdentity, store.get_record(JudgementSet, digest).judge)
        if identity.kind == "person":
            yield name


def _of_flips(measure: Measure) -> str:
    """`flip_rate(of=hit/rel:2/at:5)` as hit(rel=2)@5."""
    name, *rest = str(dict(measure.params).get("of", "")).split("/")
    cut = next((f"@{one[3:]}" for one in rest if one.startswith("at:")), "")
    inner = ",".join(one.replace(":", "=") for one in rest if not one.startswith("at:"))
    try:
        return str(parse(f"{name}({inner}){cut}" if inner else f"{name}{cut}"))
    except UsageError:
        return ""
