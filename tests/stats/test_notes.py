"""The notes beside a result, and what they are made of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.stats.cases import wave_scores, waves

from weatherglass.stats.robustness import notes, skewness, welch_p
from weatherglass.warnings import Warning


def test_welch_and_skewness_are_scipys() -> None:
    x, y = waves(7, 1, 0.2)[:, 0], 3 * waves(12, 1, 0.9)[:, 0]
    assert welch_p(x, y) == pytest.approx(stats.ttest_ind(x, y, equal_var=False).pvalue)
    assert skewness(x - x.mean()) == pytest.approx(stats.skew(x))
    assert np.isnan(welch_p(np.ones(3), np.ones(3)))
    assert skewness(np.zeros(3)) == 0


def test_a_plain_row_has_no_note() -> None:
    scores = wave_scores(8, 8, 0.9, 0.3)
    assert notes(scores[:8], scores[8:], 0.01, 0.02, 0.8) == ()


def test_each_note_where_it_fits() -> None:
    scores = wave_scores(8, 8, 0.9, 0.3)
    assert notes(scores[:8], scores[8:], 0.01, 0.06, 0.2) == (
        Warning.of("unreliable", reliability=0.2, least=0.3),
        Warning.of("fixed-attributes", p=0.01, p_random=0.06),
    )
    skewed = np.array([0.0, 0.0, 0.1, 0.1, 0.2, 2.0])
    assert notes(skewed + 3, skewed, 0.002) == (Warning.of("skewed", level=95.0),)
    few, many = np.array([-4.0, 5.0, 8.0, 1.0]), wave_scores(10, 10, 0.0, 0.3)
    assert welch_p(few, many) > 0.05
    assert notes(few, many, 0.001) == (Warning.of("spreads", welch_p=welch_p(few, many)),)
    assert notes(few, many, 0.3) == ()
