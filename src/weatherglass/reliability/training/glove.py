"""Train GloVe (Pennington, Socher & Manning 2014) in numba: count co-occurrences, then fit their logarithms."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.reliability.corpus import Corpus
from weatherglass.reliability.training.embedding import Vectors
from weatherglass.storage.array_file import write_array
from weatherglass.storage.atomic import scratch_folder, whole_folder, write_whole
from weatherglass.storage.checksum import damaged_files, set_aside, write_sums

KEYS, VALUES, RECORD = "pairs.i64", "values.f64", "cooccurrence.json"
PARTS = (KEYS, VALUES, RECORD)
FREQUENT = 2048
"""The number of most frequent words, whose pairs have most co-occurrences and are counted in a dense array."""
FILLED = 0.6
EMPTY = -1
MERGE = 2**22
"""The number of entries merged in memory at a time."""


@dataclass(frozen=True)
class Cooccurrence:
    """The upper triangle of the symmetric matrix X, sorted by row and column, memory-mapped."""

    keys: Integers
    """The keys, which are row · vocabulary + column, with row ≤ column."""
    values: Vector
    vocabulary: int


def count_cooccurrence(corpus: Corpus, window: int, memory: int = 2**28) -> Cooccurrence:
    """Count X(i, j), the sum of 1/distance over all places where i and j are within `window` words in a line.

    As in the released GloVe, two occurrences of the same word count in both directions. Pairs are counted in a hash
    table of `memory` bytes. When it is full, it is sorted and written to disk as a run; the runs are merged at the end.
    """
    folder = corpus.folder / f"cooccurrence-{window}"
    with FileLock(
        corpus.folder / ".cooccurrence.lock"
    ):  # seeds that are trained in parallel wait for the first one
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
        if (
            line >= corpus.lines
        ):  # the dense cells are added once, at the end; they share no key with the table
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
        The line and the position at which counting stopped, and the number of used slots.
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
    """Sum equal keys over all sorted runs, in ranges of keys, so that memory is bounded."""
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


TO_WRITE, USED_SOON, DATA = 1, 3, 1
"""Arguments of llvm.prefetch: access, locality, cache."""


def _prefetch(_: Any, array: Any, i: Any, j: Any, k: Any) -> Any:  # noqa: ARG001 - numba wants an argument for each
    """Prefetch the cache line of array[i, j, k] for writing, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        with suppress(ImportError, AttributeError, TypeError):
            _generate_prefetch(context, builder, signature.args[0], arguments[0], arguments[1:])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, types.intp), generate


def _generate_prefetch(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> None:
    """Add the LLVM instruction to the function that is being compiled.

    Raises:
        ImportError, AttributeError, TypeError: if the internals of this version of numba or llvmlite differ.
    """
    from llvmlite import ir
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    address = cgutils.get_item_pointer(
        context, builder, kind, make_array(kind)(context, builder, array), place
    )
    pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    signature = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    flags = [ir.Constant(number, flag) for flag in (TO_WRITE, USED_SOON, DATA)]
    function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], signature)
    builder.call(function, [builder.bitcast(address, pointer), *flags])


prefetch: Any = intrinsic(_prefetch)


PAIR = np.dtype([("word", "<i4"), ("context", "<i4"), ("log", "<f4"), ("weight", "<f4")])
"""A cell of X for training: its row and column, log X and the weight f(X)."""

CHUNK = 2**20
BUCKET = 2**30
"""The number of bytes of pairs shuffled in memory at a time; their order needs half as much in addition."""
LINE = 16
"""The number of float32 values in a cache line."""
STRIDE, AHEAD = 7 * LINE, 2
"""While STRIDE columns of a pair are updated, the same columns of the pair AHEAD positions later are prefetched."""
WORD, CONTEXT = -2, -1
"""The columns of the biases of a word and of a context."""


@dataclass(frozen=True)
class GloveSettings:
    """The settings of GloVe; the defaults are those of Du et al. (2021) and of the released program."""

    dimensions: int = 300
    window: int = 15
    iterations: int = 15
    x_max: float = 10.0
    exponent: float = 0.75
    """The exponent of the weight f(X) = min(1, X / x_max) ** exponent."""
    eta: float = 0.05


def train_glove(
    corpus: Corpus,
    seed: int,
    settings: GloveSettings,
    scratch: Path,
    report: Callable[[float], None] = lambda _: None,
) -> Vectors:
    """Return w + w̃ for every word; the same seed always gives the same bytes."""
    vectors, _ = fit(count_cooccurrence(corpus, settings.window), seed, settings, scratch, report)
    return vectors


def fit(
    counts: Cooccurrence,
    seed: int,
    settings: GloveSettings,
    scratch: Path,
    report: Callable[[float], None] = lambda _: None,
) -> tuple[Vectors, list[float]]:
    """Return the vectors, and the mean loss of each iteration.

    The seed determines the initial values and one shuffle of the pairs, which are stored in temporary files in
    `scratch`. `report` is called after each iteration with its share of the work.
    """
    rng = np.random.default_rng(seed)
    words = initial_parameters(rng, counts.vocabulary, settings.dimensions, WORD)
    contexts = initial_parameters(rng, counts.vocabulary, settings.dimensions, CONTEXT)
    eta = np.float32(settings.eta)
    with shuffled_pairs(counts, rng, settings, scratch) as buckets:
        total = max(1, sum(len(pairs) for pairs in buckets))
        losses = []
        for _ in range(settings.iterations):
            losses.append(sum(descend(pairs, words, contexts, eta) for pairs in buckets) / total)
            report(1 / settings.iterations)
    return words[:, 0, : settings.dimensions] + contexts[:, 0, : settings.dimensions], losses


