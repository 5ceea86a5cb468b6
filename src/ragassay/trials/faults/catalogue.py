"""The fifteen faults by name: what goes wrong, and the steps that a loss should be put on. Plants nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ragassay.records.comparison import Artefact

ARMS = ("lexical", "vector")


class Fault(NamedTuple):
    """One thing that goes wrong."""

    says: str
    strikes: Literal["documents", "questions"]
    """What `strength` is a share of."""
    steps: tuple[str, ...]
    """Names of the steps of the built-in pipeline at which the change begins."""
    artefact: Artefact
    """What is named where the fault is loud: a digest of this artefact differs."""


FAULTS: Mapping[str, Fault] = {
    "stale documents": Fault(
        "the index holds documents in an older wording", "documents", ARMS, "document_text"
    ),
    "missing documents": Fault("the index lacks documents", "documents", ARMS, "document_removed"),
    "duplicated documents": Fault("the index holds documents four times", "documents", ARMS, "document_added"),
    "shifted spans": Fault("places of passages are given 150 characters too late", "documents", ARMS, "segmentation"),
    "overlap lost": Fault("documents are cut without overlap", "documents", ARMS, "segmentation"),
    "k cut": Fault("fusion hands on 3 passages", "questions", ("fuse",), "fusion"),
    "filter dropped": Fault("drafts are searched as well", "questions", ARMS, "filter"),
    "yesterday's index": Fault(
        "the vectors are of yesterday: half of the documents struck are not there yet, half are in an older wording",
        "documents", ("vector",), "index",
    ),
    "another embedder": Fault(
        "questions are embedded by another model than passages", "questions", ("vector",), "embedder"
    ),
    "fusion weight zero": Fault("the vector arm has no say in fusion", "questions", ("fuse",), "fusion"),
    "rerank reversed": Fault("the reranker's worst come first", "questions", ("rerank",), "reranker"),
    "context truncated": Fault("the context has room for 60 words", "questions", ("assemble",), "assembly"),
    "duplicates kept": Fault("repeats are handed on", "questions", ("dedup",), "dedup"),
    "forced answer": Fault("it answers whatever the evidence", "questions", ("generate",), "generator"),
    "forced refusal": Fault("it declines whatever the evidence", "questions", ("generate",), "generator"),
}  # fmt: skip
