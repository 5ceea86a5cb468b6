"""The service over HTTP: who asks is in a token, what they get is theirs. `holes` opens the holes of a twin.

POST /ask              {"query", "top_k"?, "conversation"?, "filter"?}
POST /batch            {"requests": [{"query", ...}, ...]}: all of one caller
GET  /documents/{id}
POST /issuer/token     {"principal", "variant"?, "session"?}       for the operator: the example's own issuer
POST /admin/plant      {"documents": [...]}                        for the operator
POST /admin/remove     {"document_ids": [...]}                     for the operator
POST /admin/permit     {"document_id", "tenants", "acl"?}          for the operator
POST /admin/revoke     {"principal", "revoked"}                    for the operator
"""

from __future__ import annotations

import hmac
import json
import threading
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from database import EVERYBODY, Database, Row, Scope, vector_of
from issuer import Caller, Issuer, Refused
from search import Found, Search, entry, overlap
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

NOT_FOUND = "There is no such document, or you may not read it."
_MOST_BYTES, _MOST_K, _MOST_BATCH, _ALIKE = 200_000, 50, 32, 0.98


class Service:
    """All state of one running service."""

    def __init__(self, database: Database, issuer: Issuer, operator: str, holes: Collection[str] = ()) -> None:
        self._database, self._issuer, self._operator = database, issuer, operator
        self._holes = frozenset(holes)
        self._search = Search(database, holes)
        self._lock = threading.Lock()
        self._cache: list[tuple[object, Any, dict[str, Any]]] = []
        self._memory: dict[object, list[Row]] = {}
        self._sessions: dict[str, tuple[str, ...]] = {}
        self._revoked: set[str] = set()

    def app(self) -> Starlette:
        """The routes."""
        post = [
            ("/ask", self._ask), ("/batch", self._batch), ("/issuer/token", self._token), ("/admin/plant", self._plant),
            ("/admin/remove", self._remove), ("/admin/permit", self._permit), ("/admin/revoke", self._revoke),
        ]  # fmt: skip
        routes = [Route(path, _posted(work), methods=["POST"]) for path, work in post]
        return Starlette(routes=[*routes, Route("/documents/{key}", self._document, methods=["GET"])])

    # -- who asks

    def _caller(self, request: Request, body: dict[str, Any]) -> Caller:
        """The caller of a request; Refused if the credential does not hold or does not fit what else is claimed."""
        given = request.headers.getlist("authorization")
        if len(given) != 1 or not given[0].startswith("Bearer ") or len(given[0]) > 8192:
            raise Refused("missing" if not given else "malformed")
        caller = self._issuer.check(given[0].removeprefix("Bearer ").strip(), self._holes)
        if caller.sub in self._revoked:
            raise Refused("revoked")
        for claimed, hole in (
            (request.headers.get("x-tenant"), "header_over_token"),
            (body.get("tenant"), "body_over_token"),
        ):
            if claimed is not None and claimed != caller.tenant:
                if hole not in self._holes:
                    raise Refused("conflicting")
                caller = replace(caller, tenant=str(claimed))
        if "stale_role" in self._holes:
            with self._lock:
                caller = replace(caller, groups=self._sessions.setdefault(caller.session, caller.groups))
        if "tenant_folded" in self._holes:
            caller = replace(caller, tenant=unicodedata.normalize("NFKC", caller.tenant).casefold())
        return caller

    # -- questions

    def _ask(self, request: Request, body: dict[str, Any]) -> JSONResponse:
        caller = self._caller(request, body)
        debug = "debug_trace" in self._holes and request.headers.get("x-debug") == "1"
        return JSONResponse(self._answered(caller, body, debug=debug))

    def _batch(self, request: Request, body: dict[str, Any]) -> JSONResponse:
        caller = self._caller(request, body)
        wanted = body.get("requests")
        if not isinstance(wanted, list) or not 1 <= len(wanted) <= _MOST_BATCH:
            return JSONResponse({"error": f"requests is a list of 1 to {_MOST_BATCH}"}, 422)
        replies = []
        for one in wanted:
            asks_for = one.get("principal") if isinstance(one, dict) else None
            if not isinstance(one, dict) or asks_for not in (None, caller.sub):
                replies.append({"error": "a batch has one caller", "answer": {"text": "", "outcome": "denied"}})
            else:
                replies.append(self._answered(caller, one, batch=True))
        return JSONResponse({"replies": replies})

    def _answered(
        self, caller: Caller, body: dict[str, Any], *, debug: bool = False, batch: bool = False
    ) -> dict[str, Any]:
        query, top_k = body.get("query"), body.get("top_k", 8)
        if not isinstance(query, str) or not query.strip():
            raise ValueError("query is a text that is not empty")
        if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= _MOST_K:
            raise ValueError(f"top_k is a whole number from 1 to {_MOST_K}")
        filters = self._filters(body)
        talk = body.get("conversation")
        held = (talk,) if "memory_shared" in self._holes else (caller.tenant, caller.sub, talk)
        remembered = self._memory.get(held, []) if talk is not None else []
        about = () if "cache_shared" in self._holes else (Scope.of(caller), top_k, str(filters), held)
        vector = vector_of(query)
        if not batch and not debug:
            for known, near, reply in self._cache:
                if known == about and float(near @ vector) >= _ALIKE:
                    return {**reply, "cached": True}
        found = self._search.answer(caller, query, top_k, remembered=remembered, filters=filters, batch=batch)
        if talk is not None and found.context:
            self._memory[held] = found.context[:2]
        reply = self._reply(caller, query, found)
        if debug:
            reply["debug"] = [entry(row) for row in self._database.dense(EVERYBODY, query, 10)]
        elif not batch:
            with self._lock:
                self._cache = [*self._cache[-199:], (about, vector, reply)]
        return reply

    def _filters(self, body: dict[str, Any]) -> dict[str, Any]:
        """Filters of the caller narrow by the id's beginning alone; anything about tenants is refused."""
        given = body.get("filter") or {}
        if not isinstance(given, dict):
            raise ValueError("filter is an object")  # noqa: TRY004 - answered with 422 like every wrong value
        if "filter_wildcard" not in self._holes and given:
            raise ValueError("this service takes no filter of its callers")
        return given

    def _reply(self, caller: Caller, query: str, found: Found) -> dict[str, Any]:
        scope = Scope.of(caller)
        cited = found.context[:2]
        if "citation_leak" in self._holes:
            cited = [r for r in self._database.dense(EVERYBODY, query, 3) if overlap(query, r) > 0][:2] or cited
        related = EVERYBODY if "title_leak" in self._holes else scope
        counted = EVERYBODY if "count_leak" in self._holes else scope
        return {
            "answer": {
                "text": found.text,
                "outcome": found.outcome,
                "citations": [{"item_id": row["document_id"]} for row in cited],
            },
            "sources": [
                {"document_id": row["document_id"], "title": row["title"], "snippet": row["body"][:80]} for row in cited
            ],
            "contexts": [entry(row) for row in found.context],
            "steps": found.steps,
            "retrieval": {"sufficient": bool(found.context)},
            "related_titles": [row["title"] for row in self._database.dense(related, query, 3)],
            "total": self._database.count(counted, query),
            "versions": {"service": "1"},
            "cached": False,
        }

    async def _document(self, request: Request) -> JSONResponse:
        return await run_in_threadpool(_guarded, lambda: self._fetched(request))

    def _fetched(self, request: Request) -> JSONResponse:
        caller, key = self._caller(request, {}), request.path_params["key"]
        rows = self._database.fetch(Scope.of(caller), key)
        if rows:
            return JSONResponse({"document_id": key, "title": rows[0]["title"], "text": rows[0]["body"]})
        if "error_text_leak" in self._holes:
            for row in self._database.fetch(EVERYBODY, key):
                told = f"'{row['title']}' of {row['tenants'][0]} is not for {caller.tenant}"
                return JSONResponse({"error": told}, 403)
        return JSONResponse({"error": NOT_FOUND}, 404)

    # -- for the operator

    def _token(self, request: Request, body: dict[str, Any]) -> JSONResponse:
        self._operated(request)
        token = self._issuer.token(body["principal"], body.get("variant", "plain"), body.get("session", ""))
        return JSONResponse({"token": token})

    def _plant(self, request: Request, body: dict[str, Any]) -> JSONResponse:
        self._operated(request)
        self._database.put(body["documents"])
        self._cache = []
        return JSONResponse({"planted": len(body["documents"])})

    def _remove(self, request: Request, body: dict[str, Any]) -> JSONResponse:
        self._operated(request)
        self._cache = []
        return JSONResponse({"removed": self._database.remove(list(body["document_ids"]))})

    def _permit(self, request: Request, body: dict[str, Any]) -> JSONResponse:
        self._operated(request)
        self._cache = []
        return JSONResponse({"changed": self._database.permit(body["document_id"], body["tenants"], body.get("acl"))})

    def _revoke(self, request: Request, body: dict[str, Any]) -> JSONResponse:
        self._operated(request)
        (self._revoked.add if body["revoked"] else self._revoked.discard)(body["principal"])
        return JSONResponse({"revoked": sorted(self._revoked)})

    def _operated(self, request: Request) -> None:
        given = request.headers.get("x-operator", "")
        if not hmac.compare_digest(given.encode(), self._operator.encode()):
            raise Refused("operator")


Work = Callable[[Request, dict[str, Any]], JSONResponse]


def _posted(work: Work) -> Callable[[Request], Any]:
    """A route that reads a JSON object, with a limit on its size, and works in a thread."""

    async def endpoint(request: Request) -> JSONResponse:
        raw = b""
        async for part in request.stream():
            raw += part
            if len(raw) > _MOST_BYTES:
                return JSONResponse({"error": "too large"}, 413)
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            return JSONResponse({"error": "not JSON"}, 400)
        if not isinstance(body, dict):
            return JSONResponse({"error": "not an object"}, 400)
        return await run_in_threadpool(_guarded, lambda: work(request, body))

    return endpoint


def _guarded(work: Callable[[], JSONResponse]) -> JSONResponse:
    """401 for whoever the credential does not hold for, 422 for a wrong body: neither says what was asked for."""
    try:
        return work()
    except Refused as refused:
        return JSONResponse({"error": "credential", "credential_status": refused.status}, 401)
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        return JSONResponse({"error": f"wrong request ({type(wrong).__name__})"}, 422)
