"""Random topics for tests, and a second, slower way to every number of a topic, written from docs/methods 12."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.stats.attributes import random_attributes
from weatherglass.stats.permutation import permutation_test
from weatherglass.stats.topic import AttributeTables, TopicTest


def topic_test(
    words: Sequence[str],
    n_x: int,
    to_a: Vector,
    to_b: Vector,
    a: Sequence[str],
    b: Sequence[str],
    pieces: Vector | None = None,
) -> TopicTest:
    """A test of these measures, with the p that its row would have."""
    scores = to_a.mean(axis=1) - to_b.mean(axis=1)
    p = permutation_test(scores[:n_x], scores[n_x:], alternative="two-sided").p_value
    p_random = random_attributes(to_a, to_b, n_x).p
    return TopicTest(words, n_x, scores, p, 1, AttributeTables(to_a, to_b, a, b), pieces, p_random)


def random_topic(
    rng: np.random.Generator,
    tests: int,
    sizes: tuple[int, int] = (3, 6),
    sharing: str = "some",
    effect: float = 0.5,
) -> list[TopicTest]:
    """Tests whose words are shared by all, by some or by none of them."""
    truth = {f"{side}{i}": rng.normal() for side in "xy" for i in range(2 * sizes[1])}
    found: list[TopicTest] = []
    for number in range(tests):
        counts = rng.integers(sizes[0], sizes[1] + 1, size=2)
        sets = [
            rng.permutation([f"{s}{i}" for i in range(2 * sizes[1])])[:c]
            for s, c in zip("xy", counts, strict=True)
        ]
        words = [str(word) for chosen in sets for word in chosen]
        n_x = len(sets[0])
        if sharing == "all" and found:
            words, n_x = list(found[0].words), found[0].n_x  # type: ignore[arg-type]
        score = np.array([truth[word] for word in words])
        score[:n_x] += effect
        if sharing == "none":
            words = [f"{word} {number}" for word in words]
        k_a, k_b = rng.integers(3, 6, size=2)
        a = [f"a{i}" for i in rng.permutation(8)[:k_a]]
        b = [f"b{i}" for i in rng.permutation(8)[:k_b]]
        to_a = score[:, np.newaxis] / 2 + rng.normal(size=(len(words), k_a))
        to_b = -score[:, np.newaxis] / 2 + rng.normal(size=(len(words), k_b))
        pieces = rng.integers(1, 4, size=len(words)).astype(np.float64)
        found.append(topic_test(words, n_x, to_a, to_b, a, b, pieces))
    return found


def d_of(x: Sequence[float], y: Sequence[float]) -> float:
    """Difference of means over the sd of all."""
    every = [*x, *y]
    mean = sum(every) / len(every)
    sd = math.sqrt(sum((s - mean) ** 2 for s in every) / (len(every) - 1))
    return (sum(x) / len(x) - sum(y) / len(y)) / sd


def mean_of_labelled(tests: Sequence[TopicTest], in_x: dict[object, bool]) -> tuple[float, list[float]]:
    """D, and d of each test, when these words are in X: every d computed anew from its scores."""
    effects, weights = [], []
    for test in tests:
        pairs = list(zip(test.words, test.scores, strict=True))
        x = [float(s) for word, s in pairs if in_x[word]]
        y = [float(s) for word, s in pairs if not in_x[word]]
        effects.append(d_of(x, y))
        weights.append(len(x) * len(y) / len(pairs))
    total = sum(w * d for w, d in zip(weights, effects, strict=True))
    return total / sum(weights), effects


def labels_of(tests: Sequence[TopicTest]) -> dict[object, bool]:
    """The label of each word, where none is in X of one test and in Y of another."""
    return {word: place < test.n_x for test in tests for place, word in enumerate(test.words)}


def every_labelling(tests: Sequence[TopicTest]) -> Iterator[dict[object, bool]]:
    """All exchanges of labels among words that are in the same tests."""
    labels = labels_of(tests)
    strata: dict[tuple[int, ...], list[object]] = {}
    for word in labels:
        strata.setdefault(tuple(j for j, test in enumerate(tests) if word in test.words), []).append(word)
    choices = [
        [(words, set(chosen)) for chosen in itertools.combinations(words, sum(labels[w] for w in words))]
        for words in strata.values()
    ]
    for each in itertools.product(*choices):
        yield {word: word in chosen for words, chosen in each for word in words}


def enumerated(tests: Sequence[TopicTest]) -> tuple[float, list[float], int]:
    """p of D, p_maxT of each test, and the number of labellings, from all of them."""
    observed, effects = mean_of_labelled(tests, labels_of(tests))
    scale = [math.sqrt(1 / t.n_x + 1 / (len(t.words) - t.n_x)) for t in tests]
    hits, hits_of_tests, labellings = 0, [0] * len(tests), 0
    for labels in every_labelling(tests):
        mean, each = mean_of_labelled(tests, labels)
        largest = max(abs(d) / s for d, s in zip(each, scale, strict=True))
        hits += abs(mean) >= abs(observed) - 1e-9
        for place, (d, s) in enumerate(zip(effects, scale, strict=True)):
            hits_of_tests[place] += largest >= abs(d) / s - 1e-9
        labellings += 1
    return hits / labellings, [h / labellings for h in hits_of_tests], labellings
