"""The data card, the five identities and what stands behind a citation, as plain data. Renders and counts nothing."""

from __future__ import annotations

from typing import Literal

import msgspec

from ragassay.records.base import Digest


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """Base of these parts: frozen, every key always written."""


class FactRow(Sheet, frozen=True, kw_only=True):
    """One fact of provenance over all documents: own + covered + unknown is their number."""

    fact: str
    own: int
    """Documents that say it themselves."""
    covered: int
    """The others, if the corpus says it for all."""
    unknown: int
    whole: str | None
    """What the corpus says for all."""


class Counted(Sheet, frozen=True, kw_only=True):
    """Something that is said, and of how many."""

    told: str
    count: int


class FileRow(Sheet, frozen=True, kw_only=True):
    """A file that documents were read from."""

    file: str
    digest: Digest
    size: int
    documents: int


class DataCard(Sheet, frozen=True, kw_only=True):
    """What is known of the documents, the questions and the labels, and of how many nothing is known."""

    documents: int
    facts: tuple[FactRow, ...]
    licences: tuple[Counted, ...]
    """By licence, that of the corpus where a document has none; the most common first."""
    licences_left: int
    """Further licences."""
    transformations: tuple[Counted, ...]
    """Each tool that texts went through, in the order of the first document that did, and how many did."""
    transformations_left: int
    undigested: int
    """Documents of which the bytes before reading have no digest."""
    limits: tuple[Counted, ...]
    """Known limits, those of the whole corpus first."""
    limits_left: int
    files: tuple[FileRow, ...]
    files_left: int
    unsourced: int
    """Documents of which it is not recorded where they were read."""
    closed: int
    """Documents that name no tenant: nobody may see them."""
    restricted: int
    """Documents with an access list."""
    lossy: int
    skipped: int
    """Lines of the source that could not be read."""
    questions: tuple[tuple[str, str | None], ...]
    """(fact, what the benchmark says) of questions and labels; None: not recorded."""
    question_limits: tuple[str, ...]
    labels: tuple[Counted, ...]
    """Who labelled -> questions."""
    unattributed: int
    """Labelled questions that do not say who labelled them."""


class PartView(Sheet, frozen=True, kw_only=True):
    """One part of an identity."""

    name: str
    state: Literal["recorded", "none", "unrecorded"]
    told: str


class IdentityView(Sheet, frozen=True, kw_only=True):
    """One of the five identities of the run."""

    name: str
    parts: tuple[PartView, ...]
    unrecorded: int


class EntailsView(Sheet, frozen=True, kw_only=True):
    """What a judge said of one claim and this citation."""

    judge: str
    claim: str
    said: str


class CitationView(Sheet, frozen=True, kw_only=True):
    """A mark in the answer, what it points to, and what stands behind it."""

    number: int
    end: int | None
    """Code point of the shown answer after which the mark stands; absent where it is not shown or not given."""
    points_to: str
    in_context: bool | None
    """Whether the cited item is in the context; absent where no context was reported. No judgement of its truth."""
    access: Literal["allowed", "denied", "unknown", "unscoped"]
    """For the principal who asked; unscoped: nobody in particular did."""
    through: tuple[str, ...]
    """A line a document: each transformation from the bytes that were read to what was cited."""
    gap: str | None
    """Why some of that way is not known."""
    entails: tuple[EntailsView, ...]
    """Empty: not judged."""
