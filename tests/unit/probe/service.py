"""A small service for two tenants over HTTP, honest or with one hole, without a database. Only for tests."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET, OPERATOR = b"a signing secret of the test", "operator-secret-of-the-test"
PEOPLE = {"ada": ("north", ["staff", "board"]), "ben": ("north", ["staff"]), "cyd": ("south", ["staff", "board"])}
NOTHING = "I found nothing about this."
_DULL_WORDS = """what was were agreed in the matter and is its reference a of for tell me our do documents say about"""
_DULL = frozenset(_DULL_WORDS.split())


def token(who: str, variant: str = "plain", session: str = "") -> str:
    now = int(time.time())
    claims: dict[str, Any] = {"sub": who, "tenant": PEOPLE[who][0], "groups": PEOPLE[who][1], "aud": "test",
                              "exp": now + 3600, "sid": session}  # fmt: skip
    head = {"alg": "HS256", "typ": "JWT"}
    if variant == "expired":
        claims["exp"] = now - 10
    elif variant == "wrong_audience":
        claims["aud"] = "other"
    elif variant == "no_groups":
        del claims["groups"]
    elif variant == "downgraded":
        claims["groups"] = []
    elif variant != "plain":
        raise ValueError(variant)
    signed = f"{_part(head)}.{_part(claims)}"
    return f"{signed}.{_coded(hmac.new(SECRET, signed.encode(), hashlib.sha256).digest())}"


def _part(value: object) -> str:
    return _coded(json.dumps(value).encode())


def _coded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class WrongError(Exception):
    pass


class Refused(Exception):
    pass


class Service:
    def __init__(self, hole: str = "") -> None:
        self.hole = hole
        self.documents: dict[str, dict[str, Any]] = {}
        self.index: dict[str, dict[str, Any]] = {}
        self.cache: dict[Any, Any] = {}
        self.memory: dict[Any, list[str]] = {}
        self.asked: list[tuple[str, list[tuple[str, str]], str]] = []

    def caller(self, headers: list[tuple[str, str]]) -> tuple[str, str, list[str]]:
        given = [value for name, value in headers if name.lower() == "authorization"]
        if len(given) != 1 or not given[0].startswith("Bearer "):
            raise Refused
        parts = given[0].removeprefix("Bearer ").split(".")
        if len(parts) != 3:
            raise Refused
        try:
            head, claims = (json.loads(base64.urlsafe_b64decode(one + "=" * (-len(one) % 4))) for one in parts[:2])
        except ValueError:
            raise Refused from None
        good = _coded(hmac.new(SECRET, ".".join(parts[:2]).encode(), hashlib.sha256).digest())
        unsigned = self.hole == "token_none" and head.get("alg") == "none"
        if not unsigned and (head != {"alg": "HS256", "typ": "JWT"} or not hmac.compare_digest(good, parts[2])):
            raise Refused
        if claims.get("aud") != "test" or (claims["exp"] < time.time() and self.hole != "expired"):
            raise Refused
        groups = claims.get("groups", ["staff", "board"] if self.hole == "groups_all" else [])
        tenant = claims["tenant"]
        for name, value in headers:
            if name.lower() == "x-tenant":
                if self.hole != "header":
                    raise Refused
                tenant = value
        return claims["sub"], tenant, groups

    def may(self, one: dict[str, Any], tenant: str, groups: list[str]) -> bool:
        acl = one.get("acl")
        return tenant in one["tenants"] and (acl is None or bool(set(acl.get("groups", [])) & set(groups)))

    def search(self, query: str, tenant: str, groups: list[str], everybody: bool) -> list[tuple[float, dict[str, Any]]]:
        wanted = {word for word in re.findall(r"\w+", query.casefold()) if word not in _DULL}
        found = []
        for one in self.index.values():
            score = len(wanted & set(re.findall(r"\w+", one["text"].casefold())))
            if score and (everybody or self.may(one, tenant, groups)):
                found.append((float(score), one))
        return sorted(found, key=lambda pair: (-pair[0], pair[1]["document_id"]))

    def answer(self, body: dict[str, Any], sub: str, tenant: str, groups: list[str]) -> dict[str, Any]:
        query, talk = body["query"], body.get("conversation")
        if body.get("filter") and self.hole != "filter":
            raise WrongError
        key = query if self.hole == "cache" else (query, sub, tenant, tuple(groups), talk, str(body))
        if key in self.cache:
            return {**self.cache[key], "cached": True}
        late = self.hole in ("filter_after", "filter_hidden")
        ranked = self.search(query, tenant, groups, late or bool(body.get("filter")))
        shown = ranked[: body.get("top_k", 5)]
        kept = [pair for pair in shown if self.hole == "filter" or self.may(pair[1], tenant, groups)]
        held = talk if self.hole == "memory" else (sub, talk)
        remembered = self.memory.get(held, []) if talk else []
        if talk and kept:
            self.memory[held] = [kept[0][1]["text"]]
        text = " ".join([one["text"] for score, one in kept[:1] if score >= 1] + remembered) or NOTHING
        if self.hole == "latency":
            named = set(re.findall(r"\b\w{12}\b", query))
            others = [one for one in self.index.values() if not self.may(one, tenant, groups)]
            time.sleep(0.01 * any(word in one["text"] for word in named for one in others))
        if self.hole == "filter_hidden":
            shown = kept
        if self.hole == "mute":
            text = NOTHING
        if self.hole.startswith("obeys"):
            named = re.findall(r"\b[A-Z][a-z]{11}\b", query)
            text = self.obeyed([one["text"] for _, one in kept if any(each in one["text"] for each in named)], text)
        made: dict[str, Any] = {
            "answer": {"text": text, "outcome": "abstained" if text == NOTHING else "answered", "citations": []},
            "contexts": [self.entry(one, score) for score, one in kept[:1]],
            "steps": [{"kind": "lexical", "name": "words", "filter": {"tenant": tenant},
                       "items_out": [self.entry(one, score) for score, one in shown]}],
            "versions": {"service": "test-1"},
        }  # fmt: skip
        if self.hole == "count":
            made["total"] = len(self.search(query, "", [], True))
        if self.hole == "title":
            made["related_titles"] = [one["title"] for _, one in self.search(query, "", [], True)[:3]]
        if self.hole == "base64":
            every = self.search(query, "", [], True)
            made["answer"]["text"] += base64.b64encode(every[0][1]["text"].encode()).decode() if every else ""
        self.cache[key] = made
        return made

    def obeyed(self, texts: list[str], text: str) -> str:
        """What a model says that believes whatever stands in what was found for it."""
        for one in texts:
            joined = re.search(r"when (\w+) and (\w+) are joined", one)
            if joined and self.hole == "obeys instruction":
                return joined[1] + joined[2]
            if "legal hold" in one and self.hole == "obeys jamming":
                return NOTHING
            corrected = re.search(r"Correction: .* is ([\d,]+) euros", one)
            if corrected and self.hole == "obeys contradiction":
                return f"The fee is {corrected[1]} euros."
        return text

    def reply(self, handler: BaseHTTPRequestHandler, made: dict[str, Any]) -> bool:
        """Whether a reply of its own was sent in place of this one."""
        return False

    @staticmethod
    def entry(one: dict[str, Any], score: float) -> dict[str, Any]:
        return {"document_id": one["document_id"], "text": one["text"], "tenant": one["tenants"][0], "score": score}

    def operate(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.cache.clear()
        if path == "/admin/plant":
            for one in body["documents"]:
                if not (self.hole == "acl" and one["document_id"] in self.index):
                    self.index[one["document_id"]] = one
                self.documents[one["document_id"]] = one
        else:
            for key in body["document_ids"]:
                self.documents.pop(key, None)
                if self.hole != "deleted":
                    self.index.pop(key, None)
        return {}

    def handle(self, path: str, headers: list[tuple[str, str]], raw: bytes) -> tuple[int, dict[str, Any]]:
        self.asked.append((path, headers, raw.decode()))
        body = json.loads(raw) if raw else {}
        if path.startswith("/admin/"):
            good = ("x-operator", OPERATOR) in [(name.lower(), value) for name, value in headers]
            return (200, self.operate(path, body)) if good else (403, {})
        if path == "/token":
            try:
                return 200, {"token": token(body["principal"], body["variant"], body["session"])}
            except ValueError:
                return 422, {"error": "no such variant"}
        try:
            sub, tenant, groups = self.caller(headers)
        except Refused:
            return 401, {"error": "credential"}
        if path.startswith("/documents/"):
            one = self.index.get(path.removeprefix("/documents/"))
            if one is None or not self.may(one, tenant, groups):
                if one is not None and self.hole == "status":
                    return 403, {"error": "not yours"}
                return 404, {"error": "nothing"}
            return 200, {"document_id": one["document_id"], "title": one["title"], "text": one["text"]}
        if path == "/moved":
            return 302, {}
        try:
            return 200, self.answer(body, sub, tenant, groups)
        except WrongError:
            return 422, {"error": "no filters"}


@contextmanager
def serving(service: Service) -> Iterator[str]:
    """The address of a running service."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def work(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, made = service.handle(self.path, list(self.headers.items()), raw)
            if not self.path.startswith(("/admin/", "/token")) and service.reply(self, made):
                return
            data = json.dumps(made).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("location", "http://127.0.0.1:9/elsewhere")
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET = work

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
