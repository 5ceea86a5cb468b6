"""`ragassay policy check`: whether a policy can do what it says, before anything is asked. Decides no run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ragassay.benchmark
from ragassay.assay import scoring_of
from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, located
from ragassay.cli.workspace import benchmark_of, corpus_of, open_store, open_workspace, plan_of, policy_of
from ragassay.errors import ExitCode, RagassayError
from ragassay.gate.check import Finding, Given, given_of
from ragassay.gate.check import check as check_policy
from ragassay.gate.check.probes import suites_of
from ragassay.gate.evidence import UNCONFIRMED, read_evidence
from ragassay.gate.policy_file import read_policy
from ragassay.gate.twins import as_one
from ragassay.records.policy import Policy
from ragassay.records.text import many
from ragassay.report.words import plain


def check(
    file: Path | None = None,
    *,
    run: str = "",
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> int:
    """Say which demands can never pass, can never fail, or are not what they seem. Exit code 2 if any is refused.

    Parameters
    ----------
    file
        A TOML file with [policy]; left out: the policy of the settings.
    run
        A scored run: its questions and measures, and at which steps these were taken. Left out: what the settings name.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Everything as JSON on standard output.
    """
    if run:
        opened = open_store(config, store)
        evidence = read_evidence(opened, opened.resolve(run, kind_prefix="scores"), run, ())
        given = given_of(opened, evidence, received=True)
        given = replace(given, suites=suites_of(opened))
        policy = read_policy(file) if file is not None else opened.get_record(Policy, evidence.protocol.policy)
    else:
        given, policy = _of_settings(file, config, store)
    found = check_policy(policy, given)
    refused = sum(one.level == "refused" for one in found)
    if json:
        keys = ("level", "field", "message", "hint")
        talk.data_json({"policy": policy.name, "findings": [{key: getattr(one, key) for key in keys} for one in found]})
    else:
        for one in found:
            talk.data("\n".join(_lines(one)))
        talk.data(_sentence(policy, given, refused, len(found) - refused))
    talk.then(
        "ragassay policy check" if refused else "ragassay run" if not run else f"ragassay gate {run}", config, store
    )
    return int(ExitCode.USAGE if refused else ExitCode.PASS)


def _lines(one: Finding) -> list[str]:
    told = [f"{one.level}: {plain(one.field, 160)}: {plain(one.message, 400)}"]
    return [*told, f"  {plain(one.hint, 400)}"] if one.hint else told


def _sentence(policy: Policy, given: Given, refused: int, warnings: int) -> str:
    name, size = plain(policy.name, 80), many(len(given.cases), "question")
    if refused:
        return f"policy {name} cannot stand on {size}: {many(refused, 'finding')} to mend, {many(warnings, 'warning')}"
    rules = len(policy.rules) + len(policy.must_hold) + len(policy.budgets) + len(policy.verdicts)
    rules += (policy.refusal is not None) + (policy.probe is not None)
    return f"policy {name} can be decided on {size}: {many(rules, 'demand')}, {many(warnings, 'warning')}"


def _of_settings(file: Path | None, config: Path, store: Path | None) -> tuple[Given, Policy]:
    """What the settings name; nothing is written."""
    workspace = open_workspace(config, store, unwritten=True)
    try:
        policy = read_policy(file) if file is not None else policy_of(workspace)
    except RagassayError as error:
        raise located(error, workspace.config) from None
    built = benchmark_of(workspace, corpus_of(workspace))
    plan = plan_of(workspace.settings)
    cases = ragassay.benchmark.load(workspace.store, built.benchmark)
    kept = as_one(one for one in cases if UNCONFIRMED not in one.slice)
    scoring, made = scoring_of(plan, built), built.benchmark
    given = Given(kept, scoring, made.rel, plan.top_k, completeness=made.completeness, repeats=plan.repeats)
    return replace(given, suites=suites_of(workspace.store)), policy
