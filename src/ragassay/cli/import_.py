"""`ragassay import`: an exported file of evidence becomes a store of its own."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.workspace import state_folder
from ragassay.records.text import many


def import_(file: Path, *, store: Path, json: bool = False) -> None:
    """Make a store of a file that `ragassay export` wrote; then verify, audit and explain work on it, offline.

    Every object is hashed. A file in any other form than the exporter's own is refused (exit 5), and nothing is
    written outside of the new folder.

    Parameters
    ----------
    file
        The exported file.
    store
        A folder that is not there yet.
    json
        Data as JSON on standard output.
    """
    from ragassay.audit.archive import unpack
    from ragassay.version import VERSION

    made = unpack(file, store, witness=state_folder())
    own = made.ragassay_version == VERSION
    if json:
        talk.data_json({"run": made.run, "objects": len(made.objects), "public": made.public,
                        "left_out": len(made.left_out), "page_checked": made.page is not None and own,
                        "ragassay_version": made.ragassay_version, "store": str(store)})  # fmt: skip
    else:
        talk.data(talk.plain(f"run {made.run}: {many(len(made.objects), 'object')} in {store}"))
        if made.public:
            talk.data(
                f"without texts: {many(len(made.left_out), 'object')} were left out, so scores cannot be made again"
            )
    if made.page is not None and not own:
        talk.say(
            f"ragassay {made.ragassay_version} is said to have written its page index.html, so nobody held that "
            f"against the records: `ragassay export` of this store writes one that says what they say"
        )
    talk.then("ragassay verify" if made.public else "ragassay audit", None, store)
