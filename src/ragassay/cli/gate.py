"""`ragassay gate`: a policy read over one run, or over two; the exit code is the outcome."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragassay.cli import talk
from ragassay.cli.files import replace_file, writing
from ragassay.cli.score import score_unscored
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import ExitCode, UsageError
from ragassay.records.base import Digest
from ragassay.records.policy import Policy
from ragassay.records.protocol import Protocol, Run
from ragassay.records.score import ScoreTable
from ragassay.records.text import instant, many
from ragassay.store import Store

if TYPE_CHECKING:
    from ragassay.gate.decide import Decided
    from ragassay.gate.probed import Probed

CODES = {
    "pass": ExitCode.PASS,
    "fail": ExitCode.FAIL,
    "review": ExitCode.INCONCLUSIVE,
    "inconclusive": ExitCode.INCONCLUSIVE,
}


ASSESSMENTS = "assessment"
"""First part of the names of assessments."""


class _Probes(NamedTuple):
    """Where the probes of the system are looked for."""

    said: str | None
    config: Path


def gate(
    candidate: str = "latest",
    *,
    baseline: str | None = None,
    reference: str | None = None,
    policy: Path | None = None,
    as_of: str | None = None,
    reviews: Path | None = None,
    to_review: Path | None = None,
    queue: Path | None = None,
    assessment: str | None = None,
    junit: Path | None = None,
    md: Path | None = None,
    summary: bool = False,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> int:
    """Decide by the policy that was sealed with a run: pass, fail, review, or cannot tell yet.

    Every byte is hashed again and the run is scored again before any rule is read. The decision is kept in the store.
    Exit codes: 0 pass; 1 fail; 3 review or cannot tell; 4 too many questions failed to tell; 2 settings or input, also
    where candidate and baseline were not measured alike; 5 something stored is not what it was.

    Parameters
    ----------
    candidate
        The run to decide on: its name, a digest of its scores, or `latest`. One that was not scored yet is scored.
    baseline
        The run that it would replace; rules with a margin and reviews need it.
    reference
        A run of the built-in system: the baseline must not be worse by class than that.
    policy
        Another policy than the sealed one, in a TOML file; it was not declared before the run, so nothing passes.
    as_of
        The day of the decision, by which evidence is fresh or stale; today if left out.
    reviews
        Reviews by named persons, as --to-review writes them; they are kept in the store with those of before.
    to_review
        Write the questions that a person must open to this file.
    queue
        Write the questions near a threshold to this file, as candidates for the next version of the benchmark.
    assessment
        Another assessment of cross-tenant probes than the newest of the suite that the policy names.
    junit
        Also write JUnit XML to this file: a test case a result.
    md
        Also write Markdown to this file: the comment on a change.
    summary
        Also append the decision to the file that $GITHUB_STEP_SUMMARY names.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        The decision as JSON on standard output.
    """
    from ragassay.report.decided import decision_lines

    opened = open_store(config, store)
    named = {"candidate": candidate, "baseline": baseline, "reference": reference}
    tables = {side: _scores(opened, text) for side, text in named.items() if text is not None}
    made = _decide(opened, named, tables, policy, as_of, reviews, _Probes(assessment, config))
    paths = _write(made, queue=queue, to_review=to_review, junit=junit, md=md)
    if summary:
        append(made)
    if json:
        talk.data_json(as_json(made))
    else:
        for line in decision_lines(made.decision, made.policy.name):
            talk.data(talk.plain(line))
    for path in paths:
        talk.say(str(path))
    talk.then(_next(made, baseline), config, store)
    return int(code_of(made))


def _scores(store: Store, text: str) -> Digest:
    if (made := score_unscored(store, text)) is not None:
        talk.say(f"{'the newest run' if text == 'latest' else text} was not scored yet: scores {made}")
    return store.resolve(text, kind_prefix="scores")


def _decide(
    store: Store, named: dict[str, str | None], tables: dict[str, Digest], policy: Path | None, as_of: str | None,
    reviews: Path | None, probes: _Probes,
) -> Decided:  # fmt: skip
    from ragassay.gate.decide import decided
    from ragassay.gate.policy_file import read_policy
    from ragassay.gate.review_file import read_reviews
    from ragassay.gate.reviews import add_review, stored_reviews
    from ragassay.run.clock import SYSTEM_CLOCK

    candidate, baseline = tables["candidate"], tables.get("baseline")
    run = store.get_record(Run, store.get_record(ScoreTable, candidate).run_record)
    digest = store.get_record(Protocol, run.protocol).policy
    if policy is not None:
        digest = store.put_record(read_policy(policy))
    if reviews is not None and baseline is None:
        raise UsageError(
            "reviews without a baseline", field="--reviews", hint="a review is of a change: --baseline RUN"
        )
    for one in [] if reviews is None or baseline is None else read_reviews(reviews, candidate, baseline):
        add_review(store, one)
    made = decided(
        store,
        digest,
        candidate,
        baseline=baseline,
        reference=tables.get("reference"),
        as_of=instant(as_of or SYSTEM_CLOCK.now()[:10]),
        reviews=() if baseline is None else stored_reviews(store, candidate, baseline),
        names=(_name(store, candidate, named["candidate"]), _name(store, baseline, named["baseline"])),
        probed=_probed(store, store.get_record(Policy, digest), probes),
    )
    name = _ref(made.decision.candidate.name)
    store.set_ref(f"decision/{name}", made.digest, kind="decision")
    about = {"decision": made.digest, "scores": candidate, "policy": digest}
    store.ledger.record("decided", about, SYSTEM_CLOCK.now(), name=name)
    return made


def _probed(store: Store, policy: Policy, probes: _Probes) -> Probed:
    """The assessment that a policy demands, and what [probe.standing] declares now."""
    from ragassay.cli.settings import probe_of, read_settings
    from ragassay.gate.probed import Probed
    from ragassay.probe.standing import declared_now

    if policy.probe is None:
        if probes.said is not None:
            raise UsageError("the policy demands no assessment", field="--assessment", hint="add [policy.probe]")
        return Probed()
    name = f"{ASSESSMENTS}/{policy.probe.suite}"
    found = None
    if probes.said is not None:
        found = store.resolve(probes.said, kind_prefix=ASSESSMENTS)
    elif name in store.ref_names(name):
        found = store.ref(name)
    settings = read_settings(probes.config) if probes.config.exists() else None
    if settings is None or not settings.probe:
        return Probed(found)
    declared = probe_of(settings, probes.config).standing
    return Probed(found, declared_now(declared, probes.config.parent))


def _name(store: Store, digest: Digest | None, said: str | None) -> str:
    """As the user called it; for `latest` or a digest, the name that it has."""
    if digest is None:
        return said or ""
    names = [one.name.removeprefix("scores/") for one in store.refs("scores/") if one.digest == digest]
    bare = (said or "").removeprefix("scores/")
    return bare if bare in names else (names or [digest[7:19]])[0]


def _ref(name: str) -> str:
    return name.replace("/", ".")


def _write(
    made: Decided, *, queue: Path | None, to_review: Path | None, junit: Path | None, md: Path | None
) -> list[Path]:
    from ragassay.report.decided import decision_markdown
    from ragassay.report.decided_xml import decision_junit

    wanted: list[tuple[Path, bytes]] = []
    if queue is not None:
        from ragassay.gate.queue import queue_lines

        lines = list(queue_lines(made))
        talk.say(f"{many(len(lines), 'question')} near a threshold")
        wanted.append((queue, b"".join(lines)))
    if to_review is not None:
        from ragassay.gate.review_file import review_file

        wanted.append((to_review, review_file(made).encode()))
    if junit is not None:
        wanted.append((junit, decision_junit(made.decision, made.policy.name).encode()))
    if md is not None:
        wanted.append((md, decision_markdown(made.decision, made.policy.name).encode()))
    paths = []
    for path, data in wanted:
        with writing(path):
            replace_file(path, [data])
        paths.append(path)
    return paths


def append(made: Decided) -> None:
    """The decision behind what the step has already written there, within GitHub's limit for both together."""
    from ragassay.report.decided import MOST_BYTES, decision_summary

    named = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not named:
        raise UsageError("--summary, but GITHUB_STEP_SUMMARY is not set", hint="GitHub Actions sets it; else --md FILE")
    path = Path(named)
    with writing(path):
        there = path.stat().st_size if path.exists() else 0
        text = decision_summary(made.decision, made.policy.name, MOST_BYTES - there)
        if not text:
            talk.say(f"{path} is full already ({many(there, 'byte')}): no summary was added")
            return
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)


def as_json(made: Decided) -> dict[str, object]:
    """The decision as JSON values, with its digest, its sentence, and the exit code."""
    import msgspec

    from ragassay.report.decided import sentence

    return {
        "decision": made.digest,
        "sentence": sentence(made.decision, made.policy.name),
        "exit_code": int(code_of(made)),
        **msgspec.to_builtins(made.decision),
    }


def code_of(made: Decided) -> ExitCode:
    """The exit code of an outcome; where too many questions failed to tell, that is said instead."""
    from ragassay.gate.standing import TOO_MANY_ERRORS

    failed = any(TOO_MANY_ERRORS in one.reasons for one in made.decision.results)
    if failed and made.decision.outcome != "fail":
        return ExitCode.TOO_MANY_ERRORS
    return CODES[made.decision.outcome]


def _next(made: Decided, baseline: str | None) -> str:
    if any("review_absent" in one.reasons for one in made.decision.results):
        return f"ragassay gate --baseline {baseline} --to-review reviews.toml"
    if any("no_rules" in one.reasons for one in made.decision.results):
        return "ragassay policy check"
    if any({"assessment_absent", "assessment_stale"} & set(one.reasons) for one in made.decision.results):
        return "ragassay probe run"
    return "ragassay report"
