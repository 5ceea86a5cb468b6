"""Rows of other people's files (columns, keys) to the fields of a document, by layout or declared mapping. No I/O."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragassay.errors import InputError, RecordError, UsageError
from ragassay.records.canonical import canonical_bytes, load_json, snake
from ragassay.records.shape import close_to
from ragassay.records.text import many, shown

Columns = Mapping[str, str | int | Sequence[str]]
MOST_FIELDS = 10_000
"""Columns or keys of one row."""
_LONGEST_FACT = 2000
SEPARATOR = "|"
"""Between the values of a cell that holds several."""
_ACL = ("acl_roles", "acl_groups", "acl_users")
_ACCESS = ("tenants", "acl", *_ACL, "valid_from", "valid_until", "supersedes", "version", "lossy", "raw")
_TOLD = {"licence": "licence", "license": "licence", "origin": "origin", "owner": "owner", "collection": "collection",
         "authorisation": "authorisation", "authorization": "authorisation"}  # fmt: skip
"""Field -> the fact of a document's provenance that it gives."""
_ALWAYS = ("licence", "license")
"""Of these, what is read by its name wherever it stands; the others mean anything in other people's files."""
FIELDS = ("document_id", "text", "title", "url", "metadata", "ignored", "provenance", *_TOLD, *_ACCESS[:-2])
"""What `columns` may map."""


class Layout(NamedTuple):
    """What the rows of a format are called, and what is made of them."""

    parser: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    """The first of these that is there is the text."""
    title_first: bool
    """Whether the title is part of the stored text: these collections are searched by title and text together."""
    open: bool
    """Whether other keys go into metadata; if not, they are errors, or not read where columns are declared."""
    ignored: tuple[str, ...] = ()


_IDS = ("document_id", "documentId", "_id", "doc_id", "docid", "id")
_TEXTS = ("text", "body", "content", "contents", "abstract")
LAYOUTS = {
    "jsonl": Layout("jsonl/1", _IDS, _TEXTS, False, False),
    "csv": Layout("csv/1", _IDS, _TEXTS, False, False),
    "parquet": Layout("parquet/1", _IDS, _TEXTS, False, False),
    "beir": Layout("beir/1", ("_id",), ("text",), True, True),
    "mteb": Layout("mteb/1", ("_id", "id"), ("text",), True, True),
    "ir_datasets": Layout("ir_datasets/1", ("doc_id",), ("text", "body", "abstract"), True, True, ("marked_up_doc",)),
}


