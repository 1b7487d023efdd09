"""Train skip-gram with negative sampling (Mikolov et al. 2013) in numba, a window at a time (Ji et al. 2016).

As in word2vec, each word of a window learns to predict the middle word and not some randomly drawn words. Here, all
words of a window share the drawn words, so that the dot products of a window are one small matrix product and its
updates are two more. Far fewer vectors are loaded and stored than with separate draws for each pair. Subsampling, the
distribution of the draws (count^0.75), windows of random size and the linear decay of the learning rate are those of
word2vec and gensim.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.reliability.corpus import Corpus
from weatherglass.reliability.training.embedding import Vectors

VERSION = 1
"""The version of the algorithm; increase it when the same seed gives different vectors, to train embeddings again."""

LAST_RATE = 1e-4
"""The learning rate at the end, as in gensim."""
EXPONENT = 0.75
"""The power of a word's count to which its probability of being drawn is proportional."""
TARGETS = 6
"""The number of targets that are added at a time; by default, a window has the middle word and five draws."""

LARGEST = np.float32(6)
"""The absolute value beyond which the sigmoid is constant, as in word2vec."""
STEPS = 2048
SIGMOID = (1 / (1 + np.exp(-LARGEST * (2 * (np.arange(STEPS) + 0.5) / STEPS - 1)))).astype(np.float32)
"""The sigmoid in the middle of each step from -LARGEST to LARGEST."""

MULTIPLIER, INCREMENT = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
"""The constants of the random number generator x → ax + c mod 2^64 (Knuth's MMIX), whose upper bits are used."""
PER_UNIT = np.float32(2.0**-24)

Singles = NDArray[np.float32]


def train_skip_gram(
    corpus: Corpus,
    seed: int,
    *,
    dimensions: int,
    window: int,
    epochs: int,
    negatives: int,
    sample: float,
    alpha: float,
    report: Callable[[float], None] = lambda _: None,
) -> Vectors:
    """Return the vector of every word; the same seed always gives the same bytes.

    `report` is called after each epoch with its share of the work.
    """
    rng = np.random.default_rng(seed)
    vectors = (rng.random((len(corpus.words), dimensions), dtype=np.float32) - np.float32(0.5)) / np.float32(
        dimensions
    )
    outputs = np.zeros_like(vectors)
    state = rng.integers(2**64, dtype=np.uint64)
    stay = chances_to_stay(corpus.counts, sample)
    draws = alias_table(corpus.counts.astype(np.float64) ** EXPONENT)
    tokens, offsets = np.asarray(corpus.tokens), np.asarray(corpus.offsets, dtype=np.int64)
    longest = int(np.diff(offsets).max(initial=0))
    for epoch in range(epochs):
        rates = alpha - (alpha - LAST_RATE) * np.array([epoch, epoch + 1]) / epochs
        trained = train_epoch(
            *(tokens, offsets, longest, stay, *draws, vectors, outputs),
            *(window, negatives, rates, np.uint64(state), SIGMOID),
        )
        state = np.uint64(trained)
        report(1 / epochs)
    return vectors


def chances_to_stay(counts: Integers, sample: float) -> Singles:
    """Return the probability that an occurrence of each word is used; below 1 for words more frequent than `sample`."""
    ratio = counts / (sample * counts.sum())
    chances: Singles = np.minimum(1, (np.sqrt(ratio) + 1) / ratio).astype(np.float32)
    return chances


@njit(cache=True, nogil=True)
def alias_table(weights: Vector) -> tuple[Singles, NDArray[np.int32]]:
    """Return tables to draw from a distribution in constant time (Walker 1977; Vose 1991).

    A place is drawn uniformly. With the probability in the first table, the place is the draw; otherwise the entry of
    the second table is.
    """
    number = weights.shape[0]
    scaled = weights * (number / weights.sum())
    itself = np.ones(number, dtype=np.float32)
    other = np.arange(number).astype(np.int32)
    small, large = np.empty(number, dtype=np.int64), np.empty(number, dtype=np.int64)
    small_count, large_count = 0, 0
    for place in range(number):
        if scaled[place] < 1:
            small[small_count] = place
            small_count += 1
        else:
            large[large_count] = place
            large_count += 1
    while small_count > 0 and large_count > 0:
        small_count -= 1
        low, high = small[small_count], large[large_count - 1]
        itself[low], other[low] = scaled[low], high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            large_count -= 1
            small[small_count] = high
            small_count += 1
    return itself, other


