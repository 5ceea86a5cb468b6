"""Code of others where no question is asked yet: what it raises is told, and ends nothing by itself. Calls nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ragassay.errors import RagassayError, SystemUnderTestError
from ragassay.run.threads import name_of, words_of


@contextmanager
def foreign(who: str, field: str = "") -> Iterator[None]:
    """What is called in here is somebody else's: whatever it raises, SystemExit too, is a SystemUnderTestError.

    Errors of our own and Ctrl-C go through. `who` begins the message, as in `the embedder x`.
    """
    try:
        yield
    except (RagassayError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as cause:
        raise SystemUnderTestError(
            f"{who} raised {name_of(cause)}: {words_of(cause)[:1000]}",
            field=field,
            hint="call it by itself in Python to see where",
        ) from cause
