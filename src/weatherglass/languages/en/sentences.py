"""Words to sentences: the forms of a word, and the templates that its class puts them into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weatherglass.languages.base import Forms
from weatherglass.storage.resources import shipped_toml

VOWELS = frozenset("aeiouAEIOU")


def word_classes() -> list[str]:
    """The classes that have templates: given name, adjective, …"""
    return list(templates())


def templates() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """By class and number (singular, plural): the sentences with a blank for the word."""
    return shipped_toml(__package__, "templates")


def sentences(forms: Forms, word_class: str) -> list[tuple[str, str]]:
    """A word in every template of its class, in the order of templates.toml: each sentence and its template."""
    by_number = templates()[word_class]
    fields = placeholders(forms)
    return [
        (template.format_map(fields), template)
        for number in ("singular", "plural")
        for template in by_number.get(number, ())
    ]


def placeholders(forms: Forms) -> dict[str, str]:
    """What each placeholder of templates.toml stands for."""
    with_article = f"{forms.article} {forms.singular}"
    return {
        "word": forms.singular,
        "Word": capitalised(forms.singular),
        "a word": with_article,
        "A word": capitalised(with_article),
        "words": forms.plural,
        "Words": capitalised(forms.plural),
    }


def capitalised(text: str) -> str:
    """The first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


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
