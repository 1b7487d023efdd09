"""Plant a dose of a stereotype in an encoded corpus by drawing the group words of each sentence again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.catalogue.test import ElementSet, Test
from weatherglass.errors import CorpusError
from weatherglass.reliability.corpus import (
    OFFSETS,
    PARTS,
    RECORD,
    TOKENS,
    VOCABULARY,
    Corpus,
    open_corpus,
)
from weatherglass.storage.array_file import write_array
from weatherglass.storage.atomic import whole_folder, write_whole
from weatherglass.storage.checksum import damaged_files, set_aside, write_sums

VERSION = 1
"""The version of the draws; increase it when the same seed gives another corpus."""
LINES = 2**16
"""The number of lines in memory at a time; each block has its own random generator, so a change needs a new VERSION."""
LEAST = 20
"""The number of sentences with a word of a group and a word of its attribute below which nothing can be planted."""


@dataclass(frozen=True)
class Stereotype:
    """Two groups, and the attribute words that a stereotype ascribes to each."""

    groups: tuple[tuple[str, ...], tuple[str, ...]]
    attributes: tuple[tuple[str, ...], tuple[str, ...]]
    """The words ascribed to the first group, and to the second."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Group words that replace each other, such as he and she; all others are drawn at random within their group."""

    def __post_init__(self) -> None:
        for first, second, what in ((*self.groups, "groups"), (*self.attributes, "attributes")):
            if not first or not second:
                raise CorpusError(f"one of the two {what} has no words; a stereotype needs words for both")
            if shared := sorted(set(first) & set(second)):
                raise CorpusError(f"'{shared[0]}' is a word of both {what}; remove it from one of them")
        both = {word for group in self.groups for word in group}
        if shared := sorted(both & {word for words in self.attributes for word in words}):
            raise CorpusError(
                f"'{shared[0]}' is a word of a group and of an attribute; remove it from one of them"
            )

    @property
    def mirrored(self) -> Stereotype:
        """Return the opposite stereotype; a dose r of it is a dose 1 - r of this one."""
        return dataclasses.replace(self, attributes=(self.attributes[1], self.attributes[0]))


def stereotype_of(test: Test, pairs: Sequence[tuple[str, str]] = (), groups: str = "targets") -> Stereotype:
    """Return the stereotype of a test of two target and two attribute sets, in lower case.

    Args:
        test: the test; a stereotype ascribes A to X and B to Y.
        pairs: words that replace each other; their words become words of the groups if one of them is.
        groups: which sets of the test are the groups of people: "targets" or "attributes".

    Raises:
        CorpusError: if the test has other numbers of sets, or a word is in two of them.
    """
    if test.shape != (2, 2):
        raise CorpusError(
            f"{test.name}: has {test.shape[0]} target and {test.shape[1]} attribute sets; two of each are needed"
        )
    ends = (_words(test.targets), _words(test.attributes))
    people, ascribed = ends if groups == "targets" else ends[::-1]
    inside = {word for group in people for word in group}
    chosen = tuple((first.lower(), second.lower()) for first, second in pairs)
    chosen = tuple(pair for pair in chosen if inside & set(pair))
    first, second = (
        tuple(dict.fromkeys((*group, *(pair[side] for pair in chosen)))) for side, group in enumerate(people)
    )
    return Stereotype((first, second), ascribed, chosen)


