"""Describe how an effect varies with the contexts of its words (docs/methods 17).

Vectors of a word are averaged over its contexts before d is computed. These functions show how far d depends on which
contexts were sampled, and combine single draws as Guo & Caliskan (2021) do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.errors import WeatherglassError
from weatherglass.stats.reml import cross_products, reml

BAND_LEVELS = (0.025, 0.25, 0.5, 0.75, 0.975)
STABLE = 0.1
"""The half-width of the 95 % range of d for which the number of contexts is computed."""
NORMAL = 1.959963984540054
LEAST_LEVELS = 2


@dataclass(frozen=True, slots=True)
class Combined:
    """An effect combined over draws by the random-effects model of DerSimonian and Laird, as CEAT publishes it."""

    effect_size: float
    """CES, the weighted mean of the effects."""
    standard_error: float
    p: float
    """The two-sided normal p, which decreases with the number of draws even without any association."""
    between: float
    """τ², the variance between draws."""
    q: float
    """The heterogeneity statistic Q."""
    draws: int


def random_effects(effects: Vector, variances: Vector) -> Combined:
    """Return the combined effect of draws by DerSimonian and Laird.

    >>> round(random_effects(np.array([0.2, 0.4, 0.9]), np.array([0.1, 0.2, 0.1])).effect_size, 3)
    0.517
    """
    weights = 1 / variances
    total = weights.sum()
    q = float((weights * effects**2).sum() - (weights * effects).sum() ** 2 / total)
    scale = float(total - (weights**2).sum() / total)
    excess = q - (len(effects) - 1)
    between = excess / scale if excess > 0 and scale > 0 else 0.0
    combined = 1 / (variances + between)
    error = 1 / math.sqrt(float(combined.sum()))
    effect = float((combined * effects).sum() / combined.sum())
    return Combined(effect, error, math.erfc(abs(effect / error) / math.sqrt(2)), between, q, len(effects))


def band(effects: Vector) -> tuple[float, ...]:
    """Return the quantiles of d over draws of one context per word, at BAND_LEVELS."""
    return tuple(float(value) for value in np.quantile(effects, BAND_LEVELS))


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of the variance of a word's score in one context, within X and within Y; they sum to 1."""

    words: float
    attributes: float
    """The share of the choice of attribute words, which changes the differences between words."""
    contexts: float
    """The share of the choice of one context per word."""


def variance_shares(to_a: Matrix, to_b: Matrix, words: Integers, n_x: int) -> Shares | None:
    """Return the shares of words, attributes and contexts, with variances estimated by REML.

    A score varies between words, and between the contexts of a word: one REML fit of the scores gives both variances. A
    second fit, of the contrasts between the attribute words of one set, gives the variance of words × attributes, which
    is a part of what seems to be variance between words.

    Args:
        to_a: closeness of each context of a target word (rows) to each word of A.
        to_b: the same for B.
        words: the index of the word of each row, from 0; those of X come first.
        n_x: the number of words of X.

    Returns:
        None if there are too few words, attributes or contexts, or the scores do not vary.
    """
    counts = np.bincount(words)
    if (counts < LEAST_LEVELS).all() or min(n_x, len(counts) - n_x) < LEAST_LEVELS:
        return None
    scores = to_a.mean(axis=1) - to_b.mean(axis=1)
    side = np.where(words < n_x, 0.5, -0.5)
    try:
        of_scores = reml(cross_products(scores, {"set": side}, {"word": words}))
        noise = _attribute_noise(to_a, to_b, words, n_x)
    except WeatherglassError:
        return None
    between, contexts = of_scores.variances["word"], of_scores.residual
    attributes = min(noise, between)
    total = between + contexts
    return Shares((between - attributes) / total, attributes / total, contexts / total)


def _attribute_noise(to_a: Matrix, to_b: Matrix, words: Integers, n_x: int) -> float:
    """Return the variance of a word's score due to the choice of attribute words: σ²(words × attributes) / h."""
    contrasts = np.column_stack([to_a @ _contrasts(to_a.shape[1]), to_b @ _contrasts(to_b.shape[1])])
    number = contrasts.shape[1]
    if not number:
        return 0.0
    levels = np.arange(number)
    attribute = np.where(words < n_x, 0, number)[:, None] + levels
    together = words[:, None] * number + levels
    factors = {"attribute": attribute.ravel(), "word and attribute": together.ravel()}
    rows = cross_products(contrasts.ravel(), {}, factors)
    return float(reml(rows).variances["word and attribute"] * (1 / to_a.shape[1] + 1 / to_b.shape[1]))


def _contrasts(number: int) -> Matrix:
    """Return orthonormal columns that sum to 0 (Helmert contrasts)."""
    columns = np.zeros((number, number - 1))
    for place in range(1, number):
        columns[:place, place - 1] = -1
        columns[place, place - 1] = place
    return columns / np.sqrt(np.arange(1, number) * np.arange(2, number + 1)) if number > 1 else columns


def needed_contexts(without: Sequence[Vector], stable: float = STABLE) -> int | None:
    """Return the number of contexts per word for which d stays within ± `stable` in 95 % of samples.

    Args:
        without: by word, d without each of its contexts in turn.
        stable: the half-width.

    Returns:
        None if no word has two contexts. Words with one context count like the mean of the others.
    """
    several = [values for values in without if len(values) >= LEAST_LEVELS]
    if not several:
        return None
    # The jackknife variance of d with n contexts of a word is (n - 1)/n · Σ(d₍₋ᵢ₎ - mean)²; with one context it is n
    # times that.
    of_one = math.fsum((len(values) - 1) * float(((values - values.mean()) ** 2).sum()) for values in several)
    of_one *= len(without) / len(several)
    return max(1, math.ceil(of_one * (NORMAL / stable) ** 2 - 1e-9))
