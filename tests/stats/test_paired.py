"""The change of an effect between two models."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.stats.cases import effect_size, wave_scores, wave_tables, waves

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.interval import Reason
from weatherglass.stats.paired import Levels, levels_of, paired_change, paired_jackknife
from weatherglass.stats.scale import Scale, within
from weatherglass.stats.topic import AttributeTables


def pair(n_x: int = 8, n_y: int = 7, change: float = 0.9) -> tuple[Vector, Vector]:
    before = wave_scores(n_x, n_y, 0.3, 0.2)
    after = before + 0.4 * waves(n_x + n_y, 1, 1.3)[:, 0]
    after[:n_x] += change
    return before, after


def test_p_is_that_of_the_textbook_jackknife_on_g() -> None:
    before, after = pair()

    def g(scores: Vector, n_x: int) -> float:
        return float(
            stats.ttest_ind(scores[:n_x], scores[n_x:]).statistic
            * math.sqrt(1 / n_x + 1 / (len(scores) - n_x))
        )

    without = [g(np.delete(after, i), 8 - (i < 8)) - g(np.delete(before, i), 8 - (i < 8)) for i in range(15)]
    variance = 7 * np.var(without[:8]) + 6 * np.var(without[8:])
    t = (g(after, 8) - g(before, 8)) / math.sqrt(variance * 12 / 13)
    found = paired_change(before, after, 8)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 13))
    assert (found.before, found.after) == pytest.approx((effect_size(before, 8), effect_size(after, 8)))


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_p_and_interval_agree(alpha: float) -> None:
    rng = np.random.default_rng(3)
    before = rng.normal(size=(10_000, 16))
    after = before + 0.5 * rng.normal(size=(10_000, 16))
    after[:, :8] += rng.normal(size=(10_000, 1))
    found = paired_jackknife(within(before, 8), within(after, 8))
    low, high = found.ends(alpha)
    np.testing.assert_array_equal((low >= 0) | (high <= 0), found.p <= alpha)


def test_the_other_way_round_negates() -> None:
    before, after = pair()
    there, back = paired_change(before, after, 8), paired_change(after, before, 8)
    assert there.interval is not None
    assert back.interval is not None
    assert back.change == pytest.approx(-there.change)
    assert (back.interval.low, back.interval.high) == pytest.approx(
        (-there.interval.high, -there.interval.low)
    )
    assert there.interval.low <= there.change <= there.interval.high


def test_two_equal_models_have_not_changed() -> None:
    before, _ = pair()
    found = paired_change(before, 2 * before, 8)  # A model that only scales its scores has the same effect.
    assert found.p == 1
    assert found.interval is not None
    assert not found.interval.excludes_zero
    assert (found.interval.low, found.interval.high) == pytest.approx((0, 0), abs=1e-12)


def test_an_unchanged_effect_is_marked_in_5_of_100_runs() -> None:
    """8 + 8 words, models that correlate at 0.6, d = 0.7: the bootstrap that this replaces marks 12."""
    rng = np.random.default_rng(0)
    common = math.sqrt(0.6) * rng.normal(size=(4_000, 16))
    models = common + math.sqrt(0.4) * rng.normal(size=(2, 4_000, 16))
    models[..., :8] += 0.75
    found = paired_jackknife(within(models[0], 8), within(models[1], 8))
    assert 0.04 <= float((found.p <= 0.05).mean()) <= 0.06


@pytest.mark.parametrize(
    ("before", "after", "n_x", "reason"),
    [
        ([1.0, 2.0, 3.0], [1.0, 3.0, 2.0], 1, Reason.TOO_FEW_WORDS),
        ([1.0, 1.0, 1.0, 1.0], [1.0, 3.0, 2.0, 5.0], 2, Reason.NO_SPREAD),
        ([2.0, 2.0, 1.0, 1.0, 3.0], [1.0, 3.0, 2.0, 5.0, 4.0], 2, Reason.ONE_WORD_SPREAD),
    ],
)
def test_what_cannot_be_compared_has_a_reason(
    before: list[float], after: list[float], n_x: int, reason: Reason
) -> None:
    found = paired_change(np.array(before), np.array(after), n_x)
    assert (found.p, found.interval, found.reason) == (None, None, reason)


def g_of(scores: Vector, n_x: int) -> float:
    """g as docs/methods 10 writes it."""
    x, y = scores[:n_x], scores[n_x:]
    pooled = (((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()) / (len(scores) - 2)
    return float((x.mean() - y.mean()) / math.sqrt(pooled))


def model_pair() -> list[AttributeTables]:
    """Return what two models measure between 7 + 6 words and 5 + 4 attribute words, and their scores by template."""
    pairs = [wave_tables(7, 6, 5, 4, shift, 0.4, phase) for shift, phase in ((0.2, 0.2), (1.1, 0.5))]
    scores = [(a.mean(axis=1) - b.mean(axis=1))[:, np.newaxis] for a, b in pairs]
    templates = [own + 0.3 * waves(13, 3, phase) for phase, own in enumerate(scores)]
    return [
        AttributeTables(a, b, "abcde", "pqrs", t, "uvw") for (a, b), t in zip(pairs, templates, strict=True)
    ]


def scores_of(tables: AttributeTables) -> Vector:
    return np.asarray(tables.to_a.mean(axis=1) - tables.to_b.mean(axis=1))


def factors_of(models: list[AttributeTables], n_x: int = 7) -> list[tuple[Levels, Levels]]:
    first, second = (levels_of(tables, within(scores_of(tables), n_x)) for tables in models)
    return [(first[role], second[role]) for role in first]


def interaction_of(table: Matrix, n_x: int) -> Matrix:
    """A table without the column means of X and of Y, then without row means."""
    centred = np.concatenate([table[:n_x] - table[:n_x].mean(axis=0), table[n_x:] - table[n_x:].mean(axis=0)])
    return np.asarray(centred - centred.mean(axis=1, keepdims=True))


def test_p_for_random_attributes_is_that_of_its_formula() -> None:
    """Each word, attribute word and template is left out of both models, and derivatives are taken numerically."""
    models = [replace(tables, templates=None) for tables in model_pair()]
    scores = [scores_of(tables) for tables in models]
    n_x, n = 7, 13
    change = g_of(scores[1], n_x) - g_of(scores[0], n_x)
    without = [
        g_of(np.delete(scores[1], i), n_x - (i < n_x)) - g_of(np.delete(scores[0], i), n_x - (i < n_x))
        for i in range(n)
    ]
    of_words = (6 * np.var(without[:n_x]) + 5 * np.var(without[n_x:])) * (n - 3) / (n - 2)
    of_choices, interaction = [], 0.0
    for role in ("to_a", "to_b"):
        left = []
        for level in range(getattr(models[0], role).shape[1]):
            fewer = [replace(m, **{role: np.delete(getattr(m, role), level, axis=1)}) for m in models]
            left.append(g_of(scores_of(fewer[1]), n_x) - g_of(scores_of(fewer[0]), n_x))
        k = len(left)
        of_choices.append((k - 1) * np.var(left))
        parts = []
        for tables, own in zip(models, scores, strict=True):
            steps = 1e-6 * np.eye(n)
            slopes = np.array([(g_of(own + s, n_x) - g_of(own - s, n_x)) / 2e-6 for s in steps])
            parts.append(slopes[:, np.newaxis] * interaction_of(getattr(tables, role), n_x))
        m = np.repeat([7, 6], [7, 6])[:, np.newaxis]
        interaction += float(((parts[1] - parts[0]) ** 2 * m / (m - 1)).sum() / (k * (k - 1)))
    total = of_words + sum(of_choices)
    variance = max(total - interaction, of_words, sum(of_choices))
    df = total**2 / (of_words**2 / (n - 2) + of_choices[0] ** 2 / 4 + of_choices[1] ** 2 / 3)
    found = paired_change(scores[0], scores[1], n_x, factors=factors_of(models))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(change) / math.sqrt(variance), df), rel=1e-6)


def test_levels_are_paired_by_name_and_a_level_of_one_model_counts_there() -> None:
    models = model_pair()
    scores = [scores_of(tables) for tables in models]
    order = [3, 0, 4, 1, 2]
    shuffled = replace(models[1], to_a=models[1].to_a[:, order], a=[models[1].a[i] for i in order])
    in_order, in_disorder = (
        paired_change(scores[0], scores[1], 7, factors=factors_of(pair))
        for pair in (models, [models[0], shuffled])
    )
    assert in_disorder.p == pytest.approx(in_order.p)
    other = replace(models[1], a=[*"abcd", "z"])
    unpaired = paired_change(scores[0], scores[1], 7, factors=factors_of([models[0], other]))
    assert unpaired.p is not None
    assert unpaired.p != pytest.approx(in_order.p)


def test_templates_are_a_factor_from_three_on_and_too_few_attributes_make_none() -> None:
    tables = model_pair()[0]
    scores = within(scores_of(tables), 7)
    assert tables.templates is not None
    assert list(levels_of(tables, scores)) == ["A", "B", "templates"]
    assert list(levels_of(replace(tables, templates=tables.templates[:, :2]), scores)) == ["A", "B"]
    assert levels_of(replace(tables, to_b=tables.to_b[:, :2], b="pq"), scores) == {}


def noisy_tables(rng: np.random.Generator, count: int, noise: float) -> tuple[list[list[Matrix]], int]:
    """Return tables to A and B in pairs of equal models: words, attributes and cells that partly differ."""
    shape, k = (count, 16), 8
    models: list[list[Matrix]] = [[], []]
    for sign in (1, -1):
        words, attributes = rng.normal(size=(*shape, 1)), rng.normal(size=(count, 1, k))
        cells = rng.normal(size=(*shape, k))
        for model in models:
            own = [noise * rng.normal(size=part.shape) for part in (words, attributes, cells)]
            # Attribute words differ in how far they separate X from Y.
            side = np.repeat([0.5, -0.5], 8)[:, np.newaxis]
            model.append(sign * (words + own[0]) + side * (attributes + own[1]) + cells + own[2])
    return models, 8


def jackknife_of(models: list[list[Matrix]], n_x: int, random: bool) -> tuple[Vector, Vector, Vector]:
    centred = [within(a.mean(axis=-1) - b.mean(axis=-1), n_x) for a, b in models]
    names = range(models[0][0].shape[-1])
    levels = [
        levels_of(AttributeTables(tables[0], tables[1], names, names), own)
        for tables, own in zip(models, centred, strict=True)
    ]
    factors = [(levels[0][role], levels[1][role]) for role in "AB"] if random else []
    found = paired_jackknife(centred[0], centred[1], factors)
    return found.p, *found.ends(0.05)


def test_p_and_interval_agree_for_random_attributes() -> None:
    rng = np.random.default_rng(5)
    models, n_x = noisy_tables(rng, 10_000, 0.5)
    models[1][0][:, :n_x] += rng.normal(size=(10_000, 1, 1))
    p, low, high = jackknife_of(models, n_x, random=True)
    assert 0.1 < float((p <= 0.05).mean()) < 0.9
    np.testing.assert_array_equal((low >= 0) | (high <= 0), p <= 0.05)


def test_noise_in_attribute_words_passes_for_a_change_only_if_they_count_as_fixed() -> None:
    models, n_x = noisy_tables(np.random.default_rng(6), 4_000, 0.7)
    random, fixed = (float((jackknife_of(models, n_x, r)[0] <= 0.05).mean()) for r in (True, False))
    assert 0.025 <= random <= 0.06
    assert fixed > 0.08


def test_what_a_run_stores_without_tables_gives_a_larger_p() -> None:
    """The interaction of words and attributes is not known then, so it is not subtracted."""
    models = model_pair()
    scores = [scores_of(tables) for tables in models]
    whole = factors_of(models)[:2]
    bare = [(Levels(a.names, a.without), Levels(b.names, b.without)) for a, b in whole]
    known, unknown = (paired_change(scores[0], scores[1], 7, factors=factors) for factors in (whole, bare))
    assert known.p is not None
    assert unknown.p is not None
    assert unknown.p > known.p


@pytest.mark.parametrize("ddof", [0, 1])
def test_d_converts_back_to_g(ddof: int) -> None:
    scale, g = Scale(5, 9, ddof), np.array([-30.0, -1.2, 0.0, 0.4, 7.0])
    np.testing.assert_allclose(scale.g_of(scale.effect_size(g)), g)
    numeric = (scale.effect_size(g + 1e-6) - scale.effect_size(g - 1e-6)) / 2e-6
    np.testing.assert_allclose(scale.slope(g), numeric, rtol=1e-5, atol=1e-9)
    assert np.isinf(scale.g_of(np.array([scale.largest])))
