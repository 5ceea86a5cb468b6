"""`ragassay.toml`: what may stand in it, read strictly, with the line of every complaint. Opens no store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from ragassay.errors import RagassayError, UsageError
from ragassay.records.base import Record
from ragassay.records.canonical import parse_value
from ragassay.records.provenance import Provenance
from ragassay.records.retention import Retention
from ragassay.records.text import instant
from ragassay.records.toml_file import line_of, read_toml, without_dates

if TYPE_CHECKING:
    from ragassay.probe.settings import ProbeSettings
    from ragassay.redact import Redaction
    from ragassay.run.ceiling import Ceiling
    from ragassay.run.judges.settings import JudgeSettings

FILE_NAME = "ragassay.toml"
CaseFormat = Literal["ragassay", "trec", "beir", "mteb", "ir_datasets", "squad", "csv", "ragas", "deepeval"]
Version = Annotated[str, Meta(min_length=1, max_length=512)]


class StoreSettings(Record, frozen=True, kw_only=True):
    """[store]"""

    path: str = ".ragassay"


class CorpusSettings(Record, frozen=True, kw_only=True):
    """[corpus]"""

    documents: str | None = None
    """A file or a folder in one of the formats. Left out: the texts that the questions' own file holds."""
    format: str | None = None
    """jsonl, folder, html, csv, parquet, beir, mteb, ir_datasets, trec or an installed parser; left out: by layout."""
    on_error: Literal["stop", "skip"] = "stop"
    """skip: lines, rows, blocks or files that are wrong are left out, listed and recorded."""
    columns: dict[str, str | int | list[str]] | None = None
    """Field -> column: { document_id = "ID", text = ["Title", "Body"] }; numbers where columns have no names."""
    encoding: str | None = None
    """Of text that is not UTF-8, such as latin-1; declared, never guessed."""
    delimiter: str | None = None
    """Of CSV; left out: the one under which the columns are found."""
    name: str = "corpus"
    default_tenants: tuple[str, ...] | None = None
    """What a document that names no tenant gets; leave out to keep such documents closed."""
    provenance: Provenance = Provenance()
    """Origin, owner, licence, collection, authorisation, transformations, limits of all documents; what one document
    or its data set says of itself is kept beside it."""


class SegmentationSettings(Record, frozen=True, kw_only=True):
    """[segmentation]"""

    chunker: str = "tokens"
    """tokens, markdown, sentences or an installed chunker."""
    size: Annotated[int, Meta(ge=1)] | None = None
    """Of tokens and markdown, in word tokens; 200 if left out."""
    overlap: Annotated[int, Meta(ge=0)] | None = None
    """Of tokens and markdown, in word tokens; 40 if left out."""
    window: Annotated[int, Meta(ge=1)] | None = None
    """Of sentences: how many a passage holds; 5 if left out."""
    stride: Annotated[int, Meta(ge=1)] | None = None
    """Of sentences: how many further the next passage begins; 3 if left out."""
    longest: Annotated[int, Meta(ge=1)] | None = None
    """Of sentences: one of more word tokens is cut; 80 if left out."""
    parameters: dict[str, int] | None = None
    """Of an installed chunker."""

    def told(self) -> dict[str, int]:
        """What the chunker is told."""
        named = {name: getattr(self, name) for name in ("size", "overlap", "window", "stride", "longest")}
        given = {name: value for name, value in named.items() if value is not None} | (self.parameters or {})
        return {"size": 200, "overlap": 40} | given if self.chunker in ("tokens", "markdown") else given


class BenchmarkSettings(Record, frozen=True, kw_only=True):
    """[benchmark]: either `cases`, or `topics` with `qrels`."""

    cases: str | None = None
    """A file of questions, or a BEIR folder."""
    format: CaseFormat | None = None
    """How `cases` is written; left out: JSON lines in the native form."""
    topics: str | None = None
    qrels: str | None = None
    """Judgements: of topics, or of the formats trec, mteb and ir_datasets."""
    join: Literal["id", "position"] = "id"
    split: str | None = None
    """Of a BEIR folder; test if left out."""
    text: str | None = None
    """Of ir_datasets: the field that is the question."""
    columns: dict[str, str] | None = None
    """Of a CSV file: which column is which field, { query = "Question", answers = "Answer" }."""
    separator: str | None = None
    """What stands between several values in one cell."""
    delimiter: str | None = None
    encoding: str | None = None
    slices: tuple[str, ...] = ()
    """Of DeepEval: keys of its metadata that become slices."""
    on_error: Literal["stop", "skip"] = "stop"
    """skip: lines that are wrong are left out, and named in the benchmark's notes."""
    name: str = "benchmark"
    version: Version = "1"
    completeness: Literal["complete", "pooled", "partial", "unknown"] = "unknown"
    provenance: Provenance = Provenance()
    """Of questions and labels; as in [corpus]."""
    edited_by: str | None = None
    """Who edited questions or labels that were frozen under this name before; it goes into the ledger."""
    edited_why: str | None = None

    def __post_init__(self) -> None:
        if (self.cases is None) == (self.topics is None) or (self.topics is not None and self.qrels is None):
            raise ValueError("give either cases, or topics together with qrels")
        if self.topics is not None and self.format not in (None, "trec"):
            raise ValueError("topics are of format trec; other formats name their questions with cases")


