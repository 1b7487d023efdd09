"""The sentence-level test of a user's word-level test; unlike six published ones, it is never cut."""

from __future__ import annotations

from pathlib import Path

from weatherglass.catalogue.checks import distinct, overlaps
from weatherglass.catalogue.published import SENTENCE_PREFIX, lexicon, sentence_elements
from weatherglass.catalogue.select import load_test
from weatherglass.catalogue.test import ElementSet, Test
from weatherglass.catalogue.toml_format import read_test_file
from weatherglass.errors import CatalogueError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.base import NO_WORDS, Reading


def sentence_test(name_or_path: str | Path) -> tuple[Test, list[Reading]]:
    """The sentence-level test `sent-NAME` in the test's own language, and how each word was read.

    Raises:
        CatalogueError: if the test is not word-level, or no template fits a word.
        UnknownNameError: if no language pack has this code.
    """
    test = load_test(name_or_path)
    if test.context != "word":
        raise CatalogueError(f"'{name_or_path}' is not a word-level test: its context is {test.context}")
    language = test.language
    pack = LANGUAGES.get(language)
    file_lexicon = NO_WORDS
    path = Path(name_or_path).expanduser()
    if path.suffix.lower() == ".toml":
        file_lexicon = read_test_file(path).lexicon
    known = lexicon() if language == DEFAULT_LANGUAGE else NO_WORDS  # the words of the catalogue are English
    readings = {
        word: pack.read_word(word, file_lexicon, known)
        for element_set in test.sets
        for word in element_set.words
    }
    sets: list[ElementSet] = []
    warnings = [warning for warning in test.warnings if warning.startswith("set ")]
    for role, words in zip(test.roles, test.sets, strict=True):
        elements = (
            sentence
            for word in words.words
            for sentence in sentence_elements(readings[word].forms, readings[word].word_class, language)
        )
        element_set, repeats = distinct(role, words.category, elements)
        sets.append(element_set)
        warnings += repeats
    targets, attributes = tuple(sets[: len(test.targets)]), tuple(sets[len(test.targets) :])
    in_sentences = Test(
        SENTENCE_PREFIX + test.name,
        targets=targets,
        attributes=attributes,
        context="sent",
        source=f"sentences from {test.name}; templates of {pack.templates_source}",
        citation=pack.templates_citation,
        warnings=(*warnings, *overlaps(targets, attributes)),
        topic=test.topic,
        language=test.language,
    )
    return in_sentences, list(readings.values())
