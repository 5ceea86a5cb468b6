"""The page about the twins, from the results that `trials/twins.py` keeps. Asks nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Result = dict[str, Any]


def page(results: Sequence[Result], missing: Callable[[Result], str], place: Callable[[Result], str], *,
         power: str, texts: str) -> str:  # fmt: skip
    """Markdown. `missing` says why a result is not as it should be, `place` where a hole had to be named."""
    twins = [one for one in results if one["hole"]]
    clean = [one for one in results if not one["hole"]]
    return "\n".join([
        "# The probe on a service with known holes", "",
        _intro(twins), "", "## Twins", "", *_twins(twins, missing, place), "",
        "## The correct service", "", *_clean(clean), "",
        "## Power of the oracles", "", *_power(twins, clean), "", power, "",
        "## Texts", "", texts, "",
        "Whoever wrote the matcher wrote these forms: they say what it reads, not what it would miss.", "",
    ])  # fmt: skip


INTRO = """\
Made by `python -m trials.twins --keep FOLDER --again N --full --out docs/twins.md`. The service is
[examples/tenants](../examples/tenants/README.md): PostgreSQL with row-level security, correct as it stands; each
twin has one hole. Everything was asked by `ragassay probe run`. Twins got a smaller suite than the example's
settings make: four principals of three tenants and one language, {probes} probes besides the planted
attacks.
"""


def _intro(twins: Sequence[Result]) -> str:
    probes = sorted({one["rates"][0]["attempted"] for one in twins})
    return INTRO.format(probes=" or ".join(f"{one:,}" for one in probes)).rstrip()


def _twins(twins: Sequence[Result], missing: Callable[[Result], str], place: Callable[[Result], str]) -> Iterable[str]:
    caught = sum(not missing(one) for one in twins)
    yield f"{caught} of {len(twins)} are caught in the channel and at the step where the hole is."
    yield ""
    yield "| twin | caught | exit code | channel, step | asked how | by | probes that leaked | a finding there |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in twins:
        leaks = [each for each in one["findings"] if each["severity"] == "leak"]
        wanted = place(one)
        first = next((each for each in leaks if _place(each) == wanted), leaks[0] if leaks else {})
        asked = Counter(_asked(each) for each in leaks if _place(each) == wanted)
        ways = ", ".join(name for name, _ in asked.most_common(3)) + (", ..." if len(asked) > 3 else "")
        leaked = one["rates"][0]["leaked"] or "seen over all"
        cells = (
            one["hole"], missing(one) or "yes", one["exit"], _place(first) if first else "", ways,
            first.get("by", ""), leaked, _cell(_masked(first)),
        )  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"


def _place(finding: dict[str, Any]) -> str:
    return finding["channel"] + (f", {finding['step']}" if finding.get("step") else "")


def _asked(finding: dict[str, Any]) -> str:
    """The category, with the credential or the wording that tells it apart."""
    if not finding.get("probe_id"):
        return "pairs of documents"
    return f"{finding['category']}: {finding.get('credential') or finding['wording']}"


def _masked(finding: dict[str, Any]) -> str:
    """Canaries are as secret as their key: of what was found, the page tells the form."""
    told = str(finding.get("told", ""))
    document = finding.get("document_id")
    for secret in filter(None, (document,)):
        told = told.replace(secret, "probe-…")
    return " ".join(f"{word[:4]}…" if len(word) == 21 and word.isupper() else word for word in told.split())


def _clean(clean: Sequence[Result]) -> Iterable[str]:
    yield "| key | probes | clean | empty | leaked | not evaluable | invalid | at most (95 %) | findings | exit |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for one in clean:
        every = one["rates"][0]
        cells = (f"{every[name]:,}" for name in ("attempted", "clean", "empty", "leaked", "not_evaluable", "invalid"))
        yield f"| {one['what']} | {' | '.join(cells)} | {every['bound']:.3g} | {len(one['findings'])} | {one['exit']} |"


def _power(twins: Sequence[Result], clean: Sequence[Result]) -> Iterable[str]:
    yield "A document counts once, however often it was asked for. What these could have shown nine times in ten:"
    yield ""
    yield "| suite | number | documents | least shift | found | shift that was seen | p |"
    yield "|---|---|---|---|---|---|---|"
    wanted = {"latency_leak": "latency_ms", "count_leak": "total"}
    for one in (*(each for each in twins if each["hole"] in wanted), *clean):
        for oracle in one["oracles"]:
            if oracle["path"] not in (("latency_ms", "total") if not one["hole"] else (wanted[one["hole"]],)):
                continue
            unit = " ms" if oracle["channel"] == "latency" else ""
            least = "nothing" if oracle.get("detectable") is None else f"{oracle['detectable']:.3g}{unit}"
            p_values = " and ".join(f"{p:.2g}" for p in oracle["p_values"])
            yield (
                f"| {one['what']} | {oracle['path']} | {' and '.join(map(str, oracle['pairs']))} | {least} | "
                f"{oracle['verdict']} | {oracle['effect']:.3g}{unit} | {p_values} |"
            )


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