class Mapped(NamedTuple):
    """Which columns of a file are which field of a document."""

    layout: Layout
    names: dict[str, list[str]]
    """Field -> columns; several only for text and metadata."""
    unread: list[str]
    """Columns that are not read."""

    def value(self, row: Mapping[str, Any], *, cells: bool) -> tuple[dict[str, Any], str]:
        """The fields of a document as `document_from` takes them, and the normaliser; `cells`: all values are text."""
        made: dict[str, Any] = {}
        for field, columns in self.names.items():
            found = {name: row[name] for name in columns if row.get(name) is not None}
            if field not in ("text", "metadata", *_ACL, *_TOLD) and found:
                made[field] = next(iter(found.values()))
        given = {name: row.get(name) for field in _ACL for name in self.names.get(field, ())}
        made["document_id"] = _identifier(made.get("document_id"), self.names["document_id"][0])
        made["text"], normaliser = self._text(row, made.get("title"))
        made["metadata"] = {
            name: row[name] if cells else _flat(row[name])
            for name in self.names.get("metadata", ())
            if row.get(name) not in (None, "") and name != "metadata"
        } | _own_metadata(row.get("metadata") if "metadata" in self.names.get("metadata", ()) else None)
        if cells:
            made = {key: one for key, one in made.items() if one != "" or key == "text"}
            _read_cells(made)
        if "version" in made:
            made["version"] = _identifier(made["version"], "version")
        if given:
            made |= self._acl(given, cells=cells)
        if told := self._told(row):
            made["provenance"] = told | (made["provenance"] if isinstance(made.get("provenance"), dict) else {})
        return {key: one for key, one in made.items() if one is not None and one != {}} | _kept_acl(made), normaliser

    def _text(self, row: Mapping[str, Any], title: Any) -> tuple[str, str]:
        parts = []
        for name in self.names["text"]:
            part = row.get(name)
            if part is not None and not isinstance(part, str):
                raise RecordError(f"{_kind(part)} is not text", field=name, hint="text in double quotes")
            if part is None and len(self.names["text"]) == 1:
                raise RecordError("there is no text", field=name, hint='write "" if the document is empty')
            parts.append(part or "")
        if len(parts) > 1:
            return "\n\n".join(part for part in parts if part), "joined/1"
        if self.layout.title_first and isinstance(title, str) and title.strip():
            return with_title(title, parts[0]), "title-first/1"
        return parts[0], "none/1"

    def _told(self, row: Mapping[str, Any]) -> dict[str, str]:
        """Facts of provenance that stand in columns of their own."""
        told: dict[str, str] = {}
        for field, fact in _TOLD.items():
            for name in self.names.get(field, ()):
                value = row.get(name)
                if value not in (None, "", []):
                    said = value if isinstance(value, str) else str(_flat(value))
                    told.setdefault(fact, said if len(said) <= _LONGEST_FACT else said[: _LONGEST_FACT - 1] + "…")
        return told

    def _acl(self, given: Mapping[str, Any], *, cells: bool) -> dict[str, Any]:
        if not cells:
            if all(one is None for one in given.values()):
                return {}
            return {"acl": {_field_of(self.names, name): one or [] for name, one in given.items()}}
        if all(not one for one in given.values()):
            raise RecordError(
                "empty access cells do not say whether everybody or nobody is meant",
                field=next(iter(given)),
                hint="write * for no restriction, [] for nobody",
            )
        said = [str(one).strip() for one in given.values() if one]
        if "*" in said:
            if len(said) == 1:
                return {}
            raise RecordError("* beside names", field=next(iter(given)), hint="* alone is no restriction")
        return {"acl": {_field_of(self.names, name): _listed(one or "[]", name) for name, one in given.items()}}


def with_title(title: str, text: str) -> str:
    """Title, a blank line, text; the text alone if it begins with the title (white space does not count)."""
    head = " ".join(title.split())
    begins = " ".join(text[: 2 * len(title) + 200].split())
    if begins.startswith(head):
        return text
    return f"{title.strip()}\n\n{text}" if text else title.strip()


def check_columns(columns: Columns) -> None:
    """UsageError for a field that documents do not have, or a mapping of other things than names."""
    for field, wanted in columns.items():
        if field not in FIELDS:
            close = close_to(field, FIELDS)
            raise UsageError(
                f"documents have no field {shown(field)!r}",
                field=f"columns.{shown(field)}",
                hint=f"did you mean {close!r}?" if close else f"fields: {', '.join(FIELDS)}",
            )
        several = isinstance(wanted, list | tuple)
        if several and field not in ("text", "metadata", "ignored"):
            raise UsageError("one column only", field=f"columns.{field}", hint="text and metadata may have several")
        if not several and not isinstance(wanted, str | int):
            raise UsageError("not the name of a column", field=f"columns.{field}", hint='for example "Body"')


def map_columns(layout: Layout, header: Iterable[str], columns: Columns) -> Mapped:
    """Which column is which field: declared first, then by name; InputError if one is missing, doubtful or unknown.

    A column whose name is nearly that of an access field is an error rather than ignored: a document that loses its
    access columns could become public by `default_tenants`.
    """
    header = list(header)
    if len(header) > MOST_FIELDS:
        raise InputError(
            f"{many(len(header), 'column')}; the most is {MOST_FIELDS}", hint="is this the right delimiter?"
        )
    names: dict[str, list[str]] = {}
    for field, wanted in columns.items():
        several = wanted if isinstance(wanted, list | tuple) else [wanted]
        names[field] = [_present(one, header, field) for one in several]
    taken = {one for found in names.values() for one in found} | set(layout.ignored)
    for field, known in (("document_id", layout.ids), ("text", layout.texts)):
        if field not in names:
            names[field] = [_only(field, [one for one in known if one in header and one not in taken], header, layout)]
            taken |= set(names[field])
    unread = []
    for name in header:
        if name in taken:
            continue
        field = snake(name)
        if field in FIELDS and field not in names and not (layout.open and field in _TOLD and field not in _ALWAYS):
            names[field] = [name]
        elif close := close_to(field, _ACCESS):
            raise InputError(
                f"column {shown(name)!r} is no field; is it {close!r}?",
                field=shown(name),
                hint='rename it, map it in columns, or name it in columns.ignored = ["…"] to leave it out',
            )
        elif layout.open:
            names.setdefault("metadata", []).append(name)
        elif columns:
            unread.append(name)
        else:
            raise InputError(
                f"column {shown(name)!r} is no field of a document",
                field=shown(name),
                hint=f'declare what the columns are: columns = {{document_id = "…", text = "…"}}; fields: '
                f"{', '.join(FIELDS)}",
            )
    names.pop("ignored", None)
    return Mapped(layout, names, unread)


