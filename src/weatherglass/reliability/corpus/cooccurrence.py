"""Count word co-occurrences once per corpus and window, for all GloVe embeddings of the corpus."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numba import njit
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.reliability.corpus.corpus import Corpus
from weatherglass.storage.array_writing import write_array
from weatherglass.storage.atomic import scratch_folder, whole_folder, write_whole
from weatherglass.storage.checksum import damaged_files, set_aside, write_sums

KEYS, VALUES, RECORD = "pairs.i64", "values.f64", "cooccurrence.json"
PARTS = (KEYS, VALUES, RECORD)
FREQUENT = 2048
"""The most frequent words; their pairs are counted in a dense array, since most co-occurrences are there."""
FILLED = 0.6
EMPTY = -1
MERGE = 2**22
"""Entries merged in memory at a time."""


@dataclass(frozen=True)
class Cooccurrence:
    """The upper triangle of the symmetric matrix X, sorted by row and column, memory-mapped."""

    keys: Integers
    """row · vocabulary + column, with row ≤ column."""
    values: Vector
    vocabulary: int


def count_cooccurrence(corpus: Corpus, window: int, memory: int = 2**28) -> Cooccurrence:
    """X(i, j): the sum of 1/distance over all places where i and j are within `window` words in a line.

    A word beside itself counts in both directions, as in the released GloVe. Pairs are counted in a hash table of
    `memory` bytes. Whenever it is full, it is sorted and written to the disk as a run; the runs are merged at the end.
    """
    folder = corpus.folder / f"cooccurrence-{window}"
    with FileLock(
        corpus.folder / ".cooccurrence.lock"
    ):  # Seeds that train in parallel wait for the first one.
        if folder.is_dir() and damaged_files(folder, PARTS):
            set_aside([folder], "and counted again")
        if not folder.is_dir():
            _count_into(folder, corpus, window, memory)
    keys: Integers = _map(folder / KEYS, np.int64)
    values: Vector = _map(folder / VALUES, np.float64)
    return Cooccurrence(keys, values, len(corpus.words))


def _count_into(folder: Path, corpus: Corpus, window: int, memory: int) -> None:
    with whole_folder(folder) as unfinished:
        with scratch_folder(corpus.folder) as runs:
            _merge(_count_runs(corpus, window, memory, runs), unfinished)
        write_whole(unfinished / RECORD, json.dumps({"vocabulary": len(corpus.words), "window": window}))
        write_sums(unfinished, PARTS)


def _map(path: Path, dtype: type[np.generic]) -> NDArray[Any]:
    if path.stat().st_size == 0:
        return np.empty(0, dtype)
    return np.memmap(path, dtype=dtype, mode="r")


def _count_runs(corpus: Corpus, window: int, memory: int, folder: Path) -> list[tuple[Path, Path]]:
    vocabulary = len(corpus.words)
    frequent = min(FREQUENT, vocabulary)
    dense = np.zeros((frequent, frequent))
    capacity = 1 << max(10, (memory // 16).bit_length() - 1)
    table_keys, table_values = np.full(capacity, EMPTY, dtype=np.int64), np.zeros(capacity)
    runs: list[tuple[Path, Path]] = []
    line, position = 0, 0
    while line < corpus.lines:
        line, position, used = _count_pairs(
            corpus.tokens, corpus.offsets, line, position, window, vocabulary, dense, table_keys, table_values
        )
        if line >= corpus.lines:  # The dense cells come last and once; they share no key with the table.
            rows, columns = np.nonzero(dense)
            cells, sums = rows * vocabulary + columns, dense[rows, columns]
        else:
            cells, sums = np.empty(0, np.int64), np.empty(0)
        filled = table_keys != EMPTY if used else np.zeros(capacity, dtype=bool)
        keys = np.concatenate([table_keys[filled], cells])
        values = np.concatenate([table_values[filled], sums])
        order = np.argsort(keys)
        paths = folder / f"run-{len(runs)}.keys", folder / f"run-{len(runs)}.values"
        for path, array in zip(paths, (keys, values), strict=True):
            with path.open("wb") as file:
                write_array(file, array[order])
        runs.append(paths)
        table_keys.fill(EMPTY)
        table_values.fill(0)
    return runs


@njit(cache=True, nogil=True)
def _count_pairs(
    tokens: NDArray[np.int32],
    offsets: Integers,
    line: int,
    position: int,
    window: int,
    vocabulary: int,
    dense: Matrix,
    keys: Integers,
    values: Vector,
) -> tuple[int, int, int]:
    """Count from a position of the corpus until its end or until the table is full.

    Returns:
        The line and position where it stopped, and the number of slots used.
    """
    frequent = dense.shape[0]
    mask = keys.shape[0] - 1
    limit = int(FILLED * keys.shape[0]) - window
    used = 0
    while line < offsets.shape[0] - 1:
        start = offsets[line]
        position = max(position, start)
        while position < offsets[line + 1]:
            if used >= limit:
                return line, position, used
            word = np.int64(tokens[position])
            for other_position in range(max(start, position - window), position):
                other = np.int64(tokens[other_position])
                low, high = min(word, other), max(word, other)
                weight = (2.0 if low == high else 1.0) / (position - other_position)
                if high < frequent:
                    dense[low, high] += weight
                    continue
                key = low * vocabulary + high
                slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
                while keys[slot] != key and keys[slot] != EMPTY:
                    slot = (slot + 1) & mask
                if keys[slot] == EMPTY:
                    keys[slot] = key
                    used += 1
                values[slot] += weight
            position += 1
        line += 1
    return line, position, used


def _merge(runs: list[tuple[Path, Path]], folder: Path) -> None:
    """Sum equal keys over all sorted runs, range of keys by range of keys, so that memory stays bounded."""
    mapped = [(_map(keys, np.int64), _map(values, np.float64)) for keys, values in runs]
    places = [0] * len(mapped)
    step = max(1, MERGE // len(mapped))
    with (folder / KEYS).open("wb") as keys_file, (folder / VALUES).open("wb") as values_file:
        while any(place < len(keys) for place, (keys, _) in zip(places, mapped, strict=True)):
            ends = [
                keys[place + step]
                for place, (keys, _) in zip(places, mapped, strict=True)
                if place + step < len(keys)
            ]
            bound = min(ends, default=np.iinfo(np.int64).max)
            parts_keys, parts_values = [], []
            for run, (keys, values) in enumerate(mapped):
                end = int(np.searchsorted(keys, bound)) if ends else len(keys)
                parts_keys.append(keys[places[run] : end])
                parts_values.append(values[places[run] : end])
                places[run] = end
            merged = np.concatenate(parts_keys)
            order = np.argsort(merged, kind="stable")
            merged, sums = merged[order], np.concatenate(parts_values)[order]
            starts = np.flatnonzero(np.r_[True, merged[1:] != merged[:-1]])
            write_array(keys_file, merged[starts])
            write_array(values_file, np.add.reduceat(sums, starts))
