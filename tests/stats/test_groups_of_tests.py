"""Holm between groups of tests that are adjusted within: by hand, and as Holm where groups are single tests."""

from __future__ import annotations

import numpy as np
import pytest

from weatherglass.stats.multiplicity import adjust, adjust_groups


def test_groups_of_one_test_are_corrected_as_holm_does() -> None:
    p = np.random.default_rng(4).uniform(0, 0.2, 12)
    assert np.concatenate(adjust_groups([p[[n]] for n in range(12)])) == pytest.approx(adjust(p, "holm"))
    more = adjust_groups([p[[n]] for n in range(12)], groups=30)
    assert np.concatenate(more) == pytest.approx(adjust(p, "holm", 30))


def test_the_second_group_counts_one_group_less() -> None:
    """By hand: 2 groups for the one with the smaller p, then 1, never below what was reached before."""
    first, second = adjust_groups([np.array([0.04, 0.01]), np.array([0.03])])
    assert first == pytest.approx([0.08, 0.02])
    assert second == pytest.approx([0.03])
    _, held = adjust_groups([np.array([0.02]), np.array([0.03, 0.6])])
    assert held == pytest.approx([0.04, 0.6])
