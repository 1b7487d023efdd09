"""How far a batch of other seeds moves a box plot: beside fresh batches, which a study does not have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from weatherglass.reliability.agreement.icc import Tables, retest
from weatherglass.reliability.agreement.seeds import (
    BOX_WIDTH,
    box_of,
    box_width_error,
    disjoint_batches,
    movements,
    random_batches,
)


class World:
    """Words and pairs that stay, and seeds without end; a seed shifts its pairs, so that all words move together."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(4)
        self.fixed = self.rng.normal(size=(80, 8, 1))

    def scores(self, seeds: int) -> Tables:
        shifts = self.rng.normal(size=(1, 8, seeds)) * np.exp(self.rng.normal(0, 0.3, (1, 1, seeds)))
        return self.fixed + 0.4 * shifts + 0.4 * self.rng.normal(size=(80, 8, seeds))


def test_batches_of_other_seeds_move_the_box_by_the_estimated_amount() -> None:
    world = World()
    fresh = [box_of(world.scores(8)) for _ in range(400)]
    estimates = [movements(world.scores(48), [8], number=40) for _ in range(8)]
    for place, part in enumerate(fresh[0]):
        own = np.mean([estimate[place].sd for estimate in estimates])
        assert estimates[0][place].part == part
        assert own == pytest.approx(np.std([box[part] for box in fresh], ddof=1), rel=0.25)


def test_the_interval_of_the_deviation_is_that_of_a_variance() -> None:
    for movement in movements(World().scores(20), [5, 10], number=10):
        ends = [movement.sd * (19 / chi2.ppf(q, 19)) ** 0.5 for q in (0.975, 0.025)]
        assert [movement.sd_low, movement.sd_high] == pytest.approx(ends)


def test_disjoint_batches_are_those_of_the_seeds_in_order() -> None:
    scores = World().scores(9)
    (median,) = [m for m in movements(scores, [4], number=5) if m.part == "median"]
    expected = [float(np.median(retest(scores[:, :, part]).value)) for part in (slice(0, 4), slice(4, 8))]
    assert median.disjoint == pytest.approx(expected)
    assert median.whole == pytest.approx(float(np.median(retest(scores).value)))
    assert [batch.tolist() for batch in disjoint_batches(5, 2)] == [[0, 1], [2, 3]]
    assert all(len(set(batch.tolist())) == 3 for batch in random_batches(9, 3, 20, np.random.default_rng(0)))


def test_the_box_is_the_distance_of_the_quartiles() -> None:
    box = box_of(World().scores(5))
    assert box[BOX_WIDTH] == box["upper_quartile"] - box["lower_quartile"] > 0


def test_the_error_of_the_box_is_the_formula_written_out() -> None:
    scores = World().scores(4)[:40]

    def width(some: Tables) -> float:
        lower, upper = np.quantile(retest(some).value, [0.25, 0.75])
        return float(upper - lower)

    def jackknife(values: list[float]) -> float:
        return (len(values) - 1) / len(values) * sum((v - sum(values) / len(values)) ** 2 for v in values)

    rng = np.random.default_rng(1)
    words = np.var([width(scores[rng.integers(0, 40, 40)]) for _ in range(2_000)])
    pairs = jackknife([width(np.delete(scores, pair, 1)) for pair in range(8)])
    seeds = jackknife([width(np.delete(scores, seed, 2)) for seed in range(4)])
    assert box_width_error(scores, draws=2_000) ** 2 == pytest.approx(words + pairs + seeds, rel=0.03)
