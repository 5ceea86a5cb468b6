"""Declarations of the measures of answers against references, of text alone; it computes nothing."""

from __future__ import annotations

from typing import Any

from ragassay.measures.contract import Declaration

_EMPTY_ANSWER = "an empty answer is missing(empty_answer), never abstained; no reference: missing(no_reference)"


def _text(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "stage": "answer",
        "population": "answered questions with a reference answer",
        "aggregation": "macro",
        "missing_labels": _EMPTY_ANSWER,
        "duplicates": "with several references the best one counts",
        "nothing_relevant": "no reference to a question that has no answer: undefined(nothing_to_answer); "
        "references that are empty after normalisation count only where all are",
    }
    return Declaration(**{**common, **own})


DECLARED: tuple[Declaration, ...] = (
    _text(
        name="exact_match",
        summary="1 if the normalised answer equals a normalised reference, else 0.",
        denominator="1",
        unit="0 or 1",
        reference="SQuAD 1.1 and MuSiQue evaluation scripts; unicode: ragassay",
        params=("norm",),
        unsafe_alone_for="free-form answers: a right answer in other words scores 0",
        aliases=("em",),
    ),
    _text(
        name="token_f1",
        summary="Harmonic mean of token precision and recall against the best reference, tokens as a multiset.",
        denominator="(tokens of the answer + tokens of the reference) / 2",
        reference="SQuAD 1.1 and MuSiQue evaluation scripts; unicode: ragassay",
        params=("norm",),
        unsafe_alone_for="negation and numbers: one changed word may turn the meaning round. Beside *The ferry leaves "
        "at 07:40 on weekdays*, *09:40* for *07:40* has 0.83, *does not leave* 0.71, and a paraphrase 0.27",
        aliases=("f1",),
    ),
    _text(
        name="rouge_1",
        summary="F1 of shared words (unigrams) with the best reference.",
        denominator="(words of the answer + words of the reference) / 2",
        reference="Lin 2004 as in rouge-score (no stemmer)",
        unsafe_alone_for="truth: word overlap is not support",
        aliases=("rouge1",),
    ),
    _text(
        name="rouge_2",
        summary="F1 of shared pairs of words (bigrams) with the best reference.",
        denominator="(bigrams of the answer + bigrams of the reference) / 2",
        reference="Lin 2004 as in rouge-score (no stemmer)",
        unsafe_alone_for="truth: word overlap is not support",
        aliases=("rouge2",),
    ),
    _text(
        name="rouge_l",
        summary="F1 of the longest common subsequence of words with the best reference.",
        denominator="(words of the answer + words of the reference) / 2",
        reference="Lin 2004 as in rouge-score rougeL; split=lines: rougeLsum (union LCS over sentences)",
        params=("split",),
        unsafe_alone_for="truth: word overlap is not support",
        aliases=("rougel",),
    ),
    _text(
        name="bleu",
        summary="Geometric mean of 1- to 4-gram precision against all references, with brevity penalty.",
        denominator="n-grams of the answer",
        reference="Papineni 2002 as in sacrebleu (13a tokens, sentence level with exponential smoothing)",
        unsafe_alone_for="short answers: it is made for long texts and corpora",
    ),
    _text(
        name="chrf",
        summary="F2 of character 1- to 6-grams with the best reference.",
        denominator="character n-grams of the answer and of the reference",
        reference="Popovic 2015 as in sacrebleu chrF2",
        unsafe_alone_for="truth: character overlap is not support",
    ),
)
