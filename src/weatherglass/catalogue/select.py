"""Select tests by names, globs, topics, files and folders, as the user types them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import glob, has_magic
from pathlib import Path

from weatherglass.catalogue.checks import write_test_file
from weatherglass.catalogue.jsonl import export_test, read_jsonl
from weatherglass.catalogue.pairs import PAIRS, pair_names
from weatherglass.catalogue.published import (
    FIELDS,
    SENTENCE_PREFIX,
    catalogue_names,
    catalogue_test,
    field_names,
    published_names,
)
from weatherglass.catalogue.sentences import in_sentences
from weatherglass.catalogue.test import Test
from weatherglass.catalogue.toml_format import read_test_file, read_toml, to_toml
from weatherglass.errors import CatalogueError, UnknownNameError
from weatherglass.languages.base import NO_WORDS, WordReading
from weatherglass.registry import checked_text, described, did_you_mean, shown
from weatherglass.storage.reading import exists, user_path
from weatherglass.storage.tables import NOT_READ, TABLES
from weatherglass.warnings import Warning

FILE_KINDS = (".jsonl", ".toml")
CATALOGUE = "the catalogue"


def list_topics() -> list[str]:
    """Return the topics of the catalogue, without repeats."""
    return list(dict.fromkeys(catalogue_test(name).topic for name in catalogue_names()))


def list_tests(pattern: str = "*") -> list[str]:
    """Return the names of the published tests that match a glob, in the order of May et al. 2019, Table 4."""
    checked_text("pattern", pattern)
    return [name for name in published_names() if fnmatchcase(name, pattern)]


def load_test(name_or_path: str | Path) -> Test:
    """Return one test: from the catalogue by name, or from a user's file by path.

    Raises:
        UnknownNameError: if the name is unknown; the message suggests the nearest test of the catalogue.
        CatalogueError: if the file is malformed, or the path is a folder.
    """
    tests = load_tests([name_or_path])
    if len(tests) != 1:
        raise CatalogueError(f"'{name_or_path}' matches {len(tests)} tests, but one is expected")
    return tests[0]


def load_tests(patterns: Sequence[str | Path]) -> list[Test]:
    """Return the tests that names, globs like `sent-*`, topics, files and folders select, in the given order without
    repeats.

    A glob is matched against the 46 published tests and, if none of them matches, against the tests in other fields,
    so that `*` means the 46. `fields` means all tests in other fields, and `pairs` all tests of sentence pairs.

    Raises:
        UnknownNameError: if a name or glob matches nothing.
        CatalogueError: if a file is malformed, a folder has no tests, or two files contain tests of the same name.
    """
    tests: dict[str, Test] = {}
    sources: dict[str, str] = {}
    for source, name in (hit for pattern in patterns for hit in _resolve(checked_pattern(pattern))):
        if source == CATALOGUE:
            found = [catalogue_test(name)]
        elif source in sources.values():
            continue
        else:
            found = read_tests(name)
        for test in found:
            if sources.setdefault(test.name, source) != source:
                raise CatalogueError(
                    f"two tests are called '{test.name}': in {sources[test.name]} and in {source}; rename one"
                )
            tests.setdefault(test.name, test)
    return list(tests.values())


def checked_pattern(given: object) -> str:
    """Return a name, glob, topic or path of tests as text.

    Raises:
        CatalogueError: if the value is not text or a path.
        UnknownNameError: if it is blank, or cannot be the name of a file.
    """
    pattern = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(pattern, str):
        raise CatalogueError(
            f"a test should be a name, glob, topic or path, but is {described(given)}; give several in a list"
        )
    if not pattern.strip() or "\0" in pattern:
        raise UnknownNameError(
            f"unknown test '{shown(pattern)}' (a test is a name, glob, topic or path; see: weatherglass tests list)"
        )
    return pattern


def read_tests(path: str | Path) -> list[Test]:
    """Read the tests of a file: .toml has weatherglass's own format, .csv and similar files are tables, and all
    others have the published format. A file of sentence pairs may have any form that `tests import` reads.
    """
    path = Path(path)
    if path.suffix.lower() != ".toml" and (found := _pair_tests(path)):
        return found
    if is_table(path):
        from weatherglass.catalogue.lists import table_tests

        return table_tests(path)
    return [read_toml(path) if path.suffix.lower() == ".toml" else read_jsonl(path)]


def _pair_tests(path: Path) -> list[Test]:
    """Return the tests of a file of sentence pairs, with its notes as warnings; none if it contains something else."""
    from weatherglass.catalogue.imports.pairs import read_pair_file

    tests, _, notes = read_pair_file(path) or ([], "", ())
    warnings = tuple(Warning.of("table", file=path.name, note=note) for note in notes)
    return [replace(test, warnings=(*test.warnings, *warnings)) for test in tests]


def is_table(path: Path) -> bool:
    """Return whether the name of a test file is that of a table."""
    return path.suffix.lower() in (*TABLES, *NOT_READ, ".txt")


def write_test(test: Test, path: str | Path) -> None:
    """Write a test in the format of the file's suffix: .toml means weatherglass's own format, and any other suffix
    the published format.

    Only weatherglass's own format stores the word of each sentence.

    Raises:
        CatalogueError: if the published format cannot store a test of this shape.
        OutputError: if the file cannot be written.
    """
    if Path(path).suffix.lower() == ".toml":
        write_test_file(path, to_toml(test))
    else:
        export_test(test, path)


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a sort key that puts weat2 before weat10."""
    parts = re.findall(r"\d+|\D+", text)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _resolve(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the tests that a pattern matches, as pairs of a source and a name or path."""
    path = user_path(pattern, CatalogueError)
    if pattern in catalogue_names() or pattern in pair_names():
        yield CATALOGUE, pattern
    elif exists(path) and path.is_dir():
        yield from _test_files(path)
    elif exists(path):
        yield str(path.resolve()), str(path)
    elif pattern == PAIRS:
        yield from ((CATALOGUE, name) for name in pair_names())
    elif pattern == FIELDS:
        yield from ((CATALOGUE, name) for name in field_names())
    elif has_magic(pattern):  # no topic has a glob in its name, and looking for topics loads all tests
        yield from _matches(pattern, str(path))
    elif names := _of_topic(pattern):
        yield from ((CATALOGUE, name) for name in names)
    elif path.suffix.lower() in FILE_KINDS or is_table(path) or "/" in pattern:
        raise CatalogueError(f"{pattern}: there is no such file or folder")
    else:
        hint = did_you_mean(pattern, (*catalogue_names(), *pair_names(), PAIRS, *list_topics()))
        raise UnknownNameError(
            f"unknown test '{pattern}'{hint} (a test is a name, glob, topic or path; see: weatherglass tests list)"
        )


def _of_topic(topic: str) -> list[str]:
    """Return the tests of a topic, or of all topics that begin with the given word and a colon, like "double bind"."""
    topics = {name: catalogue_test(name).topic for name in catalogue_names()}
    return [name for name, about in topics.items() if topic in (about, about.partition(":")[0])]


def _test_files(folder: Path) -> Iterator[tuple[str, str]]:
    if exists(folder / "run.json"):
        raise CatalogueError(
            f"{folder}: this is the folder of a run, not a folder of tests; if the shell expanded a "
            "pattern (weat*), put it in quotes"
        )
    files = [
        file
        for file in folder.iterdir()
        if file.suffix.lower() in FILE_KINDS and not file.name.startswith(".")
    ]
    if not files:
        raise CatalogueError(f"{folder}: contains no test files ({' or '.join(FILE_KINDS)})")
    for file in sorted(files, key=lambda file: natural_key(file.name)):
        yield str(file.resolve()), str(file)


def _matches(pattern: str, path_pattern: str) -> Iterator[tuple[str, str]]:
    names = list_tests(pattern) or [name for name in field_names() if fnmatchcase(name, pattern)]
    hits = glob(path_pattern)  # noqa: PTH207 - Path.glob refuses absolute patterns
    paths = [path for path in hits if Path(path).suffix.lower() in (*FILE_KINDS, *TABLES)]
    if names:
        yield from ((CATALOGUE, name) for name in names)
    elif paths:
        yield from ((str(Path(path).resolve()), path) for path in sorted(paths, key=natural_key))
    else:
        raise UnknownNameError(f"no test matches '{pattern}' (see: weatherglass tests list)")


def sentence_test(name_or_path: str | Path) -> tuple[Test, list[WordReading]]:
    """Return a word-level test as sentences in its language, and the class and forms found for each word.

    A test whose file has templates keeps its name; any other test becomes `sent-NAME`.

    Raises:
        CatalogueError: if the test is not word-level, no template fits a word, or there is no language pack for its
            language.
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
