"""The file that declares an experiment, and the settings that it means. Asks nothing and reads no questions."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ragassay.errors import RagassayError, UsageError
from ragassay.measures import declaration, parse
from ragassay.records.base import Record
from ragassay.records.canonical import canonical_bytes, digest_of, parse_value
from ragassay.records.case import CaseClass
from ragassay.records.text import many
from ragassay.records.toml_file import read_toml, without_dates
from ragassay.score.answer import RUNTIME_MEASURES

MOST_SETTINGS = 1000
VARIES = ("system", "segmentation", "run.top_k")
"""Sections and keys that a grid may change: the system and how documents are cut."""
FIXED = {
    "corpus": "other documents are another question",
    "benchmark": "settings are compared on the same questions",
    "scoring": "settings are compared under the same measures",
    "run": "of [run] only top_k may vary: settings are compared under the same conditions",
    "store": "all settings share one store",
    "redact": "settings are compared under the same conditions",
}
_KEY = re.compile(r"[A-Za-z_][\w-]*(\[\d{1,3}\])?(\.[A-Za-z_][\w-]*(\[\d{1,3}\])?)*")
_HINT = "docs/experiments.md shows a whole file"


class Section(Record, frozen=True, kw_only=True):
    """[experiment]"""

    name: str
    base: str = "ragassay.toml"
    """The settings that every setting starts from; relative to this file."""
    choose: str
    """The measure by which one setting is chosen."""
    class_: CaseClass | None = msgspec.field(name="class", default=None)
    """Of which questions; may be left out where only one class has questions that can be answered."""
    step: str | None = None
    """The list that is measured, by its step; left out: the last list before the context."""
    split: str | None = None
    """dev: says so for questions that do not say it themselves."""
    measures: tuple[str, ...] = ()
    """Further columns of the table."""
    share: bool = True
    """false: every setting does every step itself, so that its time is measured."""
    grid: dict[str, Any] = {}
    """Key -> values; every combination is tried. A value {} leaves the key out."""
    settings: tuple[dict[str, Any], ...] = ()
    """A list of settings instead, or each of them with every combination of the grid."""


class Setting(NamedTuple):
    """One point of the grid."""

    label: str
    changes: dict[str, Any]

    @property
    def digest(self) -> str:
        """16 hexadecimal digits of the changes, the same wherever in the grid the setting stands."""
        return digest_of(self.changes)[7:23]


class Declared(NamedTuple):
    """An experiment's file."""

    path: Path
    section: Section
    settings: list[Setting]

    @property
    def base(self) -> Path:
        """The settings that every setting starts from."""
        return self.path.parent / self.section.base

    def run_name(self, setting: Setting) -> str:
        """The name of a setting's run in the store; it does not depend on the rest of the grid."""
        return f"{self.section.name}-{setting.digest}"


def read_experiment(path: Path) -> Declared:
    """The experiment that a TOML file declares; UsageError names file, line and field."""
    text, loaded = read_toml(path, what="the experiment's file", absent=_HINT)
    try:
        if set(loaded) != {"experiment"}:
            other = next((key for key in loaded if key != "experiment"), None)
            raise UsageError(
                "there is no [experiment]" if other is None else f"[{other}] does not belong into an experiment's file",
                field=other or "experiment",
                hint=f"settings that do not vary stand in the file that `base` names; {_HINT}",
            )
        section = _section(loaded["experiment"])
        return Declared(path, section, expand(section))
    except RagassayError as error:
        raise error.at(file=str(path), line=_line_of(text, error.field, error.message)) from None


def _section(given: Any) -> Section:
    if not isinstance(given, Mapping):
        raise UsageError("[experiment] is not a table", field="experiment", hint=_HINT)
    try:
        made = parse_value(Section, without_dates(dict(given)))
        _check(made)
    except RagassayError as error:
        field = error.field
        hint = _HINT if not error.hint or "ragassay schema" in error.hint else error.hint
        raise UsageError(error.message, field=f"experiment.{field}" if field else "experiment", hint=hint) from None
    return made


def _check(made: Section) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}", made.name):
        raise UsageError(f"{made.name!r} cannot be a name", field="name", hint="letters, digits, `.`, `_`, `-`")
    if made.split not in (None, "dev"):
        raise UsageError(
            f"an experiment on the split {made.split!r}",
            field="split",
            hint="experiments choose, and choosing on the release split spends it: only dev is allowed",
        )
    for field, spelled in [("choose", made.choose), *((f"measures[{n}]", one) for n, one in enumerate(made.measures))]:
        try:
            measure = parse(spelled)
        except UsageError as error:
            error.field = field
            raise
        if field == "choose" and (measure.name in RUNTIME_MEASURES or declaration(measure.name).direction == "none"):
            raise UsageError(
                f"nothing can be chosen by {measure.name}: " + _why_not(measure.name),
                field=field,
                hint="choose by a measure of the list or the answer, such as ndcg@5",
            )


def _why_not(name: str) -> str:
    if name in RUNTIME_MEASURES:
        return "it is not measured where steps are shared"
    return "neither more nor less of it is better"


