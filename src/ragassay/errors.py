"""The exception tree and the exit codes; every refusal of the product is a leaf of this tree.

    RagassayError
    ├── UsageError              2   a command, setting or argument is wrong
    │   ├── MissingExtraError   2   an optional dependency is not installed
    │   └── ContractError       2   an extension (measure, evaluator, chunker, parser, adapter) breaks its contract
    ├── InputError              2   a file says something that it may not say (names file, line, field)
    │   ├── RecordError         2   bytes are not the record that they claim to be
    │   └── BenchmarkError      2   questions, labels and corpus do not fit together
    ├── StoreError              2   the store cannot be read or written (full, read-only, not a store)
    ├── SystemUnderTestError    4   the system under test cannot be asked at all
    │   └── ErrorBudgetError    4   more questions failed than the run allows
    ├── CeilingError            3   a ceiling on calls, tokens or cost is reached; what was finished is kept and scored
    ├── IntegrityError          5   stored bytes are not what their digest says
    │   ├── MixedRunError       5   a run that was resumed does not match what it began with
    │   ├── AbsentError         5   an object is not there on purpose: erased, or left out of a public file
    │   ├── FormError           5   a bundle or a statement in it is not in its one canonical form, or says nothing
    │   ├── SignatureError      5   a signature is not over these bytes
    │   ├── UntrustedKeyError   5   nobody whom the trust policy names, or not for this, or not at that time
    │   ├── PredicateError      5   a signed statement of another kind
    │   ├── SubjectError        5   a signed statement about something else
    │   └── LedgerError         5   the ledger is broken, was rolled back, or holds things in another order
    └── Interrupted           130   stopped by the user; what was finished is kept

A timeout or a crash *inside one question* is not an exception of this tree: it is a `failure` in the trace.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit code means; the same everywhere."""

    PASS = 0
    """The command did what it was asked; for a gate: pass."""
    FAIL = 1
    """A gate said no."""
    USAGE = 2
    """Wrong usage, configuration or input."""
    INCONCLUSIVE = 3
    """Evidence does not decide, a person must review, or a ceiling on cost ended the run early."""
    TOO_MANY_ERRORS = 4
    """The system under test or a judge failed more often than allowed."""
    INTEGRITY = 5
    """Stored bytes are damaged, missing or not what was sealed."""
    INTERRUPTED = 130
    """Stopped by the user."""


class RagassayError(Exception):
    """Root of the tree: a message, where it happened, a hint on what to do next, and an exit code."""

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        file: str = "",
        line: int | None = None,
        field: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.file = file
        self.line = line
        self.field = field

    @property
    def place(self) -> str:
        """`file:line: field`, as far as known."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (where, self.field) if part)

    def at(self, *, file: str = "", line: int | None = None, field: str = "") -> RagassayError:
        """The same error with a place filled in where it had none."""
        self.file = self.file or file
        self.line = self.line if self.line is not None else line
        self.field = self.field or field
        return self

    def __str__(self) -> str:
        head = f"{self.place}: {self.message}" if self.place else self.message
        return f"{head}\n  hint: {self.hint}" if self.hint else head


class UsageError(RagassayError):
    """A command, setting or argument is wrong."""


class MissingExtraError(UsageError):
    """An optional dependency is not installed."""


class ContractError(UsageError):
    """An extension (measure, evaluator, chunker, parser, adapter) breaks its contract."""


class InputError(RagassayError):
    """A file says something that it may not say."""


class RecordError(InputError):
    """Bytes are not the record that they claim to be."""


class BenchmarkError(InputError):
    """Questions, labels and corpus do not fit together."""


class StoreError(RagassayError):
    """The store cannot be read or written."""


class SystemUnderTestError(RagassayError):
    """The system under test cannot be asked at all."""

    exit_code = ExitCode.TOO_MANY_ERRORS


class ErrorBudgetError(SystemUnderTestError):
    """More questions failed than the run allows."""


class CeilingError(RagassayError):
    """A ceiling on calls, tokens or cost is reached before every question was asked."""

    exit_code = ExitCode.INCONCLUSIVE


class IntegrityError(RagassayError):
    """Stored bytes are not what their digest says."""

    exit_code = ExitCode.INTEGRITY


class MixedRunError(IntegrityError):
    """A run that was resumed does not match what it began with."""


class AbsentError(IntegrityError):
    """An object is not there on purpose: it was erased, or left out of a public file of evidence."""

    digest: str | None = None
    """Which."""


class FormError(IntegrityError):
    """A bundle or a statement in it is not in its one canonical form, or says nothing."""


class SignatureError(IntegrityError):
    """A signature is not over these bytes."""


class UntrustedKeyError(IntegrityError):
    """Signed by nobody whom the trust policy names, or by somebody who may not sign this, or not at that time."""


class PredicateError(IntegrityError):
    """A signed statement of another kind than the one asked for."""


class SubjectError(IntegrityError):
    """A signed statement about something else."""


class LedgerError(IntegrityError):
    """The ledger is broken, was rolled back, or holds things in another order."""


class Interrupted(RagassayError):
    """Stopped by the user; what was finished is kept."""

    exit_code = ExitCode.INTERRUPTED
