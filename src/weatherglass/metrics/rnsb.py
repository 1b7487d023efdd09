"""Compute RNSB, relative negative sentiment bias (Sweeney & Najafian 2019), with a classifier that separates B from
A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.metrics.base import AT_LEAST_TWO, MetricInfo, Shape, exactly
from weatherglass.metrics.exchange import Relabelling
from weatherglass.metrics.set_metric import Matrices, SetMetric, read_parameters

C = 1.0
"""The weight of the likelihood relative to ½‖w‖²."""
STEPS = 100
CONVERGED = 1e-10


@dataclass(frozen=True)
class RelativeNegativeSentimentBias(SetMetric):
    """The divergence of P(second attribute set) over all target words from a uniform distribution.

    P is a logistic regression, fitted on all of A and B, with an L2 penalty on the weights but not on the intercept.
    """

    info = MetricInfo(
        shape=Shape(AT_LEAST_TWO, exactly(2)),
        signed=False,
        bounds=(0.0, np.inf),
        exchanges="attributes",
        summary="divergence from a uniform distribution of a classifier's P(B) over the target words",
        direction="larger: more uneven",
        source="Sweeney & Najafian 2019",
    )
    scored = "targets"
    of_directions = False

    @property
    def name(self) -> str:
        return "rnsb"

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        """Return the divergence; the score of a word is its share of the sum of all probabilities."""
        a, b = attributes
        in_b = np.arange(len(a) + len(b)) >= len(a)
        words = np.concatenate(targets)
        shares = _shares(words, np.concatenate([a, b]), in_b[np.newaxis].astype(np.float64))[0]
        by_set = np.split(shares, np.cumsum([len(rows) for rows in targets])[:-1])
        return float(divergence_from_uniform(shares)), by_set

    def null(self, targets: Matrices, attributes: Matrices) -> Relabelling:
        a, b = attributes
        words, pool = np.concatenate(targets), np.concatenate([a, b])

        def values(labellings: Integers) -> Vector:
            in_b = np.zeros(labellings.shape)
            np.put_along_axis(in_b, labellings[:, len(a) :], 1.0, axis=1)
            return divergence_from_uniform(_shares(words, pool, in_b))

        return Relabelling((len(a), len(b)), values, ("greater",), draws=999, inner_draws=199)


def divergence_from_uniform(shares: Matrix | Vector) -> Vector:
    """Return Σ s·log(s·n) along the last axis."""
    n = shares.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(shares > 0, shares * np.log(shares * n), 0.0)
    return np.asarray(np.maximum(terms.sum(axis=-1), 0.0))


def _shares(words: Matrix, pool: Matrix, in_b: Matrix) -> Matrix:
    """Return P(second set) of each word, divided by the sum over words, for each labelling (row) of the pool."""
    weights, intercepts = logistic_regressions(pool @ pool.T, in_b)
    probabilities = expit(weights @ (pool @ words.T) + intercepts[:, np.newaxis])
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def logistic_regressions(products: Matrix, labels: Matrix) -> tuple[Matrix, Vector]:
    """Fit a regression for each row of labels on the same points; return the weights of points and the intercepts.

    The weight vector is a linear combination of the points, so Newton's method needs only their inner products. A few
    hundred regressions are solved at once, which a library would fit one after another. A step that does not lower the
    loss is halved.

    Args:
        products: the inner products of the points.
        labels: 1 for the second class and 0 for the first, one row per regression.
    """
    runs, n = labels.shape
    weights, intercepts = np.zeros((runs, n)), np.zeros(runs)
    loss = _loss(products, labels, weights, intercepts)
    system = np.zeros((runs, n + 1, n + 1))
    system[:, :n, n] = system[:, n, :n] = 1.0
    for _ in range(STEPS):
        logits = weights @ products + intercepts[:, np.newaxis]
        probabilities = expit(logits)
        residual = labels - probabilities
        if (
            np.abs(weights - C * residual).max() < CONVERGED
            and np.abs(residual.sum(axis=1)).max() < CONVERGED
        ):
            break
        curvature = np.maximum(C * probabilities * (1 - probabilities), 1e-12)
        system[:, :n, :n] = products
        system[:, np.arange(n), np.arange(n)] += 1 / curvature
        target = np.concatenate([logits + C * residual / curvature, np.zeros((runs, 1))], axis=1)
        solved = np.linalg.solve(system, target[..., np.newaxis])[..., 0]
        step = np.ones(runs)
        for _ in range(30):
            moved = weights + step[:, np.newaxis] * (solved[:, :n] - weights)
            shifted = intercepts + step * (solved[:, n] - intercepts)
            moved_loss = _loss(products, labels, moved, shifted)
            worse = moved_loss > loss + 1e-12 * np.abs(loss)
            if not worse.any():
                break
            step = np.where(worse, step / 2, step)
        weights, intercepts, loss = moved, shifted, moved_loss
    return weights, intercepts


def _loss(products: Matrix, labels: Matrix, weights: Matrix, intercepts: Vector) -> Vector:
    fitted = weights @ products
    logits = fitted + intercepts[:, np.newaxis]
    likelihood = np.logaddexp(0, logits) - labels * logits
    return np.asarray(C * likelihood.sum(axis=1) + 0.5 * (weights * fitted).sum(axis=1))


def rnsb(arguments: Sequence[str], named: Mapping[str, str]) -> list[RelativeNegativeSentimentBias]:
    """Return the metric named `rnsb`, which takes no parameters."""
    read_parameters("rnsb", arguments, named, ())
    return [RelativeNegativeSentimentBias()]
