"""What building a benchmark found, counted and named, fit to print. Decides nothing."""

from __future__ import annotations

from typing import NamedTuple

from ragassay.records.text import many

_SHOWN = 10


class Label(NamedTuple):
    """One piece of evidence of one case."""

    query_id: str
    evidence_id: str

    def __str__(self) -> str:
        return f"{self.query_id}/{self.evidence_id}"


class BuildReport(NamedTuple):
    """Counts of cases and labels, and the labels that need a look, by name."""

    cases: int
    classes: dict[str, int]
    unlabelled: int
    """Cases whose evidence is absent."""
    truth_empty: int
    """Cases whose evidence is `[]`: these alone enter empty_retrieval."""
    below_rel: int
    """Cases with labels, none of them at or above `rel`: recall is undefined."""
    evidence: int
    spans: int
    coarse: int
    """Labels on a whole document rather than on a span."""
    quotes_found: int
    ambiguous: tuple[Label, ...]
    """Quotes that stand more than once in their document and have no start; the label stays coarse."""
    not_found: tuple[Label, ...]
    """Quotes that do not stand in their document; the label stays coarse."""
    dangling: tuple[Label, ...]
    """Labels on a document or version that the corpus does not hold; they stay in the denominators."""
    versions_filled: int
    supersets_dropped: int
    """Sets in `any_of` that held another set of the same fact, or were equal to one."""
    hidden: tuple[Label, ...]
    """Labels that the case's principal may not see."""
    nothing_visible: tuple[str, ...]
    """Cases with relevant labels of which the principal may see none: declining is right."""
    notes: tuple[str, ...] = ()
    """What the data set does not say, and what was left out of it; sealed with the benchmark."""

    def lines(self) -> list[str]:
        """The report as lines of text, each finding with the first ten names."""
        classes = ", ".join(f"{count} {name}" for name, count in sorted(self.classes.items()))
        out = [
            f"{many(self.cases, 'case')}: {classes}",
            f"{many(self.evidence, 'label')}: {self.spans} on spans, {self.coarse} on whole documents",
        ]
        counts = (
            (self.unlabelled, "without labels", "case"),
            (self.truth_empty, "whose truth is that nothing is to be found", "case"),
            (self.below_rel, "with no label at or above the least relevant grade", "case"),
            (self.quotes_found, "found and resolved to a span", "quote"),
            (self.versions_filled, "given the version that the corpus holds", "label"),
            (self.supersets_dropped, "of evidence dropped because a smaller set says the same", "set"),
        )
        out.extend(f"{many(count, noun)} {what}" for count, what, noun in counts if count)
        findings = (
            (
                self.ambiguous,
                "found more than once (give start and end); until then the label is on the document",
                "quote",
            ),
            (self.not_found, "NOT found in the document (letter for letter); the label is on the document", "quote"),
            (self.dangling, "on a document that the corpus does not hold; counted as never found", "label"),
            (self.hidden, "hidden from the principal who asks", "label"),
            (self.nothing_visible, "with nothing relevant that the principal may see", "case"),
        )
        out.extend(f"{many(len(names), noun)} {what}: {_some(names)}" for names, what, noun in findings if names)
        out.extend(self.notes)
        return out


def _some(names: tuple[Label, ...] | tuple[str, ...]) -> str:
    shown = ", ".join(str(name) for name in names[:_SHOWN])
    return f"{shown}, and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
