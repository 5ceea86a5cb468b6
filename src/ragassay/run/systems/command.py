"""A program that reads JSON lines and answers JSON lines as the system under test. Uses no shell."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.errors import UsageError
from ragassay.records.base import Digest, Metadata
from ragassay.records.canonical import canonical_bytes, digest_bytes, digest_of
from ragassay.records.protocol import SystemIdentity
from ragassay.records.text import many
from ragassay.records.trace import Attempt, Failure
from ragassay.redact import Redaction
from ragassay.run.account import current
from ragassay.run.clock import SYSTEM_CLOCK
from ragassay.run.contract import Reply, Request, request_value
from ragassay.run.mapping import ABSENT, apply, check_rules, check_template, fill
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.declared import Secret, check_number
from ragassay.run.systems.process import Heard, Process
from ragassay.run.systems.python import stated

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LARGEST_FILE = 64 * 1024 * 1024


class CommandSystem:
    """One line of JSON a question to the standard input of a long-lived program, one line back for each.

    A request line is the request (or what `request` makes of it) with its `query_id`; a reply is an object in the
    contract's form (or in that which `response` maps) with the same `query_id`. Up to `in_flight` questions are out at
    once: 1 for a program that answers one after the other, so that no question's time is spent in its queue. A
    program that ends or does not answer in time is started again, at most `restarts` times in a run. If it ends while
    several wait, each of them is asked once more, alone. The environment holds `env` (texts, or { env = "NAME" } for
    secrets) and the variables named in `pass_env`, nothing else; only the secrets are taken out of what comes back.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        name: str = "",
        in_flight: int = 1,
        restarts: int = 3,
        env: Mapping[str, Any] | None = None,
        pass_env: Sequence[str] = (),
        request: Mapping[str, Any] | None = None,
        response: Mapping[str, Any] | None = None,
        max_line_bytes: int = 16 * 1024 * 1024,
        retriever: str | None = None,
        generator: str | None = None,
        prompt: str | None = None,
        settings: Metadata | None = None,
    ) -> None:
        self._folder = (folder or Path.cwd()).resolve()
        self._argv = _checked_command(command, self._folder)
        check_number("in_flight", in_flight, least=1)
        check_number("restarts", restarts, least=0)
        check_number("max_line_bytes", max_line_bytes, least=1)
        if request is not None and not isinstance(request, Mapping):
            raise UsageError("a request line is an object", field="request", hint='request = { q = "$.query" }')
        check_template(request)
        check_rules(response or {})
        self._env, self._passed = _checked_env(env or {}, pass_env), frozenset(pass_env)
        self._request, self._response = request, response
        self._in_flight, self._restarts, self._most = int(in_flight), int(restarts), int(max_line_bytes)
        self._conditions = Conditions(timeout_s=60.0, pace=Pace(1))
        self.identity = SystemIdentity(
            name=name or "command",
            adapter="command",
            retriever=stated(retriever),
            generator=stated(generator),
            prompt=stated(prompt),
            settings={**self._settings(command), **(settings or {})},
            code=_code(command, self._folder),
        )
        self._begin()

    def _begin(self) -> None:
        self._process: Process | None = None
        self._starts, self._stale, self._exclusive = 0, False, False
        self._inside: set[str] = set()
        self._changed, self._starting = asyncio.Condition(), asyncio.Lock()

    def _settings(self, command: Sequence[str]) -> Metadata:
        shown = Redaction().headers({key: one for key, one in self._env.items() if isinstance(one, str)})
        return {
            "command": [Redaction().text(one)[0] for one in command],
            "environment": sorted(f"{key}={shown.get(key, '(not recorded)')}" for key in self._env),
            "request": canonical_bytes(self._request).decode() if self._request is not None else "as in the contract",
            "response": canonical_bytes(self._response).decode() if self._response else "as in the contract",
            "in_flight": self._in_flight,
            "restarts": self._restarts,
            "max_line_bytes": self._most,
        }

    def attach(self, conditions: Conditions) -> None:
        """Take the run's timeout and clock; a secret that is not set is a UsageError before anything is asked."""
        self._conditions = conditions
        self._environment()

    def _environment(self) -> dict[str, str]:
        return {key: one.resolve("env") if isinstance(one, Secret) else one for key, one in self._env.items()}

    async def ask(self, request: Request) -> Reply:
        """The reply to one question; a program that breaks is a failure of this question."""
        clock = self._conditions.clock
        left_s, attempts, alone = self._conditions.timeout_s, list[Attempt](), False
        while True:
            waited_s = await self._enter(request.query_id, alone=alone)
            start_s = clock.steady_s()
            try:
                heard = await self._exchange(request, left_s)
            finally:
                await self._leave(request.query_id)
            took_ms = clock.since_ms(start_s)
            left_s -= took_ms / 1000
            waited_ms = round(waited_s * 1000, 3) or None
            attempts.append(Attempt(duration_ms=took_ms, failure=heard.failure, waited_ms=waited_ms))
            if alone or not heard.shared or left_s <= 0 or not current().may_call():
                return self._made(request, heard, attempts)
            alone = True

    async def _enter(self, query_id: str, *, alone: bool) -> float:
        """Wait for a place; the question's own clock stands still meanwhile. Returns the seconds waited."""

        def free() -> bool:
            if not self._inside:
                return True
            crowded = alone or self._exclusive or self._stale or len(self._inside) >= self._in_flight
            return not crowded and query_id not in self._inside

        start_s = SYSTEM_CLOCK.steady_s()
        async with self._changed:
            if not free():
                with current().waiting():
                    await self._changed.wait_for(free)
            self._inside.add(query_id)
            self._exclusive = alone
        return SYSTEM_CLOCK.steady_s() - start_s

    async def _leave(self, query_id: str) -> None:
        async with self._changed:
            self._inside.discard(query_id)
            self._exclusive = False
            self._changed.notify_all()

    async def _exchange(self, request: Request, left_s: float) -> Heard:
        process: Process | None = None
        try:
            async with asyncio.timeout(left_s):
                process = await self._running()
                if process is None:
                    return self._over()
                return self._with_words(await process.ask(request.query_id, self._line(request)), process)
        except TimeoutError:
            self._stale = True
            heard = Heard(failure=Failure(cause="timeout"), detail=f"no reply in {left_s:.3g} s")
            return self._with_words(heard, process) if process is not None else heard
        except OSError as cause:
            detail = f"it cannot be started: {cause.strerror or cause}"
            return Heard(failure=Failure(cause="process", code=type(cause).__name__), detail=detail)
        except asyncio.CancelledError:
            self._stale = True
            raise

    async def _running(self) -> Process | None:
        """The program, started again if it has ended or owes a reply that nobody waits for; None at the limit."""
        async with self._starting:
            if self._process is not None and (self._process.ended or (self._stale and len(self._inside) == 1)):
                await self._process.close(politely=False)
                self._process = None
            if self._process is None and self._starts <= self._restarts:
                self._starts += 1
                self._process = await Process.start(
                    self._argv, env=self._environment(), folder=self._folder, max_line_bytes=self._most
                )
                self._stale = False
            return self._process

    def _over(self) -> Heard:
        return Heard(
            failure=Failure(cause="process", code="not_restarted"),
            detail=f"it was started {many(self._starts, 'time')} and is not started again "
            f"(restarts = {self._restarts})",
        )

    @staticmethod
    def _with_words(heard: Heard, process: Process) -> Heard:
        """A failure together with the end of standard error."""
        if heard.failure is None or not process.last_words:
            return heard
        return heard._replace(detail=f"{heard.detail}; standard error ends: {process.last_words}")

    def _line(self, request: Request) -> bytes:
        value = request_value(request, with_credential=self._request is not None)
        body = fill(self._request, value) if self._request is not None else value
        return json.dumps({**body, "query_id": request.query_id}).encode("ascii")

    def _made(self, request: Request, heard: Heard, attempts: list[Attempt]) -> Reply:
        value, failure, detail = heard.value, heard.failure, heard.detail
        if failure is None and self._response:
            value = apply(self._response, value)
            if value is ABSENT:
                failure = Failure(cause="invalid_response", code="response")
                detail = "no path of the mapping leads anywhere"
        declared = [one for key, one in self._env.items() if isinstance(one, Secret) and key not in self._passed]
        secrets = [one.resolve("env") for one in declared]
        return Reply(
            value=value if failure is None else None,
            failure=failure,
            detail=detail,
            attempts=tuple(attempts),
            raw=heard.raw,
            latency_ms=attempts[-1].duration_ms,
            secrets=tuple(one for one in (*secrets, request.credential or "") if len(one) >= 4),
        )

    async def aclose(self) -> None:
        """End the program and everything that it started."""
        process = self._process
        self._begin()
        if process is not None:
            await process.close()


