"""Correction for many tests: against the definitions of docs/methods 4, and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from tests.messages import naming

from weatherglass.errors import UnknownNameError, WeatherglassError
from weatherglass.stats.permutation import adjust

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=25)


def holm_rejects(p: list[float], alpha: float, family: int) -> list[bool]:
    """docs/methods 4, word for word: the smallest rank k with P(k) > alpha / (1 + N − k); reject the ranks before."""
    order = sorted(range(len(p)), key=lambda row: p[row])
    rejected = [False] * len(p)
    for k, row in enumerate(order, start=1):
        if p[row] > alpha / (1 + family - k):
            break
        rejected[row] = True
    return rejected


@given(P_VALUES, st.integers(0, 600), st.floats(0.001, 0.2))
def test_holm_rejects_what_the_definition_rejects(p: list[float], missing: int, alpha: float) -> None:
    family = len(p) + missing
    adjusted = adjust(p, family=family)
    near = np.isclose(adjusted, alpha, rtol=1e-12)  # rounding may decide these either way
    assert ((adjusted <= alpha) == holm_rejects(p, alpha, family))[~near].all()


@given(P_VALUES)
def test_benjamini_hochberg_agrees_with_scipy(p: list[float]) -> None:
    assert adjust(p, "benjamini-hochberg") == pytest.approx(false_discovery_control(p), rel=1e-12)


@given(P_VALUES, st.integers(0, 50))
def test_missing_rows_count_as_if_they_had_p_1(p: list[float], missing: int) -> None:
    for method in ("holm", "benjamini-hochberg"):
        there = adjust([*p, *[1.0] * missing], method)[: len(p)]
        assert adjust(p, method, family=len(p) + missing) == pytest.approx(there, rel=1e-12)


@given(P_VALUES, st.sampled_from(["holm", "benjamini-hochberg"]))
def test_adjusting_keeps_the_order_and_only_raises(p: list[float], method: str) -> None:
    adjusted = adjust(p, method)
    order = np.argsort(p)
    assert (np.diff(adjusted[order]) >= 0).all()
    assert (adjusted >= np.array(p) * (1 - 1e-15)).all()
    assert (adjusted <= 1).all()


def test_the_8_and_8_tests_survive_a_family_of_46_but_not_of_644() -> None:
    floor = 1 / math.comb(16, 8)
    rows = [floor] + [0.9] * 45
    assert adjust(rows)[0] == pytest.approx(46 * floor)
    assert adjust(rows)[0] <= 0.01
    assert adjust(rows, family=644)[0] > 0.01


def test_p_equal_to_alpha_is_significant() -> None:
    assert adjust([0.01])[0] <= 0.01


def test_a_row_without_p_ranks_last() -> None:
    adjusted = adjust([0.01, math.nan, 0.02])
    assert adjusted[0] == pytest.approx(0.03)
    assert math.isnan(adjusted[1])
    assert adjusted[2] == pytest.approx(0.04)
    assert math.isnan(adjust([0.01, math.nan], "benjamini-hochberg")[1])


def test_bad_families_and_names_are_refused() -> None:
    with pytest.raises(WeatherglassError, match=naming("family", 1, 2)):
        adjust([0.1, 0.2], family=1)
    with pytest.raises(WeatherglassError, match=naming(0, 1)):
        adjust([1.2])
    with pytest.raises(UnknownNameError, match=naming("holmes", suggesting="holm")):
        adjust([0.1], "holmes")
