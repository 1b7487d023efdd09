"""Provide base pairs, target words and queries, from built-in lists or from the user's files."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weatherglass.catalogue.words import read_words
from weatherglass.errors import CorpusError
from weatherglass.registry import unknown
from weatherglass.storage.documents import document_text, shipped_toml
from weatherglass.storage.reading import is_regular_file
from weatherglass.storage.tables import TABLES, read_table

FREQUENT = 10_000
"""The number of most frequent words that represent the vocabulary."""

FREQUENT_LIST, VOCABULARY_LIST = "frequent", "vocabulary"
"""The names of the lists that every study has."""

SPECIAL = re.compile(r"<[^<>]*>|\[[A-Z_]+\]")
"""Vocabulary entries that are not words, such as <unk>, </s> and [PAD]."""


@dataclass(frozen=True)
class BasePairs:
    """Pairs of words at the two ends of a scale; a score above 0 leans to the first word."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    source: str = ""

    def present(self, vocabulary: Collection[str]) -> list[tuple[str, str]]:
        """Return the pairs whose words are both in the vocabulary."""
        return [pair for pair in self.pairs if pair[0] in vocabulary and pair[1] in vocabulary]


@dataclass(frozen=True)
class StudyWordList:
    """Target words, or the words of a query."""

    name: str
    words: tuple[str, ...]
    source: str = ""


def is_word(token: str) -> bool:
    """Return whether a vocabulary entry is a word, not a mark such as `<unk>`."""
    return SPECIAL.fullmatch(token) is None


def _table(name: str) -> dict[str, Any]:
    return shipped_toml(__package__, name)


def base_pairs(name: str) -> BasePairs:
    """Return a built-in set of base pairs by name, or read a set from a table of two columns or a file of pairs.

    A file has two words on each line.

    Raises:
        UnknownNameError: if there is no built-in set and no file with this name.
        CorpusError: if a line of the file does not have two words.
    """
    table = _table("pairs")
    if name in table:
        entry = table[name]
        return BasePairs(name, tuple((first, second) for first, second in entry["pairs"]), entry["source"])
    path = Path(name)
    if not is_regular_file(path):
        raise unknown("set of base pairs or file", name, table)
    pairs = []
    for number, parts in _rows(path):
        line = " ".join(parts)
        if len(parts) != 2 or not all(parts):
            raise CorpusError(f"{path}, line {number}: '{line}' should be one pair of two words")
        if parts[0] == parts[1]:
            raise CorpusError(
                f"{path}, line {number}: '{line}' repeats one word; a pair has two different words"
            )
        pairs.append((parts[0], parts[1]))
    if not pairs:
        raise CorpusError(f"{path}: no base pairs in this file; write two words on each line")
    return BasePairs(path.stem, tuple(dict.fromkeys(pairs)), path.name)


def target_list(name: str) -> StudyWordList:
    """Return a built-in list of target words by name, or read a list from a table or a file with one word per line.

    Raises:
        UnknownNameError: if there is no built-in list and no file with this name.
        CorpusError: if the file cannot be read as words.
    """
    table = _table("targets")
    if name in table:
        return StudyWordList(name, tuple(table[name]["words"]), table[name]["source"])
    path = Path(name)
    if not is_regular_file(path):
        raise unknown("list of target words or file", name, table)
    return StudyWordList(path.stem, tuple(read_words(path, repeats=True, error=CorpusError).words), path.name)


def queries() -> list[StudyWordList]:
    """Return the six queries of Du et al., which are sets of weat6, weat7 and weat8 in lower case."""
    from weatherglass.catalogue.published import table

    sets = table("sets")
    return [
        StudyWordList(
            name, tuple(word.lower() for word in sets[entry["set"]]["words"]), sets[entry["set"]]["source"]
        )
        for name, entry in _table("queries").items()
    ]


def frequent_words(vocabulary: Sequence[str], number: int = FREQUENT) -> StudyWordList:
    """Return the first `number` words, without punctuation, of a vocabulary that is ordered by frequency."""
    words = [word for word in vocabulary if is_word(word) and any(map(str.isalnum, word))]
    return StudyWordList(
        FREQUENT_LIST, tuple(words[:number]), f"the {number} most frequent words of the corpus"
    )


def _rows(path: Path) -> list[tuple[int, Sequence[str]]]:
    """Return the cells of a table, or the words of each line of a text, with their line numbers."""
    if path.suffix.lower() in TABLES:
        return [(row.number, row.cells) for row in read_table(path, CorpusError).rows]
    text = document_text(path, CorpusError)
    lines = enumerate((line.strip() for line in text.splitlines()), start=1)
    return [(number, line.split()) for number, line in lines if line and not line.startswith("#")]
