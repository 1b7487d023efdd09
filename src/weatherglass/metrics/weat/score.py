"""Scores s(w, A, B) under any number of measures; one similarity matrix serves all its statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.errors import ZeroVectorError
from weatherglass.metrics.weat.covariance import Covariance
from weatherglass.metrics.weat.measure import SIMILARITIES, STATISTICS, Measure
from weatherglass.metrics.weat.similarity import COSINE, Similarity, unit_rows, whiten
from weatherglass.metrics.weat.statistic import MEAN

BLOCK_ENTRIES = 1 << 21
"""Raw measures held at once (16 MB of them): targets are taken in blocks of this many entries."""


def associations(
    targets: Matrix,
    a: Matrix,
    b: Matrix,
    measures: Sequence[Measure],
    covariances: tuple[Covariance, Covariance] | None = None,
) -> dict[Measure, Vector]:
    """s(w, A, B) of every row w of `targets`, for every measure.

    A measure's scores are the same to the last bit whichever other measures are asked for with it.

    Args:
        targets: one row per target, all of the same width, as are `a` and `b`.
        a: the vectors of A.
        b: the vectors of B.
        measures: what to compute; a positive score means closer to A, except where the measure is not signed, as eq2.
        covariances: of A and of B, for Mahalanobis measures; see `estimate_covariance`.

    Raises:
        ZeroVectorError: under cosine; its `where` is "targets", "A" or "B", and `row` the row in it.
    """
    scores: dict[Measure, Vector] = {}
    for name in dict.fromkeys(measure.similarity for measure in measures):
        same = [measure for measure in measures if measure.similarity == name]
        scores |= _of_similarity(targets, a, b, SIMILARITIES.get(name), same, covariances)
    return {measure: scores[measure] for measure in measures}


def cosine_mean(targets: Matrix, a: Matrix, b: Matrix) -> Vector:
    """s(w, A, B) for cosine/mean without a similarity matrix.

    The mean cosine to a set is the dot product with the mean of its unit vectors. Products are summed row
    by row, not by BLAS, so that a target scores the same wherever it stands.
    """
    direction = unit_rows(a, "A").mean(axis=0) - unit_rows(b, "B").mean(axis=0)
    scores: Vector = (unit_rows(targets, "targets") * direction).sum(axis=1)
    return scores


def _of_similarity(
    targets: Matrix,
    a: Matrix,
    b: Matrix,
    similarity: Similarity,
    measures: Sequence[Measure],
    covariances: tuple[Covariance, Covariance] | None,
) -> dict[Measure, Vector]:
    statistics = {measure: STATISTICS.get(measure.statistic) for measure in measures}
    scores: dict[Measure, Vector] = {}
    if similarity == COSINE:  # Not `is`: another process may hold a copy, and should get the same bits.
        shortcut = [measure for measure, statistic in statistics.items() if statistic == MEAN]
        scores |= {measure: cosine_mean(targets, a, b) for measure in shortcut}
        statistics = {measure: s for measure, s in statistics.items() if measure not in scores}
    if not statistics:
        return scores
    parts: dict[Measure, list[Vector]] = {measure: [] for measure in statistics}
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
    """Raw measures to A and to B, each row sorted, a block of targets at a time."""
    (seen_from_a, a), (seen_from_b, b) = _views(targets, a, b, similarity, covariances)
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


def raw_measures(
    targets: Matrix,
    a: Matrix,
    b: Matrix,
    similarity: Similarity,
    covariances: tuple[Covariance, Covariance] | None = None,
) -> tuple[Matrix, Matrix]:
    """m(w, a) and m(w, b) of every target, in the order given: what resampling and leaving out start from."""
    (seen_from_a, a), (seen_from_b, b) = _views(targets, a, b, similarity, covariances)
    return similarity.between(seen_from_a, a), similarity.between(seen_from_b, b)


def _views(
    targets: Matrix,
    a: Matrix,
    b: Matrix,
    similarity: Similarity,
    covariances: tuple[Covariance, Covariance] | None,
) -> tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]:
    """Targets and attributes as seen from A and from B: through its covariance, or as they are."""
    if not similarity.whitened:
        return (targets, a), (targets, b)
    if covariances is None:
        raise ValueError("Mahalanobis measures need the covariances of A and B; see estimate_covariance")
    of_a, of_b = (covariance.precision for covariance in covariances)
    return (whiten(targets, of_a), whiten(a, of_a)), (whiten(targets, of_b), whiten(b, of_b))
