"""A loopback HTTP service that misbehaves, each question in the way that its address names or that a seed picks.

    python -m tests.unit.run.faulty [--seed N]

A plain socket server, since no HTTP library would send most of this. POST /ask/KIND answers in that way always;
POST /ask/calm answers well after a fixed time, /ask/brisk after half of it; POST /ask/busy says 429 to everything above
four at once for its first two seconds; POST /ask/random picks by the seed and the question. Prints its port; ends with
standard input.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import threading
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress

MB = 1024 * 1024
CALM_S = 0.1
BRISK_S = 0.05
OVERLOAD_S = 2.0


class Wire:
    """One request, and the raw bytes that go back."""

    def __init__(self, writer: asyncio.StreamWriter, query_id: str, port: int, before: int) -> None:
        self.writer, self.query_id, self.port, self.before = writer, query_id, port, before

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, status: str, body: bytes, *headers: str, length: int | None = None) -> None:
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(body) if length is None else length}", *headers]
        await self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    @property
    def good(self) -> bytes:
        return json.dumps({"answer": f"answer to {self.query_id}", "contexts": ["rain"]}).encode()

    def close(self) -> None:
        self.writer.transport.abort()


async def fine(wire: Wire) -> None:
    await wire.reply("200 OK", wire.good, "content-type: application/json")


async def calm(wire: Wire, seconds: float = CALM_S) -> None:
    await asyncio.sleep(seconds)
    await fine(wire)


async def limited(wire: Wire) -> None:
    """429 with Retry-After the first time, then fine."""
    if wire.before:
        return await fine(wire)
    return await wire.reply("429 Too Many Requests", b"{}", "retry-after: 0")


async def always_limited(wire: Wire) -> None:
    await wire.reply("429 Too Many Requests", b"{}", "retry-after: 3600")


async def broken(wire: Wire) -> None:
    await wire.reply("500 Internal Server Error", b'{"error": "database is gone"}')


async def closes(wire: Wire) -> None:
    wire.close()


async def closes_in_body(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n" + wire.good[:20])
    wire.close()


async def stalls(_: Wire) -> None:
    await asyncio.sleep(3600)


async def stalls_in_body(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n" + wire.good[:20])
    await asyncio.sleep(3600)


async def trickles(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    while True:
        await wire.send(b" ")
        await asyncio.sleep(0.02)


async def gigabyte(wire: Wire) -> None:
    """1 GB in chunks, with no length said beforehand."""
    await wire.send(b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nc\r\n{"answer": "\r\n')
    piece = b"%x\r\n" % MB + b"x" * MB + b"\r\n"
    for _ in range(1024):
        await wire.send(piece)
    await wire.send(b'2\r\n"}\r\n0\r\n\r\n')


async def gigabyte_said(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n" + b"x" * MB)
    await asyncio.sleep(3600)


async def bomb(wire: Wire) -> None:
    """1 GB of zeros, gzipped to 1 MB."""
    await wire.reply("200 OK", BOMB, "content-encoding: gzip")


async def bad_gzip(wire: Wire) -> None:
    await wire.reply("200 OK", b"\x1f\x8bnot gzip at all", "content-encoding: gzip")


async def bad_json(wire: Wire) -> None:
    await wire.reply("200 OK", b'{"answer": "cut o')


async def wrong_type(wire: Wire) -> None:
    await wire.reply("200 OK", b'{"answer": 7, "contexts": {"rain": 1}}')


async def html(wire: Wire) -> None:
    await wire.reply("200 OK", b"<!doctype html><title>Log in</title>", "content-type: text/html")


async def away(wire: Wire) -> None:
    await wire.reply("307 Temporary Redirect", b"", f"location: http://localhost:{wire.port}/ask/fine")


async def loop(wire: Wire) -> None:
    await wire.reply("307 Temporary Redirect", b"", "location: /ask/loop")


async def too_long(wire: Wire) -> None:
    """Says more bytes than it sends, then closes."""
    await wire.reply("200 OK", wire.good, length=len(wire.good) + 100)
    wire.writer.write_eof()
    await asyncio.sleep(0.05)
    wire.close()


async def too_short(wire: Wire) -> None:
    """Says fewer bytes than it sends; the rest looks like the answer to the next question."""
    forged = b'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{"answer": "forged"}'
    await wire.reply("200 OK", wire.good + forged, length=len(wire.good))


async def many_headers(wire: Wire) -> None:
    await wire.reply("200 OK", wire.good, *(f"x-{number}: {'h' * 1000}" for number in range(1000)))


async def nothing(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 204 No Content\r\n\r\n")


async def not_utf8(wire: Wire) -> None:
    await wire.reply("200 OK", b'{"answer": "caf\xe9", "contexts": ["rain"]}')


async def not_http(wire: Wire) -> None:
    await wire.send(b"SSH-2.0-OpenSSH_9.9\r\n")
    wire.close()


def make_bomb(megabytes: int) -> bytes:
    """A gzip stream of so many megabytes of zeros; its end, which nobody should get to, is left out."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = squeeze.compress(bytes(MB)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + block * megabytes


