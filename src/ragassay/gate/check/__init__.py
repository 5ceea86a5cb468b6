"""Whether a policy can do what it says on these questions and measures, before anything is asked. Changes no policy."""

from ragassay.gate.check.model import Finding, Given, given_of
from ragassay.gate.check.whole import check

__all__ = ["Finding", "Given", "check", "given_of"]
