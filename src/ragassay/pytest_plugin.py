"""Requirements on a RAG system as pytest tests. Loads nothing of ragassay until a test asks for the fixture.

def test_rag(ragassay):
    table = ragassay.evaluate(cases, system)
    ragassay.require(table, "recall@20", at_least=0.8)
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ragassay.report.requirement import Requirements

MARKER = (
    "ragassay(must_require=True, **settings): settings of ragassay.evaluate for this test; must_require=False lets a "
    "test pass that evaluates and requires nothing"
)
_USED = pytest.StashKey["Requirements"]()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def ragassay(request: pytest.FixtureRequest) -> Requirements:
    """Evaluate a system and require values of its score table.

    A test that asks for this and requires nothing fails: nothing was measured. See
    `ragassay.report.requirement.Requirements`.
    """
    from ragassay.assay import evaluate_sync
    from ragassay.report.requirement import Requirements

    settings = dict(_marked(request.node))
    settings.pop("must_require", None)
    made = Requirements(evaluate_sync, settings, request.node.user_properties)
    request.node.stash[_USED] = made
    return made


def _marked(item: pytest.Item) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for mark in reversed(list(item.iter_markers("ragassay"))):
        found.update(mark.kwargs)
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A requirement that does not hold is a failure without traceback; so is a test that required nothing."""
    unmet = ""
    try:
        result = yield
    except Exception as error:
        if type(error).__name__ != "RequirementNotMet" or _USED not in item.stash:
            raise
        unmet = str(error)
    if unmet:  # outside of the handler: pytest would print what was handled there too
        pytest.fail(unmet, pytrace=False)
    used = item.stash.get(_USED, None)
    if used is not None and not used.required and _marked(item).get("must_require", True):
        pytest.fail(
            "nothing was measured: this test uses the fixture `ragassay` and requires nothing. Call "
            'ragassay.require(table, "recall@20", at_least=0.8), or mark it ragassay(must_require=False)',
            pytrace=False,
        )
    return result
