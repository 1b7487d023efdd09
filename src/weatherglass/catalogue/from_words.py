"""Make a test in Python from lists of words, with the same checks as for a test file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weatherglass.catalogue.checks import (
    Source,
    belonging,
    checked_name,
    checked_text,
    checked_texts,
    type_name,
)
from weatherglass.catalogue.published import SENTENCE_PREFIX, list_sets, word_set
from weatherglass.catalogue.sentences import in_sentences, read_templates
from weatherglass.catalogue.test import Element, ElementSet, Test, distinct, overlaps, set_roles
from weatherglass.errors import CatalogueError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.base import WordForms
from weatherglass.registry import unknown
from weatherglass.warnings import Warning

Words = Any
"""A list of words, the name of a set in the catalogue, or {category: words} for a set with a name."""


def make_test(
    X: Words = None,
    Y: Words = None,
    A: Words = None,
    B: Words = None,
    *,
    name: str = "own",
    topic: str = "",
    language: str = DEFAULT_LANGUAGE,
    source: str = "",
    citation: str = "",
    targets: Sequence[Words] = (),
    attributes: Sequence[Words] = (),
) -> Test:
    """Return a test made from your words (`weatherglass.test`): are X rather than Y associated with A rather than B?

    Args:
        X: the first target set: a list of words, {"Nurses": [words]} to name it, or the name of a set in the
            catalogue.
        Y: the second target set; not needed for a metric with one target set.
        A: the first attribute set.
        B: the second attribute set.
        name: the name of the test in results.
        topic: the subject; tests on one topic share a verdict.
        language: the code of the language.
        source: where the words come from, for readers.
        citation: the key of a paper.
        targets: any number of target sets, instead of X and Y.
        attributes: any number of attribute sets, instead of A and B.

    Returns:
        A Test for `run`; its method `sentences()` puts the words into sentences.

    Raises:
        CatalogueError: for an empty set, a value that is not text, or sets that are given in two ways.

    Example:
        >>> moods = {"A": {"Good": ["joy"]}, "B": {"Bad": ["woe"]}}
        >>> weather = make_test(X=["sun", "warmth"], Y=["rain", "fog"], **moods, name="weather")
        >>> weather.categories
        ('X', 'Y', 'Good', 'Bad')
        >>> weather.sentences(["We had {word} today."]).targets[0].texts
        ('We had sun today.', 'We had warmth today.')
    """
    place = _place(name)
    if (targets or attributes) and any(each is not None for each in (X, Y, A, B)):
        raise place.error(
            "targets", " and attributes replace X, Y, A and B; give targets and attributes, or X, Y, A and B"
        )
    for key, text in {"topic": topic, "language": language, "source": source, "citation": citation}.items():
        if not isinstance(text, str):
            raise place.error(key, f"should be text, but is {type_name(text)}")
    for key, sets in (("targets", targets), ("attributes", attributes)):
        if not isinstance(sets, list | tuple):
            raise place.error(key, f"should be a list of sets, but is {type_name(sets)}")
    given_targets = list(targets) or _given(place, "X", X, Y)
    given_attributes = list(attributes) or _given(place, "A", A, B)
    roles = set_roles(len(given_targets), len(given_attributes))
    read = [
        _set(place, role, each) for role, each in zip(roles, (*given_targets, *given_attributes), strict=True)
    ]
    whole = tuple(element_set for element_set, _ in read)
    first, second = whole[: len(given_targets)], whole[len(given_targets) :]
    repeats = (warning for _, warnings in read for warning in warnings)
    return Test(
        checked_name(place, name),
        targets=first,
        attributes=second,
        source=source or "made in Python",
        citation=citation,
        warnings=(*repeats, *overlaps(first, second), *belonging(language, whole)),
        language=language,
        topic=topic,
    )


def sentences_of(
    given: Test,
    templates: Iterable[str] | None = None,
    classes: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Test:
    """Return the test with its words in sentences; see `Test.sentences` for the arguments."""
    if given.context != "word":
        raise CatalogueError(f"test '{given.name}' is in sentences already: its context is {given.context}")
    known = {word for element_set in given.sets for word in element_set.words}
    stated = WordForms(
        {word: _known_word(given, word, known, each) for word, each in (classes or {}).items()}
    )
    own = None
    if templates is not None:
        listed = [templates] if isinstance(templates, str) else list(templates)
        pack = LANGUAGES.get(given.language) if given.language in LANGUAGES else None
        entries = [{"text": text} for text in listed]
        own = read_templates(
            _place(given.name), entries, given.language, ["word", *(pack.slots() if pack else ())], ()
        )
        if not own:
            raise CatalogueError(
                f"test '{given.name}': no template is given; write for example 'This is {{word}}.'"
            )
    made, _ = in_sentences(given, stated, own, name or SENTENCE_PREFIX + given.name)
    return made if own is None else replace(made, source=f"sentences from {given.name}; own templates")


def _known_word(given: Test, word: str, known: set[str], word_class: str) -> str:
    if word not in known:
        raise CatalogueError(f"test '{given.name}': 'classes' names '{word}', which is not in any set")
    return word_class


def _given(place: Source, first: str, one: Words, other: Words) -> list[Words]:
    if one is None:
        raise place.error(first, "is missing; a test has the sets X and A, and for WEAT also Y and B")
    return [one] if other is None else [one, other]


def _set(place: Source, role: str, given: Words) -> tuple[ElementSet, list[Warning]]:
    if isinstance(given, str):
        known = [entry.name for entry in list_sets()]
        if given not in known:
            raise unknown(f"set of the catalogue for {role}", given, known)
        return word_set(given), []
    category = role
    if isinstance(given, Mapping):
        if len(given) != 1:
            raise place.error(role, f"should be {{category: words}} with one category, but has {len(given)}")
        category, given = next(iter(given.items()))
    elif isinstance(getattr(given, "name", None), str):
        category = given.name  # of a column of a pandas frame
    if hasattr(given, "dropna"):  # shorter columns of a frame end with NaN
        given = given.dropna()
    words = checked_texts(place, role, list(given) if isinstance(given, Iterable) else given)
    return distinct(role, checked_text(place, f"{role} (category)", category), [Element(w, w) for w in words])


def _place(name: object) -> Source:
    """Return the place for an error message: the test's name, since there is no file."""
    return Source(Path(f"test '{name}'"), "")
