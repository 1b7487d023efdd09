"""Read and write weatherglass's own test format in TOML, with any number of sets, word forms and templates."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, cast, get_args

from weatherglass.catalogue.checks import (
    Source,
    belonging,
    checked_name,
    checked_text,
    checked_texts,
    type_name,
)
from weatherglass.catalogue.pairs import Pair, pair_test, pairs_of, read_entries
from weatherglass.catalogue.published import lexicon, list_sets, word_set
from weatherglass.catalogue.sentences import Template, in_sentences, pack_templates, read_templates
from weatherglass.catalogue.test import (
    CORPUS,
    PAIR,
    Context,
    Element,
    ElementSet,
    Test,
    distinct,
    overlaps,
    set_roles,
)
from weatherglass.errors import CatalogueError, UnknownNameError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.base import NO_WORDS, Language, WordForms
from weatherglass.registry import did_you_mean, suggestion
from weatherglass.storage.documents import parsed_toml, reading_document
from weatherglass.warnings import Warning

LETTERS = {"targets": ("X", "Y"), "attributes": ("A", "B")}
"""The keys for one or two sets of each kind; for more sets, the kind is the key of a list."""
TEST_KEYS = (
    "name",
    "topic",
    "language",
    "context",
    "source",
    "citation",
    "words",
    "template",
    "templates",
    *LETTERS,
)
TEST_KEYS += tuple(letter for letters in LETTERS.values() for letter in letters)
PAIR_KEYS = ("name", "topic", "language", "source", "citation", "pair")
LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)*")
SET_KEYS = ("set", "words", "sentences", "category", "class")
PACK = "pack"
"""The value of `templates` that means the templates of the language pack."""


@dataclass(frozen=True, slots=True)
class TestFile:
    """A test, with the word forms and templates stated in its file."""

    __test__ = False  # the name is not for pytest

    test: Test
    """The test before its words are inserted into templates."""
    lexicon: WordForms
    """The classes and forms of words that the file states."""
    templates: list[Template] | None = None
    """The sentence templates of the file; None if it has none."""


def read_toml(path: str | Path) -> Test:
    """Read a test in weatherglass's own TOML format (docs/tests.md).

    Raises:
        CatalogueError: if the file is malformed; the message names the file, the line and the key.
        UnknownNameError: if the file names a set that the catalogue does not have.
    """
    with reading_document(Path(path), CatalogueError):
        file = read_test_file(path)
        if file.templates is None:
            return file.test
        return in_sentences(file.test, file.lexicon, file.templates)[0]


def read_test_file(path: str | Path) -> TestFile:
    """Read a test with the word forms and templates stated in its file."""
    with reading_document(Path(path), CatalogueError):
        return _read_test(Source.read(Path(path)))


def _read_pairs(source: Source, content: Mapping[str, Any]) -> TestFile:
    """Read a test of sentence pairs, each of which is a table [[pair]]."""
    _no_other_keys(source, "", content, PAIR_KEYS)
    entries = content["pair"]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise source.error("pair", "should be tables that begin with [[pair]]")
    texts = {
        key: checked_text(source, key, content[key])
        for key in ("source", "citation", "topic")
        if key in content
    }
    try:
        test = pair_test(
            checked_name(source, content.get("name", source.path.stem)),
            read_entries(entries),
            **{"source": str(source.path), **texts},
            language=_read_language(source, content.get("language", DEFAULT_LANGUAGE)),
        )
    except CatalogueError as error:
        known = str(error).startswith(str(source.path))
        raise (error if known else CatalogueError(f"{source.path}: {error}")) from None
    return TestFile(test, NO_WORDS)


def _read_test(source: Source) -> TestFile:
    content = _parsed(source)
    if "pair" in content:
        return _read_pairs(source, content)
    _no_other_keys(source, "", content, TEST_KEYS)
    language = _read_language(source, content.get("language", DEFAULT_LANGUAGE))
    classes = _Classes.of(language, content)
    entries = {kind: _set_entries(source, content, kind) for kind in LETTERS}
    roles = iter(set_roles(*map(len, entries.values())))
    parsed = [
        _read_set(source, key, next(roles), entry, classes)
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
        classes,
    )
    names = {word for word, word_class in word_lexicon.classes.items() if word_class == "given name"}
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
            *belonging(language, sets, names),
        ),
        language=language,
        topic=checked_text(source, "topic", content["topic"]) if "topic" in content else "",
    )
    templates = _read_templates(source, content, language, word_lexicon, classes)
    if templates is not None and test.context != "word":
        raise source.error("template", f"is for words, but the test's context is {test.context}")
    return TestFile(test, word_lexicon, templates)


def to_toml(test: Test) -> str:
    """Return a test in weatherglass's own format; sentences are grouped by their word, each with its template."""
    head = {
        "name": test.name,
        "topic": test.topic,
        "language": "" if test.language == "en" else test.language,
        "context": test.context,
        "source": test.source,
        "citation": test.citation,
    }
    lines = [f"{key} = {quoted(value)}" for key, value in head.items() if value]
    if test.context == PAIR:
        lines = [line for line in lines if not line.startswith("context =")]
        for pair in pairs_of(test):
            fields = {name: getattr(pair, name) for name in Pair.__slots__}
            lines += ["", "[[pair]]", *(f"{name} = {quoted(text)}" for name, text in fields.items() if text)]
        return "\n".join(lines) + "\n"
    in_letters = max(test.shape) <= 2
    kinds = ["targets"] * len(test.targets) + ["attributes"] * len(test.attributes)
    for role, kind, element_set in zip(test.roles, kinds, test.sets, strict=True):
        key = role if in_letters else kind
        header = f"[{key}]" if in_letters else f"[[{key}]]"
        lines += ["", header, f"category = {quoted(element_set.category)}"]
        if all(element.text == element.word for element in element_set.elements):
            lines += ["words = [", *_listed(element_set.texts), "]"]
            continue
        lists: list[str] = []
        tables: list[str] = []  # after the lists, since a table continues to the next header
        for word, elements in _by_word(element_set.elements):
            templates = [element.template for element in elements]
            if None in templates or len(set(templates)) < len(templates):
                lists += [f"{quoted(word)} = [", *_listed(element.text for element in elements), "]"]
            else:
                tables += ["", f"[{key}.sentences.{quoted(word)}]"]
                tables += [f"{quoted(each.template or '')} = {quoted(each.text)}" for each in elements]
        lines += ["", f"[{key}.sentences]", *lists, *tables] if lists else tables
    return "\n".join(lines) + "\n"