def _present(wanted: Any, header: list[str], field: str) -> str:
    if isinstance(wanted, int) and not isinstance(wanted, bool) and 1 <= wanted <= len(header):
        return header[wanted - 1]
    if wanted in header:
        return str(wanted)
    close = close_to(str(wanted), header)
    listed = ", ".join(shown(one, limit=40) for one in header[:20])
    raise InputError(
        f"there is no column {shown(str(wanted))!r}",
        field=f"columns.{field}",
        hint=f"did you mean {close!r}?" if close else f"there are: {listed}",
    )


def _only(field: str, found: list[str], header: list[str], layout: Layout) -> str:
    if field == "text" or layout.open:
        found = found[:1]  # in their order of preference
    if len(found) == 1:
        return found[0]
    listed = ", ".join(shown(one, limit=40) for one in header[:20])
    raise InputError(
        f"no column is the {field}" if not found else f"{' and '.join(found)} could both be the {field}",
        field=field,
        hint=f'declare it: columns = {{{field} = "…"}}; there are: {listed}',
    )


def _identifier(value: Any, field: str) -> str:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise RecordError(f"{_kind(value)} is not an id", field=field, hint="text, or a whole number")


def _kind(value: Any) -> str:
    return "nothing" if value in (None, "") else f"{shown(repr(value), limit=40)}"


def _flat(value: Any) -> Any:
    """A value as metadata holds it: what is nested becomes JSON text."""
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict | list) for one in value)):
        try:
            return canonical_bytes(value).decode()
        except RecordError:
            return json.dumps(value, ensure_ascii=False, default=str)
    return value


def _own_metadata(value: Any) -> dict[str, Any]:
    """What a key `metadata` holds, laid flat."""
    if isinstance(value, str):
        if not value.strip():
            return {}
        if not value.lstrip().startswith("{"):
            return {"metadata": value}
        value = load_json(value)
    if not isinstance(value, dict):
        return {} if value is None else {"metadata": _flat(value)}
    return {key: _flat(one) for key, one in value.items()}


def _read_cells(made: dict[str, Any]) -> None:
    """Cells of text to the types that a document has."""
    if "tenants" in made:
        made["tenants"] = _listed(made["tenants"], "tenants")
    for name in ("acl", "supersedes", "provenance"):
        if isinstance(made.get(name), str):
            try:
                made[name] = load_json(made[name])
            except RecordError as error:
                raise error.at(field=name)  # noqa: B904  the same error, with its place


def _listed(cell: str, field: str) -> list[str]:
    """`a|b` or `["a", "b"]`."""
    if cell.lstrip().startswith("["):
        try:
            value: Any = load_json(cell)
        except RecordError as error:
            raise error.at(field=field)  # noqa: B904  the same error, with its place
        if not all(isinstance(one, str) for one in value):
            raise RecordError("not a list of texts", field=field, hint='a|b, or ["a", "b"]')
        return [str(one) for one in value]
    return [one.strip() for one in cell.split(SEPARATOR) if one.strip()]


def _field_of(names: Mapping[str, list[str]], column: str) -> str:
    return next(field for field, found in names.items() if column in found).removeprefix("acl_")


def _kept_acl(made: Mapping[str, Any]) -> dict[str, Any]:
    """An acl that names nobody is an acl."""
    return {"acl": made["acl"]} if made.get("acl") == {} else {}
