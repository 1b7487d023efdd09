"""Contrasts of effects: laws, and the formulas of docs/methods 12 written out once more for two tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.topic_attributes import Arm, contrast


def tables(seed: int, words: int, attributes: int = 6) -> tuple[Matrix, Matrix]:
    to_a, to_b = np.random.default_rng(seed).normal(size=(2, words, attributes))
    return to_a, to_b


def arm(weight: float, seed: int, n: int, name: str, attributes: str = "", moved: float = 0.0) -> Arm:
    to_a, to_b = tables(seed, 2 * n)
    to_a[:n] += moved
    words = [f"{name}{number}" for number in range(2 * n)]
    return Arm(
        weight,
        to_a,
        to_b,
        n,
        words,
        [f"a{attributes}{a}" for a in range(6)],
        [f"b{attributes}{b}" for b in range(6)],
    )


def by_the_formulas(arms: list[Arm], shared: bool) -> tuple[float, float]:
    """C and its p for tests of different words with n + n words each, whose attributes are shared or not."""
    value = words = df_words = 0.0
    of_a: list[Vector] = []
    of_b: list[Vector] = []
    interactions: list[float] = []
    for one in arms:
        n, s = one.n_x, one.to_a.mean(1) - one.to_b.mean(1)
        sd = s.std(ddof=1)
        value += one.weight * (s[:n].mean() - s[n:].mean()) / sd
        for half in (s[:n] / sd, s[n:] / sd):
            part = one.weight**2 * half.var(ddof=1) / n
            words += part
            df_words += part**2 / (n - 1)
        for table, into in ((one.to_a, of_a), (one.to_b, of_b)):
            difference = one.weight * (table[:n].mean(0) - table[n:].mean(0)) / sd
            into.append((difference - difference.mean()) / math.sqrt(6 * 5))
            for half in (table[:n], table[n:]):
                rest = half - half.mean(0) - half.mean(1, keepdims=True) + half.mean()
                interactions.append(one.weight**2 * (rest**2).sum() / sd**2 / (n * (n - 1) * 6 * 5))
    if shared:
        of_a, of_b = [np.sum(of_a, axis=0)], [np.sum(of_b, axis=0)]
    v_a, v_b = (float((np.concatenate(part) ** 2).sum()) for part in (of_a, of_b))
    total = words + v_a + v_b
    variance = max(total - sum(interactions), words, v_a + v_b)
    levels = 5 if shared else 11
    df = total**2 / (words**2 / (words**2 / df_words) + v_a**2 / levels + v_b**2 / levels)
    return value, float(2 * stats.t.sf(abs(value) / math.sqrt(variance), df))


@pytest.mark.parametrize("shared", [True, False])
def test_value_and_p_are_those_of_the_formulas(shared: bool) -> None:
    arms = [arm(1, 1, 8, "n", moved=1.0), arm(-1, 2, 5, "t", "" if shared else "'", moved=0.5)]
    found = contrast(arms)
    assert found is not None
    value, p = by_the_formulas(arms, shared)
    assert found.value == pytest.approx(value)
    assert found.p == pytest.approx(p)
    assert found.value == pytest.approx(found.effects[0] - found.effects[1])


def test_the_interval_leaves_out_0_exactly_when_p_is_at_most_alpha() -> None:
    for seed in range(30):
        found = contrast([arm(1, seed, 8, "n", moved=seed / 10), arm(-1, seed + 99, 8, "t")], alpha=0.1)
        assert found is not None
        assert found.interval.excludes_zero is (found.p <= 0.1)


def test_exchanging_the_tests_turns_the_sign_and_keeps_p() -> None:
    first, second = arm(1, 3, 8, "n"), arm(-1, 4, 6, "t")
    one = contrast([first, second])
    other = contrast([arm(1, 4, 6, "t"), arm(-1, 3, 8, "n")])
    assert one is not None
    assert other is not None
    assert other.value == pytest.approx(-one.value)
    assert other.p == pytest.approx(one.p)


def test_what_an_attribute_adds_to_both_tests_alike_cancels() -> None:
    rng = np.random.default_rng(5)
    moved = 5 * rng.normal(size=6)
    alike: list[Arm] = []
    apart: list[Arm] = []
    for weight, seed, name in ((1, 6, "n"), (-1, 7, "t")):
        to_a, to_b = tables(seed, 20)
        to_a[:10] += moved
        words = [f"{name}{number}" for number in range(20)]
        for listed, attributes in ((alike, "a"), (apart, name)):
            names = [f"{attributes}{a}" for a in range(6)]
            listed.append(Arm(weight, to_a, to_b, 10, words, names, [f"b{b}" for b in range(6)]))
    together, separately = contrast(alike), contrast(apart)
    assert together is not None
    assert separately is not None
    assert together.value == separately.value
    assert together.variance_of_attributes < separately.variance_of_attributes / 5


def test_words_in_both_tests_count_once() -> None:
    """The same test by two lists of attributes: a word that is high in both moves the contrast little."""
    rng = np.random.default_rng(8)
    common = 3 * rng.normal(size=(20, 1))
    arms = [
        Arm(weight, common + rng.normal(size=(20, 6)), rng.normal(size=(20, 6)), 10, [f"w{w}" for w in range(20)],
            [f"{side}a{a}" for a in range(6)], [f"{side}b{b}" for b in range(6)])
        for weight, side in ((1, "names "), (-1, "terms "))
    ]  # fmt: skip
    paired = contrast(arms)
    other = Arm(-1, arms[1].to_a, arms[1].to_b, 10, [f"v{w}" for w in range(20)], arms[1].a, arms[1].b)
    unpaired = contrast([arms[0], other])
    assert paired is not None
    assert unpaired is not None
    assert paired.variance_of_words < unpaired.variance_of_words / 2


def test_an_interaction_is_in_sds_of_all_groups_together() -> None:
    women, men = arm(1, 9, 8, "w", moved=2.0), arm(-1, 10, 6, "m", moved=2.0)
    found = contrast([women, men], one_sd=True)
    assert found is not None
    sd = np.concatenate([women.scores, men.scores]).std(ddof=1)
    raw = [one.scores[: one.n_x].mean() - one.scores[one.n_x :].mean() for one in (women, men)]
    assert found.value == pytest.approx((raw[0] - raw[1]) / sd)


def test_sets_of_one_word_and_equal_scores_have_no_contrast() -> None:
    single = Arm(1, np.ones((2, 6)), np.zeros((2, 6)), 1, ["x", "y"], list("abcdef"), list("ghijkl"))
    equal = Arm(1, np.ones((6, 6)), np.zeros((6, 6)), 3, list("uvwxyz"), list("abcdef"), list("ghijkl"))
    assert contrast([single]) is None
    assert contrast([equal]) is None
