"""Win rates and impact ratios against the plain yardstick of the methods: `make test-shared SHARED=DIR`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weatherglass.stats.selection import impact_ratios, rate_of_names, standing_among_copies
from weatherglass.stats.win_rate import RankedContexts, exchange_p, win_rate

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def yardstick(shared: Path) -> Any:
    spec = importlib.util.spec_from_file_location("ranking", shared / "reference" / "ranking.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_number_of_a_win_rate_is_the_yardsticks(yardstick: Any) -> None:
    rng = np.random.default_rng(14)
    for case in range(200):
        n_x, n_y = (int(size) for size in rng.integers(2, 12, 2))
        queries = np.repeat(np.arange(rng.integers(2, 8)), rng.integers(1, 5))
        scores = rng.normal(size=(n_x + n_y, len(queries))) + rng.normal(size=(n_x + n_y, 1))
        scores[:n_x] += rng.uniform(-2, 2)
        scores = np.round(scores, 1) if case % 2 else scores
        found = win_rate(scores, n_x, RankedContexts(queries, np.arange(len(queries))))
        p = found.significance.p_value
        assert p == exchange_p(found.by_name, n_x).p_value
        expected = yardstick.win_rate(scores, n_x, queries, lambda *_, p=p: p)
        assert found.value == pytest.approx(expected["w"], abs=1e-9)
        assert found.interval
        assert found.random
        assert (found.interval.low, found.interval.high) == pytest.approx(expected["ci"], abs=1e-9)
        assert found.random.p == pytest.approx(expected["p_such"], abs=1e-9)
        low_and_high = (found.random.interval.low, found.random.interval.high)
        assert low_and_high == pytest.approx(expected["ci_such"], abs=1e-9)


def test_every_impact_ratio_is_the_yardsticks(yardstick: Any) -> None:
    rng = np.random.default_rng(15)
    compared = 0
    for case in range(100):
        n_x, n_y, g, h = (int(size) for size in rng.integers(3, 9, 4))
        scores = rng.normal(size=(n_x + n_y, g, h)) + rng.normal(size=(n_x + n_y, 1, 1)) / 3
        share = (0.1, 0.25)[case % 2]
        queries = np.repeat(np.arange(g), h)
        standing = standing_among_copies(scores.reshape(n_x + n_y, -1), queries)
        x, y = np.split(rate_of_names(standing.selected(share), queries), [n_x])
        expected = yardstick.impact_ratio(scores, n_x, share)
        assert (x.mean(), y.mean()) == pytest.approx(expected["rates"], abs=1e-12)
        ratio = impact_ratios([x, y])[1]
        if expected["ratio"] and x.mean() > y.mean():  # the yardstick divides by the first group
            assert (ratio.ratio, ratio.low, ratio.high) == pytest.approx(
                (expected["ratio"], *expected["ci"]), abs=1e-9
            )
            compared += 1
    assert compared > 20