def expand(section: Section) -> list[Setting]:
    """Every setting, in the order of the file: each of `settings` with every combination of `grid`, last key first."""
    for field, keys in [
        ("grid", list(section.grid)),
        *((f"settings[{n}]", list(o)) for n, o in enumerate(section.settings)),
    ]:
        for key in keys:
            _check_key(key, f"experiment.{field}.{key}")
    for key, values in section.grid.items():
        if not isinstance(values, list) or not values:
            what = "no values" if values == [] else "its values are not in a list"
            raise UsageError(what, field=f"experiment.grid.{key}", hint=f'"{key}" = [1, 2]')
    if not section.grid and not section.settings:
        raise UsageError(
            "nothing varies", field="experiment.grid", hint='[experiment.grid] "system.fusion.k" = [10, 60]'
        )
    count = max(1, len(section.settings))
    for options in section.grid.values():
        count *= len(options)
    if count > MOST_SETTINGS:
        raise UsageError(
            f"{many(count, 'setting')}; {MOST_SETTINGS:,} at most",
            field="experiment.grid",
            hint="vary fewer keys at once",
        )
    made: dict[bytes, Setting] = {}
    for start in section.settings or ({},):
        for point in itertools.product(*section.grid.values()):
            changes = {**start, **dict(zip(section.grid, point, strict=True))}
            whole = canonical_bytes(without_dates(changes))
            if whole in made:
                raise UsageError(
                    f"the setting {label_of(changes)} stands twice",
                    field="experiment.grid",
                    hint="take one of them out",
                )
            made[whole] = Setting(label_of(changes), without_dates(changes))
    return list(made.values())


def _check_key(key: str, field: str) -> None:
    if not _KEY.fullmatch(key):
        raise UsageError(
            f"{key!r} is no key of the settings",
            field=field,
            hint='such as "system.fusion.k" or "system.retrievers[0].k1"',
        )
    if any(key == one or key.startswith((f"{one}.", f"{one}[")) for one in VARIES if "." in one or key != one):
        return
    section = re.split(r"[.\[]", key)[0]
    why = FIXED.get(section, "the settings have no such section")
    raise UsageError(f"{key} cannot vary: {why}", field=field, hint=f"what may vary: {', '.join(VARIES)}")


def label_of(changes: Mapping[str, Any]) -> str:
    """A setting in words: its changes without their sections where that leaves no doubt, cut at 300 characters."""
    ends = [key.rsplit(".", 1)[-1] for key in changes]
    parts = []
    for key, end in zip(changes, ends, strict=True):
        name = end if ends.count(end) == 1 else key.removeprefix("system.")
        parts.append(f"{name}={_short(changes[key])}")
    made = ", ".join(parts)
    return made if len(made) <= 300 else f"{made[:280]}… {digest_of(without_dates(dict(changes)))[7:15]}"


def _short(value: Any) -> str:
    if value == {}:
        return "none"
    if isinstance(value, dict):
        kind = value.get("kind")
        rest = [f"{key} {_short(one)}" for key, one in value.items() if key != "kind"]
        return " ".join([*([str(kind)] if kind else []), *rest])
    if isinstance(value, list):
        return "+".join(_short(one) for one in value) or "[]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def applied(base: Mapping[str, Any], setting: Setting) -> dict[str, Any]:
    """The base settings with the changes of one setting; UsageError names the key that cannot be reached."""
    made: dict[str, Any] = copy.deepcopy(dict(base))
    for key, value in setting.changes.items():
        parts = [int(one[1:-1]) if one[0] == "[" else one for one in re.findall(r"\[\d+\]|[^.\[\]]+", key)]
        _put(made, parts, copy.deepcopy(value), key)
    return made


def _put(into: Any, parts: list[str | int], value: Any, key: str) -> None:
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if isinstance(part, int):
            if not isinstance(into, list) or part >= len(into):
                raise UsageError(
                    f"the base settings have no {key}: there is no place [{part}]",
                    field=key,
                    hint="declare the list in the base settings, or vary the whole list",
                )
        elif not isinstance(into, dict):
            raise UsageError(f"the base settings have no {key}", field=key, hint="vary the key above it")
        elif last and value == {}:
            into.pop(part, None)
            return
        if last:
            into[part] = value
            return
        if isinstance(part, str) and part not in into:
            into[part] = {}
        into = into[part]


def _line_of(text: str, field: str, message: str) -> int | None:
    """The line on which a field stands, or which holds the unknown key that a message quotes."""
    unknown = re.search(r"unknown field '([^']+)'", message)
    wanted = [unknown[1]] if unknown else []
    path = field.removeprefix("experiment.")
    for head in ("grid.", "settings"):
        if path.startswith(head):
            wanted.append(path.removeprefix("grid.") if head == "grid." else re.sub(r"^settings\[\d+\]\.?", "", path))
    wanted.append(re.split(r"[.\[]", path)[0])
    lines = text.split("\n")
    for one in wanted:
        form = re.compile(rf"""\s*(\[+[\w.]*\b{re.escape(one)}\]+|["']?{re.escape(one)}["']?\s*=)""")
        found = next((number for number, line in enumerate(lines, 1) if one and form.match(line)), None)
        if found is not None:
            return found
    return next((number for number, line in enumerate(lines, 1) if line.strip() == "[experiment]"), None)
