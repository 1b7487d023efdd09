"""Read the word lists that transforms are fitted on: built-in lists, sets of the catalogue, or a user's file."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from weatherglass.errors import SpecError
from weatherglass.registry import suggestion
from weatherglass.storage.documents import document_text
from weatherglass.storage.reading import exists, user_path
from weatherglass.storage.tables import EXCEL, read_table

Pair = tuple[str, str]
Sides = tuple[tuple[str, ...], tuple[str, ...]]
"""The words of the two ends of an attribute, such as male and female."""
NEUTRAL, CATALOGUE, NONE = "neutral", "catalogue", "none"
PAIR_LISTS = ("gender",)


@dataclass(frozen=True, slots=True)
class PairList:
    """Pairs of words that differ in one attribute."""

    source: str
    """The name that the user typed."""
    pairs: tuple[Pair, ...]
    equalise: tuple[Pair, ...]
    """Pairs that hard debiasing equalises; in a user's file, the pairs themselves."""
    keep: tuple[str, ...] = ()
    """Words that have the attribute by definition."""
    ends: Pair = ("first", "second")
    topics: tuple[str, ...] = ()
    """Topics of the catalogue about the attribute."""
    held_out: tuple[Pair, ...] = ()
    """Pairs on which no transform is fitted."""

    @property
    def sides(self) -> Sides:
        return sides_of(self.pairs)

    @property
    def classes(self) -> Classes:
        """Return the words of both sides, including those of the pairs to equalise."""
        return Classes(self.source, self.ends, sides_of((*self.pairs, *self.equalise)), self.topics)


@dataclass(frozen=True, slots=True)
class Classes:
    """Words of two or more classes of an attribute."""

    source: str
    names: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    topics: tuple[str, ...] = ()

    @property
    def all_words(self) -> tuple[str, ...]:
        return tuple(word for words in self.words for word in words)

    @property
    def labels(self) -> list[int]:
        """Return the class number of each word."""
        return [number for number, words in enumerate(self.words) for _ in words]


def sides_of(pairs: Iterable[Pair]) -> Sides:
    """Return the first words and the second words of pairs, without repeats."""
    listed = tuple(pairs)
    first, second = (tuple(dict.fromkeys(pair[side] for pair in listed)) for side in (0, 1))
    return first, second


def content_hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def pair_list(source: str) -> PairList:
    """Return the list named `gender`, or read a file with two words per line, separated by a tab or a comma.

    Raises:
        SpecError: if the file cannot be read, is empty, or has a line or a word that cannot be used.
    """
    if source in PAIR_LISTS:
        return _named(source)
    path = _file(source, PAIR_LISTS, "pairs")
    pairs = tuple(_pairs_of(path))
    _check_sides(path, [[first for first, _ in pairs], [second for _, second in pairs]])
    return PairList(source, pairs, pairs)


@cache
def _named(name: str) -> PairList:
    record = tomllib.loads(_resource(f"{name}.toml"))
    pairs, equalise, held_out = (
        tuple((a, b) for a, b in record[key]) for key in ("pairs", "equalise", "held_out")
    )
    first, second = record["ends"]
    keep, topics = tuple(record["keep"]), tuple(record["topics"])
    return PairList(name, pairs, equalise, keep, (first, second), topics, held_out)


def class_list(source: str) -> Classes:
    """Return the classes of `gender`, of catalogue sets (`male_terms,female_terms`), or of a file with lines
    `word<tab>class`.

    Raises:
        SpecError: if the file cannot be read or used, there are fewer than two classes, or a word is in two classes.
    """
    if source in PAIR_LISTS:
        return _named(source).classes
    if "," in source and not exists(Path(source)):
        return _catalogue_classes(source)
    path = _file(source, PAIR_LISTS, "classes")
    by_class: dict[str, list[str]] = {}
    for number, cells in _rows(path, 2, "a word and its class"):
        if cells[0] in by_class.setdefault(cells[1], []):
            raise SpecError(f"{path}, line {number}: '{cells[0]}' appears twice")
        by_class[cells[1]].append(cells[0])
    if len(by_class) < 2:
        raise SpecError(f"{path}: has only the class '{next(iter(by_class))}', but at least two are needed")
    _check_sides(path, list(by_class.values()))
    return Classes(source, tuple(by_class), tuple(map(tuple, by_class.values())))


