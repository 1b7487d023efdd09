"""A factor that every word is crossed with, attributes or templates, and what its choice adds to the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.scale import Scale, Within


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A words × levels table, split within X and Y (docs/methods 10.2); the levels are attributes or templates."""

    sign: int
    """How its row means enter the score: −1 for B."""
    scale: Scale
    interaction: Matrix
    """The table without the column means of each target set, then without row means."""
    differences: Vector
    """D: mean over X less mean over Y, of each level."""
    levels: int
    """|A|, |B| or the number of templates."""
    variance: Vector
    """V: the variance of Δ that the choice of levels makes, var(D) / levels."""
    rows: Vector
    """The sum of squares of each row of the interaction."""
    noise: Vector
    """σ² / levels: the variance of a score that the choice of levels makes."""

    def noise_without_each_word(self, set_sizes: Vector) -> Vector:
        """Return the noise without each word: I − qᵢ·m/(m − 1)."""
        left = self.rows.sum(axis=-1, keepdims=True) - self.rows * set_sizes / (set_sizes - 1)
        return _noise(left, self.scale.df - 1, self.levels)

    def without_each_level(self, scores: Within) -> tuple[Vector, Vector, Vector]:
        """Return Δ, the sum of squares of the scores within the sets, and this factor's noise, without each level.

        The mean of the others is the mean less 1/(k − 1) of what the level lies above it, so that residuals serve.
        """
        k, r = self.levels, self.interaction
        columns = np.einsum("...ij,...ij->...j", r, r)
        above = self.differences - self.differences.mean(axis=-1, keepdims=True)
        difference = scores.difference[..., np.newaxis] - self.sign * above / (k - 1)
        products = np.einsum("...i,...ij->...j", scores.residuals, r)
        squares = (
            scores.squares[..., np.newaxis] - 2 * self.sign * products / (k - 1) + columns / (k - 1) ** 2
        )
        left = columns.sum(axis=-1, keepdims=True) - columns * k / (k - 1)
        return difference, squares, _noise(left, self.scale.df, k - 1)


def _noise(squares: Vector, df: int, levels: int) -> Vector:
    return np.asarray(np.maximum(squares, 0) / (df * (levels - 1) * levels))


def factor(table: Matrix, scale: Scale, sign: int = 1) -> Factor:
    """Split a table of words (X first) × levels."""
    x, y = table[..., : scale.n_x, :], table[..., scale.n_x :, :]
    mean_x, mean_y = x.mean(axis=-2, keepdims=True), y.mean(axis=-2, keepdims=True)
    centred = np.concatenate([x - mean_x, y - mean_y], axis=-2)
    centred -= centred.mean(axis=-1, keepdims=True)
    differences, levels = (mean_x - mean_y)[..., 0, :], int(table.shape[-1])
    rows = np.asarray(np.einsum("...ij,...ij->...i", centred, centred))
    return Factor(
        sign,
        scale,
        interaction=centred,
        differences=differences,
        levels=levels,
        variance=np.asarray(differences.var(axis=-1, ddof=1) / levels),
        rows=rows,
        noise=_noise(rows.sum(axis=-1), scale.df, levels),
    )
