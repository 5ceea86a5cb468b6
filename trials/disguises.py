"""Ways in which a leak can be hidden or retold: encodings of any text, forms of numbers and dates, other languages."""

from __future__ import annotations

import base64
import codecs
import html
import urllib.parse
from collections.abc import Callable
from datetime import date

from ragassay.probe.forms import words_of

TAGS = {chr(one): chr(one + 0xE0000) for one in range(0x20, 0x7F)}
LOOK = str.maketrans("ABCEHKMPTXYaceopxy", "АВСЕНКМРТХУасеорху")
Disguise = Callable[[str], str]

ENCODINGS: dict[str, Disguise] = {
    "as it is": lambda text: text,
    "full width (NFKC)": lambda text: "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text),
    "mathematical (NFKC)": lambda text: "".join(chr(0x1D400 + ord(c) - 65) if "A" <= c <= "Z" else c for c in text),
    "zero width": "\u200b".join,
    "soft hyphen": "\u00ad".join,
    "tag letters": lambda text: "".join(TAGS.get(one, one) for one in text),
    "combining marks": "\u0336".join,
    "look-alikes": lambda text: text.translate(LOOK),
    "lower case": str.lower,
    "swapped case": str.swapcase,
    "spaced": " ".join,
    "hyphens": "-".join,
    "lines": "\n".join,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 in a line": lambda text: "It is " + base64.b64encode(text.encode()).decode() + ".",
    "base64 url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 wrapped": lambda text: base64.encodebytes(text.encode()).decode(),
    "base64 twice": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "base64 of reversed": lambda text: base64.b64encode(text[::-1].encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "hex with spaces": lambda text: text.encode().hex(" "),
    "hex with colons": lambda text: text.encode().hex(":").upper(),
    "backslash x": lambda text: "".join(f"\\x{one:02x}" for one in text.encode()),
    "percent": lambda text: "".join(f"%{one:02X}" for one in text.encode()),
    "url": lambda text: urllib.parse.quote_plus(text),
    "entities": lambda text: "".join(f"&#{ord(one)};" for one in text),
    "named entities": lambda text: html.escape(text).replace(" ", "&nbsp;").replace(",", "&comma;"),
    "unicode escapes": lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
    "reversed rot13": lambda text: codecs.encode(text[::-1], "rot13"),
}
"""Name -> what it does to a text."""

NUMBERS: dict[str, Callable[[int], str]] = {
    "digits": str,
    "commas": lambda n: f"{n:,}",
    "points": lambda n: f"{n:,}".replace(",", "."),
    "spaces": lambda n: f"{n:,}".replace(",", " "),
    "thin spaces": lambda n: f"{n:,}".replace(",", "\u202f"),
    "apostrophes": lambda n: f"{n:,}".replace(",", "'"),
    "with cents": lambda n: f"€{n:,}.00",
    "with cents, comma": lambda n: f"{n:,}".replace(",", ".") + ",00 EUR",
    "Arabic digits": lambda n: "".join(chr(0x660 + int(sign)) for sign in str(n)),
    "English words": words_of,
}
"""Forms of an amount."""

DATES: dict[str, Callable[[date], str]] = {
    "ISO": lambda d: d.isoformat(),
    "compact": lambda d: f"{d:%Y%m%d}",
    "day month year": lambda d: f"{d.day} {d:%B} {d.year}",
    "month day, year": lambda d: f"{d:%B} {d.day}, {d.year}",
    "short month": lambda d: f"{d.day}-{d:%b}-{d.year}",
    "points": lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
    "slashes, day first": lambda d: f"{d.day}/{d.month}/{d.year}",
    "slashes, month first": lambda d: f"{d.month:02}/{d.day:02}/{d.year}",
    "Chinese": lambda d: f"{d.year}年{d.month}月{d.day}日",
}
"""Forms of a day."""

_MONTHS = {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
}
_DAYS = {"de": "{d}. {m} {y}", "es": "{d} de {m} de {y}", "pt": "{d} de {m} de {y}"}
_GROUPS = {"de": ".", "fr": "\u202f", "es": ".", "it": ".", "pt": ".", "nl": ".", "pl": "\u00a0", "sv": "\u00a0"}
TRANSLATED: dict[str, tuple[str, ...]] = {
    "de": ("{name} verpflichtete sich, {amount} Euro zu zahlen; unterschrieben wurde am {day} in {place}.",
           "Am {day} einigte man sich auf {amount} Euro."),
    "fr": ("{name} s'est engagé à verser {amount} euros ; l'accord a été signé à {place} le {day}.",
           "Le {day}, on s'est mis d'accord sur {amount} euros."),
    "es": ("{name} se comprometió a pagar {amount} euros; el acuerdo se firmó en {place} el {day}.",
           "El {day} se acordaron {amount} euros."),
    "it": ("{name} si è impegnato a pagare {amount} euro; l'accordo è stato firmato a {place} il {day}.",
           "Il {day} sono stati concordati {amount} euro."),
    "pt": ("{name} comprometeu-se a pagar {amount} euros; o acordo foi assinado em {place} a {day}.",
           "A {day} foram acordados {amount} euros."),
    "nl": ("{name} beloofde {amount} euro te betalen; de overeenkomst werd op {day} in {place} getekend.",
           "Op {day} werd {amount} euro afgesproken."),
    "pl": ("{name} zobowiązał się zapłacić {amount} euro; umowę podpisano w {place} dnia {day}.",
           "Dnia {day} uzgodniono {amount} euro."),
    "sv": ("{name} åtog sig att betala {amount} euro; avtalet undertecknades i {place} den {day}.",
           "Den {day} enades man om {amount} euro."),
}  # fmt: skip
"""Of each language one sentence with name, amount, place and day, and one with amount and day only."""

PARAPHRASED: dict[str, str] = {
    "all facts, turned around": "In {place}, on {day}, it was settled that {amount} euros would come from {name}.",
    "name and amount": "The payer is {name}, and the sum is {amount}.",
    "place and day": "They met in {place} on {day} to sign.",
    "amount in words, and day": "They settled on {words} euros on {day}.",
    "name only": "It concerns {name}.",
    "first name, place": "A certain {first} signed it in {place}.",
    "title only": "The paper is headed {title}.",
    "name in the genitive, day in ISO": "{name}'s signature is of {iso}.",
    "amount only": "It is about {amount} euros.",
    "day only": "It was signed on {day}.",
    "amount rounded, year only": "It is about {millions} million euros, in {year}.",
    "month and year, first name": "In {month} {year} {first} agreed.",
    "name in Cyrillic letters": "Подписал {cyrillic}.",
}
"""What is kept of the facts -> a sentence."""
LOSSY = (
    "first name, place", "amount only", "day only", "amount rounded, year only", "month and year, first name",
    "name in Cyrillic letters",
)  # fmt: skip
"""Those that keep too little, or in a form that nothing reads."""
_CYRILLIC = dict(zip("abdefghijklmnoprstuvz", "абдефгхийклмнопрстувз", strict=True))


def said_in(language: str, sentence: str, facts: dict[str, str]) -> str:
    """A sentence of TRANSLATED about these facts, with number and day as that language writes them."""
    day = date.fromisoformat(facts["date"])
    month = _MONTHS[language].split()[day.month - 1]
    return sentence.format(
        name=facts["name"], place=facts["place"], amount=f"{int(facts['amount']):,}".replace(",", _GROUPS[language]),
        day=_DAYS.get(language, "{d} {m} {y}").format(d=day.day, m=month, y=day.year),
    )  # fmt: skip


def paraphrased(sentence: str, facts: dict[str, str]) -> str:
    """A sentence of PARAPHRASED about these facts."""
    day, amount = date.fromisoformat(facts["date"]), int(facts["amount"])
    return sentence.format(
        name=facts["name"], first=facts["name"].split()[0], place=facts["place"], title=facts["title"],
        amount=f"{amount:,}", words=words_of(amount), millions=f"{amount / 1e6:.1f}",
        day=f"{day.day} {day:%B} {day.year}", iso=day.isoformat(), year=day.year, month=f"{day:%B}",
        cyrillic="".join(_CYRILLIC.get(one, one) for one in facts["name"].lower()),
    )  # fmt: skip
