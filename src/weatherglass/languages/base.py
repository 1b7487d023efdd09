"""Define a language pack: classes of words, their forms, sentence templates, a tokeniser and lower-casing."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

STATED = "stated in the file"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Classes and forms of words, from a language pack or a user's test file."""

    classes: Mapping[str, str] = field(default_factory=dict)
    """The class of each word."""
    forms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The form of each word, by kind of form (plural, gender, …)."""

    def form(self, name: str, word: str) -> str | None:
        """Return a form of a word; None if it is unknown."""
        return self.forms.get(name, {}).get(word)


NO_WORDS = Lexicon()


@dataclass(frozen=True, slots=True)
class Reading:
    """The class of a word, the reason for it, and its forms."""

    word: str
    """The word as in the word set."""
    word_class: str
    reason: str
    """The source of the class: the file, the catalogue, or the rule used to guess it."""
    slots: Mapping[str, str]
    """The text for each slot of templates; slots with an unknown form are left out."""
    shown_forms: str = ""
    """The forms in the templates, such as "an oven, ovens"; empty for a word without forms."""
    forms_known: bool = True
    """Whether the forms come from the file or a lexicon, not from a rule."""

    @property
    def worth_a_look(self) -> bool:
        """Return whether the class or the forms were guessed, so that the user may want to correct them."""
        return self.reason != STATED or (bool(self.shown_forms) and not self.forms_known)


class Language(Protocol):
    """A language pack."""

    @property
    def name(self) -> str:
        """Return the name of the language, such as "English"."""

    @property
    def templates_source(self) -> str:
        """Return the authors of the sentence templates, such as "May et al. 2019"."""

    @property
    def templates_citation(self) -> str:
        """Return the key of the paper to cite for the sentence templates; empty if there is no paper."""

    def word_classes(self) -> list[str]:
        """Return the classes of words that have templates."""

    def form_names(self) -> list[str]:
        """Return the kinds of forms that a test file may state under [words], such as plural and gender."""

    def form_values(self, form: str) -> Sequence[str]:
        """Return the values of a kind of form with few values, such as m and f; empty if the form is written out."""

    def slots(self) -> Mapping[str, str]:
        """Return the slots that templates may have, each with the form that it needs; "" if it needs no form.

        "gender, accusative" means that the slot needs the second form if the first one is not enough.
        """

    def templates(self, word_class: str) -> Sequence[str]:
        """Return the sentence templates of a class, in order."""

    def read_word(self, word: str, file_lexicon: Lexicon, catalogue_lexicon: Lexicon) -> Reading:
        """Return the class and forms of a word, from the user's file or a lexicon, or guessed.

        Raises:
            CatalogueError: if no class fits.
        """

    def tokenise(self, text: str) -> list[str]:
        """Return the words and punctuation marks of a text."""

    def lower(self, text: str) -> str:
        """Return a text in lower case, by the rules of the language."""


def slot_names(template: str) -> list[str]:
    """Return the slots of a template in order, such as ["A word"] for "{A word} is here.".

    Raises:
        ValueError: if a brace is not closed, or a slot is empty or has more than a name.
    """
    names: list[str] = []
    for _, name, format_spec, conversion in string.Formatter().parse(template):
        if name is None:
            continue
        if not name.strip() or format_spec or conversion:
            raise ValueError("a slot is a name in braces, such as {word}")
        names.append(name)
    return names


def base_name(slot: str) -> str:
    """Return a slot without its capital letter, such as "a word" for "A word"."""
    return slot[:1].lower() + slot[1:]


def filled(template: str, slots: Mapping[str, str]) -> str | None:
    """Return the sentence; None if the word lacks a form that a slot needs.

    A slot that begins with a capital letter is at the start of a sentence.

    >>> filled("{Der word} ist hier.", {"der word": "die Frau"})
    'Die Frau ist hier.'
    """
    parts: list[str] = []
    for literal, name, _, _ in string.Formatter().parse(template):
        parts.append(literal)
        if name is None:
            continue
        text = slots.get(name)
        if text is None and base_name(name) in slots:
            text = capitalised(slots[base_name(name)])
        if text is None:
            return None
        parts.append(text)
    return "".join(parts)


def capitalised(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]
