"""Write the golden vectors of the records under tests/vectors: `make vectors` runs this and fails if a byte changed.

valid/NAME.json holds canonical bytes and no newline, so that `sha256sum` of the file is the record's digest.
hostile/NAME and spellings/NAME hold bytes as a foreign hand wrote them. Each folder has an index.json.
declarations.json, beside them, holds the contract of every measure.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

from hostile_records import hostile, spellings
from provenance_examples import provenance
from record_examples import examples
from record_shapes import shapes

from ragassay.measures import declarations
from ragassay.records.canonical import canonical_bytes, digest_bytes

HERE = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "records"


def write(folder: str, files: dict[str, bytes], index: dict[str, Any]) -> None:
    """One folder anew: its files and its index."""
    place = HERE / folder
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name, data in files.items():
        (place / name).write_bytes(data)
    text = json.dumps(index, indent=1, sort_keys=True, ensure_ascii=True)
    (place / "index.json").write_text(text + "\n", encoding="ascii")


def main() -> None:
    """All three folders, and the declarations."""
    records = shapes() | examples() | provenance()
    valid = {f"{name}.json": canonical_bytes(record) for name, record in records.items()}
    kinds = {f"{name}.json": type(record).__name__.lower() for name, record in records.items()}
    write("valid", valid, {name: {"record": kinds[name], "digest": digest_bytes(data)} for name, data in valid.items()})
    bad = hostile()
    write(
        "hostile",
        {name: one.data for name, one in bad.items()},
        {name: {"record": one.record, "says": one.says, "field": one.field} for name, one in bad.items()},
    )
    other = spellings()
    write(
        "spellings",
        {name: one.data for name, one in other.items()},
        {name: {"record": one.record, "digest": digest_bytes(one.means)} for name, one in other.items()},
    )
    declared = json.dumps([dataclasses.asdict(one) for one in declarations()], indent=1, ensure_ascii=True)
    (HERE.parent / "declarations.json").write_text(declared + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
