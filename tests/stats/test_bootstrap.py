"""BCa intervals of d: against scipy, and how exact the draws make them."""

from __future__ import annotations

import numpy as np
import pytest

from weatherglass.arrays import AnyMatrix, Vector
from weatherglass.metrics.weat.scores import MEAN, MEDIAN, effect_size
from weatherglass.stats.bootstrap import (
    LARGEST_ERROR,
    Sample,
    bootstrap_interval,
    effect_sizes,
    interval_of,
    jackknife_effect_sizes,
    resampled_effect_sizes,
)


def sample(seed: int = 0, sizes: tuple[int, int, int, int] = (9, 7, 5, 6)) -> Sample:
    rng = np.random.default_rng(seed)
    x, y, a, b = sizes
    units = (np.arange(x), np.arange(y), np.arange(a), np.arange(b))
    shift = np.repeat([0.8, 0.0], [x, y])[:, np.newaxis]
    return Sample(rng.normal(size=(x + y, a)) + shift, rng.normal(size=(x + y, b)), 1, MEAN, units)


def scores(of: Sample) -> tuple[Vector, Vector]:
    s = of.to_a.mean(axis=1) - of.to_b.mean(axis=1)
    return s[: len(of.units[0])], s[len(of.units[0]) :]


def targets_only(sample: Sample) -> Sample:
    """The same sample with A and B held fixed: each is a single unit, which is always drawn."""
    x, y, a, b = sample.units
    return Sample(sample.to_a, sample.to_b, 1, MEAN, (x, y, np.zeros_like(a), np.zeros_like(b)))


def d_of(x: Vector, y: Vector) -> float:
    """docs/methods 2, written anew."""
    return float((x.mean() - y.mean()) / np.concatenate([x, y]).std(ddof=1))


def d_of_columns(x: AnyMatrix, y: AnyMatrix, axis: int = -1) -> AnyMatrix:
    """The same for many resamples at once."""
    pooled = np.concatenate([x, y], axis=axis)
    d: AnyMatrix = (x.mean(axis=axis) - y.mean(axis=axis)) / pooled.std(axis=axis, ddof=1)
    return d


def test_the_interval_is_that_of_scipy() -> None:
    """scipy.stats.bootstrap, BCa, with the same statistic; A and B fixed, so that it has two samples."""
    from scipy.stats import bootstrap

    fixed = targets_only(sample())
    x, y = scores(fixed)
    theirs = bootstrap(
        *((x, y), d_of_columns), method="BCa", n_resamples=100_000, batch=10_000, rng=np.random.default_rng(1)
    ).confidence_interval
    ours = bootstrap_interval(fixed, effect_size(x, y), 0.05, np.random.default_rng(2))
    assert ours is not None
    assert (ours.bca_low, ours.bca_high) == pytest.approx((theirs.low, theirs.high), abs=4 * LARGEST_ERROR)


def test_all_four_sets_are_resampled_as_scipy_resamples_four_samples() -> None:
    from scipy.stats import bootstrap

    given = sample(3)

    def statistic(x: Vector, y: Vector, a: Vector, b: Vector) -> float:
        rows = np.concatenate([x, 9 + y])
        s = given.to_a[np.ix_(rows, a)].mean(axis=1) - given.to_b[np.ix_(rows, b)].mean(axis=1)
        return d_of(s[: len(x)], s[len(x) :])

    sets = tuple(np.arange(size) for size in (9, 7, 5, 6))
    theirs = bootstrap(
        sets, statistic, method="BCa", vectorized=False, n_resamples=9999, rng=np.random.default_rng(1)
    ).confidence_interval
    ours = bootstrap_interval(given, effect_size(*scores(given)), 0.05, np.random.default_rng(2))
    assert ours is not None
    assert (ours.bca_low, ours.bca_high) == pytest.approx((theirs.low, theirs.high), abs=0.05)


def test_a_resample_is_d_of_the_drawn_units() -> None:
    given = sample(1)
    counts = [np.random.default_rng(4).multinomial(k, [1 / k] * k) for k in given.sizes()]
    x, y, a, b = (np.repeat(np.arange(len(c)), c) for c in counts)
    rows = np.concatenate([x, len(given.units[0]) + y])
    s = given.to_a[np.ix_(rows, a)].mean(axis=1) - given.to_b[np.ix_(rows, b)].mean(axis=1)
    columns = [c[:, np.newaxis].astype(float) for c in counts]
    ours = effect_sizes(given.scores(columns[2], columns[3]), columns[0], columns[1], 1)
    assert ours[0] == pytest.approx(d_of(s[: len(x)], s[len(x) :]))


def test_the_statistic_is_taken_over_the_drawn_attributes() -> None:
    mean = sample(2)
    given = Sample(mean.to_a, mean.to_b, -1, MEDIAN, mean.units)
    a, b = np.array([2, 0, 1, 1, 1]), np.array([0, 3, 1, 1, 1, 0])
    rows_a, rows_b = np.repeat(given.to_a, a, axis=1), np.repeat(given.to_b, b, axis=1)
    expected = np.median(rows_b, axis=1) - np.median(rows_a, axis=1)
    found = given.scores(a[:, np.newaxis].astype(float), b[:, np.newaxis].astype(float))
    assert found[:, 0] == pytest.approx(expected)


