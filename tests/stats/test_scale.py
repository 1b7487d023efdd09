"""g and d are two names of one effect."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stats.cases import effect_size, wave_scores

from weatherglass.stats.scale import Scale, within


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize(("n_x", "n_y"), [(8, 8), (5, 9), (2, 2), (25, 8)])
def test_d_of_g_is_the_effect_size_of_the_papers(n_x: int, n_y: int, ddof: int) -> None:
    scores = wave_scores(n_x, n_y, 0.7, 0.4)
    centred = within(scores, n_x, ddof)
    assert centred.scale.effect_size(centred.g) == pytest.approx(effect_size(scores, n_x, ddof), abs=1e-13)


@given(st.floats(-1e3, 1e3), st.integers(2, 80), st.integers(2, 80), st.integers(0, 1))
def test_g_goes_to_d_and_back(g: float, n_x: int, n_y: int, ddof: int) -> None:
    scale = Scale(n_x, n_y, ddof)
    d = scale.effect_size(np.asarray(g))
    assert abs(d) <= scale.largest
    back = d * np.sqrt(scale.df / (scale.n - ddof) / (1 - (d / scale.largest) ** 2))
    assert back == pytest.approx(g, rel=1e-8, abs=1e-12)


def test_an_infinite_g_is_the_largest_d() -> None:
    scale = Scale(8, 8)
    assert scale.largest == pytest.approx(2 * math.sqrt(15 / 16))  # docs/methods 2
    assert scale.effect_size(np.array([np.inf, -np.inf])) == pytest.approx([scale.largest, -scale.largest])
    assert np.isnan(scale.effect_size(np.asarray(np.nan)))


def test_scores_that_differ_in_the_last_bit_do_not_vary() -> None:
    scores = np.array([0.1 + 0.2, 0.3, 0.3, 0.7, 0.1 + 0.6, 0.7])
    assert within(scores, 3).squares == 0