BOMB = make_bomb(1024)
Kind = Callable[[Wire], Awaitable[None]]
KINDS: dict[str, tuple[Kind, str]] = {
    "fine": (fine, ""),
    "limited": (limited, ""),
    "always_limited": (always_limited, "rate_limited 429"),
    "broken": (broken, "http_status 500"),
    "closes": (closes, "connection"),
    "closes_in_body": (closes_in_body, "connection"),
    "stalls": (stalls, "timeout"),
    "stalls_in_body": (stalls_in_body, "timeout"),
    "trickles": (trickles, "timeout"),
    "gigabyte": (gigabyte, "invalid_response too_large"),
    "gigabyte_said": (gigabyte_said, "invalid_response too_large"),
    "bomb": (bomb, "invalid_response too_large"),
    "bad_gzip": (bad_gzip, "invalid_response encoding"),
    "bad_json": (bad_json, "invalid_response json"),
    "wrong_type": (wrong_type, "invalid_response contexts"),
    "html": (html, "invalid_response json"),
    "away": (away, "http_status 307"),
    "loop": (loop, "http_status 307"),
    "too_long": (too_long, "connection"),
    "too_short": (too_short, ""),
    "many_headers": (many_headers, "connection"),
    "nothing": (nothing, "invalid_response json"),
    "not_utf8": (not_utf8, ""),
    "not_http": (not_http, "connection"),
}
"""How it answers, and the cause (and code) that the question must have in the table; empty: it is answered."""


def chosen(query_id: str, seed: int) -> str:
    """The kind that a seed picks for a question; about half are fine."""
    chance = random.Random(f"{seed}-{query_id}")
    return "fine" if chance.random() < 0.5 else chance.choice(sorted(KINDS))


class Service:
    """The server, with what it was asked."""

    def __init__(self, seed: int) -> None:
        self.seed, self.port = seed, 0
        self.asked: dict[tuple[str, str], int] = {}
        self.busy = 0
        self.overloaded_until_s = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError):
                while not writer.is_closing():
                    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                    said = [line[15:] for line in head.splitlines() if line.startswith("content-length:")]
                    body = json.loads(await reader.readexactly(int(said[0]))) if said else {}
                    await self.answer(head.split(" ")[1], str(body.get("query_id", "")), writer)
        finally:
            writer.transport.abort()

    async def answer(self, path: str, query_id: str, writer: asyncio.StreamWriter) -> None:
        kind = path.rpartition("/")[2]
        before = self.asked.get((path, query_id), 0)
        self.asked[path, query_id] = before + 1
        wire = Wire(writer, query_id, self.port, before)
        if kind == "busy":
            return await self.when_busy(wire)
        if kind == "random":
            kind = chosen(query_id, self.seed)
        if kind in ("calm", "brisk"):
            return await calm(wire, CALM_S if kind == "calm" else BRISK_S)
        return await KINDS[kind][0](wire)

    async def when_busy(self, wire: Wire) -> None:
        now_s = asyncio.get_running_loop().time()
        self.overloaded_until_s = self.overloaded_until_s or now_s + OVERLOAD_S
        self.busy += 1
        try:
            if now_s < self.overloaded_until_s and self.busy > 4:
                await wire.reply("429 Too Many Requests", b"{}")
            else:
                await calm(wire)
        finally:
            self.busy -= 1


async def main(seed: int) -> None:
    """Serve until standard input closes."""
    service = Service(seed)
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, backlog=256)
    service.port = server.sockets[0].getsockname()[1]
    print(service.port, flush=True)
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(done.set)), daemon=True).start()
    await done.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    asyncio.run(main(parser.parse_args().seed))