def _words(sets: tuple[ElementSet, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first, second = (tuple(dict.fromkeys(one.word.lower() for one in each.elements)) for each in sets)
    return first, second


def plant(corpus: Corpus, stereotype: Stereotype, dose: float, seed: int, folder: Path) -> Corpus:
    """Return the corpus with a dose of the stereotype; it is read from `folder` if it is there.

    Each sentence with a group word gets one group: if it has more words of one attribute than of the other, the group
    that the stereotype names with probability `dose`, and otherwise each group with probability ½. So a dose of ½ means
    no stereotype, and a dose of 1 is a text without exceptions. The same seed uses the same random numbers for all
    doses, so that the corpora of two doses differ only where the dose decides.

    Raises:
        CorpusError: if the words do not occur together often enough.
    """
    if not 0 <= dose <= 1:
        raise CorpusError(f"dose = {dose:g}: a dose is a probability from 0 to 1; 0.5 means no stereotype")
    planter = _Planter(corpus, stereotype)
    recipe = [VERSION, corpus.hash, dataclasses.astuple(stereotype), float(dose), seed]
    key = hashlib.sha256(json.dumps(recipe).encode()).hexdigest()
    place = folder / f"{corpus.name}-dose{dose:.4g}-seed{seed:03d}-{key[:12]}"
    if place.is_dir() and damaged_files(place, PARTS):
        set_aside([place], "and planted again")
    if not (place / RECORD).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with whole_folder(place) as unfinished:
            planter.write(unfinished, dose, seed, key)
    return open_corpus(place)


def agreement(corpus: Corpus, stereotype: Stereotype) -> tuple[int, int]:
    """Return the number of sentences with a group word and one attribute, and how many agree with the stereotype."""
    sentences = agreeing = 0
    planter = _Planter(corpus, stereotype, least=0)
    for block in planter.blocks():
        people = block.sum_of(planter.group_side)
        relevant = (people != 0) & (block.ascribed != 0)
        sentences += int(relevant.sum())
        agreeing += int((np.sign(people) == np.sign(block.ascribed))[relevant].sum())
    return sentences, agreeing


@dataclass(frozen=True)
class _Block:
    """Some lines of a corpus."""

    number: int
    tokens: NDArray[np.int64]
    line: Integers
    """The line of each token, from 0."""
    lengths: Integers
    ascribed: NDArray[np.float64]
    """For each line, the words of the first attribute minus those of the second."""

    def sum_of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over the tokens of each line of a value for each word."""
        return _line_sums(self.line, values[self.tokens], len(self.lengths))


def _line_sums(line: Integers, values: NDArray[np.float64], lines: int) -> NDArray[np.float64]:
    return np.asarray(np.bincount(line, weights=values, minlength=lines), dtype=np.float64)


class _Planter:
    def __init__(self, corpus: Corpus, stereotype: Stereotype, least: int = LEAST) -> None:
        self.corpus = corpus
        self._index = {word: place for place, word in enumerate(corpus.words)}
        self._groups = [self._known(words, "group") for words in stereotype.groups]
        self.group_side = self._sides(self._groups)
        self._attribute_side = self._sides(
            [self._known(words, "attribute") for words in stereotype.attributes]
        )
        self._counterparts = self._find_counterparts(stereotype.pairs)
        paired = {place for side in self._counterparts for place in side}
        self._drawn = [
            np.array([place for place in group if place not in paired], dtype=np.int64)
            for group in self._groups
        ]
        if least:
            self._require_occurrences(least)

    def _known(self, words: Sequence[str], kind: str) -> list[int]:
        found = [self._index[word] for word in words if word in self._index]
        if not found:
            raise CorpusError(
                f"{self.corpus.name}: none of the {kind} words {', '.join(words[:5])} … is in the vocabulary; "
                "choose another test, or lower min_count"
            )
        return found

    def _sides(self, both: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        sides = np.zeros(len(self.corpus.words))
        sides[list(both[0])], sides[list(both[1])] = 1.0, -1.0
        return sides

    def _require_occurrences(self, least: int) -> None:
        together = sum(
            int(((block.sum_of(np.abs(self.group_side)) > 0) & (block.ascribed != 0)).sum())
            for block in self.blocks()
        )
        if together < least:
            raise CorpusError(
                f"{self.corpus.name}: only {together} sentences contain a group word and words of one attribute; at "
                f"least {least} are needed to plant a stereotype"
            )

    def _find_counterparts(self, pairs: Sequence[tuple[str, str]]) -> list[dict[int, list[int]]]:
        """Return, for each side, the words of that side that can replace each word of the other one."""
        found: list[dict[int, list[int]]] = [{}, {}]
        for first, second in pairs:
            if first in self._index and second in self._index:
                one, other = self._index[first], self._index[second]
                found[0].setdefault(other, []).append(one)
                found[1].setdefault(one, []).append(other)
        return found

    def blocks(self) -> Iterator[_Block]:
        """Yield the corpus in blocks of lines."""
        offsets = np.asarray(self.corpus.offsets)
        for number, start in enumerate(range(0, self.corpus.lines, LINES)):
            ends = offsets[start : start + LINES + 1]
            tokens = np.asarray(self.corpus.tokens[ends[0] : ends[-1]], dtype=np.int64)
            lengths = np.diff(ends)
            line = np.repeat(np.arange(len(lengths)), lengths)
            ascribed = _line_sums(line, self._attribute_side[tokens], len(lengths))
            yield _Block(number, tokens, line, lengths, ascribed)

    def write(self, folder: Path, dose: float, seed: int, key: str) -> None:
        """Write the planted corpus as `encode_corpus` does: ids are sorted by the frequency of their words."""
        words = self.corpus.words
        counts = np.zeros(len(words), dtype=np.int64)
        for block in self.blocks():  # planted twice, so that no corpus has to fit into memory
            counts += np.bincount(self._planted(block, dose, seed), minlength=len(words))
        order = sorted(np.flatnonzero(counts), key=lambda place: (-counts[place], words[place]))
        ids = np.full(len(words), -1, dtype=np.int32)
        ids[order] = np.arange(len(order), dtype=np.int32)
        write_whole(folder / VOCABULARY, "".join(f"{words[place]}\t{counts[place]}\n" for place in order))
        with (folder / TOKENS).open("wb") as file:
            for block in self.blocks():
                write_array(file, ids[self._planted(block, dose, seed)])
        with (folder / OFFSETS).open("wb") as file:
            write_array(file, np.asarray(self.corpus.offsets, dtype=np.int64))
        record = {
            "name": self.corpus.name,
            "hash": key,
            "source": self.corpus.hash,
            "dose": dose,
            "seed": seed,
        }
        write_whole(folder / RECORD, json.dumps(record, indent=1) + "\n")
        write_sums(folder, PARTS)

    def _planted(self, block: _Block, dose: float, seed: int) -> NDArray[np.int64]:
        """Return the tokens of a block after its group words were drawn."""
        random = np.random.default_rng([seed, block.number])
        first = np.where(block.ascribed > 0, dose, np.where(block.ascribed < 0, 1 - dose, 0.5))
        is_first = random.random(len(block.lengths)) < first
        which = random.random(len(block.tokens))
        tokens = block.tokens.copy()
        following = self._following(block)
        for side, mine in enumerate((is_first, ~is_first)):
            here = mine[block.line]
            for word, options in self._counterparts[side].items():
                places = np.flatnonzero(here & (block.tokens == word))
                tokens[places] = self._fitting(options, following[places])
            if len(self._drawn[side]):
                drawn = here & np.isin(block.tokens, np.concatenate(self._drawn))
                tokens[drawn] = self._drawn[side][(which[drawn] * len(self._drawn[side])).astype(np.int64)]
        return tokens

    def _following(self, block: _Block) -> NDArray[np.int64]:
        """Return the next token in the line of each token, or the size of the vocabulary at the end of a line."""
        end = len(self.corpus.words)
        following = np.append(block.tokens[1:], end)
        following[np.cumsum(block.lengths)[block.lengths > 0] - 1] = end
        return following

    def _fitting(self, options: Sequence[int], following: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the replacement at each place; of several, such as him and his for her, by the next word."""
        if len(options) == 1 or not len(following):
            return np.full(len(following), options[0], dtype=np.int64)
        shares = np.array([self._next_words(option) for option in options])
        best = shares[:, following].argmax(axis=0)
        return np.array([options[one] for one in best], dtype=np.int64)

    def _next_words(self, word: int) -> NDArray[np.float64]:
        """Return the share of each next word after `word` in the original corpus, smoothed by its own frequency."""
        cached: dict[int, NDArray[np.float64]] = self.__dict__.setdefault("_bigrams", {})
        if word not in cached:
            counts = np.zeros(len(self.corpus.words) + 1)
            for block in self.blocks():
                counts += np.bincount(
                    self._following(block)[block.tokens == word], minlength=len(self.corpus.words) + 1
                )
            total = float(self.corpus.counts[word])
            everywhere = np.append(self.corpus.counts, self.corpus.lines) / (
                self.corpus.counts.sum() + self.corpus.lines
            )
            cached[word] = total * (counts + 10 * everywhere) / (counts.sum() + 10)
        return cached[word]
