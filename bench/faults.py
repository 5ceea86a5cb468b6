"""Fifteen planted faults on CLAPnq and MuSiQue: does the gate fail them, and is the right step named?

    python -m bench.faults [--folder DIR] [--sets clapnq musique] [--seeds N] [--trials N] [--out docs/faults.md]

Runs are kept in `--folder` (`out/faults`), so that a second call goes on where the first one stopped.
PIPELINES_DATA names the folder of the data sets. The policy is bench/faults.policy.toml.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from bench.fault_aa import again
from bench.fault_power import LEAST
from bench.fault_trials import GATE_SEED, SEEDS, Bench
from bench.fault_worlds import AS_OF, SETS, World, scores_of, world
from bench.page import put_out
from bench.pipelines import DATA, ROOT

from ragassay.gate.decide import decide
from ragassay.gate.policy_file import read_policy
from ragassay.records.protocol import Protocol, Run
from ragassay.records.score import ScoreTable
from ragassay.trials.faults import FAULTS

POLICY = Path(__file__).with_name("faults.policy.toml")
NOT_THERE = {("musique", "forced answer"): "the data set has no unanswerable question"}
Told = dict[str, Any]


def wavering(made: World, bench: Bench, trials: int) -> Told:
    """The A/A trials of one data set; kept in the folder."""
    kept = bench.folder / "said" / f"{made.name}-again-{trials}.json"
    if kept.exists():
        return json.loads(kept.read_text("utf-8"))  # type: ignore[no-any-return]
    site = made.sites["hybrid"]
    settings = msgspec.structs.replace(
        site.settings, evidence_floor=0.3, fusion=msgspec.structs.replace(site.settings.fusion, k=10),
        context=msgspec.structs.replace(site.settings.context, tokens=500),
    )  # fmt: skip
    other = scores_of(made, "gate", "wavers", lambda: site.system(settings))
    steady = bench.sound("gate", "k cut")

    def tell(trial: int) -> None:
        if trial % 250 == 249:
            bench.tell(f"{made.name}: A/A {trial + 1}")

    found = again(made.store, made.policy, bench.read(steady), bench.read(other), trials, 7, tell)._asdict()
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found), "utf-8")
    return found


def decided(made: World, bench: Bench) -> str:
    """The command's own decision on one faulty run, everything checked and made again: it says what the trials say."""
    name = "k cut"
    said = bench.trial(name, 1)
    strength = said["strength"]["chosen"] or 1.0
    scores, sound = bench.faulty("gate", name, GATE_SEED, strength), bench.sound("gate", name)
    run = made.store.get_record(Run, made.store.get_record(ScoreTable, scores).run_record)
    sealed = made.store.get_record(Protocol, run.protocol).policy
    decision, _ = decide(made.store, sealed, scores, baseline=sound, as_of=f"{AS_OF}T00:00:00Z")
    return f"{made.name}, {name}: `decide` says {decision.outcome}, the trial said {said['silent'][0]['outcome']}"


def rows(name: str, said: dict[str, Told]) -> Iterator[str]:
    """One line a fault."""
    for fault, one in said.items():
        strength = one["strength"]
        chosen = strength["chosen"]
        least = "more than all" if strength["least"] is None else f"{strength['least']:.3f}"
        told = [
            fault, f"{strength['rule']}, {strength['class_']}", f"{strength['top']:.3f}", least,
            "-" if chosen is None else f"{chosen:g}", "-" if chosen is None else f"{strength['effect']:.3f}",
            ", ".join(each["outcome"] for each in one["silent"]),
            "; ".join(_steps(each) for each in one["silent"]),
            "; ".join(f"{each['losses_right']} of {each['losses']}" for each in one["silent"]),
            "-" if one["loud"] is None else f"{one['loud']['outcome']}: {', '.join(one['loud']['changes'])}",
        ]  # fmt: skip
        yield f"| {name} | {' | '.join(told)} |"


def _steps(each: Told) -> str:
    return "+".join(each["silent"]) or "none"


def right(fault: str, each: Told) -> bool:
    """All steps that are said to have changed silently are those of the fault, and there is one."""
    return bool(each["silent"]) and set(each["silent"]) <= set(FAULTS[fault].steps)


