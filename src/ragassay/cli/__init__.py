"""The command line: parse, call one room, show what it returned. One file a command; no judgement of its own."""

from __future__ import annotations

import sys
from keyword import iskeyword
from typing import TYPE_CHECKING

from ragassay.errors import ExitCode, RagassayError
from ragassay.version import VERSION

if TYPE_CHECKING:
    from cyclopts import App

COMMANDS: dict[str, str] = {
    "init": "Write a commented ragassay.toml and a small example that run as they are.",
    "corpus": "Read documents, freeze them as a corpus and cut it into passages.",
    "benchmark": "Read questions and labels, resolve quotes, freeze them as a benchmark.",
    "policy": "Say whether a policy can be decided on these questions, before anything is asked.",
    "seal": "Freeze subject, scoring and policy as one protocol; --check verifies every byte.",
    "run": "Ask the system under test every question and keep everything that it did.",
    "experiment": "Try a declared grid of settings on questions for development; the release split is refused.",
    "judge": "Put the answers of a run to judges, and measure judges against people.",
    "probe": "Prove that no tenant sees another's documents: plant, ask, judge, take away again.",
    "score": "Score a run: every question, every step, every class on its own.",
    "gate": "Decide by the sealed policy: pass, fail, review, or cannot tell yet.",
    "report": "Write the scorecard as HTML, JSON and Markdown.",
    "compare": "Compare runs question by question: what moved, by how much, how surely, at which step.",
    "diff": "Say what changed between two runs: artefacts, steps, and which facts are lost since.",
    "export": "Write all evidence of a run as one file, or the rows of a score table as CSV or Parquet.",
    "import": "Make a store of a file of evidence that `export` wrote.",
    "keys": "Make keys to sign with, and a trust policy that says whose signatures count.",
    "sign": "Sign a protocol before its run, the numbers of a run, or a decision.",
    "verify": "Check bytes, ledger and signatures behind a run.",
    "audit": "Make every number and verdict behind a run again, and say where one differs.",
    "explain": "Walk back from a question's verdict to the documents, with every digest.",
    "runs": "List the runs of the store, tag them, and follow a measure over them.",
    "measures": "Print the glossary of measures.",
    "measure": "TREC qrels and runs to numbers, without a store.",
    "store": "Look into the store; `store check` re-hashes all of it, `store erase` leaves a tombstone.",
    "schema": "Print the JSON Schema of a record, of the settings, or of the system contract.",
    "doctor": "Say what this installation can and cannot do here.",
    "demo": "Several hundred real questions to a sealed run and an HTML scorecard.",
}
"""Command -> one sentence; each lives in the module of its name."""
GROUPS: dict[str, dict[str, str]] = {
    "corpus": {
        "add": "Freeze the documents that the settings name and cut them into passages.",
        "show": "List the corpora and segmentations of the store.",
    },
    "benchmark": {
        "build": "Freeze the questions that the settings name; quotes become spans, or are reported.",
        "check": "Say what is wrong, weak or missing in questions and labels, and what to do.",
        "show": "List the benchmarks of the store.",
    },
    "policy": {
        "check": "Name each demand that can never pass, never fail, or is not what it seems.",
    },
    "judge": {
        "run": "Put claims, citations and answers of a run to each judge of the settings. The default.",
        "sample": "Draw items for people, by stratum and at random, into a file that they fill in.",
        "import": "Read a file that a person filled in; newer verdicts supersede, none is overwritten.",
        "calibrate": "Hold a judge against people: agreement by class, biases, cost, a threshold.",
    },
    "probe": {
        "plan": "Freeze the suite and say what it would plant and ask. Asks nothing.",
        "run": "Plant the suite, ask every probe, take away what was planted, judge what came back.",
        "report": "Show the newest assessment: rates with bounds, every leak with channel and path.",
        "advise": "Have a model read what no rule called a leak, for a person to look at. Advisory only.",
        "planted": "List what the suite plants, and what may still stand in the system.",
        "remove": "Take away every planted document that may still stand in the system.",
    },
    "runs": {
        "list": "Every run: when, what, under which tags, and how many questions failed. The default.",
        "tag": "Give a run a tag.",
        "untag": "Take a tag off a run.",
        "trend": "A measure over the runs; never joined across another benchmark, corpus or scoring.",
    },
    "keys": {
        "new": "Make an Ed25519 pair.",
        "show": "Print the id of a public key.",
        "trust": "Write a trust policy over public keys to start from.",
    },
    "store": {
        "check": "Name each damaged, missing or foreign object; exit 5 if there is any. Deletes nothing.",
        "refs": "List the names in the store and what they stand for.",
        "show": "Print one object: a record as JSON, a table as JSON lines, anything else as its bytes.",
        "history": "What took the place of what, newest first, with who and why.",
        "erase": "Take one object away for good and leave a tombstone.",
        "witness": "Write the last line of the ledger as a commit in a git repository.",
        "retain": "Take away what is older than [retention] says, and leave tombstones.",
    },
}
"""Commands with verbs of their own, one sentence each."""
DEFAULT_VERBS = {"runs": "list", "judge": "run"}
"""The verb that is meant where none is said."""
MODULES = {"judge": "judge_{verb}", "probe advise": "probe_{verb}"}
"""Verbs that have a module of their own: of a command all but the default one, or one alone."""