def initial_parameters(
    rng: np.random.Generator, vocabulary: int, dimensions: int, side: int
) -> NDArray[np.float32]:
    """Return initial vectors and biases in ±0.5/d, and squared gradients of 1, vocabulary × 2 × columns.

    The two rows of a word are adjacent and aligned to cache lines, because most of the training time is spent loading
    them. The last two columns are bias and 1 for a word, and 1 and bias for a context, so that one dot product adds
    both biases.
    """
    columns = -(-(dimensions + 2) // LINE) * LINE
    memory = np.zeros(vocabulary * 2 * columns + LINE, dtype=np.float32)
    start = -memory.ctypes.data % (LINE * memory.itemsize) // memory.itemsize
    parameters = memory[start : start + vocabulary * 2 * columns].reshape(vocabulary, 2, columns)
    drawn = rng.random((vocabulary, dimensions + 1), dtype=np.float32) - np.float32(0.5)
    drawn /= np.float32(dimensions)
    parameters[:, 0, :dimensions] = drawn[:, :dimensions]
    parameters[:, 0, side] = drawn[:, dimensions]
    parameters[:, 0, WORD + CONTEXT - side] = 1
    parameters[:, 1] = 1
    return parameters


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def descend(
    pairs: NDArray[np.void], words: NDArray[np.float32], contexts: NDArray[np.float32], eta: np.float32
) -> float:
    """Make one pass of AdaGrad over the pairs, in place; return the summed loss ½ f(X) (w·w̃ + b + b̃ − log X)².

    As in the released program, the square of eta times the gradient is accumulated.
    """
    number, columns = pairs.shape[0], words.shape[2]
    one = np.float32(1)
    loss = 0.0
    for place in range(number):
        pair, upcoming = pairs[place], pairs[min(place + AHEAD, number - 1)]
        w, w_squares = words[pair.word, 0], words[pair.word, 1]
        c, c_squares = contexts[pair.context, 0], contexts[pair.context, 1]
        product = np.float32(0)
        for k in range(columns):
            product += w[k] * c[k]
        difference = product - pair.log
        weighted = pair.weight * difference
        loss += 0.5 * weighted * difference
        step = eta * weighted
        for start in range(0, columns, STRIDE):
            end = min(start + STRIDE, columns)
            for column in range(start, end, LINE):
                prefetch(words, upcoming.word, 0, column)
                prefetch(words, upcoming.word, 1, column)
                prefetch(contexts, upcoming.context, 0, column)
                prefetch(contexts, upcoming.context, 1, column)
            _step(w[start:end], c[start:end], w_squares[start:end], c_squares[start:end], step)
        w[CONTEXT] = c[WORD] = one  # the 1 that multiplies the other bias is not a parameter
    return loss


@njit(inline="always")
def _step(w: Vectors, c: Vectors, w_squares: Vectors, c_squares: Vectors, step: np.float32) -> None:
    """Make one step of AdaGrad on some columns of both vectors."""
    one = np.float32(1)
    for k in range(w.shape[0]):
        w_step, c_step = step * c[k], step * w[k]
        w[k] -= w_step * (one / np.sqrt(w_squares[k]))
        c[k] -= c_step * (one / np.sqrt(c_squares[k]))
        w_squares[k] += w_step * w_step
        c_squares[k] += c_step * c_step


@contextmanager
def shuffled_pairs(
    counts: Cooccurrence, rng: np.random.Generator, settings: GloveSettings, scratch: Path
) -> Iterator[list[NDArray[np.void]]]:
    """Yield both directions of every pair, in random order, in memory-mapped temporary files.

    Each pair is assigned to a random bucket, and each bucket is shuffled in memory, which together is a uniform
    shuffle.
    """
    number = max(1, -(-2 * len(counts.keys) * PAIR.itemsize // BUCKET))
    with scratch_folder(scratch) as folder:
        paths = [folder / f"bucket-{bucket}" for bucket in range(number)]
        for path in paths:
            path.touch()
        for start in range(0, len(counts.keys), CHUNK):
            pairs = _both_directions(counts, slice(start, start + CHUNK), settings)
            bucket = rng.integers(number, size=len(pairs))
            for index, path in enumerate(paths):
                with path.open("ab") as file:
                    write_array(file, pairs[bucket == index])
        for path in paths:
            _shuffle_file(path, rng)
        yield [
            np.memmap(path, dtype=PAIR, mode="r") if path.stat().st_size else np.empty(0, PAIR)
            for path in paths
        ]


def _shuffle_file(path: Path, rng: np.random.Generator) -> None:
    """Shuffle the pairs of a file; this is a function so that its memory is freed before the next file is read."""
    pairs = np.fromfile(path, dtype=PAIR)
    order = rng.permutation(len(pairs))
    with path.open("wb") as file:
        for start in range(0, len(order), CHUNK):
            write_array(file, pairs[order[start : start + CHUNK]])


def _both_directions(counts: Cooccurrence, part: slice, settings: GloveSettings) -> NDArray[np.void]:
    rows, columns = np.divmod(counts.keys[part], counts.vocabulary)
    values = counts.values[part]
    off_diagonal = rows != columns
    pairs = np.empty(len(rows) + int(off_diagonal.sum()), dtype=PAIR)
    pairs["word"] = np.concatenate([rows, columns[off_diagonal]])
    pairs["context"] = np.concatenate([columns, rows[off_diagonal]])
    cells = np.concatenate([values, values[off_diagonal]])
    pairs["log"] = np.log(cells)
    pairs["weight"] = np.minimum(1, (cells / settings.x_max)) ** settings.exponent
    return pairs
