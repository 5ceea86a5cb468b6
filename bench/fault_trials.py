"""Each fault on one data set: its strength fixed on other questions, then what is said of it. Prints nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench.fault_power import LEAST, Effects, effects, least, strongest
from bench.fault_worlds import SETS, BySeed, World, scores_of

from ragassay.assay import Frozen, freeze_corpus
from ragassay.compare.changes import Sides, artefacts, losses, steps
from ragassay.gate.decide import measures_of, outcome_of, read_demands
from ragassay.gate.evidence import Evidence, check_alike, read_evidence
from ragassay.gate.rules import Arms
from ragassay.records.base import Digest
from ragassay.records.decision import RuleResult
from ragassay.trials.faults import FAULTS, loud, loud_corpus, silent, struck

SEEDS = 20
LADDER = (0.125, 0.25, 0.5, 1.0)
GATE_SEED = 1_000
"""First seed of the gate's runs; those of the other questions are 0 to 19."""
TRIED_RULES = 3
"""So many rules, those that an effect shows in most, are asked for the least effect."""


class Strength(NamedTuple):
    """What the other questions say of one fault."""

    rule: str
    class_: str
    top: float
    """Mean effect on the rule's measure at full strength; positive is worse."""
    least: float | None
    """The least effect that the rule finds in 80 of 100; None: more than the whole fault."""
    chosen: float | None
    """The strength; None: not detectable at any."""
    effect: float | None
    """Mean over 20 seeds at that strength."""


class Said(NamedTuple):
    """What gate and comparison say of one run."""

    outcome: str
    failed: tuple[str, ...]
    changes: tuple[str, ...]
    """Artefacts that differ."""
    silent: tuple[str, ...]
    """Steps at which the change begins though every identity is equal."""
    losses: int
    losses_right: int
    """Facts lost anew whose change begins at the fault's own steps, and nowhere else."""
    placed: tuple[str, ...]
    """Steps at which losses begin, the most frequent first."""


