"""GloVe (Pennington, Socher & Manning 2014) in numba: weighted least squares on log co-occurrence, by AdaGrad."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weatherglass.reliability.corpus.cooccurrence import Cooccurrence, count_cooccurrence
from weatherglass.reliability.corpus.corpus import Corpus
from weatherglass.reliability.training.embedding import Vectors
from weatherglass.reliability.training.prefetch import prefetch
from weatherglass.storage.array_writing import write_array
from weatherglass.storage.atomic import scratch_folder

PAIR = np.dtype([("word", "<i4"), ("context", "<i4"), ("log", "<f4"), ("weight", "<f4")])
"""One cell of X as training reads it: its row and column, log X and the weight f(X)."""

CHUNK = 2**20
BUCKET = 2**30
"""Bytes of pairs shuffled in memory at a time; their order takes half as much again."""
LINE = 16
"""Numbers in a cache line."""
STRIDE, AHEAD = 7 * LINE, 2
"""While STRIDE columns of a pair are computed, the same columns of the pair AHEAD places later are prefetched."""
WORD, CONTEXT = -2, -1
"""The columns of the biases: of a word and of a context."""


@dataclass(frozen=True)
class GloveSettings:
    """Defaults of Du et al. 2021, as in the released GloVe."""

    dimensions: int = 300
    window: int = 15
    iterations: int = 15
    x_max: float = 10.0
    exponent: float = 0.75
    """Of the weight f(X) = min(1, X / x_max) ** exponent."""
    eta: float = 0.05


def train_glove(corpus: Corpus, seed: int, settings: GloveSettings, scratch: Path) -> Vectors:
    """w + w̃ for every word; the same seed gives the same bytes."""
    vectors, _ = fit(count_cooccurrence(corpus, settings.window), seed, settings, scratch)
    return vectors


def fit(
    counts: Cooccurrence, seed: int, settings: GloveSettings, scratch: Path
) -> tuple[Vectors, list[float]]:
    """The vectors, and the mean loss of each iteration.

    The seed decides the initial values and one shuffle of the pairs; the pairs are in a temporary file in `scratch`.
    """
    rng = np.random.default_rng(seed)
    words = initial_parameters(rng, counts.vocabulary, settings.dimensions, WORD)
    contexts = initial_parameters(rng, counts.vocabulary, settings.dimensions, CONTEXT)
    eta = np.float32(settings.eta)
    with shuffled_pairs(counts, rng, settings, scratch) as buckets:
        total = max(1, sum(len(pairs) for pairs in buckets))
        losses = [
            sum(descend(pairs, words, contexts, eta) for pairs in buckets) / total
            for _ in range(settings.iterations)
        ]
    return words[:, 0, : settings.dimensions] + contexts[:, 0, : settings.dimensions], losses


def initial_parameters(
    rng: np.random.Generator, vocabulary: int, dimensions: int, side: int
) -> NDArray[np.float32]:
    """Vectors and biases in ±0.5/d and their squared gradients, which start from 1: vocabulary × 2 × columns.

    Both of a word are adjacent and aligned to cache lines, because most of the training time is spent on loading them.
    The last two columns are bias and 1 for a word, 1 and bias for a context, so that one dot product adds both biases.
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
    """One pass of AdaGrad over the pairs in their order, in place; the summed loss ½ f(X) (w·w̃ + b + b̃ − log X)².

    As in the released program, what is accumulated is the square of eta times the gradient.
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
        w[CONTEXT] = c[WORD] = one  # The 1 beside the other's bias is not a parameter.
    return loss


@njit(inline="always")
def _step(w: Vectors, c: Vectors, w_squares: Vectors, c_squares: Vectors, step: np.float32) -> None:
    """AdaGrad on some columns of both vectors."""
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
    """Both directions of every pair, in random order, in memory-mapped temporary files.

    Each pair goes to a random bucket, and each bucket is shuffled in memory: together a uniform shuffle.
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
    """Shuffle the pairs of a file; a function, so that they are out of memory before the next file is read."""
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
