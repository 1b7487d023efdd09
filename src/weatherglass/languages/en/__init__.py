"""Define the English pack: templates of May et al. (2019), word forms, and guesses about unknown words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

from weatherglass.errors import CatalogueError
from weatherglass.languages.base import STATED, WordForms, WordReading, capitalised
from weatherglass.languages.tokenise import treebank
from weatherglass.storage.documents import shipped_toml

VOWELS = frozenset("aeiouAEIOU")


@dataclass(frozen=True, slots=True)
class Forms:
    """The forms of a word that templates need."""

    word: str
    """The word as in the word set."""
    singular: str
    plural: str
    article: str

    @property
    def inflected(self) -> bool:
        """Return whether the word has forms other than itself."""
        return bool(self.article) or self.singular != self.plural

    @property
    def shown(self) -> str:
        """Return the forms, such as "an oven, ovens"; empty for a word without forms."""
        return f"{self.article} {self.singular}, {self.plural}".strip() if self.inflected else ""


def word_classes() -> list[str]:
    """Return the classes that have templates, such as given name and adjective."""
    return list(templates())


def templates() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the sentences with a slot for the word, by class and number (singular, plural)."""
    return shipped_toml(__package__, "templates")


def templates_of(word_class: str) -> list[str]:
    """Return the templates of a class, in the order of templates.toml."""
    by_number = templates()[word_class]
    return [template for number in ("singular", "plural") for template in by_number.get(number, ())]


def sentences(forms: Forms, word_class: str) -> list[tuple[str, str]]:
    """Return the sentence of a word for every template of its class, each with its template."""
    fields = placeholders(forms)
    return [(template.format_map(fields), template) for template in templates_of(word_class)]


