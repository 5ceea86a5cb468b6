"""How far the judges of a score table agree with each other. Says nothing of who is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from ragassay.records.score import Interval
from ragassay.report.grounding.material import JudgeRead
from ragassay.report.grounding.model import Among
from ragassay.stats.agreement import Agreed, ac1, alpha, kappa, raw

KINDS = ("claim", "citation", "fact", "answer")
Key = tuple[str, int, str]


def among(judges: Sequence[JudgeRead], cluster_of: Mapping[str, str], level: float) -> Iterator[Among]:
    """A row a kind of item and pair of judges with items in common; one for all, where there are more than two.

    Panels are left out, which are made of the others. Intervals keep the items of a question together.
    """
    own = [one for one in judges if one.identity.kind != "panel" and not one.verdicts.disqualified]
    for about in KINDS if len(own) > 1 else ():
        said = {one.name: _labels(one, about) for one in own}
        for one, other in combinations(said, 2):
            shared = sorted(said[one].keys() & said[other].keys())
            if shared:
                yield _pair(about, (one, other), [(said[one][key], said[other][key]) for key in shared],
                            [cluster_of.get(key[0], key[0]) for key in shared], level)  # fmt: skip
        if len(own) > 2:
            yield from _all(about, said, cluster_of, level)


def _labels(read: JudgeRead, about: str) -> dict[Key, str]:
    found = read.verdicts.items(about)
    return {(*key, target): ruling.label for key, target, ruling in found if ruling.label is not None}


def _pair(
    about: str, judges: tuple[str, str], pairs: list[tuple[str, str]], clusters: list[str], level: float
) -> Among:
    beyond, steady = kappa(pairs, clusters, level=level), ac1(pairs, clusters, level=level)
    together = alpha([list(pair) for pair in pairs], clusters, level=level)
    return Among(
        about=about,
        judges=judges,
        items=len(pairs),
        raw=raw(pairs, clusters, level=level).value,
        kappa=beyond.value,
        kappa_interval=_ends(beyond),
        ac1=steady.value,
        ac1_interval=_ends(steady),
        alpha=together.value,
        alpha_interval=_ends(together),
    )


def _all(
    about: str, said: Mapping[str, Mapping[Key, str]], cluster_of: Mapping[str, str], level: float
) -> Iterator[Among]:
    keys = sorted({key for labels in said.values() for key in labels})
    units = [[labels[key] for labels in said.values() if key in labels] for key in keys]
    if any(len(unit) > 1 for unit in units):
        found = alpha(units, [cluster_of.get(key[0], key[0]) for key in keys], level=level)
        yield Among(
            about=about, judges=tuple(said), items=sum(len(unit) > 1 for unit in units), raw=None, kappa=None,
            kappa_interval=None, ac1=None, ac1_interval=None, alpha=found.value, alpha_interval=_ends(found),
        )  # fmt: skip


def _ends(found: Agreed) -> Interval | None:
    one = found.interval
    if found.value is None or one.low is None or one.high is None:
        return None
    return Interval(low=one.low, high=one.high, level=one.level, method=one.method, clusters=one.clusters)