def build_app() -> App:
    """The cyclopts application; commands load when they are called."""
    from cyclopts import App, Parameter

    app = App(
        name="ragassay",
        help="Evaluate retrieval-augmented generation: sealed, counted, rebuildable.",
        help_epilogue=(
            "Exit codes: 0 done or pass; 1 a gate failed; 2 usage, settings or input; 3 inconclusive or review; "
            "4 too many system or judge errors; 5 integrity; 130 interrupted."
        ),
        version=VERSION,
        default_parameter=Parameter(negative=()),
        help_format="plaintext",
        error_formatter=_said,
        suppress_keyboard_interrupt=False,
    )
    for name, sentence in COMMANDS.items():
        if name not in GROUPS:
            module = f"{name}_" if iskeyword(name) else name
            app.command(f"ragassay.cli.{module}:{module}", name=name, help=sentence)
            continue
        group = App(name=name, help=sentence, help_format="plaintext")
        for verb, does in GROUPS[name].items():
            every = MODULES.get(name, name) if verb != DEFAULT_VERBS.get(name) else name
            module = MODULES.get(f"{name} {verb}", every).format(verb=verb)
            group.command(f"ragassay.cli.{module}:{verb}{'_' if iskeyword(verb) else ''}", name=verb, help=does)
        app.command(group)
    app.register_install_completion_command()
    return app


def _said(error: Exception) -> object:
    """An error about the command line as other errors are said, without what would steer a terminal."""
    from rich.text import Text

    from ragassay.cli import talk

    return Text("error: " + talk.plain(" ".join(str(error).split())), no_wrap=True, overflow="ignore")


def main(arguments: list[str] | None = None) -> None:
    """Run one command line and exit with its code; bad input never shows a traceback."""
    from ragassay.cli import talk

    talk.prepare()
    sys.exit(exit_code_of(sys.argv[1:] if arguments is None else arguments))


def exit_code_of(arguments: list[str]) -> int:
    """Run one command line; its exit code."""
    from ragassay.cli import talk

    name = arguments[0] if arguments else ""
    if name in DEFAULT_VERBS and (len(arguments) == 1 or arguments[1] not in (*GROUPS[name], "--help", "-h")):
        arguments = [name, DEFAULT_VERBS[name], *arguments[1:]]
    try:
        result = build_app()(arguments, result_action="return_value")
        sys.stdout.flush()
    except RagassayError as error:
        talk.say_error(str(error))
        return int(error.exit_code)
    except KeyboardInterrupt:
        talk.say_error("interrupted; what was finished is kept")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        talk.abandon_output()
        return int(ExitCode.PASS)
    except MemoryError:
        talk.say_error("out of memory\n  hint: cut the input into smaller files")
        return int(ExitCode.USAGE)
    except OSError as cause:  # what no room has named: standard output that is full, a file that vanished
        talk.abandon_output()
        where = f"{cause.filename}: " if cause.filename else ""
        talk.say_error(f"{where}{cause.strerror or cause}\n  hint: check the disk, the path and its permissions")
        return int(ExitCode.USAGE)
    return int(result) if isinstance(result, int) else int(ExitCode.PASS)