class Bench:
    """One world; what was read of it."""

    def __init__(self, world: World, folder: Path, tell: Callable[[str], None]) -> None:
        self.world, self.folder, self.tell = world, folder, tell
        self.wanted = measures_of(world.policy)
        self._read: dict[Digest, Evidence] = {}

    def site(self, name: str) -> str:
        """Which pipeline a fault is planted in."""
        return "rerank" if name == "rerank reversed" else "hybrid"

    def sound(self, part: str, name: str) -> Digest:
        """The run without a fault."""
        key = self.site(name)
        return scores_of(self.world, part, f"sound-{key}", self.world.sites[key].system)

    def faulty(self, part: str, name: str, seed: int, strength: float) -> Digest:
        """A run with a silent fault."""
        site = self.world.sites[self.site(name)]
        spelled = f"silent-{name}-{seed}-{strength:g}"
        return scores_of(self.world, part, spelled, lambda: silent(site, name, seed=seed, strength=strength))

    def loud(self, name: str, seed: int, strength: float) -> Digest | None:
        """A run with a fault that is sealed; faults of a step strike every question then. None: there is none."""
        site, world = self.world.sites[self.site(name)], self.world
        strikes = FAULTS[name].strikes
        spelled = f"loud-{name}-{seed}-{strength:g}"
        if strikes == "questions":
            return scores_of(world, "other", spelled, lambda: loud(site, name))
        cut = {**SETS[world.name], **({"overlap": 0} if name == "overlap lost" else {})}

        def frozen() -> Frozen:
            documents = list(site.documents)
            if name != "overlap lost":
                documents = loud_corpus(documents, name, seed=seed, strength=strength)
            return freeze_corpus(world.store, documents, name=f"{world.name}-{name.replace(' ', '-')}",
                                 chunker="tokens", **cut)  # fmt: skip

        if name in ("shifted spans", "yesterday's index"):
            return None
        made: list[Frozen] = []

        def once() -> Frozen:
            made.append(frozen())
            return made[0]

        def system() -> Any:
            from dataclasses import replace

            return replace(site, documents=made[0].documents, passages=made[0].passages, unions={}).system()

        return scores_of(world, "other", spelled, system, once)

    def read(self, scores: Digest) -> Evidence:
        """A table as the gate reads it."""
        return read_evidence(self.world.store, scores, "run", self.wanted)

    def strength(self, name: str) -> Strength:
        """Fixed on the other questions."""
        sound = self.read(self.sound("other", name))
        top = strongest(effects(self.world.policy, self.read(self.faulty("other", name, 0, 1.0)), sound))
        sizes = Counter(one.class_ or "answerable" for one in self.world.lines["gate"])
        found = []
        for one in top[:TRIED_RULES]:
            if float(one.high.mean()) < -(one.rule.margin or 0.0):
                found.append((one, least(one, sizes[one.class_], self.world.policy.alpha, 1)))
        if not found:
            one = top[0]
            return Strength(one.label, one.class_, -float(one.high.mean()), None, None, None)
        one, mde = min(found, key=lambda pair: pair[1].share or 2.0)
        whole = -float(one.high.mean())
        if mde.effect is None or whole < LEAST * -mde.effect:
            return Strength(one.label, one.class_, whole, None if mde.effect is None else -mde.effect, None, None)
        for strength in LADDER:
            if strength < 0.8 * LEAST * (mde.share or 0) and strength < 1:
                continue
            effect = self.mean_effect(name, one, strength)
            if effect >= LEAST * -mde.effect:
                return Strength(one.label, one.class_, whole, -mde.effect, strength, effect)
        return Strength(one.label, one.class_, whole, -mde.effect, 1.0, whole)

    def mean_effect(self, name: str, one: Effects, strength: float) -> float:
        """Over 20 seeds. A fault that strikes questions is what it is at full strength, question by question."""
        if _alike(name, strength):
            return -float(one.high.mean())
        if FAULTS[name].strikes == "questions":
            hit = [[struck(seed, key, strength) for key in one.query_ids] for seed in range(SEEDS)]
            return -float(np.mean([np.where(each, one.high, 0).mean() for each in hit]))
        site = self.world.sites[self.site(name)]
        systems = [partial(silent, site, name, seed=seed, strength=strength) for seed in range(SEEDS)]
        scores = scores_of(
            self.world, "other", f"seeds-{name}-{strength:g}", lambda: BySeed([make() for make in systems])
        )
        every = effects(self.world.policy, self.read(scores), self.read(self.sound("other", name)))
        same = [each for each in every if (each.label, each.class_) == (one.label, one.class_)]
        return -float(same[0].high.mean())

    def say(self, name: str, candidate: Digest, part: str) -> Said:
        """Gate and comparison on one run against the sound one."""
        store = self.world.store
        ours, theirs = self.read(candidate), self.read(self.sound(part, name))
        check_alike(store, ours, theirs, self.world.policy.variation)
        results = read_demands(Arms(store, self.world.policy, ours, theirs), [])
        sides = Sides(store, theirs.run, ours.run)
        changes = artefacts(store, theirs.run, ours.run, scores=(theirs.table, ours.table), sides=sides)
        moved = steps(store, theirs.run, ours.run, changes, sides=sides)
        lost = list(losses(store, theirs.table, ours.table, changes, sides=sides))
        wanted = set(FAULTS[name].steps)
        right = sum(bool(one.moved) and set(one.moved) <= wanted for one in lost)
        return Said(
            outcome_of(results),
            tuple(_named(one) for one in results if one.result == "fail"),
            tuple(dict.fromkeys(one.artefact for one in changes)),
            tuple(one.step for one in moved if one.silent),
            len(lost),
            right,
            tuple(step for step, _ in Counter(step for one in lost for step in one.moved).most_common()),
        )  # fmt: skip

    def trial(self, name: str, seeds: int) -> dict[str, Any]:
        """Everything about one fault, as it goes into the table; kept in the folder."""
        kept = self.folder / "said" / f"{self.world.name}-{name.replace(' ', '_')}.json"
        if kept.exists():
            return json.loads(kept.read_text("utf-8"))  # type: ignore[no-any-return]
        strength = self.strength(name)
        self.tell(f"{self.world.name}: {name}: {strength}")
        used = strength.chosen or 1.0
        said = []
        for seed in range(GATE_SEED, GATE_SEED + (1 if _alike(name, used) else seeds)):
            said.append(self.say(name, self.faulty("gate", name, seed, used), "gate")._asdict())
        sealed = self.loud(name, GATE_SEED, used)
        made = {
            "strength": strength._asdict(), "silent": said,
            "loud": None if sealed is None else self.say(name, sealed, "other")._asdict(),
        }  # fmt: skip
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(made), "utf-8")
        for one in said:
            self.tell(f"{self.world.name}: {name}: {one['outcome']}, silent at {', '.join(one['silent'])}")
        return made


def _alike(name: str, strength: float) -> bool:
    """Whether a fault does the same at every seed: it strikes all there is, and leaves nothing to chance."""
    return strength == 1.0 and name != "yesterday's index"


def _named(one: RuleResult) -> str:
    return f"{one.rule} ({one.population.class_ if one.population else 'all'})"