def _catalogue_classes(source: str) -> Classes:
    from weatherglass.catalogue.published import table

    sets, names = table("sets"), tuple(name.strip() for name in source.split(","))
    for name in names:
        if name not in sets:
            raise SpecError(
                f"classes={source}: the catalogue has no set '{name}'{suggestion(name, list(sets))}"
            )
    words = tuple(tuple(sets[name]["words"]) for name in names)
    if len(set(names)) < 2:
        raise SpecError(f"classes={source}: this is only one class, but at least two are needed")
    _check_sides(source, words)
    return Classes(source, names, words)


def word_list(source: str) -> tuple[str, ...]:
    """Return the words of `neutral`, of `catalogue` (all catalogue sets), or of a file with one word per line.

    Raises:
        SpecError: if the file cannot be read or is empty.
    """
    if source == NEUTRAL:
        return neutral_words()
    if source == CATALOGUE:
        from weatherglass.catalogue.published import table

        return tuple(dict.fromkeys(word for entry in table("sets").values() for word in entry["words"]))
    path = _file(source, (NEUTRAL, CATALOGUE), "words")
    return tuple(dict.fromkeys(line for _, line in _lines(path)))


@cache
def neutral_words() -> tuple[str, ...]:
    """Return 5 000 frequent English words, most frequent first, without names and words that are gendered by
    definition.
    """
    return tuple(line for line in _resource("neutral.txt").splitlines() if line and not line.startswith("#"))


def spellings(word: str) -> tuple[str, ...]:
    """Return the word as it is written, and in lower, title and upper case."""
    return tuple(dict.fromkeys((word, word.lower(), word.title(), word.upper())))


def _resource(name: str) -> str:
    return files("weatherglass.mitigation").joinpath("word_lists", name).read_text(encoding="utf-8")


def _file(source: str, known: Sequence[str], option: str) -> Path:
    path = user_path(source, SpecError)
    if not exists(path) and "/" not in source and "." not in source:
        raise SpecError(
            f"{option}={source}: neither a built-in list nor a file{suggestion(source, list(known))}"
        )
    return path


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the numbered lines of a file without empty lines and comments."""
    text = document_text(path, SpecError)
    numbered = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    lines = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    if not lines:
        raise SpecError(f"{path}: the file is empty; write one word per line")
    return lines


def _rows(path: Path, columns: int, what: str) -> Iterable[tuple[int, Sequence[str]]]:
    given: Iterable[tuple[int, Sequence[str]]]
    if path.suffix.lower() in EXCEL:
        given = [(row.number, row.cells) for row in read_table(path, SpecError).rows]
    else:
        given = [
            (number, [cell.strip() for cell in line.split("\t" if "\t" in line else ",")])
            for number, line in _lines(path)
        ]
    for number, cells in given:
        if len(cells) != columns or not all(cells):
            raise SpecError(f"{path}, line {number}: expected {what}, separated by a tab or a comma")
        yield number, cells


def _pairs_of(path: Path) -> Iterable[Pair]:
    seen: set[Pair] = set()
    for number, (first, second) in _rows(path, 2, "two words"):
        if first == second:
            raise SpecError(f"{path}, line {number}: '{first}' is paired with itself")
        if (first, second) in seen:
            raise SpecError(f"{path}, line {number}: the pair '{first}', '{second}' appears twice")
        seen.add((first, second))
        yield first, second


def _check_sides(source: Path | str, sides: Sequence[Sequence[str]]) -> None:
    """Refuse a word that is on both sides."""
    home: dict[str, int] = {}
    for number, words in enumerate(sides):
        for word in words:
            if home.setdefault(word, number) != number:
                raise SpecError(f"{source}: '{word}' is on two sides of the list; remove it from one")
