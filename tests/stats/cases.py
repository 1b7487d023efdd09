"""Scores and tables that can be written down as a formula, and the plain procedures that tests compare with."""

from __future__ import annotations

import itertools

import numpy as np

from weatherglass.arrays import Matrix, Vector


def waves(rows: int, columns: int, phase: float) -> Matrix:
    """Numbers without a pattern that any machine computes alike."""
    i, j = np.arange(rows)[:, np.newaxis], np.arange(columns)
    return np.asarray(np.sin(phase + 3.1 * i * i + 1.7 * j + 0.37 * i * j))


def wave_scores(n_x: int, n_y: int, shift: float, phase: float) -> Vector:
    """Scores of X, moved by `shift`, and of Y."""
    scores = waves(n_x + n_y, 1, phase)[:, 0]
    scores[:n_x] += shift
    return scores


def wave_tables(
    n_x: int, n_y: int, k_a: int, k_b: int, shift: float, noise: float, phase: float
) -> tuple[Matrix, Matrix]:
    """Measures to A and to B whose difference is the scores above and noise."""
    score = wave_scores(n_x, n_y, shift, phase)[:, np.newaxis] / 2
    return score + noise * waves(n_x + n_y, k_a, phase + 1), noise * waves(n_x + n_y, k_b, phase + 2) - score


def exchange_p(scores: Vector, n_x: int) -> float:
    """Two-sided p by looking at every labelling."""
    centred = scores - scores.mean()
    sums = [abs(centred[list(chosen)].sum()) for chosen in itertools.combinations(range(len(scores)), n_x)]
    return float(np.mean(np.array(sums) >= abs(centred[:n_x].sum()) - 1e-12))


def effect_size(scores: Vector, n_x: int, ddof: int = 1) -> float:
    """d as docs/methods 2 writes it."""
    return float((scores[:n_x].mean() - scores[n_x:].mean()) / scores.std(ddof=ddof))