def summary(every: dict[str, dict[str, Told]]) -> Iterator[str]:
    """The shares that were asked for."""
    flat = [(name, fault, one) for name, said in every.items() for fault, one in said.items()]
    seen = [(name, fault, one) for name, fault, one in flat if one["strength"]["chosen"] is not None]
    runs = [(name, fault, each) for name, fault, one in seen for each in one["silent"]]
    caught = sum(each["outcome"] == "fail" for *_, each in runs)
    placed = sum(right(fault, each) for _, fault, each in runs)
    whole = [(name, fault, each) for name, fault, one in flat for each in one["silent"]]
    lost, lost_right = (sum(each[key] for *_, each in runs) for key in ("losses", "losses_right"))
    named = [(name, fault, one["loud"]) for name, fault, one in flat if one["loud"] is not None]
    told = sum(FAULTS[fault].artefact in each["changes"] for _, fault, each in named)
    yield from (
        "| what | share | goal |",
        "|---|--:|--:|",
        f"| faults that are detectable at full strength | {_share(len(seen), len(flat))} | 70% |",
        f"| of those, runs at the fixed strength that fail the gate | {_share(caught, len(runs))} | 95% |",
        f"| of those, silent runs in which the right step is named and no other | {_share(placed, len(runs))} | 90% |",
        f"| the same of all faults, detectable or not | "
        f"{_share(sum(right(fault, each) for _, fault, each in whole), len(whole))} | |",
        f"| facts lost anew in them whose change begins at the fault's own steps | {_share(lost_right, lost)} | |",
        f"| sealed runs in which the right artefact is named | {_share(told, len(named))} | |",
    )
    missed = [(name, fault, each) for name, fault, each in runs if each["outcome"] != "fail" or not right(fault, each)]
    yield from ("", "Missed:", "")
    for name, fault, each in missed:
        yield f"- {name}, {fault}: {each['outcome']}; silent at {_steps(each)}"
    if not missed:
        yield "- nothing"


def _share(part: int, whole: int) -> str:
    return "-" if not whole else f"{part} of {whole} ({part / whole:.0%})"


def page(names: Sequence[str], folder: Path, seeds: int, trials: int) -> Iterator[str]:
    """All tables."""
    began = time.perf_counter()

    def tell(said: str) -> None:
        print(f"{time.perf_counter() - began:.0f} s, {time.process_time():.0f} s of a core: {said}", file=sys.stderr,
              flush=True)  # fmt: skip

    policy = read_policy(POLICY)
    every: dict[str, dict[str, Told]] = {}
    lines, same, asked = [], [], []
    for name in names:
        made = world(name, folder, policy)
        bench = Bench(made, folder, tell)
        every[name] = {one: bench.trial(one, seeds) for one in FAULTS if (name, one) not in NOT_THERE}
        lines += list(rows(name, every[name]))
        found = wavering(made, bench, trials)
        fails = found["outcomes"].get("fail", 0)
        same.append(
            f"| {name} | {found['trials']:,} | {found['moved']:.0%} | {fails} | {found['bound']:.2%} | "
            f"{', '.join(f'{key} {count}' for key, count in sorted(found['outcomes'].items()))} |"
        )
        asked += [
            f"- {name}: {len(made.lines['gate'])} questions at the gate, {len(made.lines['other'])} others; "
            f"{len(made.frozen.documents):,} documents in {len(made.frozen.passages):,} passages",
            f"- {decided(made, bench)}",
        ]
    yield from ("## In short", "", *summary(every), "")
    yield from ("| the same again | trials | questions that differ | fail | upper 95 % bound | outcomes |",
                "|---|--:|--:|--:|--:|---|", *same, "")  # fmt: skip
    yield from ("## What was asked", "", *asked, "")
    yield from (f"- not there: {name}, {fault}: {why}" for (name, fault), why in NOT_THERE.items() if name in names)
    yield from (
        "", "## Fault by fault", "",
        f"| data | fault | rule that sees it best, class | effect of all of it | least effect seen in 80 of 100 | "
        f"strength (effect >= {LEAST:g} x that) | mean over {SEEDS} seeds | gate | silent at | losses right | "
        f"sealed: gate and artefacts |",
        "|---|---|---|--:|--:|--:|--:|---|---|--:|---|", *lines,
    )  # fmt: skip


def main() -> int:
    """The tables, printed and, with --out, written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "faults")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--seeds", type=int, default=1, help="runs of each fault at the gate")
    parser.add_argument("--trials", type=int, default=2_000, help="of the same system against itself")
    parser.add_argument("--out", type=Path, help="a Markdown file; what stands above its line `<!-- tables -->` stays")
    given = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data sets in {DATA}: PIPELINES_DATA names their folder", file=sys.stderr)
        return 1
    put_out(list(page(given.sets, given.folder, given.seeds, given.trials)), given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
