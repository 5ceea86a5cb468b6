"""A language model of the trials that takes its time: any number of calls at once, each answered after a while.

    python -m trials.slow_judge [--seconds 0.2]        prints its port; ends with its standard input

It rules as `scripted_models.honest` does. POST /v1/LIFE/chat/completions; GET /counts tells, for each LIFE, how often
each statement was asked about. To a request that is not of ragassay's form (tools beside it in a bench) it replies with
one text that suits them all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter, defaultdict
from typing import Any

from trials.scripted_models import Seen, completion, honest

ANY = json.dumps({"verdict": 1, "reason": "words were compared", "score": 10, "grade": "C", "steps": ["compare"]})


class SlowJudge:
    """The server and what it saw."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)

    async def serve(self) -> None:
        """Until the standard input ends."""
        server = await asyncio.start_server(self.connected, "127.0.0.1", 0, backlog=256)
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        server.close()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, _, rest = head.decode("latin-1").partition("\r\n")
                length = next((int(one[15:]) for one in rest.split("\r\n") if one.lower()[:15] == "content-length:"), 0)
                body = await reader.readexactly(length)
                data = json.dumps(await self.answered(first.split()[1], body)).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
                writer.write(b"content-length: %d\r\n\r\n" % len(data) + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answered(self, path: str, body: bytes) -> Any:
        """The reply to one request."""
        if path == "/counts":
            return self.counts
        asked = json.loads(body)
        found = completion(ANY, model=str(asked.get("model", "")))
        if len(asked["messages"]) > 1 and "<<<" in str(asked["messages"][0]["content"]):
            seen = Seen(asked, 0)
            self.counts[path.split("/")[2]].update(seen.items.values())
            found = completion(honest(seen))
        await asyncio.sleep(self.seconds)
        return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.2)
    asyncio.run(SlowJudge(parser.parse_args().seconds).serve())
