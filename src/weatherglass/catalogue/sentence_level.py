"""The sentence-level test of a user's word-level test; unlike six published ones, it is never cut."""

from __future__ import annotations

from pathlib import Path

from weatherglass.catalogue.published import SENTENCE_PREFIX
from weatherglass.catalogue.select import load_test
from weatherglass.catalogue.sentences import in_sentences
from weatherglass.catalogue.test import Test
from weatherglass.catalogue.toml_format import read_test_file
from weatherglass.errors import CatalogueError
from weatherglass.languages.base import NO_WORDS, Reading
from weatherglass.storage.reading import exists, user_path


def sentence_test(name_or_path: str | Path) -> tuple[Test, list[Reading]]:
    """The test in sentences, in its own language, and how each word was read.

    A file with templates of its own is such a test already, and keeps its name; any other one becomes `sent-NAME`.

    Raises:
        CatalogueError: if the test is not word-level, no template fits a word, or no pack has the language.
    """
    path = user_path(name_or_path, CatalogueError)
    lexicon, test, templates = NO_WORDS, None, None
    if path.suffix.lower() == ".toml" and exists(path):
        file = read_test_file(path)
        lexicon, test, templates = file.lexicon, file.test, file.templates
    test = test or load_test(name_or_path)
    if test.context != "word":
        raise CatalogueError(f"'{name_or_path}' is not a word-level test: its context is {test.context}")
    name = test.name if templates is not None else SENTENCE_PREFIX + test.name
    return in_sentences(test, lexicon, templates, name)
