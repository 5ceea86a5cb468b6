"""What a data set says that some system answered and retrieved. Resolves nothing and judges nothing."""

from __future__ import annotations

from typing import NamedTuple


class OutputContext(NamedTuple):
    """One retrieved context: its text, the system's id for it, or both. An empty text is an item without text."""

    text: str | None = None
    id: str | None = None


class Output(NamedTuple):
    """What a data set holds of one question's run. Absent is not empty: None says that the file does not say."""

    query_id: str
    answer: str | None = None
    contexts: tuple[OutputContext, ...] | None = None

    def response(self) -> dict[str, object]:
        """The same in the form in which a system answers (`ragassay schema system`)."""
        said: dict[str, object] = {}
        if self.answer is not None:
            said["answer"] = self.answer
        if self.contexts is not None:
            said["contexts"] = [
                {key: value for key, value in one._asdict().items() if value is not None} for one in self.contexts
            ]
        return said
