"""Arrow tables through the C data interface, read with ctypes: strings as texts, numbers as arrays; no library.

Columns of strings (utf8, large, view), dictionaries of strings, whole numbers and floats; anything else is refused,
and so is a null.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError
from ragassay.measures.trec.texts import PAD, Texts, joined

Column = Texts | NDArray[np.generic]
_NUMBERS = {
    "c": "i1",
    "C": "u1",
    "s": "i2",
    "S": "u2",
    "i": "i4",
    "I": "u4",
    "l": "i8",
    "L": "u8",
    "f": "f4",
    "g": "f8",
}


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]


def read_stream(table: Any) -> dict[str, Column]:
    """All columns of a table with `__arrow_c_stream__`, copied."""
    capsule = table.__arrow_c_stream__()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = _Stream.from_address(get_pointer(capsule, b"arrow_array_stream"))
    schema = _Schema()
    _ask(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)))
    try:
        if schema.format != b"+s":
            raise InputError("the Arrow stream is not a table", hint="give a table with named columns")
        fields = [schema.children[at].contents for at in range(schema.n_children)]
        names = [(field.name or b"").decode() for field in fields]
        parts: list[list[Column]] = [[] for _ in fields]
        for batch in _batches(stream):
            for at, field in enumerate(fields):
                child = batch.children[at].contents
                parts[at].append(_column(field, child, batch.offset, batch.length, names[at]))
        return {name: _one(own) for name, own in zip(names, parts, strict=True)}
    finally:
        schema.release(ctypes.byref(schema))
        if stream.release:
            stream.release(ctypes.byref(stream))


def _ask(stream: _Stream, code: int) -> None:
    if code:
        said = stream.get_last_error(ctypes.byref(stream)) or b"no reason given"
        raise InputError(f"the table could not be read: {said.decode('utf-8', 'replace')}")


def _batches(stream: _Stream) -> Iterator[_Array]:
    while True:
        batch = _Array()
        _ask(stream, stream.get_next(ctypes.byref(stream), ctypes.byref(batch)))
        if not batch.release:
            return
        try:
            yield batch
        finally:
            batch.release(ctypes.byref(batch))


def _one(parts: list[Column]) -> Column:
    texts = [part for part in parts if isinstance(part, Texts)]
    if texts or not parts:
        return joined(texts)
    return np.concatenate([part for part in parts if not isinstance(part, Texts)])


def _column(field: _Schema, array: _Array, offset: int, length: int, name: str) -> Column:
    """Rows offset to offset + length of one column."""
    kind = field.format.decode()
    start = array.offset + offset
    if array.null_count > 0 or (array.null_count < 0 and array.buffers[0]):
        raise InputError(f"the column {name!r} has nulls", hint="fill them or drop their rows", field=name)
    if field.dictionary:
        words = _column(field.dictionary.contents, array.dictionary.contents, 0, array.dictionary.contents.length, name)
        index = _numbers(array, 1, _NUMBERS[kind], start, length).astype(np.int64)
        return words.take(index) if isinstance(words, Texts) else words[index]
    if kind in _NUMBERS:
        return _numbers(array, 1, _NUMBERS[kind], start, length)
    if kind in {"u", "z", "U", "Z"}:
        return _offset_texts(array, "i4" if kind in "uz" else "i8", start, length)
    if kind in {"vu", "vz"}:
        return _view_texts(array, start, length)
    raise InputError(
        f"the column {name!r} has the Arrow type {kind!r}", hint="strings and numbers are read", field=name
    )


def _numbers(array: _Array, buffer: int, dtype: str, start: int, length: int) -> NDArray[Any]:
    size = np.dtype(dtype).itemsize
    return np.frombuffer(_bytes(array.buffers[buffer], start * size, length * size), dtype)


def _bytes(address: int | None, start: int, length: int) -> bytes:
    return ctypes.string_at(address + start, length) if address and length else b""


def _offset_texts(array: _Array, dtype: str, start: int, length: int) -> Texts:
    edges = _numbers(array, 1, dtype, start, length + 1).astype(np.int64) if length else np.zeros(1, np.int64)
    body = _bytes(array.buffers[2], int(edges[0]), int(edges[-1] - edges[0]))
    edges = edges - edges[0] + PAD
    return Texts(_buffer([body]), edges[:-1], edges[1:])


def _view_texts(array: _Array, start: int, length: int) -> Texts:
    """Views of 16 bytes: length, then up to 12 bytes of text, or prefix, buffer and offset."""
    views = _numbers(array, 1, "i4", start * 4, length * 4).reshape(length, 4)
    count = int(array.n_buffers) - 3
    sizes = _numbers(array, int(array.n_buffers) - 1, "i8", 0, count)
    bodies = [_bytes(array.buffers[2 + at], 0, int(sizes[at])) for at in range(count)]
    inline = views.tobytes()
    begin = PAD + len(inline) + np.cumsum([0, *map(len, bodies)])
    size = views[:, 0].astype(np.int64)
    short = size <= 12
    which = np.where(short, 0, views[:, 2])
    first = np.where(short, PAD + np.arange(length) * 16 + 4, begin[which] + views[:, 3])
    return Texts(_buffer([inline, *bodies]), first, first + size)


def _buffer(bodies: list[bytes]) -> NDArray[np.uint8]:
    pad = b"\0" * PAD
    return np.frombuffer(b"".join((pad, *bodies, pad)), np.uint8)
