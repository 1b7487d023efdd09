"""What a language pack offers: classes of words, their forms, sentence templates, a tokeniser and lower-casing."""

from __future__ import annotations

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
        """A form of a word; None where it is not known."""
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
        """Whether anything was guessed that the user may want to correct: the class, or the forms."""
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
        """The classes of words that have templates."""

    def form_names(self) -> list[str]:
        """The forms that a test file may state under [words]: plural, gender, …"""

    def form_values(self, form: str) -> Sequence[str]:
        """The values of a form that has only a few, such as m and f; empty for one that is spelt out."""

    def slots(self) -> Mapping[str, str]:
        """Each slot that templates may have, and the form that it needs; "" for one that is always known.

        "gender, accusative" is a slot that needs the second form where the first alone does not tell.
        """

    def templates(self, word_class: str) -> Sequence[str]:
        """The sentence templates of a class, in order."""

    def read_word(self, word: str, file_lexicon: Lexicon, catalogue_lexicon: Lexicon) -> Reading:
        """Class and forms of a word: stated in the user's file, known from a lexicon, or guessed.

        Raises:
            CatalogueError: if no class fits.
        """

    def tokenise(self, text: str) -> list[str]:
        """The words and punctuation marks of a text."""

    def lower(self, text: str) -> str:
        """A text in small letters, by the rules of the language."""
