"""Extensions of other packages, found by entry point and loaded only when named. Knows no kind of extension.

An extension is named by a setting; its identity (name, distribution, version) goes into what is sealed.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, NamedTuple

from ragassay.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PARSERS = "ragassay.parsers"
CHUNKERS = "ragassay.chunkers"


class Extension(NamedTuple):
    """What an entry point names, and where it comes from."""

    name: str
    distribution: str
    version: str
    value: Any

    @property
    def identity(self) -> str:
        """`NAME DISTRIBUTION/VERSION`, as records hold it."""
        return f"{self.name} {self.distribution}/{self.version}"


def entry_points(group: str, **name: str) -> tuple[EntryPoint, ...]:
    """What installed packages offer. The library that knows takes a quarter of our start: it is imported when asked."""
    from importlib.metadata import entry_points as installed

    return tuple(one for one in installed(group=group) if name.get("name", one.name) == one.name)


def extension_names(group: str) -> list[str]:
    """The names that installed packages offer in an entry point group, sorted; nothing is loaded."""
    return sorted({one.name for one in entry_points(group=group)})


def load_extension(group: str, name: str) -> Extension | None:
    """The extension of this name, imported; None if no installed package offers it.

    UsageError if two packages offer the name, if it cannot be imported, or if its package states no version: an
    extension without identity could not be sealed.
    """
    found = entry_points(group=group, name=name)
    if not found:
        return None
    if len(found) > 1:
        owners = ", ".join(sorted(_distribution(one)[0] for one in found))
        raise UsageError(f"{name!r} is offered twice in {group}: by {owners}", field=name, hint="uninstall one of them")
    point = found[0]
    distribution, version = _distribution(point)
    if not version:
        raise UsageError(
            f"the package that offers {name!r} in {group} states no version",
            field=name,
            hint="install it with pip: its name and version are sealed with what it makes",
        )
    try:
        value = point.load()
    except Exception as cause:  # code of others runs at import
        raise UsageError(
            f"{name!r} of {distribution} cannot be loaded: {type(cause).__name__}: {cause}",
            field=name,
            hint=f"its entry point is {point.value}; mend or uninstall {distribution}",
        ) from cause
    return Extension(name, distribution, version, value)


def unknown_name(what: str, name: str, known: list[str], group: str) -> UsageError:
    """The error for a name that is neither built in nor offered by an installed package."""
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"
    return UsageError(
        f"unknown {what} {name!r}", field=what, hint=f"{hint} (packages add more by the entry point group {group})"
    )


def _distribution(point: EntryPoint) -> tuple[str, str]:
    return (point.dist.name, point.dist.version) if point.dist is not None else ("an unnamed package", "")
