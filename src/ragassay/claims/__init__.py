"""What an answer claims and cites, by place. Decides nothing about truth.

`claims_of` cuts an answer into claims with exact offsets and ties its citations to them; `bare` takes marks away.
"""

from ragassay.claims.marks import Source, bare, marks_of
from ragassay.claims.split import Piece, language_of, split, splitter
from ragassay.claims.tie import claims_of, statement_of, tied

__all__ = [
    "Piece",
    "Source",
    "bare",
    "claims_of",
    "language_of",
    "marks_of",
    "split",
    "splitter",
    "statement_of",
    "tied",
]
