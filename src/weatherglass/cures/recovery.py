"""What can still be recovered of an attribute from neutral words (Gonen & Goldberg 2019): arrays in, estimates out.

The old bias of a word is its cosine with the direction of the attribute before the transform. Of the words with the
largest old bias on either side, a linear and a kernel classifier, cross-validated, and two clusters tell the side from
the changed vectors; and the old bias of a word's nearest neighbours after the change says where it still lives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector, unit_length
from weatherglass.cures.estimate import BeforeAfter, Estimate, correlation, share
from weatherglass.mitigation.change import Step, Steps, projection, subtraction
from weatherglass.mitigation.classifier import logistic_weights
from weatherglass.mitigation.clusters import purity, two_clusters

FOLDS = 5
PENALTY = 1e-3
RIDGE = 0.1
NEIGHBOURS = 100
"""As Gonen & Goldberg take."""
ASKED = 1500
"""Words whose neighbours are looked at, the first of the list: the most frequent ones."""
MOST_BIASED = 500
"""Words of each side: theirs, too."""
DRAWS = 3
"""Random transforms of the same rank."""
LINEAR, KERNEL, CLUSTERS, NEARBY = (
    "linear classifier",
    "kernel classifier",
    "clustering purity",
    "neighbours' bias",
)


Classify = Callable[[Matrix, Integers, Matrix], Integers]
"""Rows, their labels, and new rows in; the labels of the new rows out."""


@dataclass(frozen=True, slots=True, eq=False)
class NeutralWords:
    """Words with their old bias."""

    words: tuple[str, ...]
    bias: Vector

    @property
    def extremes(self) -> tuple[Integers, Integers]:
        """The most biased words of both sides, and their side: 0 below, 1 above."""
        count = min(MOST_BIASED, len(self.words) // 4)
        order = np.argsort(self.bias, kind="stable")
        return np.concatenate([order[:count], order[-count:]]), np.repeat([0, 1], count)


def old_bias(rows: Matrix, first: Matrix, second: Matrix) -> Vector:
    """Cosine of each row with the difference of the mean directions of two sides."""
    direction = unit_length(first).mean(axis=0) - unit_length(second).mean(axis=0)
    return np.asarray(unit_length(rows) @ unit_length(direction[None])[0])


def recoveries(measured: Sequence[Mapping[str, Estimate]], neutral: NeutralWords) -> list[BeforeAfter]:
    """Return the four measures before, after, and under random transforms.

    Args:
        measured: what `measures` found before, after, and under each random transform of the same rank.
        neutral: the words, with their old bias.
    """
    chances = {LINEAR: 0.5, KERNEL: 0.5, CLUSTERS: 0.5, NEARBY: 0.0}
    sizes = {name: len(neutral.extremes[1]) for name in (LINEAR, KERNEL, CLUSTERS)}
    found = []
    for name, chance in chances.items():
        drawn = [one[name].value for one in measured[2:]]
        random = Estimate(float(np.mean(drawn)), min(drawn), max(drawn)) if drawn else None
        n = sizes.get(name, min(ASKED, len(neutral.words)))
        found.append(BeforeAfter(name, measured[0][name], measured[1][name], chance, random, n))
    return found


def measures(rows: Matrix, neutral: NeutralWords) -> dict[str, Estimate]:
    """Return the four measures on one set of vectors of the neutral words."""
    units = unit_length(rows)
    places, labels = neutral.extremes
    chosen = units[places]
    n = len(labels)
    return {
        LINEAR: share(int((cross_validated(chosen, labels, _linear) == labels).sum()), n),
        KERNEL: share(int((cross_validated(chosen, labels, _kernel) == labels).sum()), n),
        CLUSTERS: share(round(n * purity(two_clusters(chosen), labels)), n),
        NEARBY: correlation(neighbours_bias(units, neutral.bias), neutral.bias[:ASKED]),
    }


def cross_validated(rows: Matrix, labels: Integers, classify: Classify, seed: int = 0) -> Integers:
    """The label of every row, told by a classifier that was trained on the other folds; folds have equal shares."""
    rng = np.random.default_rng(seed)
    folds = np.empty(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        places = np.flatnonzero(labels == label)
        folds[rng.permutation(places)] = np.arange(len(places)) % FOLDS
    told = np.empty(len(labels), dtype=np.int64)
    for fold in range(FOLDS):
        inside = folds == fold
        told[inside] = classify(rows[~inside], labels[~inside], rows[inside])
    return told


def _linear(rows: Matrix, labels: Integers, new: Matrix) -> Integers:
    mean = rows.mean(axis=0)
    scale = np.sqrt(((rows - mean) ** 2).sum(axis=1).mean()) or 1.0
    weights, intercepts = logistic_weights((rows - mean) / scale, labels, PENALTY)
    return np.asarray(((new - mean) / scale @ weights.T + intercepts).argmax(axis=1))


def _kernel(rows: Matrix, labels: Integers, new: Matrix) -> Integers:
    """Ridge regression on ±1 with a Gaussian kernel, its width from the variance of the rows."""
    variance = float(((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean()) or 1.0
    weights = np.linalg.solve(_gauss(rows, rows, variance) + RIDGE * np.eye(len(rows)), 2.0 * labels - 1)
    return (_gauss(new, rows, variance) @ weights > 0).astype(np.int64)


def _gauss(first: Matrix, second: Matrix, variance: float) -> Matrix:
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T
    return np.asarray(np.exp(-np.maximum(squares, 0) / variance))


def neighbours_bias(units: Matrix, bias: Vector) -> Vector:
    """Of the first rows, the share of the nearest rows, itself left out, whose old bias is above the median."""
    above = (bias > np.median(bias)).astype(np.float64)
    count = min(NEIGHBOURS, max(1, (len(units) - 1) // 5))
    asked = min(ASKED, len(units))
    shares = np.empty(asked)
    for start in range(0, asked, 500):
        nearest = nearest_rows(units, start, min(start + 500, asked), count)
        shares[start : start + len(nearest)] = above[nearest].mean(axis=1)
    return shares


def nearest_rows(units: Matrix, start: int, end: int, count: int) -> Integers:
    """For the rows from start to end, the rows with the largest cosines, themselves left out."""
    cosines = units[start:end].astype(np.float32) @ units.T.astype(np.float32)  # only their order matters
    cosines[np.arange(end - start), np.arange(start, end)] = -np.inf
    return np.asarray(np.argpartition(-cosines, count - 1, axis=1)[:, :count])


def random_change(change: Steps, seed: int) -> Steps:
    """A change like this one, with random directions instead of those it removes: same ranks, same lengths."""
    rng = np.random.default_rng(seed)
    return Steps(tuple(_random_step(step, rng) for step in change.steps))


def _random_step(step: Step, rng: np.random.Generator) -> Step:
    length = float(np.linalg.norm(step.shift))
    shift = length * unit_length(rng.standard_normal((1, step.width)))[0] if length else np.zeros(step.width)
    if not step.rank:
        return subtraction(shift)
    basis = np.linalg.qr(rng.standard_normal((step.width, step.rank)))[0].T
    drawn = projection(basis, shift)
    return Step(drawn.shift, drawn.mean, drawn.left, drawn.right, unit=step.unit)