def placeholders(forms: Forms) -> dict[str, str]:
    """Return the text for each slot of templates.toml."""
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
    """Return the regular plural, as in asters, crocuses and poppies."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def regular_article(noun: str) -> str:
    """Return the article for the first letter, as in "an aster" and "a clover"."""
    return "an" if noun[:1] in VOWELS else "a"


NOUNS = ("person noun", "thing noun")
SINGULAR_ENDINGS = ("ss", "us", "is", "ics")
"""Endings in s that singular words have, as in glass, virus, iris and physics."""

KNOWN = "known from the catalogue"


def read_word(word: str, file_lexicon: WordForms, catalogue_lexicon: WordForms) -> WordReading:
    """Return the class and the forms of a word.

    Args:
        word: the word.
        file_lexicon: classes and forms in the user's file.
        catalogue_lexicon: classes and forms of the words in the catalogue.

    Raises:
        CatalogueError: if no class fits, as with "they".
    """
    if word in file_lexicon.classes:
        word_class, reason = file_lexicon.classes[word], STATED
    else:
        word_class, reason = guess_class(word.strip(), catalogue_lexicon)
    forms = word_forms(word, word_class, file_lexicon, catalogue_lexicon)
    return WordReading(
        word, word_class, reason, placeholders(forms), forms.shown, word in catalogue_lexicon.classes
    )


def guess_class(word: str, catalogue_lexicon: WordForms) -> tuple[str, str]:
    """Return the class of a word whose class the file does not state, and the reason."""
    guesses = _guesses()
    if word in catalogue_lexicon.classes:
        return catalogue_lexicon.classes[word], KNOWN
    if word in guesses["unfit"]["words"]:
        raise CatalogueError(
            f"'{word}': no sentence template fits it; remove it, or state its class under [words.classes]"
        )
    for word_class, listed in guesses["listed"].items():
        if word in listed:
            return word_class, "listed under this class"
    if word[0].isupper():
        return _guess_capitalised(word)
    head = _head(word)
    if head != word:
        word_class, reason = guess_class(head, catalogue_lexicon)
        return word_class, f"as '{head}': {reason}"
    singular = _singular(word, catalogue_lexicon)
    if singular != word:
        word_class, reason = guess_class(singular, catalogue_lexicon)
        return ("thing noun" if word_class not in NOUNS else word_class), f"plural of '{singular}': {reason}"
    for word_class, endings in guesses["endings"].items():
        for ending in endings:
            if word.endswith(ending) and len(word) >= len(ending) + 3:
                return word_class, f"ends in -{ending}"
    return "thing noun", "no other class fits"


def _guess_capitalised(word: str) -> tuple[str, str]:
    if len(word) > 1 and word.isupper():
        return "mass noun", "capital letters throughout, like NASA"
    if word.endswith(" American"):
        return "person noun", "ends in American"
    return "given name", "begins with a capital letter"


def _head(word: str) -> str:
    """Return the head of a phrase, such as "woman" in "white woman" and in "woman of color"."""
    before_of = word.partition(" of ")[0]
    return before_of.split()[-1] if before_of.split() else word


def word_forms(word: str, word_class: str, file_lexicon: WordForms, catalogue_lexicon: WordForms) -> Forms:
    """Return singular, plural and article from the file, the catalogue, or the rules of inflect."""
    bare = word.strip()
    if word_class not in NOUNS and word_class in word_classes():
        return Forms(word, singular=bare, plural=bare, article="")
    singular = file_lexicon.form("singular", word) or catalogue_lexicon.form("singular", word)
    plural = file_lexicon.form("plural", singular or word)
    if singular is None:
        singular = bare if plural else _singular(bare, catalogue_lexicon)
    plural = plural or catalogue_lexicon.form("plural", singular) or _plural(singular)
    stated = file_lexicon.form("article", singular) or catalogue_lexicon.form("article", singular)
    return Forms(word, singular, plural, stated or _article(singular))


def _guesses() -> dict[str, Any]:
    return shipped_toml(__package__, "guesses")


class _Engine(Protocol):
    """The methods of the library inflect that are used."""

    def singular_noun(self, text: str) -> str | bool: ...
    def plural_noun(self, text: str) -> str: ...
    def a(self, text: str) -> str: ...


@cache
def _engine() -> _Engine:
    import inflect  # slow to import (1 to 2 s), and needed only for a user's words

    return cast(_Engine, inflect.engine())


def _singular(word: str, catalogue_lexicon: WordForms) -> str:
    """Return the singular of a plural, or else the word; the library alone would change "virus" to "viru"."""
    number = _guesses()["number"]
    head = _head(word)
    looks_plural = head.endswith(("s", "men")) or head in number["irregular_plurals"]
    is_singular = head in (*number["singular"], *number["same_in_both"]) or head.endswith(SINGULAR_ENDINGS)
    if (
        not looks_plural
        or is_singular
        or (head in catalogue_lexicon.classes and not catalogue_lexicon.form("singular", head))
    ):
        return word
    singular = _engine().singular_noun(word)
    return singular if isinstance(singular, str) and singular else word


def _plural(singular: str) -> str:
    if _head(singular) in _guesses()["number"]["same_in_both"]:
        return singular
    if not any(letter.islower() for letter in singular):
        return singular + "s"  # CEOs; the library returns CEOS
    return _engine().plural_noun(singular)


def _article(singular: str) -> str:
    article = _engine().a(singular).partition(" ")[0]
    return article if article in ("a", "an") else regular_article(singular)


@dataclass(frozen=True, slots=True)
class English:
    """The English pack, with the templates of May et al. (2019) and Penn Treebank tokens."""

    name: str = "English"
    templates_source: str = "May et al. 2019"
    templates_citation: str = "may2019"

    def word_classes(self) -> list[str]:
        """Return the classes of words that have templates, such as given name and adjective."""
        return word_classes()

    def form_names(self) -> list[str]:
        """Return the forms that a test file may state."""
        return ["singular", "plural", "article"]

    def form_values(self, form: str) -> Sequence[str]:
        """Return no values, since every form is written out."""
        del form
        return ()

    def slots(self) -> Mapping[str, str]:
        """Return the slots; no slot needs a stated form, since all forms follow from rules."""
        return dict.fromkeys(("word", "a word", "words"), "")

    def templates(self, word_class: str) -> Sequence[str]:
        """Return the templates of a class, in the order of templates.toml."""
        return templates_of(word_class)

    def read_word(self, word: str, file_lexicon: WordForms, catalogue_lexicon: WordForms) -> WordReading:
        """Return the class and the forms of a word, which are stated, known or guessed."""
        return read_word(word, file_lexicon, catalogue_lexicon)

    tokenise = staticmethod(treebank)
    lower = staticmethod(str.lower)


ENGLISH = English()
