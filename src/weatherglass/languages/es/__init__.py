"""Define the Spanish pack: gender and plural of nouns, and the four forms of adjectives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from weatherglass.languages.base import InflectedLanguage, WordForms, back_to, read_nouns

ARTICLES = {"m": ("un", "el", "los", "este"), "f": ("una", "la", "las", "esta")}
ACCENTS = str.maketrans("áéíóú", "aeiou")
NUCLEUS = re.compile(r"[iuü]?[aeoáéíóú][iuy]?|[iuü]+")
"""The nucleus of a syllable: a strong or accented vowel with adjacent weak vowels, or weak vowels alone."""


class Spanish(InflectedLanguage):
    """The Spanish pack, in which capitalised words are names; other classes and forms come from the lexicon."""

    name = "Spanish"
    package = "weatherglass.languages.es"
    needs: ClassVar[Mapping[str, str]] = {
        "word": "",
        "un word": "gender",
        "el word": "gender",
        "este": "gender",
        "words": "plural",
        "los words": "gender, plural",
        "m": "feminine",
        "f": "feminine",
        "mp": "feminine, plural",
        "fp": "feminine",
        "él": "",
        "ellos": "",
        "el suyo": "",
    }
    values: ClassVar[Mapping[str, Sequence[str]]] = {"gender": ("m", "f")}

    def fill_slots(self, word: str, word_class: str, forms: Mapping[str, str]) -> dict[str, str]:
        """Fill slots with articles and demonstratives by gender, and with adjectives by their feminine form."""
        slots = {"word": word}
        if word_class in ("subject pronoun", "possessive pronoun"):
            slots["ellos" if word.endswith("s") else "él"] = word
            if word_class == "possessive pronoun" and not word.endswith("s"):
                slots["el suyo"] = f"{'la' if word.endswith('a') else 'el'} {word}"
        elif word_class == "plural noun":
            slots |= _plural(word, forms)
        elif word_class == "adjective":
            slots |= _adjective(word, forms)
        else:
            slots |= _noun(word, forms)
        return slots

    def shown(self, slots: Mapping[str, str]) -> str:
        """Return the forms as readable text, such as "un médico, los médicos" and "alto, alta"."""
        article = "un word" if "un word" in slots else "el word"
        return ", ".join(slots[slot] for slot in (article, "los words", "m", "f") if slot in slots)

    def read_lexicon(self, content: Mapping[str, Any]) -> WordForms:
        """Read nouns with class and gender, adjectives with their feminine, other words, and irregular plurals."""
        classes, gender = read_nouns(content)
        for each, words in content["gender"].items():  # words without a singular
            gender |= dict.fromkeys(words, each)
        listed = content["adjectives"]
        feminine = {word: word[:-1] + "a" for word in listed["o"]} | {word: word for word in listed["same"]}
        feminine |= listed["feminine"]
        classes |= dict.fromkeys(feminine, "adjective")
        for word_class, words in content["words"].items():
            classes |= dict.fromkeys(words, word_class)
        inflected = [word for word in (*gender, *feminine) if classes[word] != "plural noun"]
        plurals = {word: plural for word in inflected if (plural := regular_plural(word))} | content["plural"]
        forms = {"gender": gender, "feminine": feminine, "plural": plurals}
        forms["singular"] = {
            **back_to({word: regular_plural(form) or form for word, form in feminine.items()}, classes),
            **back_to(feminine, classes),
            **back_to(plurals, classes),
        }
        return WordForms(classes, forms)


def _noun(word: str, forms: Mapping[str, str]) -> dict[str, str]:
    slots: dict[str, str] = {}
    if gender := forms.get("gender"):
        a, the, _, this = ARTICLES[gender]
        if gender == "f" and begins_with_stressed_a(word):
            a, the = "un", "el"  # el agua, although it is feminine
        slots = {"un word": f"{a} {word}", "el word": f"{the} {word}", "este": this}
    if plural := forms.get("plural") or regular_plural(word):
        slots |= _plural(plural, forms)
    return slots


def _plural(plural: str, forms: Mapping[str, str]) -> dict[str, str]:
    slots = {"words": plural}
    if gender := forms.get("gender"):
        slots["los words"] = f"{ARTICLES[gender][2]} {plural}"
    return slots


def _adjective(word: str, forms: Mapping[str, str]) -> dict[str, str]:
    feminine = forms.get("feminine")
    if feminine is None:
        return {}
    slots = {"m": word, "f": feminine}
    plural = forms.get("plural") or regular_plural(word)
    if plural:
        slots["mp"] = plural
    if feminine_plural := plural if feminine == word else regular_plural(feminine):
        slots["fp"] = feminine_plural
    return slots


def begins_with_stressed_a(word: str) -> bool:
    """Return whether the first syllable is a stressed a, as in agua and hacha, according to the spelling."""
    sounded = word.lower().removeprefix("h")
    if sounded[:1] not in ("a", "á") or " " in word:
        return False
    if sounded != sounded.translate(ACCENTS):
        return sounded.startswith("á")
    syllables = len(NUCLEUS.findall(sounded))
    return syllables == (2 if sounded.endswith(("a", "e", "i", "o", "u", "n", "s")) else 1)


def regular_plural(word: str) -> str | None:
    """Return the plural by rules without exceptions; None for compounds, -n, -s, -x and stressed vowels."""
    if re.search(r"[\s-]", word):
        return None
    if word.endswith(("a", "e", "o")):
        return word + "s"
    if word.endswith(("ión", "ón")):
        return word[:-2] + "ones"
    if word.endswith("z"):
        return word[:-1] + "ces"
    return word + "es" if word.endswith(("d", "l", "r")) else None


SPANISH = Spanish()