@njit(cache=True, nogil=True)
def draw(state: np.uint64, itself: Singles, other: NDArray[np.int32]) -> int:
    """Return the word for a state of the generator; its upper half is the place, its lower half the random share."""
    words = np.uint64(itself.shape[0])
    place = int(np.int64(((state >> np.uint64(32)) * words) >> np.uint64(32)))
    share = np.float32((state >> np.uint64(8)) & np.uint64(0xFFFFFF)) * PER_UNIT
    return place if share < itself[place] else int(other[place])


@njit(cache=True, nogil=True, fastmath=True)
def train_epoch(
    tokens: NDArray[np.int32],
    offsets: Integers,
    longest: int,
    stay: Singles,
    itself: Singles,
    other: NDArray[np.int32],
    vectors: Vectors,
    outputs: Vectors,
    window: int,
    negatives: int,
    rates: Vector,
    state: np.uint64,
    sigmoid: Singles,
) -> np.uint64:
    """Make one pass over the corpus, updating the vectors in place; return the state of the generator.

    Args:
        tokens: the ids of all tokens.
        offsets: the start of each line, and the end of the last one.
        longest: the number of tokens of the longest line.
        stay: the result of `chances_to_stay`.
        itself: the first table of `alias_table`.
        other: the second table of `alias_table`.
        vectors: the vectors of words as contexts.
        outputs: the vectors of words as targets.
        window: the largest distance of a context.
        negatives: the number of drawn words per window.
        rates: the learning rate at the start and at the end.
        state: the state of the generator.
        sigmoid: the table of the sigmoid.
    """
    columns = vectors.shape[1]
    line = np.empty(longest, dtype=np.int64)
    contexts = np.empty(2 * window, dtype=np.int64)
    targets = np.empty(negatives + 1, dtype=np.int64)
    padded = -(-(negatives + 1) // TARGETS) * TARGETS
    old_contexts = np.zeros((2 * window, columns), dtype=np.float32)
    old_targets = np.zeros((padded, columns), dtype=np.float32)
    steps = np.zeros((2 * window, padded), dtype=np.float32)
    for number in range(offsets.shape[0] - 1):
        start, end = offsets[number], offsets[number + 1]
        rate = np.float32(rates[0] + (rates[1] - rates[0]) * (start / tokens.shape[0]))
        length = 0
        for place in range(start, end):
            state = state * MULTIPLIER + INCREMENT
            if np.float32(state >> np.uint64(40)) * PER_UNIT < stay[tokens[place]]:
                line[length] = tokens[place]
                length += 1
        for middle in range(length):
            state = state * MULTIPLIER + INCREMENT
            reach = 1 + int(np.int64(((state >> np.uint64(32)) * np.uint64(window)) >> np.uint64(32)))
            size = 0
            for place in range(max(0, middle - reach), min(length, middle + reach + 1)):
                if place != middle:
                    contexts[size] = line[place]
                    size += 1
            targets[0] = line[middle]
            for place in range(1, negatives + 1):
                state = state * MULTIPLIER + INCREMENT
                targets[place] = draw(state, itself, other)
            update_window(
                vectors,
                outputs,
                contexts[:size],
                targets,
                rate,
                old_contexts,
                old_targets,
                steps,
                sigmoid,
            )
    return state


@njit(cache=True, nogil=True, fastmath=True)
def update_window(
    vectors: Vectors,
    outputs: Vectors,
    contexts: Integers,
    targets: Integers,
    rate: np.float32,
    old_contexts: Vectors,
    old_targets: Vectors,
    steps: Vectors,
    sigmoid: Singles,
) -> None:
    """Make one step of gradient descent on the loss of a window, in place; gradients are those before the step.

    As in word2vec, a drawn target that equals the middle word is ignored.

    Args:
        vectors: the vectors of words as contexts.
        outputs: the vectors of words as targets.
        contexts: the words around the middle word.
        targets: the middle word, and then the drawn words.
        rate: the learning rate.
        old_contexts, old_targets, steps: buffers for an even number of contexts and a multiple of `TARGETS`, with zeros
            beyond the targets.
        sigmoid: the table of the sigmoid.
    """
    size, number = contexts.shape[0], targets.shape[0]
    for context in range(size):
        _copy(vectors[contexts[context]], old_contexts[context])
    for target in range(number):
        _copy(outputs[targets[target]], old_targets[target])
    if size % 2:
        old_contexts[size] = 0
    for context in range(0, size, 2):
        for target in range(0, old_targets.shape[0], 3):
            _multiply(old_contexts, context, old_targets, target, steps)
    scale = np.float32(STEPS) / (2 * LARGEST)
    for context in range(size):
        for target in range(number):
            product = min(max(steps[context, target], -LARGEST), LARGEST)
            steps[context, target] = -rate * sigmoid[min(int((product + LARGEST) * scale), STEPS - 1)]
        steps[context, 0] += rate
    for target in range(1, number):
        if targets[target] == targets[0]:
            steps[:size, target] = 0
    if size % 2:
        steps[size] = 0
    for context in range(size):
        for target in range(0, old_targets.shape[0], TARGETS):
            _add_targets(vectors[contexts[context]], steps[context], old_targets, target)
    for target in range(number):
        context = 0
        while context + 4 <= size:
            _add_four_contexts(outputs[targets[target]], steps, old_contexts, context, target)
            context += 4
        while context < size:
            _add_two_contexts(outputs[targets[target]], steps, old_contexts, context, target)
            context += 2


# The loops over columns use few arrays and write to only one, so that the compiler makes vector instructions of them.
# They are inlined, because passing an array takes as long as adding ten numbers.


@njit(inline="always")
def _copy(source: Singles, copy: Singles) -> None:
    for column in range(source.shape[0]):
        copy[column] = source[column]


@njit(inline="always")
def _multiply(contexts: Vectors, context: int, targets: Vectors, target: int, products: Vectors) -> None:
    """Compute the dot products of two contexts with three targets."""
    a, b = contexts[context], contexts[context + 1]
    x, y, z = targets[target], targets[target + 1], targets[target + 2]
    ax = ay = az = bx = by = bz = np.float32(0)
    for column in range(a.shape[0]):
        ax += a[column] * x[column]
        ay += a[column] * y[column]
        az += a[column] * z[column]
        bx += b[column] * x[column]
        by += b[column] * y[column]
        bz += b[column] * z[column]
    products[context, target], products[context + 1, target] = ax, bx
    products[context, target + 1], products[context + 1, target + 1] = ay, by
    products[context, target + 2], products[context + 1, target + 2] = az, bz


@njit(inline="always")
def _add_targets(vector: Singles, steps: Singles, targets: Vectors, first: int) -> None:
    """Add `TARGETS` targets, each times its step, to the vector of a context."""
    s, t, u = steps[first], steps[first + 1], steps[first + 2]
    v, w, x = steps[first + 3], steps[first + 4], steps[first + 5]
    a, b, c = targets[first], targets[first + 1], targets[first + 2]
    d, e, f = targets[first + 3], targets[first + 4], targets[first + 5]
    for column in range(vector.shape[0]):
        vector[column] += (
            s * a[column] + t * b[column] + u * c[column] + v * d[column] + w * e[column] + x * f[column]
        )


@njit(inline="always")
def _add_four_contexts(vector: Singles, steps: Vectors, contexts: Vectors, first: int, target: int) -> None:
    """Add four contexts, each times its step, to the vector of a target."""
    s, t, u, v = (
        steps[first, target],
        steps[first + 1, target],
        steps[first + 2, target],
        steps[first + 3, target],
    )
    a, b, c, d = contexts[first], contexts[first + 1], contexts[first + 2], contexts[first + 3]
    for column in range(vector.shape[0]):
        vector[column] += s * a[column] + t * b[column] + u * c[column] + v * d[column]


@njit(inline="always")
def _add_two_contexts(vector: Singles, steps: Vectors, contexts: Vectors, first: int, target: int) -> None:
    """Add two contexts, each times its step, to the vector of a target."""
    s, t = steps[first, target], steps[first + 1, target]
    a, b = contexts[first], contexts[first + 1]
    for column in range(vector.shape[0]):
        vector[column] += s * a[column] + t * b[column]
