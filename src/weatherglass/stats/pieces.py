"""The effect of a topic beside the number of pieces that a tokenizer splits its words into (docs/methods 10.6)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.stats.interval import Interval, two_sided_p, upper_point
from weatherglass.stats.topic_layout import Topic

VARIES = 1e-9
"""An sd of pieces below this is none."""
MOST_LEVERAGE = 0.99
EXPLAINED = 1e-9
"""Labels of which pieces leave a smaller share of the variance cannot be distinguished from pieces."""


@dataclass(frozen=True, slots=True)
class BesidePieces:
    """D with the number of pieces held fixed."""

    effect_size: float
    """D_p."""
    p: float
    interval: Interval | None
    """By t; None where the variance is 0."""


def beside_pieces(topic: Topic, alpha: float = 0.05) -> BesidePieces | None:
    """Regress z on label and pieces in every test; D_p is the weighted mean of the label's coefficients.

    A test in which pieces tell X from Y completely contributes a coefficient of 0: all of its difference may be owed to
    pieces. None where the tokenizer is not known, or no test has words of different numbers of pieces.
    """
    layout = topic.layout
    counts = [None if test.pieces is None else np.asarray(test.pieces, np.float64) for test in topic.tests]
    if not any(count is not None and count.std() > VARIES for count in counts):
        return None
    mean, by_word = 0.0, np.zeros(len(layout.words))
    for row, (test, count) in enumerate(zip(topic.tests, counts, strict=True)):
        z, weight = layout.z[row, topic.places[row]], layout.weights[row]
        coefficient, parts = _label(z, test.n_x, count)
        mean += float(weight * coefficient)
        by_word[topic.places[row]] += weight * parts
    variance, df = float((by_word**2).sum()), max(1.0, layout.word_df - 1)
    if not variance > 0 or math.isnan(df):
        return BesidePieces(mean, 0.0 if mean else 1.0, None)
    se = math.sqrt(variance)
    half = float(upper_point(alpha / 2, df)) * se
    p = float(two_sided_p(np.asarray(mean / se), df))
    return BesidePieces(mean, p, Interval(mean - half, mean + half, 1 - alpha))


def _label(z: Vector, n_x: int, pieces: Vector | None) -> tuple[float, Vector]:
    """The coefficient of the label, and what each word contributes to its standard error."""
    label = np.where(np.arange(len(z)) < n_x, 0.5, -0.5)
    columns = [np.ones(len(z)), label]
    if pieces is not None and pieces.std() > VARIES:
        beside = pieces - pieces.mean()
        centred = label - label.mean()
        unexplained = centred - beside * (beside @ centred) / (beside @ beside)
        if unexplained @ unexplained <= EXPLAINED * (centred @ centred):
            return 0.0, np.zeros(len(z))
        columns.append(beside)
    design = np.column_stack(columns)
    inverse = np.linalg.pinv(design)
    coefficients = inverse @ z
    leverage = np.clip(np.einsum("ij,ji->i", design, inverse), 0, MOST_LEVERAGE)
    parts = inverse[1] * (z - design @ coefficients) / np.sqrt(1 - leverage)
    return float(coefficients[1]), np.asarray(parts)
