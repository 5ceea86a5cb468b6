"""Words for judges and failures, used by every form of the report. Formats nothing."""

from __future__ import annotations

from collections.abc import Mapping

FAILURES: Mapping[str, str] = {
    "not_authorised": "rests on what the asker may not see",
    "contradicted": "contradicted",
    "stale_authority": "rests on a stale source",
    "lost_before_context": "evidence retrieved and lost before the context",
    "not_retrieved": "evidence not retrieved",
    "not_in_context": "nothing in the context supports it, and no label says where its evidence is",
    "in_context_not_used": "evidence in the context and not used",
    "cited_outside_context": "cites what was never in the context",
    "cited_not_entailing": "cites what does not entail it",
    "uncited": "not cited",
    "untold": "cannot be told",
}
TOLD_BY: Mapping[str, str] = {
    "labels": "by the labels of the question",
    "judge": "by what the judge saw",
    "citations": "by what the answer cites",
    "documents": "by dates and access of the documents",
}
CANNOT_SEE: Mapping[str, str] = {
    "lexical": "It compares words, numbers, dates, units, names, negations and roles, and no meaning. It cannot see "
    "that other words say the same, nor a contradiction that changes none of what it checks.",
    "semantic": "Embeddings lie close for opposites: negations and swapped numbers look like paraphrases to it. What "
    "it measures is likeness, never support.",
    "model": "A language model can be persuaded by the texts that it judges, prefers some lengths and phrasings, and "
    "does not say when it guesses.",
    "panel": "Its members may err together, those of one kind most of all; what none of them sees, it does not see.",
    "person": "A person ruled on a sample only, and may be mistaken.",
}
UNCALIBRATED = "uncalibrated"