def test_the_jackknife_leaves_out_each_unit_once() -> None:
    given = sample()
    left_out = jackknife_effect_sizes(given)
    assert [len(each) for each in left_out] == [9, 7, 5, 6]
    x, y = scores(given)
    assert left_out[0][3] == pytest.approx(d_of(np.delete(x, 3), y))
    without = Sample(np.delete(given.to_a, 2, axis=1), given.to_b, 1, MEAN, given.units)
    assert left_out[2][2] == pytest.approx(d_of(*scores(without)))


def test_the_jackknife_of_a_median_leaves_out_each_attribute_once() -> None:
    mean = sample()
    given = Sample(mean.to_a, mean.to_b, 1, MEDIAN, mean.units)
    left_out = jackknife_effect_sizes(given)
    to_a = np.delete(given.to_a, 2, axis=1)
    s = np.median(to_a, axis=1) - np.median(given.to_b, axis=1)
    assert [len(each) for each in left_out] == [9, 7, 5, 6]
    assert left_out[2][2] == pytest.approx(d_of(s[:9], s[9:]))


def test_sentences_of_a_word_are_drawn_together() -> None:
    """Words with identical sentences: resampling words gives the spread of single words, elements a narrower one."""
    rng = np.random.default_rng(0)
    words = rng.normal(size=(12, 1)).repeat(6, axis=0)
    by_word = np.arange(6).repeat(6)
    one = np.zeros(1, dtype=int)
    whole = Sample(words, np.zeros((72, 1)), 1, MEAN, (by_word, by_word, one, one))
    single = Sample(words, np.zeros((72, 1)), 1, MEAN, (np.arange(36), np.arange(36), one, one))
    bare = Sample(words[::6], np.zeros((12, 1)), 1, MEAN, (np.arange(6), np.arange(6), one, one))
    spread = [resampled_effect_sizes(each, 2000, rng).std() for each in (whole, single, bare)]
    assert spread[0] == pytest.approx(spread[2], rel=0.1)
    assert spread[1] < 0.6 * spread[0]


def test_the_same_seed_gives_the_same_interval() -> None:
    given = sample()
    d = effect_size(*scores(given))
    first, again = (bootstrap_interval(given, d, 0.05, np.random.default_rng(5)) for _ in range(2))
    assert first == again
    assert first != bootstrap_interval(given, d, 0.05, np.random.default_rng(6))


def test_the_error_of_an_end_is_its_spread_over_seeds() -> None:
    given = sample()
    d, left_out = effect_size(*scores(given)), jackknife_effect_sizes(given)
    drawn = [resampled_effect_sizes(given, 1000, np.random.default_rng(seed)) for seed in range(60)]
    intervals = [i for each in drawn if (i := interval_of(d, each, left_out, 0.05)) is not None]
    assert len(intervals) == 60
    spread = max(np.std([i.bca_low for i in intervals]), np.std([i.bca_high for i in intervals]))
    assert np.mean([i.monte_carlo_error for i in intervals]) == pytest.approx(spread, rel=0.3)


def test_draws_are_added_until_the_ends_stand_still() -> None:
    """Two seeds: the ends differ by no more than four of the errors that are stated, which are below 0.01."""
    given = sample()
    d = effect_size(*scores(given))
    found = [bootstrap_interval(given, d, 0.05, np.random.default_rng(seed)) for seed in (1, 2)]
    first, second = (each for each in found if each is not None)
    assert max(first.monte_carlo_error, second.monte_carlo_error) <= LARGEST_ERROR
    assert first.resamples > 2000
    assert first.bca_low == pytest.approx(second.bca_low, abs=4 * LARGEST_ERROR)
    assert first.bca_high == pytest.approx(second.bca_high, abs=4 * LARGEST_ERROR)


def test_a_smaller_alpha_gives_a_wider_interval() -> None:
    given = sample()
    d, left_out = effect_size(*scores(given)), jackknife_effect_sizes(given)
    drawn = resampled_effect_sizes(given, 4000, np.random.default_rng(1))
    narrow, wide = (interval_of(d, drawn, left_out, alpha) for alpha in (0.1, 0.01))
    assert narrow is not None
    assert wide is not None
    assert wide.bca_low < narrow.bca_low < d < narrow.bca_high < wide.bca_high
    finite = drawn[np.isfinite(drawn)]
    assert (narrow.percentile_low, narrow.percentile_high) == pytest.approx(np.quantile(finite, [0.05, 0.95]))


def test_scores_without_spread_have_no_interval() -> None:
    flat = sample()
    flat = Sample(np.ones_like(flat.to_a), np.zeros_like(flat.to_b), 1, MEAN, flat.units)
    assert bootstrap_interval(flat, float("nan"), 0.05, np.random.default_rng(0)) is None
