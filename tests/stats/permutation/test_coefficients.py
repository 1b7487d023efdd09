"""Fourier coefficients of the tilted sum: phases that are turned and products that are cut stay within their error."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from weatherglass.stats.permutation.bounds import Coefficients, Weights
from weatherglass.stats.permutation.grid import as_extreme_as, on_grid
from weatherglass.stats.permutation.tilt import find_tilt


def written_out(weights: Weights, size: int, threshold: int, period: int, counts: int, k: int) -> complex:
    """c_k as docs/methods/significance.md has it, with every phase reduced in whole numbers."""
    total = 0j
    for at in range(counts):
        product = cmath.exp(-2j * math.pi * (at * size % counts) / counts)
        for value, out, into in zip(weights.values.tolist(), weights.excluded, weights.included, strict=True):
            turn = at / counts + (k * value % period) / period
            product *= out + into * cmath.exp(2j * math.pi * turn)
        total += product
    return total / counts * cmath.exp(-2j * math.pi * (k * threshold % period) / period)


@pytest.mark.parametrize("cut", [1e-18, 1e-9, 1e-3])
def test_every_coefficient_is_within_its_error_of_the_formula(cut: float) -> None:
    rng = np.random.default_rng(1)
    included = rng.uniform(0.05, 0.95, 20)
    weights = Weights(rng.integers(-(2**50), 2**50, 20), 1 - included, included)
    size, threshold, period, counts = 9, 123_456_789, 2**55 - 55, 12
    coefficients = Coefficients(weights, size, threshold, period, counts, cut)
    coefficients.extend(200, work=10**9)
    for k in (0, 1, 2, 15, 16, 17, 31, 63, 64, 65, 127, 128, 150, 199):
        wanted = written_out(weights, size, threshold, period, counts, k)
        assert abs(coefficients.values[k] - wanted) <= coefficients.error
    assert coefficients.error < 1e-11 + cut


def test_a_cut_saves_work() -> None:
    included = np.full(60, 0.5)
    weights = Weights(np.arange(60) ** 3, 1 - included, included)
    spent = []
    for cut in (1e-18, 1e-6):
        coefficients = Coefficients(weights, 30, 1000, 2**20, 20, cut)
        coefficients.extend(500, work=10**9)
        spent.append(coefficients.work)
    assert spent[1] < 0.8 * spent[0]


@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0, 30.0])
@pytest.mark.parametrize("sizes", [(5, 5), (25, 25), (8, 40), (200, 150)])
def test_a_tilted_element_count_is_the_size(sizes: tuple[int, int], shift: float) -> None:
    rng = np.random.default_rng(2)
    grid = on_grid(rng.normal(size=sizes[0]) + shift, rng.normal(size=sizes[1]))
    for tail in as_extreme_as(grid, grid.observed, "two-sided").tails(grid):
        if tail.known is not None:
            continue
        beyond = tail if tail.beyond_the_mean else tail.rest()
        tilt = find_tilt(beyond)
        exponents = tilt.rate * (beyond.values - tilt.centre).astype(np.float64) + tilt.offset
        assert (1 / (1 + np.exp(-exponents))).sum() == pytest.approx(beyond.size, abs=1e-4)
        assert tilt.rate > 0
