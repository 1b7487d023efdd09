"""Define a language pack: classes of words, their forms, sentence templates, a tokeniser and lower-casing.

`InflectedLanguage` is the base class of German, French and Spanish.
"""

from __future__ import annotations

import string
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

from weatherglass.languages.tokenise import word_tokens
from weatherglass.storage.documents import shipped_toml

STATED = "stated in the file"


@dataclass(frozen=True, slots=True)
class WordForms:
    """Classes and forms of words, from a language pack or a user's test file."""

    classes: Mapping[str, str] = field(default_factory=dict)
    """The class of each word."""
    forms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The form of each word, by kind of form (plural, gender, …)."""

    def form(self, name: str, word: str) -> str | None:
        """Return a form of a word; None if it is unknown."""
        return self.forms.get(name, {}).get(word)


NO_WORDS = WordForms()


@dataclass(frozen=True, slots=True)
class WordReading:
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

    def read_word(self, word: str, file_lexicon: WordForms, catalogue_lexicon: WordForms) -> WordReading:
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


ANY_WORD = "any word"
"""The class of an unknown word; its templates are about the word itself."""
PLURAL_NOUN = "plural noun"
KNOWN = "in the lexicon"


class InflectedLanguage(ABC):
    """A language pack with the files templates.toml and words.toml.

    A form is taken from the user's file, from the lexicon, or from a rule without exceptions, in this order. Unknown
    forms are never guessed; templates that need them are left out.
    """

    name: str
    package: str
    templates_source = "weatherglass"
    templates_citation = ""
    needs: ClassVar[Mapping[str, str]]
    """The forms that each slot needs."""
    values: ClassVar[Mapping[str, Sequence[str]]]
    """The values of forms with few values, such as m and f for gender."""

    def guess_class(self, word: str) -> tuple[str, str]:
        """Return the class of a word that is neither in the file nor in the lexicon, and the reason.

        A capitalised word is taken to be a name; the spelling does not show any other class.
        """
        if word[:1].isupper():
            return "given name", "begins with a capital letter"
        return ANY_WORD, "not in the lexicon; state its class"

    @abstractmethod
    def fill_slots(self, word: str, word_class: str, forms: Mapping[str, str]) -> dict[str, str]:
        """Return the text for each slot whose forms are known."""

    @abstractmethod
    def shown(self, slots: Mapping[str, str]) -> str:
        """Return the forms of a word as readable text, from the slots of its templates."""

    def tokenise(self, text: str) -> list[str]:
        """Return the words, with their hyphens and apostrophes, and the punctuation marks of a text."""
        return word_tokens(text)

    def lower(self, text: str) -> str:
        """Return a text in lower case; ẞ becomes ß."""
        return text.lower()

    def word_classes(self) -> list[str]:
        """Return the classes of words that have templates, such as given name and adjective."""
        return list(self._templates)

    def templates(self, word_class: str) -> Sequence[str]:
        """Return the templates of a class, in the order of templates.toml."""
        return self._templates[word_class]

    def form_names(self) -> list[str]:
        """Return "singular" and every form that a slot needs."""
        needed = (form for forms in self.needs.values() for form in forms.split(", ") if form)
        return ["singular", *dict.fromkeys(needed)]

    def form_values(self, form: str) -> Sequence[str]:
        """Return the values of a form, such as m and f; empty for a form that is written out."""
        return self.values.get(form, ())

    def slots(self) -> Mapping[str, str]:
        """Return each slot, and the form that it needs."""
        return self.needs

    def read_word(self, word: str, file_lexicon: WordForms, catalogue_lexicon: WordForms) -> WordReading:
        """Return the class and forms of a word, from the file or the lexicon, or guessed from capital letters."""
        del catalogue_lexicon  # its words are English
        bare = word.strip()
        lexicons = (file_lexicon, self.lexicon)
        base = next(filter(None, (lexicon.form("singular", bare) for lexicon in lexicons)), bare)
        if file_lexicon.classes.get(word) == PLURAL_NOUN:
            base = bare  # the file states that it is a plural, even if its singular is known
        if word in file_lexicon.classes:
            word_class, reason = file_lexicon.classes[word], STATED
        elif base in self.lexicon.classes:
            word_class, reason = self.lexicon.classes[base], KNOWN if base == bare else f"form of '{base}'"
        else:
            word_class, reason = self.guess_class(bare)
        forms = {
            name: form
            for name in (*self.form_names(), *self.lexicon.forms)
            for lexicon in reversed(lexicons)
            if (form := lexicon.form(name, base))
        }
        slots = self.fill_slots(base, word_class, forms)
        used = {
            base_name(slot)
            for template in self._templates.get(word_class, ())
            for slot in slot_names(template)
        }
        shown = {
            slot: text for slot, text in slots.items() if slot in used or word_class not in self._templates
        }
        return WordReading(word, word_class, reason, slots, self.shown(shown))

    @cached_property
    def lexicon(self) -> WordForms:
        """Return the words that are shipped with the pack."""
        return self.read_lexicon(shipped_toml(self.package, "words"))

    @abstractmethod
    def read_lexicon(self, content: Mapping[str, Any]) -> WordForms:
        """Return the content of words.toml as classes and forms."""

    @cached_property
    def _templates(self) -> dict[str, list[str]]:
        return shipped_toml(self.package, "templates")


def read_nouns(content: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the class and the gender of each noun in words.toml, where nouns are listed by class and gender."""
    classes: dict[str, str] = {}
    genders: dict[str, str] = {}
    for word_class, by_gender in content["nouns"].items():
        for gender, nouns in by_gender.items():
            classes |= dict.fromkeys(nouns, word_class)
            genders |= dict.fromkeys(nouns, gender)
    return classes, genders


def back_to(base_of: Mapping[str, str], classes: Mapping[str, str]) -> dict[str, str]:
    """Return the base word of each inflected form, except for forms that are words themselves."""
    backwards: dict[str, str] = {}
    for base, form in base_of.items():
        if form not in classes:
            backwards.setdefault(form, base)
    return backwards
