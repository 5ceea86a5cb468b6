"""Control digits and letters that tell an account, a card or a tax number from other numbers. Searches no text."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from datetime import date

IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18,
    "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24,
    "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24,
    "XK": 20,
}  # fmt: skip
"""Country -> signs of an IBAN, as the SWIFT registry has them."""
_NIF = "TRWAGMYFPDXBNJZSQVHLCKE"
_CARD = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}|(?:50|5[6-9]|6\d)\d{14}"
)


def luhn(digits: str) -> bool:
    """Whether the last digit is the control digit of ISO/IEC 7812."""
    total = 0
    for place, one in enumerate(reversed(digits)):
        value = int(one) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def is_card(text: str) -> bool:
    """A card number: the beginning and length of a known scheme, the control digit, and not one digit over and over."""
    digits = re.sub(r"[ -]", "", text)
    return bool(_CARD.fullmatch(digits)) and len(set(digits)) > 1 and luhn(digits)


def is_iban(text: str) -> bool:
    """An IBAN: the length of its country, and ISO 7064 mod 97-10."""
    whole = re.sub(r"[ -]", "", text).upper()
    if IBAN_LENGTHS.get(whole[:2]) != len(whole):
        return False
    return int("".join(str(int(one, 36)) for one in whole[4:] + whole[:4])) % 97 == 1


def is_steuer_id(text: str) -> bool:
    """A German tax id: eleven digits, ISO 7064 mod 11,10, one digit of the first ten two or three times."""
    digits = text.replace(" ", "")
    if not re.fullmatch(r"[1-9]\d{10}", digits):
        return False
    often = [count for count in Counter(digits[:10]).values() if count > 1]
    if len(often) != 1 or often[0] > 3:
        return False
    product = 10
    for one in digits[:10]:
        total = (int(one) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def is_sozialversicherung(text: str) -> bool:
    """A German pension insurance number: area, birthday, letter, serial, control digit."""
    whole = text.replace(" ", "")
    day, month, letter = int(whole[2:4]), int(whole[4:6]), ord(whole[8]) - 64
    if not (1 <= (day - 50 if day > 50 else day) <= 31 and 1 <= month <= 12):
        return False
    digits = f"{whole[:8]}{letter:02}{whole[9:11]}"
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    total = sum(sum(map(int, str(int(one) * weight))) for one, weight in zip(digits, weights, strict=True))
    return total % 10 == int(whole[11])


def is_nif(text: str) -> bool:
    """A Spanish NIF or NIE: the letter is the number modulo 23."""
    whole = re.sub(r"[ .-]", "", text).upper()
    number = whole[:-1].translate(str.maketrans("XYZ", "012"))
    return number.isdecimal() and _NIF[int(number) % 23] == whole[-1]


def is_long_number(text: str) -> bool:
    """Eight to fifteen digits, as international telephone numbers have them."""
    return 8 <= sum(one.isdigit() for one in text) <= 15


def is_national(text: str) -> bool:
    """Eight to thirteen digits that are no date."""
    digits = re.sub(r"\D", "", text)
    return 8 <= len(digits) <= 13 and not _is_date(text)


def _is_date(text: str) -> bool:
    parts = re.findall(r"\d+", text)
    if len(parts) != 3:
        return False
    for year, month, day in ((parts[0], parts[1], parts[2]), (parts[2], parts[1], parts[0])):
        try:
            date(int(year), int(month), int(day))
        except ValueError:
            continue
        return len(year) == 4
    return False


def is_address(text: str) -> bool:
    """An address of the internet protocol: not unspecified, no netmask, not of four small numbers as versions have."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if address.is_unspecified or text.startswith("255."):
        return False
    return not re.fullmatch(r"\d\.\d{1,2}\.\d{1,2}\.\d{1,2}", text)