class RunSettings(Record, frozen=True, kw_only=True):
    """[run]"""

    as_of: str
    """The moment at which validity of documents and labels is judged; a date or an RFC 3339 time."""
    name: str = "latest"
    seed: Annotated[int, Meta(ge=0)] = 0
    repeats: Annotated[int, Meta(ge=1, le=1000)] = 1
    top_k: Annotated[int, Meta(ge=1)] = 20
    history: Literal["gold", "live", "none"] = "gold"
    """gold: each turn is asked after the turns that its case holds; live: after the system's own earlier answers."""
    timeout_s: Annotated[float, Meta(gt=0)] = 60.0
    alignment: Annotated[float, Meta(ge=0, le=1)] = 0.9
    """A text that stands nowhere letter for letter is tied to the place in which at least this part of it stands, from
    0.8 to 1; 0: letter for letter only."""
    concurrency: Annotated[int, Meta(ge=1)] = 4
    max_error_rate: Annotated[float, Meta(ge=0, le=1)] = 0.2
    """The run stops when more than this part of all questions has failed."""
    max_calls: Annotated[int, Meta(ge=0)] | None = None
    """Requests to the system, retries included; no question is asked that might pass it."""
    max_tokens: Annotated[int, Meta(ge=0)] | None = None
    """As the system reports them; where it does not, the worst case declared in [system.prices]."""
    max_cost: Annotated[float, Meta(ge=0)] | None = None
    """By the prices in [system.prices], or as the system reports it in their currency."""


class ScoringSettings(Record, frozen=True, kw_only=True):
    """[scoring]"""

    measures: tuple[str, ...] = ()
    """Spellings; empty: the default ones."""
    hold: Annotated[float, Meta(gt=0, le=1)] = 1.0
    normalisation: str = "squad"
    level: Annotated[float, Meta(gt=0, lt=1)] = 0.95
    abstention_rules: tuple[str, ...] = ()
    judges: tuple[str, ...] | None = None
    """Whose judgements are read: of [judges], or of people; left out: all of [judges]."""
    judge_thresholds: dict[str, float] = {}
    """Judge -> the least score of *supported*, in place of its own; `ragassay judge calibrate` finds one."""


class RedactSettings(Record, frozen=True, kw_only=True):
    """[redact]"""

    detect: tuple[str, ...] = ("secrets",)
    """What is looked for: secrets, personal, network, or single detectors such as email (docs/redaction.md)."""
    patterns: dict[str, str] = {}
    headers: tuple[str, ...] = ()


class Settings(Record, frozen=True, kw_only=True):
    """All of `ragassay.toml`."""

    corpus: CorpusSettings = CorpusSettings()
    benchmark: BenchmarkSettings
    system: dict[str, Any]
    """`kind` says which; `prices` are for the ceilings in [run]; the other keys belong to that kind."""
    run: RunSettings
    store: StoreSettings = StoreSettings()
    retention: Retention = Retention()
    segmentation: SegmentationSettings = SegmentationSettings()
    scoring: ScoringSettings = ScoringSettings()
    redact: RedactSettings = RedactSettings()
    judges: dict[str, dict[str, Any]] = {}
    """[judges.NAME]: `kind` says which; docs/judges.md has the other keys."""
    policy: dict[str, Any] = {}
    """What a gate demands, sealed before the run: the keys of docs/gate.md, or `file`, which names a file of them."""
    probe: dict[str, Any] = {}
    """Cross-tenant probes: who asks, where, with which credentials; docs/probe.md has the keys."""


def read_settings(path: Path) -> Settings:
    """The settings in `path`; UsageError names file, line and field."""
    text, loaded = read_table(path)
    return settings_of(loaded, text, path)


