"""What a language pack offers: classes of words, their forms, sentences made from them, and a tokeniser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

STATED = "stated in the file"


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


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Classes and forms of single words; the same tables in words.toml and in a user's test file."""

    classes: Mapping[str, str]
    """Word to class."""
    singular: Mapping[str, str]
    plural: Mapping[str, str]
    article: Mapping[str, str]


NO_WORDS = Lexicon({}, {}, {}, {})


@dataclass(frozen=True, slots=True)
class Reading:
    """The class of a word, the reason for it, and its forms."""

    word: str
    word_class: str
    reason: str
    """Stated in the file, known from the catalogue, or else the rule of the guess."""
    forms: Forms
    forms_known: bool
    """Whether the catalogue, and not a rule, has the forms."""

    @property
    def shown_forms(self) -> str:
        """The forms that were put into the templates: "an oven, ovens"; empty for a word that has none."""
        forms = self.forms
        return f"{forms.article} {forms.singular}, {forms.plural}".strip() if forms.inflected else ""

    @property
    def worth_a_look(self) -> bool:
        """Whether anything was guessed that the user may want to correct: the class, or the forms."""
        return self.reason != STATED or (self.forms.inflected and not self.forms_known)


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
        """The classes of words that have templates."""

    def read_word(self, word: str, file_lexicon: Lexicon, catalogue_lexicon: Lexicon) -> Reading:
        """Class and forms of a word: stated in the user's file, known from the catalogue, or guessed.

        Raises:
            CatalogueError: if no class fits.
        """

    def sentences(self, forms: Forms, word_class: str) -> list[tuple[str, str]]:
        """A word in every template of its class: each sentence and its template."""

    def tokenise(self, text: str) -> list[str]:
        """The words and punctuation marks of a text."""
