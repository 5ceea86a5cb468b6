"""An evaluator: a claim is supported where it stands word for word in what was shown, and its place is the proof."""

from ragassay.records.document import Span
from ragassay.records.judgement import JudgeIdentity
from ragassay.run.judges.contract import Item, Verdict


class Verbatim:
    about = frozenset({"claim", "citation"})

    def __init__(self, settings: dict[str, str]) -> None:
        self.identity = JudgeIdentity(name="verbatim", kind="lexical", settings={"method": "verbatim/1", **settings})

    def judge(self, items: list[Item]) -> list[Verdict]:
        return [self.one(item.statement.strip().rstrip("."), item) for item in items]

    def one(self, words: str, item: Item) -> Verdict:
        for shown in item.evidence:
            at = shown.text.find(words) if words else -1
            if at >= 0 and len(shown.sources) == 1 and shown.sources[0].end - shown.sources[0].start == len(shown.text):
                name, version, start, _ = (getattr(shown.sources[0], one) for one in Span.__struct_fields__)
                place = Span(document_id=name, version=version, start=start + at, end=start + at + len(words))
                return Verdict("value", "supported", score=1.0, spans=(place,))
        return Verdict("value", "unsupported", score=0.0)
