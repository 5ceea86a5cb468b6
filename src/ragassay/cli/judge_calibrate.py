"""`ragassay judge calibrate`: a judge held against people."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, read_settings
from ragassay.cli.workspace import open_store
from ragassay.records.judgement import Agreement, Bias
from ragassay.records.score import Interval
from ragassay.records.text import many


def calibrate(
    name: str,
    *,
    run: str = "latest",
    people: tuple[str, ...] = (),
    threshold: float | None = None,
    fit: bool = False,
    seed: int = 0,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Hold a judge against what people said of the same run: agreement by class, biases, cost.

    The calibration holds for exactly this judge: another model, prompt, setting or library is another judge, and so is
    another threshold. Without one a judge's numbers are marked as uncalibrated and satisfy no rule.

    Parameters
    ----------
    name
        The judge, as the settings call it.
    run
        Which run: a name, a digest, its beginning, or `latest`.
    people
        Whose verdicts count; may be given several times. Left out: all people who judged this run.
    threshold
        The least score of *supported* under which the judge is read; left out: as [scoring.judge_thresholds] says.
    fit
        Choose the threshold on one half of the questions and report the agreement on the other.
    seed
        Of the halves and of the intervals.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    import msgspec

    from ragassay.trials.people.calibrating import calibrate as hold

    opened = open_store(config, store)
    if threshold is None and not fit and config.is_file():
        threshold = read_settings(config).scoring.judge_thresholds.get(name)
    run_digest = opened.resolve(run, kind_prefix="run")
    found = hold(opened, run_digest, name, people=people, threshold=threshold, fit=fit, seed=seed)
    record = found.record
    if json:
        talk.data_json({"calibration": found.digest, **msgspec.to_builtins(record)})
        return
    talk.data(f"calibration of {name} {found.digest}")
    talk.data(f"  by {', '.join(found.people)} under {record.rubric}; items {record.drawn}")
    for one in record.agreements:
        talk.data(f"  {_agreement(one)}")
    for bias in record.biases:
        talk.data(f"  {_bias(bias)}")
    for cost in record.cost:
        talk.data(f"  cost of all verdicts: {cost.amount:g} {cost.currency}")
    if found.tied or found.unsure:
        talk.data(f"  left out: {many(found.tied, 'item')} on which people are split, {found.unsure} as unsure")
    if fit and record.threshold is not None:
        talk.data(
            f"  threshold {record.threshold:.6g}, chosen on {many(record.fitted or 0, 'item')} of other questions"
        )
        talk.say(f"it holds once the scoring says so: [scoring.judge_thresholds] {name} = {record.threshold!r}")
    talk.then("ragassay score", config, store)


def _agreement(one: Agreement) -> str:
    where = f"{one.about}, {one.class_ or 'all classes'}"
    parts = [many(one.items, "item")]
    for word, value, interval in (
        ("kappa", one.kappa, one.kappa_interval),
        ("sensitivity", one.sensitivity, one.sensitivity_interval),
        ("specificity", one.specificity, one.specificity_interval),
    ):
        parts.append(f"{word} {_number(value, interval)}")
    return f"{where}: {', '.join(parts)}" + (f", {one.unjudged} without the judge's verdict" if one.unjudged else "")


def _number(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.3f}" + (f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else "")


def _bias(one: Bias) -> str:
    if one.value is None:
        return f"bias of {one.name}, {one.about}: not told ({one.absent})"
    return f"bias of {one.name}, {one.about}: {_number(one.value, one.interval)} more good verdicts {one.halves}"
