"""Cases and a corpus to a sealed benchmark in the store, and back. Reads no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragassay.benchmark.cases import HeaderDefaults, Place
from ragassay.benchmark.labels import Documents, Findings, resolve_case
from ragassay.benchmark.report import BuildReport
from ragassay.errors import BenchmarkError, IntegrityError
from ragassay.records.base import Digest, Instant
from ragassay.records.canonical import digest_of, digest_set
from ragassay.records.case import Benchmark, Case, CaseLine, Rubric
from ragassay.records.document import Corpus, Document
from ragassay.records.provenance import Provenance

if TYPE_CHECKING:
    from ragassay.store import Store


RELEASE = "split=release"
"""The slice whose questions a gate decides on."""


class Built(NamedTuple):
    """A sealed benchmark, the digest of its record, and what building it found."""

    benchmark: Benchmark
    digest: Digest
    report: BuildReport


def build(
    store: Store,
    cases: Iterable[CaseLine],
    corpus: Corpus,
    documents: Iterable[Document],
    *,
    name: str,
    version: str,
    as_of: Instant | None = None,
    completeness: Literal["complete", "pooled", "partial", "unknown"] = "unknown",
    relevance_unit: Literal["span", "passage", "document"] | None = None,
    rubric: Rubric | None = None,
    rel: int | None = None,
    corpus_version: str | None = None,
    notes: str | None = None,
    provenance: Provenance | None = None,
) -> Built:
    """Resolve the labels of cases against the documents and store them under the ref `benchmark/NAME`.

    What is not said about unit, rubric and `rel` is what the reader of the cases implies (native: span, 2; TREC:
    document, 1). Quotes become spans, or are reported as ambiguous or not found and stay coarse; labels without a
    version get it; supersets in `any_of` are dropped; labels outside the corpus are counted and stay. What the reader
    says that its file does not say, and each line that it left out, go into the benchmark's notes and the report.
    `provenance` is kept beside them.

    Raises BenchmarkError with file, line and field for the first case that is wrong, and names the others.
    """
    lines = list(cases)
    defaults: HeaderDefaults = getattr(cases, "defaults", HeaderDefaults())
    places: dict[str, Place] = getattr(cases, "places", {})
    said = tuple(getattr(cases, "notes", ()))
    least = defaults.rel if rel is None else rel
    if not lines:
        raise BenchmarkError("a benchmark of no cases", hint="check what the reader was given")
    _check_ids(lines, places)
    corpus_version = _corpus_version(lines, corpus_version, places)
    findings = Findings([], [], [], [], [], [], [], [])
    known = Documents(documents, as_of)
    kept = _resolve_all(lines, known, least, findings, places)
    benchmark = Benchmark(
        name=name,
        version=version,
        corpus=corpus.digest,
        relevance_unit=relevance_unit or defaults.relevance_unit,
        rubric=rubric or defaults.rubric,
        completeness=completeness,
        rel=least,
        cases=len(kept),
        cases_digest=digest_set(digest_of(one) for one in kept),
        blob=store.put_lines(kept),
        corpus_version=corpus_version,
        dangling=len(findings.dangling),
        notes="\n".join(one for one in (notes, *said) if one) or None,
        provenance=None if provenance is None or provenance.empty else provenance,
    )
    digest = store.put_record(benchmark)
    store.set_ref(f"benchmark/{name}", digest, kind="benchmark")
    return Built(benchmark, digest, _report(kept, least, findings)._replace(notes=said))


def load(store: Store, benchmark: Benchmark) -> list[Case]:
    """The cases of a benchmark in the order given to `build`, checked against its digest (IntegrityError)."""
    cases = list(store.get_lines(Case, benchmark.blob))
    if len(cases) != benchmark.cases or digest_set(digest_of(one) for one in cases) != benchmark.cases_digest:
        raise IntegrityError(
            "the stored cases are not those that the benchmark names",
            hint="`ragassay store check` names damaged objects; build the benchmark again from its source",
        )
    return cases


def _at(error: BenchmarkError, query_id: str, places: dict[str, Place]) -> BenchmarkError:
    place = places.get(query_id)
    error.message = f"case {query_id!r}: {error.message}"
    if place is not None:
        error.at(file=place.file, line=place.line)
    return error


def _resolve_all(
    lines: list[CaseLine], documents: Documents, rel: int, findings: Findings, places: dict[str, Place]
) -> list[Case]:
    kept: list[Case] = []
    errors: list[tuple[str, BenchmarkError]] = []
    for line in lines:
        try:
            case = _stored(line)
            _check_drafted(case)
            kept.append(resolve_case(case, documents, rel, findings))
        except BenchmarkError as error:
            errors.append((line.query_id, error))
    if errors:
        query_id, first = errors[0]
        others = ", ".join(name for name, _ in errors[1:21])
        if others:
            first.message += f" (wrong too: {len(errors) - 1} more, {others}{', …' if len(errors) > 21 else ''})"
        raise _at(first, query_id, places)
    return kept


def _check_drafted(case: Case) -> None:
    """BenchmarkError for a question of the release split that a model wrote or labelled, and no person confirmed."""
    if RELEASE not in case.slice:
        return
    drafted = ["the question"] if case.label is not None and case.label.kind == "model" else []
    drafted += [
        f"evidence {one.id!r}"
        for one in case.evidence or ()
        if one.provenance is not None and one.provenance.kind == "model"
    ]
    if drafted:
        raise BenchmarkError(
            f"{', '.join(drafted[:5])}: drafted by a model, and no person has confirmed it; such a case may not be in "
            f"{RELEASE}",
            field="label.kind" if drafted[0] == "the question" else "evidence.provenance.kind",
            hint="once a person has confirmed it its kind is human or adjudicated; until then take it out of the split",
        )


def _stored(line: CaseLine) -> Case:
    try:
        return line.to_case()
    except ValueError as cause:
        raise BenchmarkError(str(cause), hint="`ragassay schema caseline` prints what a case may hold") from None


def _check_ids(lines: list[CaseLine], places: dict[str, Place]) -> None:
    counted = Counter(line.query_id for line in lines)
    for line in lines:
        if counted[line.query_id] > 1:
            error = BenchmarkError(
                "this query_id is there twice",
                field="query_id",
                hint="one case is one question; repeats are a setting of the run",
            )
            raise _at(error, line.query_id, places)
        if line.paraphrase_of is not None and (
            line.paraphrase_of not in counted or line.paraphrase_of == line.query_id
        ):
            error = BenchmarkError(
                f"paraphrase_of names {line.paraphrase_of!r}, which is not another case of this benchmark",
                field="paraphrase_of",
                hint="name the query_id of the question that this one rewords",
            )
            raise _at(error, line.query_id, places)


def _corpus_version(lines: list[CaseLine], wanted: str | None, places: dict[str, Place]) -> str | None:
    """The one corpus version of header and cases; a case that names another is an error."""
    for line in lines:
        if line.corpus_version is None:
            continue
        if wanted is None:
            wanted = line.corpus_version
        if line.corpus_version != wanted:
            error = BenchmarkError(
                f"corpus_version is {line.corpus_version!r}, the benchmark's is {wanted!r}",
                field="corpus_version",
                hint="labels hold for one corpus; split the file, or correct the version",
            )
            raise _at(error, line.query_id, places)
    return wanted


def _report(cases: list[Case], rel: int, findings: Findings) -> BuildReport:
    labels = [label for case in cases for label in case.evidence or ()]
    return BuildReport(
        cases=len(cases),
        classes=dict(Counter(str(case.class_) for case in cases)),
        unlabelled=sum(case.evidence is None for case in cases),
        truth_empty=sum(case.evidence == () for case in cases),
        below_rel=sum(bool(case.evidence) and all(one.grade < rel for one in case.evidence or ()) for case in cases),
        evidence=len(labels),
        spans=sum(not label.coarse for label in labels),
        coarse=sum(label.coarse for label in labels),
        quotes_found=len(findings.found),
        ambiguous=tuple(findings.ambiguous),
        not_found=tuple(findings.not_found),
        dangling=tuple(findings.dangling),
        versions_filled=len(findings.versions),
        supersets_dropped=len(findings.dropped),
        hidden=tuple(findings.hidden),
        nothing_visible=tuple(findings.nothing_visible),
    )
