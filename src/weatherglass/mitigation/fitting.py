"""Fit parts that several transforms share: known vectors, spans of differences, a classifier and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.errors import EncoderError
from weatherglass.mitigation.lists import Classes, Pair, Sides

ROUNDING = 1e-8
"""The share of the largest singular value, or of the vectors' length, below which a singular value counts as 0;
float32 rounds near it.
"""


def known_vectors(texts: Sequence[str], vectors: Matrix) -> dict[str, Vector]:
    """Return the vectors of the texts that the model knows, by text."""
    return {text: row for text, row in zip(texts, vectors, strict=True) if not np.isnan(row).any()}


def known_pairs(name: str, pairs: Sequence[Pair], known: Mapping[str, Vector]) -> list[Pair]:
    """Return the pairs of which the model knows both words.

    Raises:
        EncoderError: if the model knows no pair.
    """
    whole = [pair for pair in pairs if pair[0] in known and pair[1] in known]
    if not whole:
        raise EncoderError(f"{name}: the model does not know both words of any of the {len(pairs)} pairs")
    return whole


def known_rows(name: str, words: Sequence[str], vectors: Matrix, least: int) -> Matrix:
    """Return the vectors of the words that the model knows.

    Raises:
        EncoderError: if there are fewer than `least`.
    """
    rows: Matrix = vectors[~np.isnan(vectors).any(axis=1)]
    if len(rows) < least:
        raise EncoderError(
            f"{name}: the model knows {len(rows)} of the {len(words)} words of the list, but {least} are "
            "needed"
        )
    return rows


def labelled_rows(name: str, classes: Classes, vectors: Matrix) -> tuple[Matrix, Integers]:
    """Return the vectors of the words that the model knows, and the class number of each.

    Raises:
        EncoderError: if a class has fewer than two known words.
    """
    known = ~np.isnan(vectors).any(axis=1)
    labels = np.array(classes.labels)[known]
    for number, (label, words) in enumerate(zip(classes.names, classes.words, strict=True)):
        count = int((labels == number).sum())
        if count < 2:
            raise EncoderError(
                f"{name}: the model knows {count} of the {len(words)} words of class '{label}', but 2 are "
                "needed"
            )
    return vectors[known], labels


def span(name: str, differences: Matrix, components: int, what: str) -> Matrix:
    """Return the first principal directions of differences, through the origin, as orthonormal rows.

    Raises:
        EncoderError: if the differences span fewer dimensions.
    """
    _, singular, directions = np.linalg.svd(differences, full_matrices=False)
    rank = int((singular > max(ROUNDING * singular[0], np.finfo(np.float64).tiny)).sum())
    if rank < components:
        raise EncoderError(f"{name}: {what} span {rank} dimensions, fewer than components={components}")
    return np.asarray(directions[:components])


def nothing_left(name: str, width: int, removed: int) -> None:
    """Refuse to remove all dimensions.

    Raises:
        EncoderError: if no dimension would be left.
    """
    if removed >= width:
        raise EncoderError(f"{name}: removing {removed} of {width} dimensions leaves nothing")


def partly_known(known: int, asked: int, what: str) -> tuple[str, ...]:
    """Return a note if the model does not know all of the list."""
    note = f"fitted on {known} of {asked} {what}; the model does not know the others"
    return (note,) if known < asked else ()


@dataclass(frozen=True, slots=True)
class OfClasses:
    """A transform fitted on words of several classes, such as male and female words."""

    classes: Classes

    @property
    def topics(self) -> tuple[str, ...]:
        return self.classes.topics

    @property
    def sides(self) -> Sides:
        return self.classes.words[0], self.classes.words[1]

    def texts(self) -> tuple[str, ...]:
        return self.classes.all_words


def logistic_weights(rows: Matrix, labels: Integers, penalty: float) -> tuple[Matrix, Vector]:
    """Return weights, one row per class, and intercepts, which minimise the mean log loss + penalty/2·‖weights‖²."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax
    from threadpoolctl import threadpool_limits

    classes, (n, width) = int(labels.max()) + 1, rows.shape
    one_hot = np.eye(classes)[labels]

    def loss(flat: Vector) -> tuple[float, Vector]:
        weights, intercepts = flat[: classes * width].reshape(classes, width), flat[classes * width :]
        logs = log_softmax(rows @ weights.T + intercepts, axis=1)
        residual = (np.exp(logs) - one_hot) / n
        gradient = np.concatenate([(residual.T @ rows + penalty * weights).ravel(), residual.sum(axis=0)])
        return float(-(one_hot * logs).sum() / n + penalty / 2 * (weights**2).sum()), gradient

    start = np.zeros(classes * (width + 1))
    # Several threads would wait for each other at every step, and change the last bits.
    with threadpool_limits(1):
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return found.x[: classes * width].reshape(classes, width), found.x[classes * width :]


ROUNDS = 100
STARTS = 10


def two_clusters(rows: Matrix, seed: int = 0) -> Integers:
    """Return the better of several runs of 2-means, each started from two distant rows (k-means++)."""
    rng = np.random.default_rng(seed)
    best, least = np.zeros(len(rows), dtype=np.int64), np.inf
    squares = (rows**2).sum(axis=1)
    for _ in range(STARTS):
        first = int(rng.integers(len(rows)))
        distances = np.maximum(squares + squares[first] - 2 * rows @ rows[first], 0)
        total = float(distances.sum())
        second = int(rng.choice(len(rows), p=distances / total)) if total > 0 else first
        centres = rows[[first, second]]
        labels = np.full(len(rows), -1)
        for _ in range(ROUNDS):
            to_centres = squares[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)
            nearest = to_centres.argmin(axis=1)
            if (nearest == labels).all():
                break
            labels = nearest
            if labels.min() == labels.max():
                break
            centres = np.array([rows[labels == cluster].mean(axis=0) for cluster in (0, 1)])
        spread = float(np.maximum(to_centres.min(axis=1), 0).sum())
        if spread < least:
            best, least = labels.astype(np.int64), spread
    return best


def purity(clusters: Integers, labels: Integers) -> float:
    """Return the share of rows whose cluster matches their label, for the better assignment of clusters to labels."""
    share = float((clusters == labels).mean())
    return max(share, 1 - share)
