"""`ragassay score`: a run to its score table."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from pathlib import Path

from ragassay.assay import GROUNDING_MEASURES
from ragassay.assay import measure as measured
from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import AbsentError, UsageError
from ragassay.measures import parse, version_of
from ragassay.records.base import Digest
from ragassay.records.protocol import Protocol, Run, Scoring
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.text import many
from ragassay.seal import verify
from ragassay.store import Store
from ragassay.store.superseding import history


def score(
    run: str = "latest",
    *,
    judge: tuple[str, ...] = (),
    judge_threshold: tuple[str, ...] = (),
    measure: tuple[str, ...] = (),
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Score a run, after every byte of it has been checked. The same run, scoring and judgements give the same bytes.

    Read are the judgements that are in force (`ragassay judge`), and nothing is asked: verdicts are labelled anew by
    their scores where a threshold changes. Other judges, thresholds or measures than the sealed ones are another
    scoring; the table says so.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    judge
        Read this judge or person instead of the sealed ones; may be given several times. Without `--measure`, the usual
        measures of grounding are taken where the sealed scoring has none.
    judge_threshold
        NAME=SCORE: the least score at which that judge's verdict is *supported*; may be given several times.
    measure
        Take this measure too, as in `faithfulness`; may be given several times.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Every estimate as JSON on standard output.
    """
    opened = open_store(config, store)
    varied = judge or judge_threshold or measure
    digest = score_run(opened, run, _other(judge, judge_threshold, measure) if varied else None)
    table = opened.get_record(ScoreTable, digest)
    estimates = list(opened.get_lines(Estimate, table.estimates))
    if json:
        talk.data_json({"scores": digest, "content": table.content, "estimates": [plain(one) for one in estimates]})
    else:
        talk.data(f"scores {digest}")
        talk.data(f"  {many(table.questions, 'question')}, {many(len(estimates), 'estimate')}, content {table.content}")
        for name, judged in sorted(table.judged.items()):
            past = history(opened, judged)
            if past:
                told = f"superseded {many(len(past), 'earlier set')}, last at {past[0].at} by {past[0].by}"
                talk.data(talk.plain(f"  verdicts of {name}: {judged}, which {told}: {past[0].reason}"))
    newest = opened.resolve("latest", kind_prefix="scores") == digest
    talk.then(f"ragassay report{'' if newest else f' {digest[7:19]}'} --out report", config, store)


def score_unscored(store: Store, text: str) -> Digest | None:
    """Score the run that `text` names (`latest`: the one named last) if no table of it has a name; None otherwise."""
    runs = [one.name for one in store.refs("run/")]
    if not runs or (text != "latest" and f"run/{text.removeprefix('run/')}" not in runs):
        return None
    wanted = store.resolve(text, kind_prefix="run")
    scored = {_run_of(store, one.digest) for one in store.refs("scores/")}
    return None if wanted in scored else score_run(store, text)


def _run_of(store: Store, scores: Digest) -> Digest | None:
    """Which run a table is of; of one that was erased, as the ledger says."""
    try:
        return store.get_record(ScoreTable, scores).run_record
    except AbsentError:
        lines = (one.entry.objects for one in store.ledger.lines(torn=True) if one.entry.act == "scored")
        return next((one.get("run") for one in lines if one.get("scores") == scores), None)


def _other(
    judges: tuple[str, ...], thresholds: tuple[str, ...], measures: tuple[str, ...]
) -> Callable[[Scoring], Scoring]:
    """The sealed scoring with other judges, thresholds or more measures."""
    import msgspec

    given: dict[str, float] = {}
    for one in thresholds:
        name, sign, number = one.partition("=")
        try:
            if not name or not sign or not isfinite(value := float(number)):
                raise ValueError
        except ValueError:
            raise UsageError(
                f"{one!r} is no threshold", field="judge_threshold", hint="NAME=SCORE, as in words=0.6"
            ) from None
        given[name] = value

    def other(sealed: Scoring) -> Scoring:
        read = judges or sealed.judges
        grounded = {parse(one).name for one in GROUNDING_MEASURES}
        usual = () if any(parse(one).name in grounded for one in sealed.measures) else GROUNDING_MEASURES
        asked = measures or (usual if judges else ())
        wanted = tuple(dict.fromkeys((*sealed.measures, *(str(parse(one)) for one in asked))))
        unknown = [one for one in given if one not in read]
        if unknown:
            raise UsageError(
                f"no judge {unknown[0]!r} is read", field="judge_threshold", hint=f"judges: {', '.join(read)}"
            )
        kept = {name: value for name, value in sealed.judge_thresholds.items() if name in read}
        versions = {name: version_of(name) for name in (parse(one).name for one in wanted)}
        return msgspec.structs.replace(
            sealed, judges=read, judge_thresholds={**kept, **given}, measures=wanted,
            measure_versions={**versions, **sealed.measure_versions},
        )  # fmt: skip

    return other


def score_run(store: Store, run: str, other: Callable[[Scoring], Scoring] | None = None) -> Digest:
    """Score the run that `run` names; the digest of the table, ref `scores/NAME`. `other` makes another scoring of the
    sealed one."""
    run_digest = store.resolve(run, kind_prefix="run")
    record = store.get_record(Run, run_digest)
    verify(store, record.protocol)
    protocol = store.get_record(Protocol, record.protocol)
    names = [one.name.removeprefix("run/") for one in store.refs("run/") if one.digest == run_digest]
    name = run.removeprefix("run/") if run.removeprefix("run/") in names else (names or [run_digest[7:19]])[0]
    scoring = protocol.scoring
    if other is not None:
        scoring = store.put_record(other(store.get_record(Scoring, scoring)))
    return measured(store, run_digest, scoring, name=name)


def plain(estimate: Estimate) -> dict[str, object]:
    """An estimate as JSON values."""
    import msgspec

    return dict(msgspec.to_builtins(estimate))
