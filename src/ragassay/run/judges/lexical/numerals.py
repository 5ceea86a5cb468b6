"""Units, months, weekdays and numbers in words: English, German, Spanish. Tables only; reads no text."""

from __future__ import annotations

from functools import cache

UNITS: dict[str, tuple[str, float]] = {
    form: (kind, factor)
    for kind, group in {
        "length": "m metre metres meter meters metro metros=1;km kilometre kilometres kilometer kilometers kilómetro "
        "kilómetros=1000;cm centimetre centimetres centimeter centimeters centímetros=0.01;mm millimetre millimetres "
        "millimeter milímetros=0.001;mile miles meile meilen millas=1609.344;ft foot feet fuß pies=0.3048;inch inches "
        "zoll=0.0254",
        "mass": "kg kilogram kilograms kilo kilos kilogramm kilogramos=1000;g gram grams gramm gramos=1;mg milligram "
        "milligrams milligramm miligramos=0.001;"
        "tonne tonnes tons ton tonnen toneladas=1000000;lb lbs pound-mass=453.592",
        "volume": "l litre litres liter liters litro litros=1;ml millilitre millilitres milliliter mililitros=0.001",
        "time": "second seconds sekunde sekunden segundo segundos=1;minute minutes min minuten minuto minutos=60;hour "
        "hours h stunde stunden hora horas=3600;day days tag tage tagen día días=86400;week weeks woche wochen semana "
        "semanas=604800;month months monat monate monaten mes meses=2629800;year years jahr jahre jahren año "
        "años=31557600",
        "temperature": "°c celsius=1;°f fahrenheit=1.001",
        "power": "w watt watts=1;kw kilowatt kilowatts=1000;mw megawatt megawatts=1000000;gw gigawatt=1000000000",
        "energy": "kwh kilowattstunde kilowattstunden=1;mwh=1000;gwh=1000000;twh=1000000000",
        "bytes": "b byte bytes=1;kb kilobyte kilobytes=1000;mb megabyte megabytes=1000000;gb gigabyte "
        "gigabytes=1000000000;tb terabyte terabytes=1000000000000",
        "percent": "% percent per-cent prozent pct por-ciento=1",
        "euro": "€ euro euros eur=1;cent cents=0.01", "dollar": "$ dollar dollars usd dólares=1",
        "pound": "£ pounds sterling gbp pfund libras=1", "yen": "¥ yen jpy 円=1", "yuan": "yuan rmb 元=1",
        "crown": "crown crowns kronen kronor coronas=1", "franc": "franc francs franken chf=1",
    }.items()
    for part in group.split(";")
    for forms, _, size in [part.partition("=")]
    for form, factor in [(one, float(size)) for one in forms.split()]
}  # fmt: skip
LABELLED = frozenset((
    "unit", "version", "section", "chapter", "article", "page", "room", "gate", "platform", "phase", "part", "step",
    "level", "line", "number", "no", "nr", "runway", "terminal", "figure", "table", "grade", "class", "group", "team",
    "block", "building", "floor", "volume", "act", "appendix", "annex", "rule", "clause", "highway", "abschnitt",
    "kapitel", "artikel", "seite", "zimmer", "raum", "gleis", "stufe", "linie", "nummer", "klasse", "gruppe", "band",
    "sección", "capítulo", "artículo", "página", "sala", "andén", "fase", "nivel", "línea", "número", "grupo", "clase",
    "bloque", "planta", "tomo",
))  # fmt: skip
"""Behind these a number in digits is a name: it counts nothing."""
SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "trillion": 1e12, "bn": 1e9,
    "hundert": 1e2, "tausend": 1e3, "millionen": 1e6, "mio": 1e6, "milliarde": 1e9, "milliarden": 1e9, "mrd": 1e9,
    "cien": 1e2, "ciento": 1e2, "mil": 1e3, "millón": 1e6, "millones": 1e6,
}  # fmt: skip
FRACTIONS = {
    "half": 0.5, "third": 1 / 3, "thirds": 1 / 3, "quarter": 0.25, "quarters": 0.25, "hälfte": 0.5, "drittel": 1 / 3,
    "viertel": 0.25, "mitad": 0.5, "tercio": 1 / 3, "tercios": 1 / 3,
}  # fmt: skip
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january januar enero jan", "february februar febrero feb", "march märz marzo mar", "april abril apr",
            "may mai mayo", "june juni junio jun", "july juli julio jul", "august agosto aug",
            "september septiembre sept sep", "october oktober octubre oct okt", "november noviembre nov",
            "december dezember diciembre dec dez",
        ), 1,
    )
    for name in names.split()
}  # fmt: skip
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday montag lunes", "tuesday dienstag martes", "wednesday mittwoch miércoles",
            "thursday donnerstag jueves", "friday freitag viernes", "saturday samstag sonnabend sábado",
            "sunday sonntag domingo",
        ), 1,
    )
    for name in names.split()
}  # fmt: skip


@cache
def words_of(language: str) -> dict[str, float]:
    """Words for 2 to 99; `one` is left out, since it mostly counts nothing."""
    made: dict[str, float] = {}
    if language == "de":
        ones = ["ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
        tens = ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
        small = [
            "zehn",
            "elf",
            "zwölf",
            "dreizehn",
            "vierzehn",
            "fünfzehn",
            "sechzehn",
            "siebzehn",
            "achtzehn",
            "neunzehn",
        ]
        made |= dict(zip(ones[1:], range(2, 10), strict=True)) | dict(zip(small, range(10, 20), strict=True))
        for place, ten in enumerate(tens, 2):
            made |= {ten: place * 10.0} | {f"{one}und{ten}": place * 10.0 + at for at, one in enumerate(ones, 1)}
        return made | {"hundert": 100.0, "tausend": 1000.0}
    if language == "es":
        made |= dict(
            zip(
                [
                    "dos",
                    "tres",
                    "cuatro",
                    "cinco",
                    "seis",
                    "siete",
                    "ocho",
                    "nueve",
                    "diez",
                    "once",
                    "doce",
                    "trece",
                    "catorce",
                    "quince",
                    "dieciséis",
                    "diecisiete",
                    "dieciocho",
                    "diecinueve",
                    "veinte",
                    "veintiuno",
                    "veintidós",
                    "veintitrés",
                    "veinticuatro",
                    "veinticinco",
                    "veintiséis",
                    "veintisiete",
                    "veintiocho",
                    "veintinueve",
                ],
                range(2, 30),
                strict=True,
            )
        )
        tens = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
        return made | dict(zip(tens, range(30, 100, 10), strict=True)) | {"cien": 100.0}
    small_en = (
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen"
    )
    made |= dict(zip(small_en.split(), range(2, 20), strict=True))
    tens_en = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    return made | dict(zip(tens_en, range(20, 100, 10), strict=True))
