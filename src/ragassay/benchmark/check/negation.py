"""Whether a question negates, by lists of words for some languages: a heuristic that knows no grammar."""

from __future__ import annotations

from ragassay.measures.text import normalise_unicode


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ENGLISH = (
    "no not never without none neither nor nothing nobody nowhere cannot except excluding unless nt dont doesnt didnt "
    "isnt arent wasnt werent cant couldnt wont wouldnt shouldnt hasnt havent hadnt mustnt aint"
)
_WORDS: dict[str, frozenset[str]] = {
    "en": _set(_ENGLISH),
    "de": _set("nicht nichts kein keine keinen keinem keiner keines nie niemals niemand ohne weder ausser nirgends"),
    "fr": _set("pas jamais sans aucun aucune ni sauf non rien personne"),
    "es": _set("no nunca jamás sin ningún ninguno ninguna ni excepto salvo tampoco nada nadie"),
    "it": _set("non mai senza nessun nessuno nessuna né tranne eccetto niente nulla"),
    "pt": _set("não nunca jamais sem nenhum nenhuma nem exceto nada ninguém"),
    "nl": _set("niet niets geen nooit niemand zonder noch behalve"),
    "pl": _set("nie nigdy nikt nic bez żaden żadna żadne oprócz ani"),
}
_PARTS: dict[str, tuple[str, ...]] = {
    "zh": ("不", "没", "沒", "无", "無", "未"),
    "ja": ("ない", "なく", "ません", "なし", "以外"),
}
LANGUAGES = (*_WORDS, *_PARTS)


def negates(text: str, language: str) -> bool:
    """Whether a question holds a negating word of its language (`en`, `de-AT`); False where the language has no list.

    >>> negates("Which plans don't allow exports?", "en"), negates("Which plans allow exports?", "en")
    (True, False)
    """
    code = language.casefold().replace("_", "-").partition("-")[0]
    if code in _PARTS:
        return any(part in text for part in _PARTS[code])
    return not _WORDS.get(code, frozenset()).isdisjoint(normalise_unicode(text.replace("’", "'")).split())
