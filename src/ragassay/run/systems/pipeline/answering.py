"""One question on its way through a pipeline: what is asked, what generation sees, what is answered. Keeps nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

from ragassay.records.trace import Failure
from ragassay.run.contract import Reply
from ragassay.run.systems.extract import Extract, extract
from ragassay.run.systems.opening import Hit
from ragassay.run.systems.pipeline.agentic import Rounds
from ragassay.run.systems.pipeline.generate import query_of
from ragassay.run.systems.pipeline.outcome import AnswerFormError
from ragassay.run.systems.pipeline.retrieving import Retrieving
from ragassay.run.systems.pipeline.settings_models import Chat, Extractive, ModelRewrite
from ragassay.run.systems.pipeline.steps import CallFailedError, Entry
from ragassay.run.systems.prompt import Assembled, last_turns, shown_beside_labels


class Kept(NamedTuple):
    """What generation sees: the passages in their order, and as a text."""

    hits: list[Hit]
    assembled: Assembled


class Answering(Retrieving):
    """The steps of one question, in the order of the settings."""

    async def reply(self) -> Reply:
        """All of it."""
        query = await self.rewrite()
        hits = await (self.retrieve(query) if self.settings.agentic is None else Rounds(self).retrieve(query))
        kept = self.assemble(hits)
        value = await self.generate(query, kept)
        return self.log.finish({**value, "contexts": self.entries(kept.hits)})

    async def rewrite(self) -> str:
        """The query that is searched."""
        declared, request = self.settings.rewrite, self.request
        if isinstance(declared, ModelRewrite):
            return await self._rewrite_by_model(declared)
        turns = [one.text for one in request.history if one.role == "user"]
        if not turns or not declared.history_turns:
            return request.query
        with self.log.step("rewrite", "rewrite") as step:
            step["query_text"] = query = " ".join([*turns[-declared.history_turns :], request.query])
            step["decisions"] = [{"action": "rewrite", "reason": f"the last {declared.history_turns} user turns"}]
        return query

    async def _rewrite_by_model(self, declared: ModelRewrite) -> str:
        request, system = self.request, self.system
        history = last_turns(request.history, declared.history_turns)
        if not history and not declared.always:
            return request.query
        assert system.rewriter is not None
        assert system.rewrite_prompt is not None
        with self.log.step("rewrite", "rewrite") as step:
            prompt = system.rewrite_prompt.render(request.query, history)
            reply = await self.ask_model(step, system.rewriter, [{"role": "user", "content": prompt}])
            written = query_of(reply.value["answer"]["text"])
            reason = "written by the model" if written else "the model wrote nothing: the question itself is searched"
            step |= {
                "query_text": written or request.query,
                "decisions": [{"action": "rewrite", "reason": reason}],
            }
        return written or request.query

    async def ask_model(self, step: Entry, model: Any, messages: list[dict[str, str]]) -> Reply:
        """The reply of a model, its calls and tokens counted at its step; CallFailedError if there is none."""
        name = step["name"]
        self.log.may_call(name)
        started_s = self.system.clock.steady_s()
        reply: Reply = await model.ask(self.request, messages)
        self.log.called(reply, started_s)
        if reply.failure is not None:
            raise CallFailedError(name, reply)
        step |= {"calls": len(reply.attempts), **self.log.counted(reply.value.get("usage"))}
        return reply

    def assemble(self, hits: list[Hit]) -> Kept:
        """What fits into the budget, best first while it is filled, then in the declared order."""
        order = self.settings.context.order
        with self.log.step("assemble", "assemble") as step:
            first = self.system.assembly.assemble([self.text_of(one) for one in hits])
            chosen = arranged([hits[place] for place in first.kept], order)
            assembled = (
                first if order == "rank" else self.system.assembly.assemble([self.text_of(one) for one in chosen])
            )
            for place, why in first.dropped:
                step["decisions"] += self.beyond([hits[place]], why)
            if order != "rank":
                step["decisions"].append({"action": "order", "reason": order})
            step |= {"items_in": self.entries(hits), "items_out": self.entries(chosen), "score_direction": "higher"}
        return Kept(chosen, assembled)

    async def generate(self, query: str, kept: Kept) -> dict[str, Any]:
        """The answer, or the declared sentence where the evidence is not enough."""
        declared, floor = self.settings.generate, self.settings.floor
        with self.log.step("generate", "generate") as step:
            most = declared.max_sentences if isinstance(declared, Extractive) else 1
            pairs = [(self.id_of(one), self.index.passages[one.number].text) for one in kept.hits]
            found = extract(query, pairs, idf=self.index.idf, most=most)
            asked = isinstance(declared, Chat)
            enough = bool(pairs) and found.coverage >= floor and (asked or bool(found.text))
            sign = ">=" if found.coverage >= floor else "<"
            reason = f"coverage {found.coverage:.3f} {sign} floor {floor:g}" if pairs else "nothing in the context"
            step["decisions"] = [{"action": "answer" if enough else "abstain", "reason": reason}]
            value: dict[str, Any] = {"retrieval": {"sufficient": enough, "confidence": found.coverage}}
            if not enough:
                refusal = {"text": self.settings.insufficient, "outcome": "abstained", "citations": []}
                return value | {"answer": refusal | {"confidence": found.coverage}}
            if isinstance(declared, Extractive):
                return value | {"answer": _extracted(found)}
            return value | await self._by_model(declared, kept, step)

    async def _by_model(self, declared: Chat, kept: Kept, step: Entry) -> dict[str, Any]:
        system = self.system
        assert system.prompt is not None
        assert system.form is not None
        try:
            prompt = system.prompt.render(self.request, kept.assembled)
        except ValueError as cause:
            raise CallFailedError("generate", Reply(), detail=str(cause)) from None
        history = last_turns(self.request.history, declared.history_turns)
        messages = [{"role": "system", "content": declared.system_prompt}] if declared.system_prompt else []
        messages += [{"role": one.role, "content": one.text} for one in history]
        before_ms = system.clock.since_ms(self.log.began_s) - self.log.waited_ms
        reply = await self.ask_model(step, system.model, [*messages, {"role": "user", "content": prompt}])
        shown = [str(one["text"]) for one in kept.assembled.items]
        shown += shown_beside_labels(system.prompt, declared.system_prompt, history, self.request)
        try:
            answer, decisions = system.form.read(reply.value["answer"], [self.id_of(one) for one in kept.hits], shown)
        except AnswerFormError as cause:
            failure = Failure(cause="invalid_response", code="answer_form")
            raise CallFailedError("generate", reply, failure, str(cause)) from None
        step["decisions"] += decisions
        value: dict[str, Any] = {"answer": answer}
        if "versions" in reply.value:
            value["versions"] = reply.value["versions"]
        if reply.value.get("first_token_ms") is not None and self.log.timed:
            value["first_token_ms"] = round(before_ms + reply.value["first_token_ms"], 3)
        return value


def arranged(hits: list[Hit], order: str) -> list[Hit]:
    """The declared order: rank, reverse (best last), edges (1, 3, 5, ... 6, 4, 2: the best ones at both ends).

    >>> [one.number for one in arranged([Hit(n, 0.0) for n in (1, 2, 3, 4, 5)], "edges")]
    [1, 3, 5, 4, 2]
    """
    if order == "reverse":
        return hits[::-1]
    return hits[::2] + hits[1::2][::-1] if order == "edges" else list(hits)


def _extracted(found: Extract) -> dict[str, Any]:
    marks = [{"answer_start": start, "answer_end": end, "item_id": item} for start, end, item in found.citations]
    return {"text": found.text, "outcome": "answered", "citations": marks, "confidence": found.coverage}
