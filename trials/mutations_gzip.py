"""Mutations inside gzip, for every format that is read from files: bytes change before they are packed, or the packing.

The rows are those of the other tables under their names with `+gzip`; where a reader unpacks nothing, it must say so.
"""

from __future__ import annotations

import gzip
import random
import shutil
import struct
import zlib
from pathlib import Path

from trials.mutations import LARGEST, Seeded, mutate

NAME_SHARE = 0.5
"""How often a packed file of a folder is named `.gz`; readers look at the first bytes."""


def packed(row: Seeded) -> Seeded:
    """The same format, read out of gzip."""
    return Seeded(row.write, row.read, _mutated)


def _mutated(source: Path, out: Path, chance: random.Random) -> Path:
    target = out / source.name
    if source.is_file():
        target.write_bytes(_member_file(_inner(source.read_bytes()), chance))
        return _renamed(target, chance)
    shutil.copytree(source, target)
    chosen = chance.choice(sorted(path for path in target.rglob("*") if path.is_file()))
    chosen.write_bytes(_member_file(_inner(chosen.read_bytes()), chance))
    _renamed(chosen, chance)
    return target


def _renamed(path: Path, chance: random.Random) -> Path:
    if path.suffix == ".gz" or chance.random() >= NAME_SHARE:
        return path
    return path.rename(path.with_name(f"{path.name}.gz"))


def _inner(data: bytes) -> bytes:
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _member_file(data: bytes, chance: random.Random) -> bytes:
    """Mutated bytes as gzip, mostly whole; else as a file of a broken, strange or repeated kind."""
    if chance.random() < 0.7:
        data = mutate(data, chance)
    kind = chance.randrange(10)
    if kind == 0:  # several members, one of them perhaps empty: one file by RFC 1952
        cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((1, 2, 5))))
        parts = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        return b"".join(_member(part, chance) for part in parts)
    made = _member(data, chance)
    if kind == 1:  # cut short
        return made[: chance.randrange(1, len(made) + 1)]
    if kind == 2:  # the whole twice, or followed by what is none
        return made + chance.choice((made, b"\0" * chance.choice((1, 8, 512)), b"\x1f", b"\x1f\x8b", b"trailing\n"))
    if kind == 3:  # packed twice
        return _member(made, chance)
    if kind == 4:  # another checksum, or another length
        at = len(made) - chance.choice((8, 4))
        return made[:at] + bytes(chance.randrange(256) for _ in range(4)) + made[at + 4 :]
    if kind == 5:  # bytes of the packed stream
        return mutate(made, chance)
    if kind == 6 and chance.random() < 0.1:  # a few kilobytes that unpack to megabytes
        return _member(data + chance.choice((b" ", b"\n", b"a", b"{", b"\0")) * chance.choice((10**5, 10**6)), chance)
    return made


def _member(data: bytes, chance: random.Random) -> bytes:
    """One member; now and then with the optional fields of its header, some of them wrong, or another method."""
    body = zlib.compressobj(chance.choice((0, 1, 6, 9)), zlib.DEFLATED, -zlib.MAX_WBITS)
    middle = body.compress(data) + body.flush()
    end = struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    flags = chance.choice((0,) * 12 + (0x02, 0x04, 0x08, 0x10, 0x1F, 0x20, 0xE0))
    head = bytes((0x1F, 0x8B, chance.choice((8,) * 18 + (0, 255)), flags)) + b"\0\0\0\0\0\xff"
    if flags & 0x04:
        extra = bytes(chance.randrange(256) for _ in range(chance.choice((0, 4, 200))))
        head += struct.pack("<H", chance.choice((len(extra), len(extra), 65_535))) + extra
    if flags & 0x08:
        head += chance.choice((b"name.jsonl\0", b"\xff\x1b[31m\0", b"no end"))
    if flags & 0x10:
        head += chance.choice((b"comment\0", b"\0", b"c" * 300 + b"\0"))
    if flags & 0x02:
        head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    return (head + middle + end)[: LARGEST * 2]
