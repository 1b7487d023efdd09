"""English as a language pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weatherglass.languages.base import Lexicon, Reading
from weatherglass.languages.en import sentences
from weatherglass.languages.en.tokenise import treebank


@dataclass(frozen=True, slots=True)
class English:
    """The templates of May et al. (2019), guesses for words that they do not have, and Penn Treebank tokens."""

    name: str = "English"
    templates_source: str = "May et al. 2019"
    templates_citation: str = "may2019"

    def word_classes(self) -> list[str]:
        """Given name, adjective, …"""
        return sentences.word_classes()

    def form_names(self) -> list[str]:
        """What the file may correct."""
        return ["singular", "plural", "article"]

    def form_values(self, form: str) -> Sequence[str]:
        """Every form is spelt out, also the article."""
        del form
        return ()

    def slots(self) -> Mapping[str, str]:
        """Rules make every form, so that no slot needs one to be stated."""
        return dict.fromkeys(("word", "a word", "words"), "")

    def templates(self, word_class: str) -> Sequence[str]:
        """In the order of templates.toml."""
        return sentences.templates_of(word_class)

    def read_word(self, word: str, file_lexicon: Lexicon, catalogue_lexicon: Lexicon) -> Reading:
        """Stated, known or guessed."""
        from weatherglass.languages.en.guess import read_word

        return read_word(word, file_lexicon, catalogue_lexicon)

    def tokenise(self, text: str) -> list[str]:
        """By the conventions of the Penn Treebank."""
        return treebank(text)

    def lower(self, text: str) -> str:
        """In small letters."""
        return text.lower()


ENGLISH = English()
