"""Our own test format, in TOML: any number of sets, by name, words or sentences; classes and forms of words."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, cast, get_args

from weatherglass.catalogue.checks import (
    Source,
    checked_name,
    checked_text,
    checked_texts,
    distinct,
    overlaps,
    type_name,
)
from weatherglass.catalogue.published import lexicon, list_sets, word_set
from weatherglass.catalogue.test import Context, Element, ElementSet, Test, set_roles
from weatherglass.errors import CatalogueError, UnknownNameError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.base import Lexicon
from weatherglass.registry import did_you_mean, suggestion

LETTERS = {"targets": ("X", "Y"), "attributes": ("A", "B")}
"""The keys of one or two sets of a kind; the kind itself is the key of a list of any number."""
TEST_KEYS = ("name", "topic", "language", "context", "source", "citation", "words", *LETTERS)
TEST_KEYS += tuple(letter for letters in LETTERS.values() for letter in letters)
LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)*")
SET_KEYS = ("set", "words", "sentences", "category", "class")
WORDS_KEYS = ("classes", "singular", "plural", "article")


@dataclass(frozen=True, slots=True)
class TestFile:
    """A test, and what its file states about its words."""

    __test__ = False  # the name is not for pytest

    test: Test
    lexicon: Lexicon
    """The classes and forms of words that the file states."""


def read_toml(path: str | Path) -> Test:
    """The test in a TOML file of our own format (docs/tests.md).

    Raises:
        CatalogueError: naming file, line and key.
        UnknownNameError: if the catalogue has no set of a name that the file uses.
    """
    return read_test_file(path).test


def read_test_file(path: str | Path) -> TestFile:
    """The test, with the classes and forms of words that the file states."""
    source = Source.read(Path(path))
    content = _parsed(source)
    _no_other_keys(source, "", content, TEST_KEYS)
    entries = {kind: _set_entries(source, content, kind) for kind in LETTERS}
    roles = iter(set_roles(*map(len, entries.values())))
    parsed = [
        _read_set(source, key, next(roles), entry)
        for given in entries.values()
        for key, entry in given.items()
    ]
    sets = tuple(each.elements for each in parsed)
    targets, attributes = sets[: len(entries["targets"])], sets[len(entries["targets"]) :]
    word_lexicon = _read_words(
        source,
        content.get("words", {}),
        {word: word_class for each in parsed for word, word_class in each.classes.items()},
        {word for element_set in sets for word in element_set.words},
    )
    test = Test(
        checked_name(source, content.get("name", source.path.stem)),
        targets=targets,
        attributes=attributes,
        context=_read_context(source, content, sets),
        source=checked_text(source, "source", content.get("source", str(source.path))),
        citation=checked_text(source, "citation", content["citation"]) if "citation" in content else "",
        warnings=(
            *(warning for each in parsed for warning in each.warnings),
            *overlaps(targets, attributes),
        ),
        language=_read_language(source, content.get("language", "en")),
        topic=checked_text(source, "topic", content["topic"]) if "topic" in content else "",
    )
    return TestFile(test, word_lexicon)


def to_toml(test: Test) -> str:
    """A test in our own format; sentences are listed under the word that they were made from."""
    head = {
        "name": test.name,
        "topic": test.topic,
        "language": "" if test.language == "en" else test.language,
        "context": test.context,
        "source": test.source,
        "citation": test.citation,
    }
    lines = [f"{key} = {quoted(value)}" for key, value in head.items() if value]
    in_letters = max(test.shape) <= 2
    kinds = ["targets"] * len(test.targets) + ["attributes"] * len(test.attributes)
    for role, kind, element_set in zip(test.roles, kinds, test.sets, strict=True):
        key = role if in_letters else kind
        header = f"[{key}]" if in_letters else f"[[{key}]]"
        lines += ["", header, f"category = {quoted(element_set.category)}"]
        if all(element.text == element.word for element in element_set.elements):
            lines += ["words = [", *_listed(element_set.texts), "]"]
            continue
        lines += ["", f"[{key}.sentences]"]
        for word, elements in _by_word(element_set.elements):
            lines += [f"{quoted(word)} = [", *_listed(element.text for element in elements), "]"]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A TOML basic string; JSON's escapes are TOML's too, save that TOML also wants DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _listed(texts: Iterable[str]) -> list[str]:
    return [f"  {quoted(text)}," for text in texts]


def _by_word(elements: Iterable[Element]) -> list[tuple[str, list[Element]]]:
    grouped: dict[str, list[Element]] = {}
    for word, run in groupby(elements, key=lambda element: element.word):
        grouped.setdefault(word, []).extend(run)
    return list(grouped.items())


def _parsed(source: Source) -> dict[str, Any]:
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = re.search(r" \(at line (\d+), column \d+\)$", message)
        line = int(place[1]) if place else source.text.count("\n") + 1
        reason = message[: place.start()] if place else message.removesuffix(" (at end of document)")
        raise CatalogueError(f"{source.path}, line {line}: malformed TOML ({reason})") from None
    except RecursionError:
        raise CatalogueError(f"{source.path}: malformed TOML (nested too deeply)") from None


def _no_other_keys(source: Source, place: str, content: Mapping[str, Any], known: Iterable[str]) -> None:
    for key in content:
        if key not in known:
            raise source.error(f"{place}{key}", f"is not a key of a test{suggestion(key, known)}")


@dataclass(frozen=True, slots=True)
class _ParsedSet:
    elements: ElementSet
    warnings: list[str]
    classes: dict[str, str]
    """Of its words, where the set says so: by `class`, or by being a set of the catalogue."""


def _set_entries(source: Source, content: Mapping[str, Any], kind: str) -> dict[str, object]:
    """The sets of a kind by their key: X and Y, or targets[1], targets[2], …"""
    letters = [letter for both in LETTERS.values() for letter in both if letter in content]
    lists = [each for each in LETTERS if each in content]
    if letters and lists:
        raise source.error(
            lists[0], f"stands beside {letters[0]}; give the sets as X, Y, A, B or as targets and attributes"
        )
    if not lists:
        first, _ = LETTERS[kind]
        if first not in content:
            raise source.error(first, "is missing; a test has the sets X and A, and for WEAT also Y and B")
        return {letter: content[letter] for letter in LETTERS[kind] if letter in content}
    if kind not in content:
        raise source.error(kind, "is missing; a test has targets and attributes, at least one set of each")
    if not isinstance(content[kind], list):
        raise source.error(kind, f"should be a list of sets ([[{kind}]]), but is {type_name(content[kind])}")
    if not content[kind]:
        raise source.error(kind, "is empty; at least one set is needed")
    return {f"{kind}[{number}]": entry for number, entry in enumerate(content[kind], start=1)}


def _read_set(source: Source, key: str, role: str, given: object) -> _ParsedSet:
    entry = {"set": given} if isinstance(given, str) else given
    if not isinstance(entry, dict):
        raise source.error(
            key, f"should be a table or the name of a catalogue set, but is {type_name(entry)}"
        )
    _no_other_keys(source, f"{key}.", entry, SET_KEYS)
    forms = [form for form in SET_KEYS[:3] if form in entry]
    if len(forms) != 1:
        raise source.error(
            key, f"should have one of set, words or sentences, but has {' and '.join(forms) or 'none'}"
        )
    word_class = _read_class(source, f"{key}.class", entry["class"]) if "class" in entry else None
    category = checked_text(source, f"{key}.category", entry["category"]) if "category" in entry else None
    if forms == ["set"]:
        element_set = _named_set(source, key, entry["set"], category)
        known = lexicon().classes
        return _ParsedSet(element_set, [], {word: word_class or known[word] for word in element_set.words})
    if category is None:
        raise source.error(key, "has no category; it names the set in results")
    elements = (
        [Element(word, word) for word in checked_texts(source, f"{key}.words", entry["words"])]
        if forms == ["words"]
        else _sentence_elements(source, f"{key}.sentences", entry["sentences"])
    )
    element_set, repeats = distinct(role, category, elements)
    return _ParsedSet(
        element_set, repeats, dict.fromkeys(element_set.words, word_class) if word_class else {}
    )


def _named_set(source: Source, key: str, name: object, category: str | None) -> ElementSet:
    known = [entry.name for entry in list_sets()]
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(str(name), known)
        where = source.error(key, f"names the set '{name}', which the catalogue does not have")
        raise UnknownNameError(f"{where}{hint} (see: weatherglass tests sets)")
    return word_set(name, category)


def _sentence_elements(source: Source, key: str, value: object) -> list[Element]:
    if not isinstance(value, dict):
        raise source.error(
            key, f"should be a table of words, each with its sentences, but is {type_name(value)}"
        )
    if not value:
        raise source.error(key, "is empty; a set needs at least one element")
    return [
        Element(text, checked_text(source, key, word, part="(a word) "))
        for word, texts in value.items()
        for text in checked_texts(source, f"{key}.{word}", texts)
    ]


def _read_context(source: Source, content: Mapping[str, Any], sets: Iterable[ElementSet]) -> Context:
    known = get_args(Context)
    in_sentences = any(
        element.text != element.word for element_set in sets for element in element_set.elements
    )
    context = content.get("context", "sent" if in_sentences else "word")
    if context not in known:
        hint = did_you_mean(str(context), known)
        raise source.error("context", f"{context!r} is none of {', '.join(known)}{hint}")
    return cast(Context, context)


def _read_language(source: Source, value: object) -> str:
    language = checked_text(source, "language", value)
    if not LANGUAGE_CODE.fullmatch(language):
        raise source.error("language", f"should be a code such as en, de or pt-BR, but is '{language}'")
    return language


def _read_words(source: Source, entry: object, classes: dict[str, str], present: set[str]) -> Lexicon:
    """The table [words], over the classes that the sets state for all their words."""
    if not isinstance(entry, dict):
        raise source.error(
            "words", f"should be a table with {', '.join(WORDS_KEYS)}, but is {type_name(entry)}"
        )
    _no_other_keys(source, "words.", entry, WORDS_KEYS)
    for key in WORDS_KEYS:
        if not isinstance(entry.get(key, {}), dict):
            raise source.error(f"words.{key}", f"should be a table, but is {type_name(entry[key])}")
    listed: dict[str, str] = {}
    for word_class, words in entry.get("classes", {}).items():
        _read_class(source, "words.classes", word_class)
        for word in checked_texts(source, f"words.classes.{word_class}", words):
            if word not in present:
                raise source.error(
                    "words.classes", f"names '{word}', which is in no set{did_you_mean(word, present)}"
                )
            if listed.setdefault(word, word_class) != word_class:
                raise source.error(
                    "words.classes", f"puts '{word}' under {listed[word]} and under {word_class}"
                )
    forms = {
        key: {
            word: checked_text(source, f"words.{key}.{word}", form)
            for word, form in entry.get(key, {}).items()
        }
        for key in WORDS_KEYS[1:]
    }
    for word, article in forms["article"].items():
        if article not in ("a", "an"):
            raise source.error(f"words.article.{word}", f"should be a or an, but is '{article}'")
    return Lexicon({**classes, **listed}, **forms)


def _read_class(source: Source, key: str, word_class: object) -> str:
    known = LANGUAGES.get(DEFAULT_LANGUAGE).word_classes()
    if not isinstance(word_class, str) or word_class not in known:
        hint = suggestion(str(word_class), known)
        raise source.error(key, f"'{word_class}' is no class of words{hint}")
    return word_class
