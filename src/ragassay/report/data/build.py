"""The data card and the five identities from the records of a scorecard. Renders nothing and fills nothing in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ragassay.records.provenance import FACTS, Provenance
from ragassay.records.text import shown
from ragassay.report.data.model import (
    CitationView,
    Counted,
    DataCard,
    EntailsView,
    FactRow,
    FileRow,
    IdentityView,
    PartView,
)
from ragassay.report.material import Material
from ragassay.score.cited import Cited
from ragassay.score.identities import Identity, Reported, identities, labelled_by

MOST_ROWS = 20
MOST_FILES = 50
LONG = 300


def data_card(material: Material) -> DataCard:
    """What is known of documents, questions and labels."""
    documents, whole = material.documents, material.corpus.provenance or Provenance()
    own = [one.provenance or Provenance() for one in documents]
    limits = [(one, len(documents)) for one in whole.limits]
    limits += Counter(limit for one in own for limit in one.limits).most_common()
    tools = Counter(step.told for one in documents for step in one.transformations())
    declared = [(f"{one.told} (all, before they were read)", len(documents)) for one in whole.transformations]
    licences = Counter(one.licence or whole.licence for one in own)
    unknown = licences.pop(None, 0)
    said = licences.most_common() + ([("not recorded", unknown)] if unknown else [])
    benchmark = material.benchmark.provenance or Provenance()
    kinds = [(labelled_by(one), bool(one.evidence)) for one in material.cases]
    return DataCard(
        documents=len(documents),
        facts=tuple(_fact(name, own, whole) for name in FACTS),
        licences=_counted(said),
        licences_left=max(0, len(said) - MOST_ROWS),
        transformations=_counted([*declared, *tools.items()]),
        transformations_left=max(0, len(declared) + len(tools) - MOST_ROWS),
        undigested=sum(one.source is None or one.source.digest is None for one in documents),
        limits=_counted(limits),
        limits_left=max(0, len(limits) - MOST_ROWS),
        files=tuple(
            FileRow(file=shown(one.file, limit=LONG), digest=one.digest, size=one.size, documents=one.documents)
            for one in material.sources[:MOST_FILES]
        ),
        files_left=max(0, len(material.sources) - MOST_FILES),
        unsourced=sum(one.source is None for one in documents),
        closed=sum(not one.tenants for one in documents),
        restricted=sum(one.acl is not None for one in documents),
        lossy=sum(one.lossy for one in documents),
        skipped=material.corpus.skipped_lines or 0,
        questions=tuple((name, _short(getattr(benchmark, name))) for name in FACTS),
        question_limits=tuple(shown(one, limit=LONG) for one in benchmark.limits[:MOST_ROWS]),
        labels=_counted(sorted(Counter(kind for found, _ in kinds for kind in found).items())),
        unattributed=sum(labelled and not found for found, labelled in kinds),
    )


def _fact(name: str, own: list[Provenance], whole: Provenance) -> FactRow:
    said = sum(getattr(one, name) is not None for one in own)
    for_all = getattr(whole, name)
    rest = len(own) - said
    return FactRow(
        fact=name, own=said, covered=rest if for_all is not None else 0, unknown=0 if for_all is not None else rest,
        whole=_short(for_all),
    )  # fmt: skip


def _short(said: str | None) -> str | None:
    return None if said is None else shown(said, limit=LONG)


def _counted(found: Iterable[tuple[str | None, int]]) -> tuple[Counted, ...]:
    return tuple(Counted(told=shown(str(told), limit=LONG), count=count) for told, count in list(found)[:MOST_ROWS])


def five(material: Material, reported: Reported) -> tuple[IdentityView, ...]:
    """The five identities, with what nobody recorded counted."""
    found = identities(
        subject=material.subject,
        benchmark=material.benchmark,
        cases=material.cases,
        envelope=material.envelope,
        segmentation=material.segmentation,
        reported=reported,
        judges=material.judges,
        verdicts=bool(material.decisions),
    )
    return tuple(_view(one) for one in found)


def _view(one: Identity) -> IdentityView:
    parts = tuple(PartView(name=part.name, state=part.state, told=shown(part.told, limit=600)) for part in one.parts)
    return IdentityView(name=one.name, parts=parts, unrecorded=len(one.unrecorded))


def citation_view(one: Cited, *, points_to: str, in_context: bool | None, end: int | None) -> CitationView:
    """A citation as it is shown."""
    return CitationView(
        number=one.place + 1,
        end=end,
        points_to=points_to,
        in_context=in_context,
        access=one.access,
        through=tuple(shown(line, limit=1000) for line in one.through),
        gap=one.gap,
        entails=tuple(EntailsView(judge=each.judge, claim=each.claim_id, said=each.said) for each in one.entails),
    )