def example(name: str) -> str:
    """Return the test file that `weatherglass tests init` writes. It is valid, and its comments explain every key."""
    text = files(__package__).joinpath("example.toml").read_text(encoding="utf-8")
    return text.replace("{name}", name)


def quoted(text: str) -> str:
    """Return a TOML basic string; the escapes are those of JSON, and DEL is escaped, too."""
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
        return parsed_toml(source.text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = re.search(r" \(at line (\d+), column \d+\)$", message)
        line = int(place[1]) if place else source.text.count("\n") + 1
        reason = message[: place.start()] if place else message.removesuffix(" (at end of document)")
        raise CatalogueError(f"{source.path}, line {line}: malformed TOML ({reason})") from None


def _no_other_keys(source: Source, place: str, content: Mapping[str, Any], known: Iterable[str]) -> None:
    for key in content:
        if key not in known:
            raise source.error(f"{place}{key}", f"is not a key of a test{suggestion(key, known)}")


@dataclass(frozen=True, slots=True)
class _ParsedSet:
    elements: ElementSet
    warnings: list[Warning]
    classes: dict[str, str]
    """The classes of the words, if the set states a `class` or is a set of the catalogue."""


def _set_entries(source: Source, content: Mapping[str, Any], kind: str) -> dict[str, object]:
    """Return the sets of a kind by their keys: X and Y, or targets[1], targets[2], …"""
    letters = [letter for both in LETTERS.values() for letter in both if letter in content]
    lists = [each for each in LETTERS if each in content]
    if letters and lists:
        raise source.error(
            lists[0],
            f"and {letters[0]} are both given; give the sets as X, Y, A, B or as targets and attributes",
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
        raise source.error(kind, "is empty, but needs at least one set")
    return {f"{kind}[{number}]": entry for number, entry in enumerate(content[kind], start=1)}


def _read_set(source: Source, key: str, role: str, given: object, classes: _Classes) -> _ParsedSet:
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
    word_class = classes.read(source, f"{key}.class", entry["class"]) if "class" in entry else None
    category = checked_text(source, f"{key}.category", entry["category"]) if "category" in entry else None
    if forms == ["set"]:
        element_set = _named_set(source, key, entry["set"], category)
        known = lexicon().classes
        return _ParsedSet(element_set, [], {word: word_class or known[word] for word in element_set.words})
    if category is None:
        raise source.error(key, "has no category; add one, since it names the set in results")
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
    return word_set({"set": name, "category": category} if category else name)


def _sentence_elements(source: Source, key: str, value: object) -> list[Element]:
    if not isinstance(value, dict):
        raise source.error(
            key, f"should be a table of words, each with its sentences, but is {type_name(value)}"
        )
    if not value:
        raise source.error(key, "is empty; a set needs at least one element")
    elements: list[Element] = []
    for word, texts in value.items():
        checked_text(source, key, word, part="(a word) ")
        if isinstance(texts, dict) and texts:
            elements += [
                Element(checked_text(source, f"{key}.{word}", text), word, template)
                for template, text in texts.items()
            ]
        else:
            elements += [Element(text, word) for text in checked_texts(source, f"{key}.{word}", texts)]
    return elements


def _read_context(source: Source, content: Mapping[str, Any], sets: Iterable[ElementSet]) -> Context:
    known = [name for name in get_args(Context) if name != CORPUS]
    in_sentences = any(
        element.text != element.word for element_set in sets for element in element_set.elements
    )
    context = content.get("context", "sent" if in_sentences else "word")
    if context not in known:
        hint = did_you_mean(str(context), known)
        raise source.error("context", f"{context!r} is not one of {', '.join(known)}{hint}")
    return cast(Context, context)


def _read_language(source: Source, value: object) -> str:
    language = checked_text(source, "language", value)
    if not LANGUAGE_CODE.fullmatch(language):
        raise source.error("language", f"should be a code such as en, de or pt-BR, but is '{language}'")
    return language


@dataclass(frozen=True, slots=True)
class _Classes:
    """The classes that a test file may name: those of the language pack and those of the file's templates."""

    pack: Language | None
    own: tuple[str, ...]

    @classmethod
    def of(cls, language: str, content: Mapping[str, Any]) -> _Classes:
        """Return the allowed classes for a file; its templates are checked later."""
        given = content.get("template", [])
        tables = [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []
        named = [entry.get("class", []) for entry in tables]
        flat = [each for names in named for each in ([names] if isinstance(names, str) else names or [])]
        pack = LANGUAGES.get(language) if language in LANGUAGES else None
        known = pack.word_classes() if pack else []
        own = (each for each in flat if isinstance(each, str) and f"{each} noun" not in known)
        return cls(pack, tuple(dict.fromkeys(own)))

    @property
    def names(self) -> list[str]:
        """Return every class that a word may have; empty without a language pack, since any class is then allowed."""
        return list(dict.fromkeys([*(self.pack.word_classes() if self.pack else ()), *self.own]))

    def read(self, source: Source, key: str, word_class: object) -> str:
        """Return a class after checking that it is known; "person" means "person noun"."""
        if isinstance(word_class, str) and (self.pack is None or word_class in self.names):
            return word_class
        if isinstance(word_class, str) and f"{word_class} noun" in self.names:
            return f"{word_class} noun"
        hint = suggestion(str(word_class), self.names)
        raise source.error(key, f"'{word_class}' is not a class of words{hint}")


def _read_words(
    source: Source, entry: object, stated: dict[str, str], present: set[str], classes: _Classes
) -> WordForms:
    """Read the table [words]; classes in it override those that the sets state."""
    known_forms = classes.pack.form_names() if classes.pack else []
    keys = ["classes", *known_forms]
    if not isinstance(entry, dict):
        raise source.error("words", f"should be a table with {', '.join(keys)}, but is {type_name(entry)}")
    for key, table in entry.items():
        if not isinstance(table, dict):
            raise source.error(f"words.{key}", f"should be a table, but is {type_name(table)}")
    listed = {
        word: classes.read(source, "words.classes", word_class)
        for word, word_class in _grouped(source, "words.classes", entry.get("classes", {}), present).items()
    }
    forms = {key: _read_form(source, key, entry[key], present, classes) for key in entry if key != "classes"}
    return WordForms({**stated, **listed}, forms)


def _read_form(
    source: Source, form: str, entry: Mapping[str, Any], present: set[str], classes: _Classes
) -> dict[str, str]:
    """Read a word form, written as word = "form", or as value = [words] for a form with few values."""
    values = classes.pack.form_values(form) if classes.pack else ()
    if values:
        for value in entry:
            if value not in values:
                raise source.error(
                    f"words.{form}.{value}",
                    f'is not one of {", ".join(values)}; write {values[0]} = ["word", …]',
                )
        return _grouped(source, f"words.{form}", entry, present)
    stated = {word: checked_text(source, f"words.{form}.{word}", text) for word, text in entry.items()}
    if form == "article" and classes.pack is LANGUAGES.get(DEFAULT_LANGUAGE):
        for word, article in stated.items():
            if article not in ("a", "an"):
                raise source.error(f"words.article.{word}", f"should be a or an, but is '{article}'")
    return stated


def _grouped(source: Source, key: str, entry: Mapping[str, Any], present: set[str]) -> dict[str, str]:
    """Return, for each word, the value under which it is listed."""
    listed: dict[str, str] = {}
    for value, words in entry.items():
        for word in checked_texts(source, f"{key}.{value}", words):
            if word not in present:
                raise source.error(
                    key, f"names '{word}', which is not in any set{did_you_mean(word, present)}"
                )
            if listed.setdefault(word, value) != value:
                raise source.error(key, f"puts '{word}' under {listed[word]} and under {value}")
    return listed


def _read_templates(
    source: Source, content: Mapping[str, Any], language: str, stated: WordForms, classes: _Classes
) -> list[Template] | None:
    """Return the templates of the file, then of the files that it names, then of the pack; None if there are none."""
    if "template" not in content and "templates" not in content:
        _check_form_names(source, stated, classes, used=())
        return None
    slots = ["word", *(classes.pack.slots() if classes.pack else ()), *stated.forms]
    names = [*classes.names, *stated.classes.values()]
    templates = (
        read_templates(source, content["template"], language, slots, names) if "template" in content else []
    )
    given = content.get("templates", [])
    for each in (
        [given] if isinstance(given, str) else checked_texts(source, "templates", given) if given else []
    ):
        if each == PACK:
            if classes.pack is None:
                raise source.error(
                    "templates",
                    f"asks for the templates of the language pack, but there is no pack for '{language}'",
                )
            templates += pack_templates(classes.pack)
            continue
        file = Source.read(source.path.parent / each)
        templates += read_templates(file, _parsed(file).get("template", []), language, slots, names)
    if not templates:
        raise source.error(
            "templates" if "templates" in content else "template",
            f"has no template in the language '{language}'",
        )
    _check_form_names(source, stated, classes, {slot for template in templates for slot in template.slots})
    return list(dict.fromkeys(templates))


def _check_form_names(source: Source, stated: WordForms, classes: _Classes, used: Iterable[str]) -> None:
    """Refuse a form under [words] that neither the pack knows nor a template uses."""
    known = ["classes", *(classes.pack.form_names() if classes.pack else ()), *used]
    _no_other_keys(source, "words.", stated.forms, known)
