"""The class and forms of a user's words: stated in the file, known from the catalogue, or else guessed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

from weatherglass.errors import CatalogueError
from weatherglass.languages.en.sentences import Forms, Lexicon, regular_article
from weatherglass.storage.resources import shipped_toml

NOUNS = ("person noun", "thing noun")
SINGULAR_ENDINGS = ("ss", "us", "is", "ics")
"""What a singular may end in: glass, virus, iris, physics."""


STATED = "stated in the file"
KNOWN = "known from the catalogue"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a word was read: its class, why, and its forms."""

    word: str
    word_class: str
    reason: str
    """Stated in the file, known from the catalogue, or else what the guess rests on."""
    forms: Forms
    forms_known: bool
    """Whether the catalogue, and not a rule, has the forms."""

    @property
    def shown_forms(self) -> str:
        """The forms that were put into the templates: "an oven, ovens"; only nouns have them."""
        forms = self.forms
        return f"{forms.article} {forms.singular}, {forms.plural}" if self.word_class in NOUNS else ""

    @property
    def worth_a_look(self) -> bool:
        """Whether anything was guessed that the user may want to correct: the class, or a noun's forms."""
        return self.reason != STATED or (self.word_class in NOUNS and not self.forms_known)


def read_word(word: str, stated: Lexicon, known: Lexicon) -> Reading:
    """Class and forms of one word.

    Args:
        stated: what the user's file says of single words.
        known: what the catalogue knows of its own words.

    Raises:
        CatalogueError: if no class fits, as with "they".
    """
    if word in stated.classes:
        word_class, reason = stated.classes[word], STATED
    else:
        word_class, reason = guess_class(word.strip(), known)
    return Reading(word, word_class, reason, _forms(word, word_class, stated, known), word in known.classes)


def guess_class(word: str, known: Lexicon) -> tuple[str, str]:
    """The class of a word that nobody stated, and what that rests on."""
    guesses = _guesses()
    if word in known.classes:
        return known.classes[word], KNOWN
    if word in guesses["unfit"]["words"]:
        raise CatalogueError(
            f"'{word}': no sentence template fits it; leave it out, or state its class under [words.classes]"
        )
    for word_class, listed in guesses["listed"].items():
        if word in listed:
            return word_class, "listed under this class"
    if word[0].isupper():
        return _guess_capitalised(word)
    head = _head(word)
    if head != word:
        word_class, reason = guess_class(head, known)
        return word_class, f"as '{head}': {reason}"
    singular = _singular(word, known)
    if singular != word:
        word_class, reason = guess_class(singular, known)
        return ("thing noun" if word_class not in NOUNS else word_class), f"plural of '{singular}': {reason}"
    for word_class, endings in guesses["endings"].items():
        for ending in endings:
            if word.endswith(ending) and len(word) >= len(ending) + 3:
                return word_class, f"ends in -{ending}"
    return "thing noun", "nothing else fits"


def _guess_capitalised(word: str) -> tuple[str, str]:
    if len(word) > 1 and word.isupper():
        return "mass noun", "capital letters throughout, like NASA"
    if word.endswith(" American"):
        return "person noun", "ends in American"
    return "given name", "begins with a capital letter"


def _head(word: str) -> str:
    """The word that a group turns on: woman in "white woman" and in "woman of color"."""
    before_of = word.partition(" of ")[0]
    return before_of.split()[-1] if before_of.split() else word


def _forms(word: str, word_class: str, stated: Lexicon, known: Lexicon) -> Forms:
    bare = word.strip()
    if word_class not in NOUNS:
        return Forms(word, singular=bare, plural=bare, article="")
    singular = stated.singular.get(word) or known.singular.get(word)
    plural = stated.plural.get(singular or word)
    if singular is None:
        singular = bare if plural else _singular(bare, known)
    plural = plural or known.plural.get(singular) or _plural(singular)
    article = stated.article.get(singular) or known.article.get(singular) or _article(singular)
    return Forms(word, singular, plural, article)


def _guesses() -> dict[str, Any]:
    return shipped_toml(__package__, "guesses")


class _Engine(Protocol):
    """What is used of the library inflect."""

    def singular_noun(self, text: str) -> str | bool: ...
    def plural_noun(self, text: str) -> str: ...
    def a(self, text: str) -> str: ...


@cache
def _engine() -> _Engine:
    import inflect  # takes a second or two, so only where sentences are made from a user's words

    return cast(_Engine, inflect.engine())


def _singular(word: str, known: Lexicon) -> str:
    """The word itself unless it is a plural; the library alone makes "viru" of "virus" and "opus" of "opera"."""
    number = _guesses()["number"]
    head = _head(word)
    looks_plural = head.endswith(("s", "men")) or head in number["irregular_plurals"]
    is_singular = head in (*number["singular"], *number["same_in_both"]) or head.endswith(SINGULAR_ENDINGS)
    if not looks_plural or is_singular or (head in known.classes and head not in known.singular):
        return word
    singular = _engine().singular_noun(word)
    return singular if isinstance(singular, str) and singular else word


def _plural(singular: str) -> str:
    if _head(singular) in _guesses()["number"]["same_in_both"]:
        return singular
    if not any(letter.islower() for letter in singular):
        return singular + "s"  # CEOs; the library would shout: CEOS
    return _engine().plural_noun(singular)


def _article(singular: str) -> str:
    article = _engine().a(singular).partition(" ")[0]
    return article if article in ("a", "an") else regular_article(singular)
