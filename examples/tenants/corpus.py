"""The documents and the people of the example: four companies that share a vocabulary, and what is public.

`python examples/tenants/corpus.py` writes `documents.jsonl` beside this file again. Two of the companies have names
that differ only until somebody folds their case: `strasse` and `straße`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TENANTS = ("northwind", "kestrel", "strasse", "straße")


@dataclass(frozen=True)
class Person:
    """Somebody who may ask: what the issuer puts into a token."""

    id: str
    tenant: str
    groups: tuple[str, ...]
    roles: tuple[str, ...] = ("reader",)


PEOPLE = tuple(
    person
    for tenant in TENANTS
    for person in (
        Person(f"ada@{tenant}", tenant, ("staff", "finance")),
        Person(f"ben@{tenant}", tenant, ("staff",)),
    )
)
"""Of each company one who may see its finances and one who may not."""

_TOPICS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("travel", "Travel policy", (),
     "Employees of {name} book train tickets through the travel desk. Trips of more than {a} hours may "
     "be booked in first class. Receipts are handed in within {b} days."),
    ("leave", "Parental leave", (),
     "Parental leave at {name} lasts {a} weeks and is applied for {b} days in advance. The manager "
     "confirms the dates in writing."),
    ("support", "Support rota", (),
     "The support rota of {name} changes every {b} days. Outside office hours the engineer on call "
     "answers within {a} minutes."),
    ("backup", "Backups", (),
     "Backups of the {name} database are taken every {a} hours and kept for {b} days. A restore is "
     "rehearsed each quarter."),
    ("onboarding", "First week", (),
     "New colleagues at {name} meet their mentor on the first day. The laptop is set up by the service "
     "desk, extension {a}{b}."),
    ("security", "Door badges", ("staff",),
     "Badges of {name} open the main door from {a} in the morning. A lost badge is reported to "
     "reception within {b} minutes."),
    ("incident", "Incident review", ("staff",),
     "After an outage the {name} team writes a review within {b} days. The last review counted {a} "
     "follow-up actions, of which most are closed."),
    ("budget", "Budget", ("finance",),
     "The budget of {name} for the coming year grows by {a} percent. Marketing receives {b} thousand, "
     "the remainder goes to engineering."),
    ("invoice", "Invoices", ("finance",),
     "Invoices to {name} are paid after {b} days. Amounts over {a} thousand need the signature of two "
     "directors."),
    ("salary", "Salary bands", ("finance",),
     "Salary bands at {name} are reviewed every {b} months. Band four begins at {a} thousand a year."),
)  # fmt: skip
_PUBLIC = (
    ("holidays", "Public holidays",
     "Offices are closed on the first of January and on the first of May. Each company may name two "
     "further days."),
    ("accessibility", "Accessibility",
     "All sites have a step-free entrance. Reception lends hearing loops and large-print forms on "
     "request."),
    ("recycling", "Recycling",
     "Paper and glass are collected on Tuesdays. Batteries are brought to the box beside the post "
     "room."),
)  # fmt: skip


def documents() -> list[dict[str, object]]:
    """All of them in the form that `ragassay` reads: `tenants`, and `acl` where not the whole company may read."""
    found: list[dict[str, object]] = []
    for at, tenant in enumerate(TENANTS):
        for number, (key, title, groups, text) in enumerate(_TOPICS):
            filled = text.format(name=tenant.capitalize(), a=4 + 3 * at + number, b=10 + 5 * at + 2 * number)
            one: dict[str, object] = {
                "document_id": f"{tenant}-{key}",
                "title": title,
                "text": filled,
                "tenants": [tenant],
            }
            if groups:
                one["acl"] = {"groups": list(groups)}
            found.append(one)
    found += [
        {"document_id": f"public-{key}", "title": title, "text": text, "tenants": ["*"]} for key, title, text in _PUBLIC
    ]
    return found


if __name__ == "__main__":
    lines = (json.dumps(one, ensure_ascii=False) for one in documents())
    (HERE / "documents.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
