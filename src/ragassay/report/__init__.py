"""One scorecard from stored records, and the same numbers as HTML, Markdown, JSON, notebook and terminal text.

Shows what the score table holds. Scores nothing, judges nothing, opens no socket and reads no clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragassay.records.base import Digest
from ragassay.report.build import build
from ragassay.report.material import Material, load
from ragassay.report.model import Scorecard

if TYPE_CHECKING:
    from ragassay.report.pages import File, Layout
    from ragassay.store import Store

__all__ = [
    "Material",
    "Scorecard",
    "build",
    "files",
    "html",
    "json_parts",
    "junit",
    "markdown",
    "notebook",
    "scorecard",
    "step_summary",
    "summary",
    "to_json",
    "weight_warning",
]


def scorecard(store: Store, scores_digest: Digest) -> Scorecard:
    """Everything that there is to show about one score table, loaded from the store and nothing else.

    Raises IntegrityError if a blob on the way is damaged or missing.
    """
    return build(load(store, scores_digest))


def html(scorecard: Scorecard) -> str:
    """One HTML file: no script needed, no network, strict content security policy. Equal scorecards, equal bytes."""
    from ragassay.report import page

    return page.html(scorecard)


def files(scorecard: Scorecard, *, name: str = "scorecard", layout: Layout = "auto") -> Iterator[File]:
    """The HTML report as files (path, text): one page, or several of which the first one comes last."""
    from ragassay.report import pages

    return pages.files(scorecard, name=name, layout=layout)


def weight_warning(page_text: str) -> str | None:
    """A warning for an HTML report above 20 MB, else None."""
    from ragassay.report import page

    return page.weight_warning(page_text)


def notebook(scorecard: Scorecard) -> str:
    """A small HTML fragment for `_repr_html_`: verdict, survival, dimensions; without style, script or ids."""
    from ragassay.report import fragment

    return fragment.notebook(scorecard)


def markdown(scorecard: Scorecard) -> str:
    """The same numbers as Markdown, without escape sequences, HTML or links out of untrusted text."""
    from ragassay.report import text

    return text.markdown(scorecard)


def summary(scorecard: Scorecard) -> list[str]:
    """A few plain lines for the terminal, the verdict last."""
    from ragassay.report import text

    return text.summary(scorecard)


def json_parts(scorecard: Scorecard) -> Iterator[bytes]:
    """`to_json` as bytes in parts, one question at a time: a report of ten thousand questions fits into memory."""
    import msgspec

    encoder = msgspec.json.Encoder()
    yield encoder.encode(msgspec.structs.replace(scorecard, questions=())).removesuffix(b"]}")
    for number, one in enumerate(scorecard.questions):
        yield (b"," if number else b"") + encoder.encode(one)
    yield b"]}\n"


def junit(scorecard: Scorecard) -> str:
    """JUnit XML: a suite a class, a case a question; see `ragassay.report.testcases.junit`."""
    from ragassay.report import testcases as writer

    return writer.junit(scorecard)


def step_summary(scorecard: Scorecard, most_bytes: int = 900_000) -> str:
    """Markdown for `$GITHUB_STEP_SUMMARY`, at most so many bytes; says what it leaves out."""
    from ragassay.report import step as writer

    return writer.step_summary(scorecard, most_bytes)


def to_json(scorecard: Scorecard) -> dict[str, Any]:
    """The scorecard as plain JSON values, every key present, every number as in the page."""
    import msgspec

    made: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(scorecard, questions=()))
    return made | {"questions": tuple(msgspec.to_builtins(one) for one in scorecard.questions)}
