"""Questions for development are told from those of the release split, or nothing is asked."""

from __future__ import annotations

import pytest

from ragassay.errors import UsageError
from ragassay.records.base import QueryId
from ragassay.records.case import Case
from ragassay.trials.split import kind_of_name, split_of


def cases(*slices: tuple[str, ...]) -> list[Case]:
    return [Case(query_id=QueryId(f"q{n}"), query="?", slice=one) for n, one in enumerate(slices)]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("clapnq-dev", "dev"), ("musique_validation", "dev"), ("Train.v2", "dev"),
        ("faq-release", "release"), ("held-out 2026", "release"), ("test", "release"), ("dev-test", "release"),
        ("devices", None), ("contest", None), ("benchmark", None), ("latest", None),
    ],
)  # fmt: skip
def test_names(name: str, kind: str | None) -> None:
    assert kind_of_name(name) == kind


def test_slices_go_first_and_only_questions_for_development_are_left() -> None:
    found = split_of("x-release", cases(("split=dev",), ("split=release",), ("split=dev", "language=de"), ()))
    assert (found.queries, found.left_out) == ({"q0", "q2"}, 2)
    declared = split_of("x", cases(("split=dev",), ("split=release",), ()), declared="dev")
    assert (declared.queries, declared.left_out) == ({"q0", "q2"}, 1)


@pytest.mark.parametrize("declared", [None, "dev"])
def test_the_release_split_is_refused_whatever_is_declared(declared: str | None) -> None:
    for name, of_settings, slices in (
        ("faq-release", None, ((), ())),
        ("faq", "test", ((), ())),
        ("faq", None, (("split=release",), ("split=test",))),
        ("faq-dev", None, (("split=release",), ())),
    ):
        if declared and slices[-1] == () and slices[0]:
            continue  # there is a question that nobody labelled, and it is declared to be for development
        with pytest.raises(UsageError) as caught:
            split_of(name, cases(*slices), of_settings=of_settings, declared=declared)
        assert "release" in caught.value.message + caught.value.hint
        assert caught.value.field == "split"


def test_a_question_with_both_slices_is_not_for_development() -> None:
    with pytest.raises(UsageError):
        split_of("x-dev", cases(("split=dev", "split=release")), declared="dev")


def test_unlabelled_questions_are_refused_until_somebody_says_so() -> None:
    with pytest.raises(UsageError, match="nobody says"):
        split_of("faq", cases((), ()))
    assert split_of("faq", cases((), ()), declared="dev").by == "the experiment's file"
    assert split_of("faq", cases(()), of_settings="dev").queries == {"q0"}
    assert split_of("faq-dev", cases(())).by == "the name of benchmark 'faq-dev'"
