"""Vocabulary expansion: words that a model was not trained on, carried over from GloVe (Kiros et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.encoders.papers.recurrent import Array


@dataclass(frozen=True, slots=True)
class Expansion:
    """A linear map with intercept from GloVe's space to a model's own."""

    weight: Matrix
    """(GloVe's dimensions, the model's)"""
    intercept: Vector

    @classmethod
    def fit(cls, glove: Array, own: Array) -> Self:
        """Least squares over the words that both know, one row each."""
        from_glove, to_own = glove.astype(np.float64), own.astype(np.float64)
        glove_mean, own_mean = from_glove.mean(axis=0), to_own.mean(axis=0)
        centred = from_glove - glove_mean
        # By the normal equations: 300 unknowns against tens of thousands of words, in float64, is far from trouble.
        weight = np.linalg.lstsq(centred.T @ centred, centred.T @ (to_own - own_mean), rcond=None)[0]
        return cls(weight, own_mean - glove_mean @ weight)

    def __call__(self, glove: Array) -> Array:
        """GloVe vectors, one row per word, in the model's space."""
        return (glove.astype(np.float64) @ self.weight + self.intercept).astype(np.float32)
