"""Define the French pack: gender, elision and plural of nouns, and the four forms of adjectives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from weatherglass.languages.base import InflectedLanguage, WordForms, back_to, read_nouns
from weatherglass.languages.tokenise import APOSTROPHES, word_tokens

VOWELS = "aàâäæeéèêëiîïoôöœuùûü"
INDEFINITE = {"m": "un", "f": "une"}
DEFINITE = {"m": "le", "f": "la"}
PARTITIVE = {"m": "du", "f": "de la"}
ELIDED = re.compile(rf"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)[{APOSTROPHES}](?=\w)", re.IGNORECASE)
"""Elided words, which end in an apostrophe; "aujourd'" in "aujourd'hui" is not one of them."""


class French(InflectedLanguage):
    """The French pack, in which capitalised words are names; other classes and forms come from the lexicon."""

    name = "French"
    package = "weatherglass.languages.fr"
    needs: ClassVar[Mapping[str, str]] = {
        "word": "",
        "un word": "gender",
        "le word": "gender, elision",
        "du word": "gender, elision",
        "venu": "gender",
        "words": "plural",
        "m": "feminine",
        "f": "feminine",
        "mp": "feminine, plural",
        "fp": "feminine",
        "il": "",
        "ils": "",
    }
    values: ClassVar[Mapping[str, Sequence[str]]] = {"gender": ("m", "f"), "elision": ("yes", "no")}

    def fill_slots(self, word: str, word_class: str, forms: Mapping[str, str]) -> dict[str, str]:
        """Fill slots with articles by gender and first letter, and with adjectives by their feminine form."""
        slots = {"word": word}
        if word_class in ("subject pronoun", "possessive pronoun"):
            slots["ils" if word in ("ils", "elles") or word.startswith("les ") else "il"] = word
        elif word_class == "plural noun":
            slots["words"] = word
        elif word_class == "adjective":
            slots |= _adjective(word, forms)
        else:
            slots |= _noun(word, forms)
        return slots

    def shown(self, slots: Mapping[str, str]) -> str:
        """Return the forms as readable text, such as "un médecin, médecins" and "heureux, heureuse"."""
        article = "un word" if "un word" in slots else "le word"
        return ", ".join(slots[slot] for slot in (article, "words", "m", "f") if slot in slots)

    def tokenise(self, text: str) -> list[str]:
        """Return words and punctuation marks; an elided word forms a token with its apostrophe, as in l' homme."""
        return [piece for token in word_tokens(text) for piece in _cut_elision(token)]

    def read_lexicon(self, content: Mapping[str, Any]) -> WordForms:
        """Read nouns with class and gender, adjectives with their feminine, other words, and irregular plurals."""
        classes, gender = read_nouns(content)
        feminine = {word: form or word for word, form in content["adjectives"].items()}
        classes |= dict.fromkeys(feminine, "adjective")
        for word_class, words in content["words"].items():
            classes |= dict.fromkeys(words, word_class)
        elision = {word: answer for answer, words in content["elision"].items() for word in words}
        inflected = [*gender, *feminine]
        plurals = {word: plural for word in inflected if (plural := regular_plural(word))} | content["plural"]
        forms = {"gender": gender, "feminine": feminine, "elision": elision, "plural": plurals}
        forms["singular"] = {
            **back_to({word: feminine_plural(form) for word, form in feminine.items()}, classes),
            **back_to(feminine, classes),
            **back_to(plurals, classes),
        }
        return WordForms(classes, forms)


def _noun(word: str, forms: Mapping[str, str]) -> dict[str, str]:
    slots: dict[str, str] = {}
    if plural := forms.get("plural") or regular_plural(word):
        slots["words"] = plural
    gender = forms.get("gender")
    if gender is None:
        return slots
    slots["un word"] = f"{INDEFINITE[gender]} {word}"
    slots["venu"] = "venu" if gender == "m" else "venue"
    elides = {"yes": True, "no": False}.get(forms.get("elision", ""), elided_before(word))
    if elides is not None:
        slots["le word"] = f"l'{word}" if elides else f"{DEFINITE[gender]} {word}"
        slots["du word"] = f"de l'{word}" if elides else f"{PARTITIVE[gender]} {word}"
    return slots


def _adjective(word: str, forms: Mapping[str, str]) -> dict[str, str]:
    feminine = forms.get("feminine")
    if feminine is None:
        return {}
    slots = {"m": word, "f": feminine, "fp": feminine_plural(feminine)}
    if plural := forms.get("plural") or regular_plural(word):
        slots["mp"] = plural
    return slots


def elided_before(word: str) -> bool | None:
    """Return whether le and la become l'; None before h and y, where it depends on the word (l'homme, le héros)."""
    first = word[:1].lower()
    return None if first in ("h", "y") else first in VOWELS


def feminine_plural(feminine: str) -> str:
    """Return the feminine plural, such as "belles"; a feminine form that does not end in e is invariable."""
    return feminine + "s" if feminine.endswith("e") else feminine


def regular_plural(word: str) -> str | None:
    """Return the plural by rules without exceptions; None for compounds, -al, -ail, -au, -eu and -ou."""
    if re.search(r"[\s-]", word) or word.endswith(("al", "ail", "au", "eu", "ou")):
        return None
    return word if word.endswith(("s", "x", "z")) else word + "s"


def _cut_elision(token: str) -> list[str]:
    pieces: list[str] = []
    while match := ELIDED.match(token):
        pieces.append(match[0])
        token = token[match.end() :]
    return [*pieces, token]


FRENCH = French()
