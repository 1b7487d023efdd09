"""What a language pack offers: classes of words, their forms, sentence templates, a tokeniser and lower-casing."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

STATED = "stated in the file"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Classes and forms of single words: what a pack ships, and what a user's test file states."""

    classes: Mapping[str, str] = field(default_factory=dict)
    """Word to class."""
    forms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By the name of the form (plural, gender, …): word to form."""

    def form(self, name: str, word: str) -> str | None:
        """Return a form of a word; None where it is not known."""
        return self.forms.get(name, {}).get(word)


NO_WORDS = Lexicon()


@dataclass(frozen=True, slots=True)
class Reading:
    """The class of a word, the reason for it, and its forms."""

    word: str
    """As it stands in the word set; what each sentence made from it refers to."""
    word_class: str
    reason: str
    """Stated in the file, known from the catalogue, or else the rule of the guess."""
    slots: Mapping[str, str]
    """What the slots of templates stand for; a slot whose form is not known is left out."""
    shown_forms: str = ""
    """The forms that were put into the templates: "an oven, ovens"; empty for a word that has none."""
    forms_known: bool = True
    """Whether the file or a lexicon, and not a rule, has the forms."""

    @property
    def worth_a_look(self) -> bool:
        """Return whether anything was guessed that the user may want to correct: the class, or the forms."""
        return self.reason != STATED or (bool(self.shown_forms) and not self.forms_known)


class Language(Protocol):
    """A language pack."""

    @property
    def name(self) -> str:
        """As a reader calls it: English."""

    @property
    def templates_source(self) -> str:
        """Whose sentence templates these are, such as "May et al. 2019"."""

    @property
    def templates_citation(self) -> str:
        """Key of the paper to cite for them; empty where there is none."""

    def word_classes(self) -> list[str]:
        """Return the classes of words that have templates."""

    def form_names(self) -> list[str]:
        """Return the forms that a test file may state under [words]: plural, gender, …"""

    def form_values(self, form: str) -> Sequence[str]:
        """Return the values of a form that has only a few, such as m and f; empty for one that is spelt out."""

    def slots(self) -> Mapping[str, str]:
        """Return each slot that templates may have, and the form that it needs; "" for one that is always known.

        "gender, accusative" is a slot that needs the second form where the first alone does not tell.
        """

    def templates(self, word_class: str) -> Sequence[str]:
        """Return the sentence templates of a class, in order."""

    def read_word(self, word: str, file_lexicon: Lexicon, catalogue_lexicon: Lexicon) -> Reading:
        """Return class and forms of a word: stated in the user's file, known from a lexicon, or guessed.

        Raises:
            CatalogueError: if no class fits.
        """

    def tokenise(self, text: str) -> list[str]:
        """Return the words and punctuation marks of a text."""

    def lower(self, text: str) -> str:
        """Return a text in small letters, by the rules of the language."""


def slot_names(template: str) -> list[str]:
    """Return the slots of a template, in order: ["A word"] for "{A word} is here.".

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
    """Return the slot that a capital letter began: "a word" for "A word"."""
    return slot[:1].lower() + slot[1:]


def filled(template: str, slots: Mapping[str, str]) -> str | None:
    """Return the sentence; None where the word lacks a form that a slot needs.

    A slot that begins with a capital letter begins a sentence.

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
    """Return the first letter large, the others as they are."""
    return text[:1].upper() + text[1:]
