"""Test–retest with a jackknife over rows and seeds; its coverage is in tests/stats/test_seed_share.py."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import t
from tests.messages import in_order

from weatherglass.reliability.agreement.icc import MeanSquares, agreement_icc, crossed_retest, retest

SCORES = np.random.default_rng(4).normal(size=(9, 1)) + 0.5 * np.random.default_rng(5).normal(size=(9, 4))


def test_it_is_the_jackknife_by_its_definition() -> None:
    """Each row and each seed left out in turn, by deleting it."""

    def fisher(table: np.ndarray) -> float:
        c = float(agreement_icc(MeanSquares.of(table)))
        return float(np.log((1 + 3 * c) / (1 - c)))

    variances = []
    for axis, size in ((0, 9), (1, 4)):
        each = np.array([fisher(np.delete(SCORES, place, axis)) for place in range(size)])
        variances.append((size - 1) / size * ((each - each.mean()) ** 2).sum())
    both = sum(variances)
    reach = t.ppf(0.975, both**2 / (variances[0] ** 2 / 8 + variances[1] ** 2 / 3)) * both**0.5
    ends = [np.expm1(z) / (np.exp(z) + 3) for z in (fisher(SCORES) - reach, fisher(SCORES) + reach)]
    found = crossed_retest(SCORES[None], "words")
    assert [found.low[0], found.high[0]] == pytest.approx(ends)
    assert found.value[0] == retest(SCORES[None]).value[0]


def test_two_seeds_have_the_interval_of_mcgraw_and_wong() -> None:
    own, theirs = crossed_retest(SCORES[None, :, :2], "words"), retest(SCORES[None, :, :2])
    assert [own.low, own.high] == [theirs.low, theirs.high]


def test_seeds_that_agree_have_a_test_retest_of_1_and_no_width() -> None:
    alike = np.repeat(SCORES[None, :, :1], 4, axis=-1)
    found = crossed_retest(alike, "words")
    assert [found.value[0], found.low[0], found.high[0]] == [1, 1, 1]


def test_too_few_rows_are_said() -> None:
    reason = crossed_retest(SCORES[None, :4], "tests").reason
    assert re.search(in_order("not estimable", "4 tests", 5), reason)
