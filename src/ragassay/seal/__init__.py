"""Freeze the three layers of a protocol, verify them and a run, describe the machine. Runs and scores nothing."""

from ragassay.seal.freeze import Sealed, freeze
from ragassay.seal.machine import describe_machine
from ragassay.seal.verify import verify, verify_run

__all__ = ["Sealed", "describe_machine", "freeze", "verify", "verify_run"]
