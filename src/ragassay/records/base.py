"""What every record shares: frozen, keyword-only, strict, optional keys omitted. Holds no noun of its own.

Records are `msgspec` structs. A field's default is only ever None, False, True, an empty tuple or an empty
mapping, so that "omitted" and "default" are the same thing however the record was made.
"""

from __future__ import annotations

from typing import NewType

import msgspec

Digest = NewType("Digest", str)
"""`sha256:` and 64 lower-case hexadecimal digits."""
Instant = NewType("Instant", str)
"""RFC 3339 in UTC, `2026-08-01T00:00:00Z`; see `instant`."""
DocumentId = NewType("DocumentId", str)
PassageId = NewType("PassageId", str)
QueryId = NewType("QueryId", str)
EvidenceId = NewType("EvidenceId", str)
FactId = NewType("FactId", str)
StepId = NewType("StepId", str)

Scalar = str | int | float | bool
Metadata = dict[str, Scalar | list[Scalar]]
"""Flat facts that the product keeps and never scores."""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all records."""


def require(condition: bool, message: str) -> None:
    """Refuse a record whose fields contradict each other (ValueError, placed by `canonical.parse`)."""
    if not condition:
        raise ValueError(message)
