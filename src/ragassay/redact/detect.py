"""What secrets and personal data look like, and checks that tell them from other numbers and words. Replaces nothing.

A detector is a pattern and, where the pattern alone would be wrong too often, a check: Luhn, ISO 7064, the control
letter, the header of a token. `python -m trials secrets` prints how much of a labelled set they find, and what else
they take.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from ragassay.errors import UsageError
from ragassay.redact import numbers

Group = Literal["secrets", "personal", "network"]
Check = Callable[[str], bool]


_SHORT = 200
_MOST_CLEAN = 20_000


class Detector(NamedTuple):
    """One kind of thing to be found. What the group `it` matches goes; without one, the whole match."""

    name: str
    group: Group
    pattern: re.Pattern[str]
    check: Check | None
    joined: bool
    """Looked for across the ends of texts as well."""


class Found(NamedTuple):
    """A place in a text."""

    start: int
    end: int
    name: str


_KEYS = (
    r"sk-(?:proj-|svcacct-|admin-|ant-|or-v1-)?[A-Za-z0-9_-]{20,300}",
    r"gh[pousr]_[A-Za-z0-9]{30,255}",
    r"github_pat_[A-Za-z0-9_]{22,255}",
    r"gl(?:pat|ptt|dt|rt|soat|ft|cbt|imt|agent)-[A-Za-z0-9_.-]{20,255}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,255}",
    r"xapp-\d-[A-Za-z0-9-]{10,255}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"AIza[A-Za-z0-9_-]{35}",
    r"ya29\.[A-Za-z0-9_-]{20,500}",
    r"GOCSPX-[A-Za-z0-9_-]{20,60}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}",
    r"whsec_[A-Za-z0-9+/=]{20,255}",
    r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}",
    r"(?:SK|AC)[0-9a-f]{32}(?![0-9a-f])",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgE[A-Za-z0-9_-]{40,500}",
    r"hf_[A-Za-z0-9]{30,64}",
    r"do[opr]_v1_[a-f0-9]{64}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    r"key-[0-9a-f]{32}(?![0-9a-f])",
    r"\d{8,10}:AA[A-Za-z0-9_-]{32,35}",
    r"hv[sbr]\.[A-Za-z0-9_-]{24,255}",
    r"gsk_[A-Za-z0-9]{40,64}",
    r"xai-[A-Za-z0-9]{60,100}",
    r"r8_[A-Za-z0-9]{37,40}",
    r"dapi[0-9a-f]{32}(?![0-9a-f])",
    r"lin_api_[A-Za-z0-9]{32,64}",
    r"ntn_[A-Za-z0-9]{40,64}",
    r"pcsk_[A-Za-z0-9_]{40,128}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,64}",
    r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,100}",
)
_ASSIGNED = (
    r"(?:pass(?:word|wd|phrase)?|pwd|passwort|kennwort|contrase(?:ñ|n)a|secret(?:[_-]?access)?[_-]?(?:key)?|"
    r"api[_ -]?(?:key|token|secret)|access[_-]?(?:key|token)|auth[_-]?token|client[_-]?secret|refresh[_-]?token|"
    r"session[_-]?(?:id|token|key)|private[_-]?key|account[_-]?key|signing[_-]?key|encryption[_-]?key|"
    r"x-[a-z-]{0,30}(?:key|token)|sig|token)"
)
_FILES = "png|jpe?g|gif|svg|webp|ico|css|js|ts|py|md|txt|html?|json|ya?ml|toml|xml|pdf|zip|gz|csv"


def _is_key(text: str) -> bool:
    """A key has digits or mixed case behind its prefix; `sk-learn-like-names-with-words` has neither."""
    if re.match(r"AKIA|ASIA|ABIA|ACCA|AGE-", text):
        return True
    tail = re.split(r"[-_.]", text, maxsplit=1)[-1] if "://" not in text else text
    mixed = any(one.isupper() for one in tail) and any(one.islower() for one in tail)
    return len(set(tail)) >= 6 and (sum(one.isdigit() for one in tail) >= 2 or (mixed and not re.search(r"[-_]", tail)))


def _is_token(text: str) -> bool:
    """Whether the first part of `a.b.c` is the header of a JSON web token."""
    header = _unpacked(text.split(".", 1)[0])
    try:
        value = json.loads(header) if header is not None else None
    except ValueError:
        return False
    return isinstance(value, dict) and ("alg" in value or "typ" in value)


def _unpacked(text: str) -> bytes | None:
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _is_basic(text: str) -> bool:
    """Whether it is `user:password` in base64."""
    data = _unpacked(text.rstrip("="))
    return data is not None and b":" in data and all(32 <= one < 127 for one in data)


def _is_opaque(text: str) -> bool:
    """Whether it is no word: it has a digit, or signs that words have not, and is no placeholder."""
    if re.fullmatch(r"[<{$%\[*(x.]+.*|.*\.\.\.|null|none|true|false|\d{1,5}", text, re.IGNORECASE | re.DOTALL):
        return False
    return bool(re.search(r"\d", text)) or bool(re.search(r"[!#$%^&*+=/\\~|]", text[1:]))


def _is_bearer(text: str) -> bool:
    return bool(re.search(r"\d", text)) and len(set(text)) >= 8


def _is_login(text: str) -> bool:
    """Whether a password stands there, and not only its place: `$PASSWORD`, `{password}`, `***`."""
    return not re.fullmatch(r"\$[A-Z_]+|\$?\{[^}]*\}|%[A-Z_]+%|[*.]+|x+", text.partition(":")[2])


def _is_no_year(text: str) -> bool:
    """Of numbers with blanks between them: whether the last one is no year, as in the columns of a table."""
    return " " not in text or not re.search(r" (?:1[89]|20)\d\d$", text)


def _is_mail(text: str) -> bool:
    return not re.search(rf"\.(?:{_FILES})$", text, re.IGNORECASE)


def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags)


_IBANS = "|".join(
    rf"{country}\d{{2}}(?:[ -]?[A-Z0-9]){{{length - 4}}}" for country, length in sorted(numbers.IBAN_LENGTHS.items())
)
"""Of each country as many signs as it has: the word after it is no part of it."""


_BEFORE = r"(?<![A-Za-z0-9])"
_I = re.IGNORECASE
DETECTORS: tuple[Detector, ...] = (
    Detector("private_key", "secrets", _compiled(
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----BEGIN)[\s\S]){0,20000}?"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
    ), None, True),
    Detector("jwt", "secrets", _compiled(
        _BEFORE + r"eyJ[A-Za-z0-9_-]{8,2000}(?:\.[A-Za-z0-9_-]{0,8000}){2,4}"
    ), _is_token, True),
    Detector("api_key", "secrets", _compiled(_BEFORE + rf"(?:{'|'.join(_KEYS)})"), _is_key, True),
    Detector("url_password", "secrets", _compiled(
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<it>[^\s/@:\"'<>]{0,200}:[^\s/@\"'<>]{1,200})@"
    ), _is_login, True),
    Detector("cookie", "secrets", _compiled(
        r"\b(?:set-)?cookie2?[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<it>[\w!#$%&'*+.^`|~-]{1,100}=[^\r\n\"]{2,4000})", _I
    ), None, False),
    Detector("bearer", "secrets", _compiled(
        r"\b(?:bearer|token)\s{1,3}(?P<it>[A-Za-z0-9._~+/-]{16,4000}={0,2})", _I
    ), _is_bearer, False),
    Detector("basic", "secrets", _compiled(r"\bbasic\s{1,3}(?P<it>[A-Za-z0-9+/]{8,1000}={0,2})", _I), _is_basic, False),
    Detector("assigned", "secrets", _compiled(
        rf"(?<![A-Za-z]){_ASSIGNED}(?![A-Za-z])[\"']?\s{{0,3}}(?:[:=]|=>|is\s|lautet\s|es\s)\s{{0,3}}[\"']?"
        r"(?P<it>(?:[^\s\"',;&<>]|&(?![\w.-]{1,40}=)){6,300})", _I,
    ), _is_opaque, False),
    Detector("email", "personal", _compiled(
        r"(?<![\w.+%'-])[\w.+%'-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-]|:[\w/])"
    ), _is_mail, True),
    Detector("iban", "personal", _compiled(
        rf"(?<![A-Za-z0-9])(?:{_IBANS})(?![A-Za-z0-9])", _I
    ), numbers.is_iban, True),
    Detector("card", "personal", _compiled(r"(?<![\w.,+-])\d(?:[ -]?\d){11,18}(?![\w]|[.,]\d)"), numbers.is_card, True),
    Detector("ssn", "personal", _compiled(
        r"(?<![\w-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])"
    ), _is_no_year, True),
    Detector("ssn", "personal", _compiled(
        r"\b(?:ssn|social security (?:number|no\.?))\W{0,5}(?:is\s)?"
        r"(?P<it>(?!000|666|9\d\d)\d{3} ?(?!00)\d{2} ?(?!0000)\d{4})\b",
        _I,
    ), None, False),
    Detector("tax_id", "personal", _compiled(
        r"(?<![\w.,+-])\d{2}[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}(?![\w]|[.,-]\d)"
    ), numbers.is_steuer_id, True),
    Detector("insurance_no", "personal", _compiled(
        r"(?<![A-Za-z0-9])\d{2}[ ]?\d{6}[ ]?[A-Z][ ]?\d{3}(?![A-Za-z0-9])"
    ), numbers.is_sozialversicherung, True),
    Detector("nif", "personal", _compiled(
        r"(?<![A-Za-z0-9])(?:\d{2}\.?\d{3}\.?\d{3}|[XYZ][ -]?\d{7})[ -]?[A-Z](?![A-Za-z0-9])", _I
    ), numbers.is_nif, True),
    Detector("phone", "personal", _compiled(
        r"(?<![\w.+/-])(?:\+|00)[1-9]\d{0,2}[ ./-]?(?:\(0\)[ ]?)?(?:\(?\d{1,5}\)?[ ./-]?){1,6}\d(?![\w]|[.,/-]\d)"
    ), numbers.is_long_number, True),
    Detector("phone", "personal", _compiled(
        r"(?<![\w.+/-])(?:\(\d{3}\)[ ]?|[2-9]\d{2}[-.])[2-9]\d{2}[-.]\d{4}(?![\w]|[.,/-]\d)"
        r"|(?<![\w.+/-])\(?0[1-9]\d{1,4}\)?(?:[ ]?[/-][ ]?|[ ])\d{2,8}(?:[ -]?\d{2,4}){0,3}(?![\w]|[.,/-]\d)"
        r"|(?<![\w.+/-])[6-9]\d{2}[ ](?:\d{3}[ ]\d{3}|\d{2}[ ]\d{2}[ ]\d{2})(?![\w]|[ .,/-]\d)"
    ), numbers.is_national, True),
    Detector("ip", "network", _compiled(
        r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)|(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])"
    ), numbers.is_address, False),
)  # fmt: skip
"""In the order in which they are looked for; what one took, a later one does not."""
NAMES = tuple(dict.fromkeys(one.name for one in DETECTORS))
GROUPS = tuple(dict.fromkeys(one.group for one in DETECTORS))


def chosen(wanted: Iterable[str]) -> tuple[Detector, ...]:
    """The detectors that are named, one by one or as a group; UsageError for a name that there is not."""
    wanted = tuple(wanted)
    for one in wanted:
        if one not in (*GROUPS, *NAMES):
            raise UsageError(
                f"nothing is called {one!r} here", field="redact.detect",
                hint=f"{', '.join(GROUPS)}, or {', '.join(NAMES)}",
            )  # fmt: skip
    return tuple(one for one in DETECTORS if one.group in wanted or one.name in wanted)


def find(text: str, detectors: Iterable[Detector], *, across: bool = False) -> list[Found]:
    """What is found, in order and without overlap; the earlier detector goes first.

    `across`: the text is several ones put together, so only detectors that look across are used, and a key without an
    end takes nothing.
    """
    taken: list[Found] = []
    for one in detectors:
        if across and not one.joined:
            continue
        for found in _matches(one, text):
            if across and one.name == "private_key" and "END" not in text[found.end - 40 : found.end]:
                continue
            if not any(found.start < other.end and other.start < found.end for other in taken):
                taken.append(found)
    return sorted(taken)


class Finder:
    """`find` with the same detectors again and again: short texts in which nothing was found are remembered.

    Keys, ids and digests of a trace come back thousands of times. What was found is never kept.
    """

    def __init__(self, detectors: Iterable[Detector]) -> None:
        self.detectors = tuple(detectors)
        self.remembered: set[str] = set()
        """Texts of at most 200 characters that hold nothing; some of them."""

    def __call__(self, text: str) -> list[Found]:
        """What is found in a text."""
        if text in self.remembered:
            return []
        found = find(text, self.detectors)
        if not found and len(text) <= _SHORT:
            if len(self.remembered) >= _MOST_CLEAN:
                self.remembered.clear()
            self.remembered.add(text)
        return found


def _matches(one: Detector, text: str) -> Iterator[Found]:
    own = "it" in one.pattern.groupindex
    for match in one.pattern.finditer(text):
        start, end = match.span("it") if own else match.span()
        if end > start and (one.check is None or one.check(text[start:end])):
            yield Found(start, end, one.name)
