"""Define the German pack: gender, plural and case of nouns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from weatherglass.languages.base import ANY_WORD, InflectedLanguage, WordForms, back_to

INDEFINITE = {"m": "ein", "f": "eine", "n": "ein"}
DEFINITE = {"m": "der", "f": "die", "n": "das"}
INDEFINITE_ACCUSATIVE = {**INDEFINITE, "m": "einen"}


class German(InflectedLanguage):
    """The German pack, in which capitalised words are nouns and others adjectives; forms come from the lexicon."""

    name = "German"
    package = "weatherglass.languages.de"
    needs: ClassVar[Mapping[str, str]] = {
        "word": "",
        "ein word": "gender",
        "der word": "gender",
        "einen word": "gender, accusative",
        "words": "plural",
        "den words": "plural, dative",
        "ihn": "case",
        "ihm": "case",
    }
    values: ClassVar[Mapping[str, Sequence[str]]] = {
        "gender": ("m", "f", "n"),
        "case": ("accusative", "dative"),
    }

    def guess_class(self, word: str) -> tuple[str, str]:
        """Guess the class by the first letter; a lower-case word in -en may be a verb, so its class is unknown."""
        if word[:1].isupper():
            return "noun", "begins with a capital letter"
        if word.endswith(("en", "eln", "ern")):
            return ANY_WORD, "ends like a verb; state whether it is a verb or an adjective"
        return "adjective", "begins with a lower-case letter"

    def fill_slots(self, word: str, word_class: str, forms: Mapping[str, str]) -> dict[str, str]:
        """Fill slots with articles by gender; plurals, and the accusative of masculine nouns, must be known."""
        slots = {"word": word}
        if word_class == "object pronoun" and "case" in forms:
            slots["ihn" if forms["case"] == "accusative" else "ihm"] = word
        if gender := forms.get("gender"):
            slots["ein word"] = f"{INDEFINITE[gender]} {word}"
            slots["der word"] = f"{DEFINITE[gender]} {word}"
            if accusative := forms.get("accusative") or (word if gender != "m" else None):
                slots["einen word"] = f"{INDEFINITE_ACCUSATIVE[gender]} {accusative}"
        if plural := word if word_class == "plural noun" else forms.get("plural"):
            slots["words"] = plural
            if dative := forms.get("dative") or dative_plural(plural):
                slots["den words"] = f"den {dative}"
        return slots

    def shown(self, slots: Mapping[str, str]) -> str:
        """Return the forms as readable text, such as "der Arzt, Ärzte"."""
        return ", ".join(slots[slot] for slot in ("der word", "words") if slot in slots)

    def read_lexicon(self, content: Mapping[str, Any]) -> WordForms:
        """Read nouns with class, gender, plural and (for weak nouns) accusative, and other words with their class."""
        classes: dict[str, str] = {}
        forms: dict[str, dict[str, str]] = {"gender": {}, "plural": {}, "accusative": {}, "case": {}}
        for word_class, entry in content["nouns"].items():
            for gender, nouns in entry.items():
                for noun, listed in nouns.items():
                    plural, _, accusative = listed.partition(", ")
                    classes[noun] = word_class
                    forms["gender"][noun] = gender
                    forms["accusative"][noun] = accusative or noun
                    if plural:
                        forms["plural"][noun] = plural
        for word_class, words in content["words"].items():
            classes |= dict.fromkeys(words, word_class)
        for case, words in content["case"].items():
            forms["case"] |= dict.fromkeys(words, case)
        forms["singular"] = back_to(forms["plural"], classes)
        return WordForms(classes, forms)


def dative_plural(plural: str) -> str | None:
    """Return the dative of a plural by rule (den Ärzten, den Frauen, den Autos); None if the rule does not apply."""
    if plural.endswith(("n", "s")):
        return plural
    return plural + "n" if plural.endswith(("e", "el", "er")) else None


GERMAN = German()
