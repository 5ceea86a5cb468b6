"""The chain of acts: whole or refused, whatever is done to its lines; and what a witness outside sees."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import LedgerError, StoreError
from ragassay.records.base import Instant
from ragassay.records.canonical import digest_of
from ragassay.store import Store
from ragassay.store.ledger import LEDGER, Ledger, read_chain

AT = Instant("2026-08-01T00:00:00Z")
ONE, TWO = digest_of("one"), digest_of("two")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True, witness=tmp_path / "state")


def filled(store: Store, acts: int = 6) -> bytes:
    for number in range(acts):
        store.ledger.record("sealed", {"protocol": digest_of(str(number))}, AT)
    return (store.path / LEDGER).read_bytes()


def test_each_line_names_the_one_before_as_sha256sum_prints_it(store: Store) -> None:
    data = filled(store)
    lines = data.split(b"\n")[:-1]
    assert [json.loads(line)["number"] for line in lines] == list(range(7))
    for before, line in itertools.pairwise(lines):
        printed = subprocess.run(["sha256sum"], input=before, capture_output=True, check=True).stdout
        assert json.loads(line)["previous"] == "sha256:" + printed.decode().split()[0]
    assert len(read_chain(data)) == 7


def test_an_act_that_stands_there_is_not_repeated(store: Store) -> None:
    first = store.ledger.record("sealed", {"protocol": ONE}, AT)
    assert store.ledger.record("sealed", {"protocol": ONE}, Instant("2027-01-01T00:00:00Z")) == first
    assert store.ledger.record("sealed", {"protocol": TWO}, AT).number == 2
    assert store.ledger.record("looked", {"protocol": ONE}, AT, again=True).number == 3
    assert store.ledger.record("looked", {"protocol": ONE}, AT, again=True).number == 4


def test_a_clock_in_milliseconds_is_stored_as_instants_are(store: Store) -> None:
    store.ledger.record("sealed", {"protocol": ONE}, Instant("2026-08-01T00:00:00.123Z"))
    assert store.ledger.lines()[-1].entry.at == "2026-08-01T00:00:00.123000Z"


@given(st.data())
def test_any_change_of_any_byte_is_found(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    root = tmp_path_factory.mktemp("chain")
    store = Store.open(root / "s", create=True)
    whole = filled(store, 3)
    head = store.ledger.lines()[-1]
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda one: one != whole[at]))
    changed = whole[:at] + bytes([byte]) + whole[at + 1 :]
    try:
        found = read_chain(changed)
    except LedgerError:
        return
    assert found[-1].digest != head.digest  # the last line alone: its digest is what a witness holds


@pytest.mark.parametrize("change", ["swapped", "dropped", "doubled", "cut", "empty line", "spaces", "first gone"])
def test_lines_that_are_moved_taken_out_or_put_in(store: Store, change: str) -> None:
    lines = filled(store).split(b"\n")[:-1]
    made = {
        "swapped": [*lines[:2], lines[3], lines[2], *lines[4:]],
        "dropped": [*lines[:2], *lines[3:]],
        "doubled": [*lines[:3], lines[2], *lines[3:]],
        "cut": [*lines[:-1], lines[-1][:-3]],
        "empty line": [*lines[:2], b"", *lines[2:]],
        "spaces": [*lines[:2], lines[2].replace(b",", b", ", 1), *lines[3:]],
        "first gone": lines[1:],
    }[change]
    with pytest.raises(LedgerError):
        read_chain(b"".join(line + b"\n" for line in made))


def test_a_ledger_that_was_rolled_back_is_shorter_than_its_witness(store: Store) -> None:
    data = filled(store)
    (store.path / LEDGER).write_bytes(b"\n".join(data.split(b"\n")[:4]) + b"\n")
    with pytest.raises(LedgerError, match="rolled back"):
        store.ledger.lines()
    with pytest.raises(LedgerError, match="rolled back"):
        store.ledger.record("sealed", {"protocol": ONE}, AT)
    assert [one.object for one in store.check("quick").damaged] == [LEDGER]
    Ledger(store.path).lines()  # both rolled back together, or no witness: it looks whole; docs/limits.md says so


def test_an_older_copy_that_is_taken_in_sets_no_witness_back(store: Store, tmp_path: Path) -> None:
    older = filled(store, 3)
    filled(store, 5)
    copy = Store.open(tmp_path / "copy", create=True, witness=tmp_path / "state")
    copy.ledger.adopt(older)
    copy.ledger.introduce()
    with pytest.raises(LedgerError, match="rolled back"):
        copy.ledger.lines()
    store.ledger.path.write_bytes(older)
    with pytest.raises(LedgerError, match="rolled back"):
        store.ledger.lines()
    elsewhere = Store.open(tmp_path / "elsewhere", create=True, witness=tmp_path / "other state")
    elsewhere.ledger.adopt(older)
    elsewhere.ledger.introduce()
    assert len(elsewhere.ledger.lines()) == 4


def test_a_copy_with_lines_more_does_not_make_the_store_that_it_was_made_of_look_rolled_back(
    store: Store, tmp_path: Path
) -> None:
    filled(store, 3)
    forged = Store.open(tmp_path / "forged", create=True, witness=tmp_path / "elsewhere")
    forged.ledger.adopt(store.ledger.bytes())
    forged.ledger.record("sealed", {"protocol": TWO}, AT)
    taken = Store.open(tmp_path / "taken", create=True, witness=tmp_path / "state")
    taken.ledger.adopt(forged.ledger.bytes())
    taken.ledger.introduce()
    assert len(taken.ledger.lines()) == len(store.ledger.lines()) + 1


def test_another_line_in_the_place_that_the_witness_has_seen(store: Store, tmp_path: Path) -> None:
    filled(store, 3)
    kept = (store.path / LEDGER).read_bytes().split(b"\n")[:3]
    (store.path / LEDGER).write_bytes(b"\n".join(kept) + b"\n")
    Ledger(store.path).record("sealed", {"protocol": TWO}, AT)
    assert len(Ledger(store.path).lines()) == 4
    with pytest.raises(LedgerError, match="rolled back"):
        Ledger(store.path, tmp_path / "state").lines()


def test_a_line_that_a_crash_cut_short_was_never_acknowledged(store: Store) -> None:
    filled(store, 2)
    with (store.path / LEDGER).open("ab") as file:
        file.write(b'{"act":"sealed","at"')
    with pytest.raises(LedgerError, match="no end"):
        store.ledger.lines()
    assert store.ledger.record("sealed", {"protocol": TWO}, AT).number == 3
    assert len(store.ledger.lines()) == 4


def test_a_witness_that_cannot_be_written_stops_no_act(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store.open(tmp_path / "s", create=True, witness=tmp_path / "file" / "state")
    assert store.ledger.record("sealed", {"protocol": ONE}, AT).number == 1


def test_a_ledger_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    (store.path / LEDGER).mkdir()
    with pytest.raises(StoreError):
        store.ledger.record("sealed", {"protocol": ONE}, AT)


def test_many_writers_make_one_chain(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True, witness=tmp_path / "state")
    code = (
        "import sys; from pathlib import Path; from ragassay.store import Store; from ragassay.records.canonical "
        "import digest_of\n"
        "store = Store.open(Path(sys.argv[1]), witness=Path(sys.argv[2]))\n"
        "for one in range(10): store.ledger.record('sealed', {'protocol': digest_of(sys.argv[3] + str(one))}, "
        "'2026-08-01T00:00:00Z')"
    )
    told = [sys.executable, "-c", code, str(store.path), str(tmp_path / "state")]
    workers = [subprocess.Popen([*told, str(one)], env={**os.environ}) for one in range(4)]
    assert [one.wait() for one in workers] == [0, 0, 0, 0]
    assert len(store.ledger.lines()) == 41


def test_random_bytes_are_refused(store: Store) -> None:
    dice = random.Random(7)
    whole = filled(store)
    for _ in range(300):
        cut = bytearray(whole)
        for _ in range(dice.randint(1, 8)):
            at = dice.randrange(len(cut))
            cut[at : at + dice.randint(0, 3)] = dice.randbytes(dice.randint(0, 3))
        if bytes(cut) == whole:
            continue
        try:
            found = read_chain(bytes(cut))
        except LedgerError:
            continue
        assert not found or found[-1].digest != read_chain(whole)[-1].digest