def _checked_command(command: Sequence[str], folder: Path) -> list[str]:
    """The program as a path, and its arguments as they are."""
    hint = 'a list, which no shell reads: command = ["python", "my_rag.py"]'
    if isinstance(command, str) or not command or not all(isinstance(one, str) and "\0" not in one for one in command):
        raise UsageError(f"{command!r} is not a program with arguments", field="command", hint=hint)
    first = command[0]
    found = str(folder / first) if "/" in first else shutil.which(first)
    if found is None or shutil.which(found) is None:
        where = f"in {folder}" if "/" in first else "on the PATH"
        raise UsageError(f"there is no program {first!r} {where}", field="command", hint=hint)
    return [found, *command[1:]]


def _checked_env(env: Mapping[str, Any], passed: Sequence[str]) -> dict[str, str | Secret]:
    hint = 'env = { MODE = "fast", TOKEN = { env = "RAG_TOKEN" } }'
    if not isinstance(env, Mapping) or isinstance(passed, str):
        raise UsageError("env is a table, pass_env a list of names", field="env", hint=hint)
    found: dict[str, str | Secret] = {}
    for key, one in [*env.items(), *((name, {"env": name}) for name in passed)]:
        if not isinstance(key, str) or not _NAME.fullmatch(key):
            raise UsageError(f"{key!r} cannot name a variable", field="env", hint="letters, digits and underscores")
        if isinstance(one, Mapping) and set(one) <= {"env", "prefix"} and isinstance(one.get("env"), str):
            found[key] = Secret(env=one["env"], prefix=str(one.get("prefix", "")))
        elif isinstance(one, str) and "\0" not in one:
            found[key] = one
        else:
            raise UsageError(f"{key} is neither a text nor a secret", field=f"env.{key}", hint=hint)
    return found


def _code(command: Sequence[str], folder: Path) -> Digest | None:
    """The digest of the files beside the settings that the command names: another program is another system."""
    paths = [folder / one for one in command if "\0" not in one]
    files = [one for one in paths if one.is_file() and one.resolve().is_relative_to(folder)]
    found = [digest_bytes(one.read_bytes()) for one in files if one.stat().st_size <= _LARGEST_FILE]
    return found[0] if len(found) == 1 else digest_of(found) if found else None
