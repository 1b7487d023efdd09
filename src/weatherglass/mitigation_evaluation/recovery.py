"""Measure how much of an attribute can still be recovered from neutral words (Gonen & Goldberg 2019).

The former bias of a word is its cosine with the direction of the attribute before the transform. The words with the
largest former bias on either side are classified by a linear and a kernel classifier, with cross-validation, and
clustered; both use the changed vectors. The former bias of a word is correlated with that of its nearest neighbours
after the change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector, unit_length
from weatherglass.mitigation.base import Step, Steps, projection, subtraction
from weatherglass.mitigation.fitting import logistic_weights, purity, two_clusters

Z = 1.959963984540054
"""The 97.5 % point of the normal distribution, used for the 95 % intervals of this module."""


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """One quantity of a model, without and with the transform."""

    name: str
    before: IntervalEstimate
    after: IntervalEstimate
    chance: float | None = None
    """The value by chance, without any information; None if it is not defined."""
    random: IntervalEstimate | None = None
    """The mean and range over random transforms of the same rank; None if there are none."""
    n: int = 0
    """The number of words, pairs or questions."""
    change: IntervalEstimate | None = None
    """The paired difference, after minus before."""

    @property
    def retained(self) -> float | None:
        """Return the share of the value above chance that remains afterwards; None if it was not above chance
        before.
        """
        return self._share(self.after.value)

    @property
    def retained_low(self) -> float | None:
        """Return the same share at the lower end of the interval."""
        return self._share(self.after.low)

    def _share(self, value: float) -> float | None:
        if self.chance is None or not self.before.low > self.chance:
            return None
        return (value - self.chance) / (self.before.value - self.chance)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "retained": self.retained, "retained_low": self.retained_low}


def share(correct: int, n: int) -> IntervalEstimate:
    """Return a share with Wilson's interval."""
    p, z2 = correct / n, Z * Z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return IntervalEstimate(p, max(0.0, middle - half), min(1.0, middle + half))


def correlation(first: Vector, second: Vector) -> IntervalEstimate:
    """Return Pearson's r with Fisher's interval; 0 if one of the vectors is constant."""
    if first.std() == 0 or second.std() == 0:
        return IntervalEstimate(0.0, -1.0, 1.0)
    r = float(np.clip(np.corrcoef(first, second)[0, 1], -1 + 1e-12, 1 - 1e-12))
    half = Z / math.sqrt(max(1, len(first) - 3))
    return IntervalEstimate(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


def mean(values: Vector) -> IntervalEstimate:
    """Return a mean with an interval from its standard error."""
    value = float(values.mean())
    half = Z * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return IntervalEstimate(value, value - half, value + half)


FOLDS = 5
PENALTY = 1e-3
RIDGE = 0.1
NEIGHBOURS = 100
"""The number of neighbours, as in Gonen & Goldberg."""
ASKED = 1500
"""The number of words whose neighbours are inspected; they are the first and most frequent of the list."""
MOST_BIASED = 500
"""The number of words per side, as in Gonen & Goldberg."""
DRAWS = 3
"""The number of random transforms of the same rank."""
LINEAR, KERNEL, CLUSTERS, NEARBY = (
    "linear classifier",
    "kernel classifier",
    "clustering purity",
    "neighbours' bias",
)


Classify = Callable[[Matrix, Integers, Matrix], Integers]
"""A function of rows, their labels and new rows, which returns the labels of the new rows."""


@dataclass(frozen=True, slots=True, eq=False)
class NeutralWords:
    """Neutral words with their former bias."""

    words: tuple[str, ...]
    bias: Vector

    @property
    def extremes(self) -> tuple[Integers, Integers]:
        """Return the indices of the most biased words of both sides, and their sides (0 below, 1 above)."""
        count = min(MOST_BIASED, len(self.words) // 4)
        order = np.argsort(self.bias, kind="stable")
        return np.concatenate([order[:count], order[-count:]]), np.repeat([0, 1], count)


def old_bias(rows: Matrix, first: Matrix, second: Matrix) -> Vector:
    """Return the cosine of each row with the difference of the mean directions of two sides."""
    direction = unit_length(first).mean(axis=0) - unit_length(second).mean(axis=0)
    return np.asarray(unit_length(rows) @ unit_length(direction[None])[0])


def recoveries(
    measured: Sequence[Mapping[str, IntervalEstimate]], neutral: NeutralWords
) -> list[BeforeAfter]:
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
        random = IntervalEstimate(float(np.mean(drawn)), min(drawn), max(drawn)) if drawn else None
        n = sizes.get(name, min(ASKED, len(neutral.words)))
        found.append(BeforeAfter(name, measured[0][name], measured[1][name], chance, random, n))
    return found


def measures(rows: Matrix, neutral: NeutralWords) -> dict[str, IntervalEstimate]:
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
    """Return the label of every row, predicted by a classifier trained on the other folds, which are stratified."""
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
    """Predict labels by ridge regression on ±1 with a Gaussian kernel whose width is the variance of the rows."""
    variance = float(((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean()) or 1.0
    weights = np.linalg.solve(_gauss(rows, rows, variance) + RIDGE * np.eye(len(rows)), 2.0 * labels - 1)
    return (_gauss(new, rows, variance) @ weights > 0).astype(np.int64)


def _gauss(first: Matrix, second: Matrix, variance: float) -> Matrix:
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T
    return np.asarray(np.exp(-np.maximum(squares, 0) / variance))


def neighbours_bias(units: Matrix, bias: Vector) -> Vector:
    """Return, for the first rows, the share of their nearest other rows whose former bias is above the median."""
    above = (bias > np.median(bias)).astype(np.float64)
    count = min(NEIGHBOURS, max(1, (len(units) - 1) // 5))
    asked = min(ASKED, len(units))
    shares = np.empty(asked)
    for start in range(0, asked, 500):
        nearest = nearest_rows(units, start, min(start + 500, asked), count)
        shares[start : start + len(nearest)] = above[nearest].mean(axis=1)
    return shares


def nearest_rows(units: Matrix, start: int, end: int, count: int) -> Integers:
    """Return, for the rows from start to end, the indices of the other rows with the largest cosines."""
    cosines = units[start:end].astype(np.float32) @ units.T.astype(np.float32)  # only their order matters
    cosines[np.arange(end - start), np.arange(start, end)] = -np.inf
    return np.asarray(np.argpartition(-cosines, count - 1, axis=1)[:, :count])


def random_change(change: Steps, seed: int) -> Steps:
    """Return a change with random directions, of the same ranks and lengths, in place of the removed ones."""
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
