"""The data card and the five identities as Markdown and in a line of the terminal. Counts nothing that is not there."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.report.data.model import Counted, DataCard, IdentityView
from ragassay.report.words import code, literal, many, number

NOT_RECORDED = "not recorded"


def unrecorded(five: Sequence[IdentityView]) -> str:
    """How many parts of the identities nobody recorded, and which."""
    parts = sum(len(one.parts) for one in five)
    missing = [f"{one.name}: {part.name}" for one in five for part in one.parts if part.state == "unrecorded"]
    if not missing:
        return f"All {many(parts, 'part')} of the five identities are recorded, or known not to be there."
    return f"{len(missing):,} of {many(parts, 'part')} of the five identities are unrecorded ({', '.join(missing)})."


def line(card: DataCard) -> str:
    """The data card in one line."""
    silent = [f"{row.unknown:,} without {row.fact}" for row in card.facts if row.unknown]
    told = ", ".join(silent) if silent else "every fact of provenance is recorded"
    return f"data: of {many(card.documents, 'document')} {told}"


def markdown(card: DataCard, five: Sequence[IdentityView]) -> list[str]:
    """Parts of the report."""
    facts = "\n".join(
        f"| {row.fact} | {row.own:,} | {row.covered:,} | {row.unknown:,} | {literal(row.whole or '')} |"
        for row in card.facts
    )
    gaps = (
        f"- read from nobody knows where: {card.unsourced:,}; bytes before reading without a digest: "
        f"{card.undigested:,}; open to nobody: {card.closed:,}; with an access list: {card.restricted:,}; damaged "
        f"text: {card.lossy:,}; lines left out: {card.skipped:,}"
    )
    files = [
        f"- {literal(one.file)}: {number(one.size)} bytes, {many(one.documents, 'document')}, {code(one.digest)}"
        for one in card.files
    ] + ([f"- and {card.files_left:,} more files"] if card.files_left else [])
    return [
        "## Data card",
        f"{many(card.documents, 'document')}: of how many each fact is known.",
        "| fact | said by the document | said for all | not recorded | for all |\n|---|---|---|---|---|\n" + facts,
        _list("Licences", card.licences, card.licences_left),
        _list("What was done to the texts", card.transformations, card.transformations_left),
        _list("Known limits", card.limits, card.limits_left),
        gaps,
        "### Questions and labels\n\n" + "\n".join(_questions(card)),
        *(["### Files that documents were read from\n\n" + "\n".join(files)] if files else []),
        "## The five identities of the run",
        literal(unrecorded(five), 2_000),
        *[
            f"### {one.name.capitalize()}\n\n"
            + "\n".join(
                f"- {literal(part.name)}: {'' if part.state == 'recorded' else f'*{part.state}*: '}"
                f"{literal(part.told, 1_000)}"
                for part in one.parts
            )
            for one in five
        ],
    ]


def _list(head: str, found: Sequence[Counted], left: int) -> str:
    lines = [f"- {literal(one.told)}: {many(one.count, 'document')}" for one in found]
    lines += [f"- and {left:,} more"] if left else []
    return f"### {head}\n\n" + ("\n".join(lines) or f"- {NOT_RECORDED}")


def _questions(card: DataCard) -> list[str]:
    told = [f"- {fact}: {literal(said) if said else NOT_RECORDED}" for fact, said in card.questions]
    told += [f"- labelled by {literal(one.told)}: {many(one.count, 'question')}" for one in card.labels]
    if card.unattributed:
        told.append(f"- labelled by nobody knows whom: {many(card.unattributed, 'question')}")
    return told + [f"- known limit: {literal(one)}" for one in card.question_limits]