def read_table(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a settings file and the values in it, unchecked; UsageError if it is no TOML."""
    hint = "`ragassay init` writes one that runs as it is; --config names another"
    return read_toml(path, what="the settings file", absent=hint)


def settings_of(loaded: dict[str, Any], text: str = "", path: Path | None = None) -> Settings:
    """The settings that these values mean; UsageError names the field, and file and line where they are given."""
    try:
        settings = parse_value(Settings, without_dates(loaded))
        _check(settings)
        _check_policy(settings, text, path)
    except RagassayError as error:
        hint = (
            error.hint
            if "ragassay schema" not in error.hint
            else "`ragassay init` writes a file with every key explained"
        )
        line_number = line_of(text, error.field, error.message) if text and error.line is None else error.line
        file = error.file or ("" if path is None else str(path))
        raise UsageError(error.message, file=file, line=line_number, field=error.field, hint=hint) from None
    return settings


def _check_policy(settings: Settings, text: str, path: Path | None) -> None:
    """UsageError for a [policy] that says something it may not, or names a file and says more."""
    from ragassay.gate.policy_file import policy_of

    if "file" in settings.policy:
        if len(settings.policy) > 1 or not isinstance(settings.policy["file"], str):
            raise UsageError(
                "[policy] names a file and says more", field="policy.file", hint="keep the file, or the rules"
            )
    elif settings.policy:
        policy_of(settings.policy, text, path)


def _check(settings: Settings) -> None:
    """What no type says; RagassayError with the field, before anything is read or asked."""
    from ragassay.assay import check_scoring
    from ragassay.corpus import parameters_of, rule
    from ragassay.measures import parse
    from ragassay.store.refs import check_name

    with _about("run.as_of"):
        instant(settings.run.as_of)
    with _about("run.alignment"):
        rule(settings.run.alignment)
    for field, name in (
        ("corpus.name", settings.corpus.name),
        ("benchmark.name", settings.benchmark.name),
        ("run.name", settings.run.name),
    ):
        with _about(field):
            check_name(f"{field.split('.')[0]}/{name}")
    for number, spelled in enumerate(settings.scoring.measures):
        with _about(f"scoring.measures[{number}]"):
            parse(spelled)
    check_scoring(settings.scoring.normalisation, settings.scoring.abstention_rules)
    redaction_of(settings)
    ceiling_of(settings)
    if settings.probe:
        probe_of(settings)
    judges = judges_of(settings)
    for name, one in judges.items():
        if one.claims is not None and (one.claims not in judges or judges[one.claims].kind != "decompose"):
            raise UsageError(
                f"no judge {one.claims!r} of kind decompose is declared",
                field=f"judges.{name}.claims",
                hint=f'[judges.{one.claims}] kind = "decompose"; left out, sentences are claims',
            )
    known = ruling(settings) if settings.scoring.judges is None else settings.scoring.judges
    for name in settings.scoring.judge_thresholds:
        if name not in known:
            raise UsageError(
                f"no judge {name!r} is read",
                field=f"scoring.judge_thresholds.{name}",
                hint=f"judges: {', '.join(known) or 'none is declared'}",
            )
    cut = settings.segmentation
    try:
        parameters_of(cut.chunker, **cut.told())
    except UsageError as error:
        error.field = f"segmentation.{error.field}"
        raise


def redaction_of(settings: Settings) -> Redaction:
    """The redaction that [redact] declares; UsageError for a name or a pattern that cannot be used."""
    from ragassay.redact import Redaction

    told = settings.redact
    return Redaction(headers=told.headers, patterns=told.patterns, detect=told.detect)


def ceiling_of(settings: Settings) -> Ceiling:
    """The ceilings of [run] with the prices of [system.prices]; UsageError where they cannot be kept."""
    from ragassay.run.ceiling import Ceiling, Prices

    run = settings.run
    try:
        prices = parse_value(Prices, settings.system.get("prices", {}))
    except RagassayError as error:
        error.field = ".".join(part for part in ("system.prices", error.field) if part)
        raise
    return Ceiling(max_cost=run.max_cost, max_tokens=run.max_tokens, max_calls=run.max_calls, prices=prices)


def ruling(settings: Settings) -> tuple[str, ...]:
    """The declared judges that rule on something: all but those that cut answers into claims."""
    return tuple(name for name, table in settings.judges.items() if table.get("kind") != "decompose")


def judges_of(settings: Settings) -> dict[str, JudgeSettings]:
    """The judges by name, each checked; UsageError with the field. The keys of its own kind are checked when made."""
    if not settings.judges:
        return {}
    from ragassay.run.judges.settings import judge_settings

    return {name: judge_settings(name, table) for name, table in settings.judges.items()}


def probe_of(settings: Settings, path: Path | None = None) -> ProbeSettings:
    """What [probe] declares, checked; UsageError with the field, also where there is no such section."""
    from ragassay.probe.settings import ProbeSettings, check
    from ragassay.store.refs import check_name

    hint = "docs/probe.md shows one"
    if not settings.probe:
        raise UsageError("there is no [probe]", file=str(path or ""), field="probe", hint=hint)
    try:
        made = parse_value(ProbeSettings, settings.probe)
    except RagassayError as error:
        told = ".".join(part for part in ("probe", error.field) if part)
        raise UsageError(error.message, field=told, hint=hint) from None
    check(made)
    with _about("probe.name"):
        check_name(f"assessment/{made.name}")
    return made


@contextmanager
def _about(field: str) -> Iterator[None]:
    """Errors within are about this field."""
    try:
        yield
    except RagassayError as error:
        error.field = field
        raise


def located(error: RagassayError, path: Path | None) -> RagassayError:
    """An error about a setting with the file, and the line on which its field stands."""
    if path is None or error.file or not error.field.startswith(("system", "benchmark", "corpus", "judges")):
        return error
    return error.at(file=str(path), line=line_of(path.read_text("utf-8"), error.field, error.message))
