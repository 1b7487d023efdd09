"""Words to sentences: the forms of a word, and the templates that its class puts them into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weatherglass.languages.slots import capitalised
from weatherglass.storage.resources import shipped_toml

VOWELS = frozenset("aeiouAEIOU")


@dataclass(frozen=True, slots=True)
class Forms:
    """A word as the templates need it."""

    word: str
    """As it stands in the word set; what each sentence made from it refers to."""
    singular: str
    plural: str
    article: str

    @property
    def inflected(self) -> bool:
        """Whether it has forms besides the word itself."""
        return bool(self.article) or self.singular != self.plural

    @property
    def shown(self) -> str:
        """an oven, ovens; empty for a word that has no forms."""
        return f"{self.article} {self.singular}, {self.plural}".strip() if self.inflected else ""


def word_classes() -> list[str]:
    """The classes that have templates: given name, adjective, …"""
    return list(templates())


def templates() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """By class and number (singular, plural): the sentences with a blank for the word."""
    return shipped_toml(__package__, "templates")


def templates_of(word_class: str) -> list[str]:
    """The templates of a class, in the order of templates.toml."""
    by_number = templates()[word_class]
    return [template for number in ("singular", "plural") for template in by_number.get(number, ())]


def sentences(forms: Forms, word_class: str) -> list[tuple[str, str]]:
    """A word in every template of its class: each sentence and its template."""
    fields = placeholders(forms)
    return [(template.format_map(fields), template) for template in templates_of(word_class)]


def placeholders(forms: Forms) -> dict[str, str]:
    """What each placeholder of templates.toml stands for."""
    slots = {"word": forms.singular, "Word": capitalised(forms.singular)}
    if not forms.inflected:
        return slots
    with_article = f"{forms.article} {forms.singular}"
    return {
        **slots,
        "a word": with_article,
        "A word": capitalised(with_article),
        "words": forms.plural,
        "Words": capitalised(forms.plural),
    }


def regular_plural(noun: str) -> str:
    """The plural by the rule: asters, crocuses, poppies."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def regular_article(noun: str) -> str:
    """The article by the first letter: an aster, a clover."""
    return "an" if noun[:1] in VOWELS else "a"
