"""English as a language pack."""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.languages.base import Forms, Lexicon, Reading
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

    def read_word(self, word: str, file_lexicon: Lexicon, catalogue_lexicon: Lexicon) -> Reading:
        """Stated, known or guessed."""
        from weatherglass.languages.en.guess import read_word

        return read_word(word, file_lexicon, catalogue_lexicon)

    def sentences(self, forms: Forms, word_class: str) -> list[tuple[str, str]]:
        """In the order of templates.toml."""
        return sentences.sentences(forms, word_class)

    def tokenise(self, text: str) -> list[str]:
        """By the conventions of the Penn Treebank."""
        return treebank(text)


ENGLISH = English()
