"""How d varies with contexts: against statsmodels, closed forms, planted variances and plain recomputation."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev, variance

import numpy as np
import pytest
from scipy import stats

import weatherglass as wg
from weatherglass.arrays import Matrix, Vector
from weatherglass.audit.evaluate import evaluate_sets
from weatherglass.audit.settings import chosen_settings
from weatherglass.catalogue.test import Element
from weatherglass.metrics.sets import VectorSet, order_by_content
from weatherglass.metrics.weat.association import Association
from weatherglass.metrics.weat.contexts import InContexts
from weatherglass.metrics.weat.metric import Weat
from weatherglass.stats.attributes import random_attributes
from weatherglass.stats.contexts import needed_contexts, random_effects, variance_shares

ORACLES = Path(__file__).parents[1] / "oracles"


def worlds(number: int) -> list[tuple[Vector, Vector]]:
    draw = np.random.default_rng(1)
    return [
        (draw.normal(size=(size := draw.integers(2, 200))) * scale + shift, draw.uniform(0.01, 1, size))
        for scale, shift in zip(draw.uniform(0, 2, number), draw.normal(size=number), strict=True)
    ]


def test_between_draws_variance_is_that_of_statsmodels() -> None:
    """statsmodels 0.15.0, `combine_effects(effects, variances, method_re="dl")` of the same 40 worlds."""
    expected = json.loads((ORACLES / "statsmodels_dl.json").read_text(encoding="utf-8"))
    for (effects, variances), other in zip(worlds(40), expected, strict=True):
        found = random_effects(effects, variances)
        assert found.between == pytest.approx(max(0, other["tau2"]), rel=1e-10, abs=1e-10)
        assert found.q == pytest.approx(other["q"], rel=1e-10)
        if other["tau2"] > 0:
            assert found.effect_size == pytest.approx(other["mean"], rel=1e-10)
            assert found.standard_error == pytest.approx(other["se"], rel=1e-10)
    assert 10 < sum(other["tau2"] > 0 for other in expected) < 40


def ceat(effects: list[float], variances: list[float]) -> tuple[float, float, float, float]:
    """The published combination, formula by formula (Guo & Caliskan 2021, section 3; METHODS 15), without arrays."""
    number = len(effects)
    w = [1 / v for v in variances]
    q = math.fsum(a * e * e for a, e in zip(w, effects, strict=True))
    q -= math.fsum(a * e for a, e in zip(w, effects, strict=True)) ** 2 / math.fsum(w)
    c = math.fsum(w) - math.fsum(a * a for a in w) / math.fsum(w)
    tau2 = (q - (number - 1)) / c if q >= number - 1 else 0.0
    v = [1 / (each + tau2) for each in variances]
    effect = math.fsum(a * e for a, e in zip(v, effects, strict=True)) / math.fsum(v)
    error = math.sqrt(1 / math.fsum(v))
    return effect, error, tau2, 2 * float(stats.norm.sf(abs(effect / error)))


def test_the_combined_effect_is_the_published_one() -> None:
    for effects, variances in worlds(300):
        found = random_effects(effects, variances)
        effect, _, _, p = ceat(effects.tolist(), variances.tolist())
        assert found.effect_size == pytest.approx(effect, rel=1e-12, abs=1e-12)
        assert found.p == pytest.approx(p, rel=1e-9, abs=1e-12)


def sets_of(contexts: list[list[Matrix]]) -> list[VectorSet]:
    return [
        VectorSet(
            role,
            np.array([rows.mean(axis=0) for rows in words]),
            tuple(Element(f"{role}{n}", f"{role}{n}") for n in range(len(words))),
            contexts=tuple(words),
        )
        for role, words in zip("XYAB", contexts, strict=True)
    ]


def drawn(seed: int, sizes: tuple[int, ...] = (5, 4, 3, 3), number: int = 6) -> list[VectorSet]:
    draw = np.random.default_rng(seed)
    return sets_of(
        [
            [draw.normal(size=20) + draw.normal(size=(draw.integers(2, number + 1), 20)) for _ in range(size)]
            for size in sizes
        ]
    )


def d_of(sets: list[VectorSet], measure: str = "cosine/mean") -> float:
    x, y, a, b = (each.vectors for each in sets)
    return wg.associate(x, y, a, b, measure, trust="none").value


def as_published(sets: list[list[list[list[float]]]], chosen: list[list[list[int]]]) -> tuple[float, ...]:
    """CES, its standard error, τ² and p of CEAT, from the formulas of the paper, in plain Python.

    Args:
        sets: X, Y, A and B, each with its words, their contexts, and the numbers of a vector.
        chosen: by draw and set, the context of each word.
    """

    def cosine(one: list[float], other: list[float]) -> float:
        together = math.fsum(a * b for a, b in zip(one, other, strict=True))
        return together / math.hypot(*one) / math.hypot(*other)

    effects, variances = [], []
    for draw in chosen:
        x, y, a, b = (
            [contexts[place] for contexts, place in zip(words, places, strict=True)]
            for words, places in zip(sets, draw, strict=True)
        )
        lean = [[fmean(cosine(word, one) for one in own) for own in (a, b)] for word in (*x, *y)]
        s = [to_a - to_b for to_a, to_b in lean]
        effects.append((fmean(s[: len(x)]) - fmean(s[len(x) :])) / stdev(s))
        variances.append(variance(s))
    return ceat(effects, variances)


def test_the_profile_is_the_published_procedure() -> None:
    """Only the generator and the order of contexts are taken from the program, so that the draws are the same."""
    sets = drawn(19, (5, 4, 3, 4))
    for number in (1, 0):  # with an effect, and almost without
        shift = number * sets[2].vectors.mean(axis=0) - number * sets[3].vectors.mean(axis=0)
        moved = sets_of([[rows + shift for rows in sets[0].contexts], *(list(s.contexts) for s in sets[1:])])
        found = evaluate_sets(moved, Weat(profile="ceat2021"), chosen_settings(None, {}, wg.run))
        in_order = [[each.contexts[i] for i in order_by_content(each.vectors)] for each in moved]
        random = np.random.default_rng(0)
        chosen = [
            [
                [int(u * len(rows)) for u, rows in zip(random.random(len(own)), own, strict=True)]
                for own in in_order
            ]
            for _ in range(1000)
        ]
        expected = as_published([[rows.tolist() for rows in own] for own in in_order], chosen)
        combined = found.notes["details"]["combined"]
        names = ("effect_size", "standard_error", "between", "p")
        assert [combined[name] for name in names] == pytest.approx(expected, rel=1e-12, abs=0)
        assert (found.value, found.p_value) == (combined["effect_size"], combined["p"])


@pytest.mark.parametrize("measure", ["cosine/mean", "euclidean/median"])
def test_a_context_left_out_is_a_test_without_it(measure: str) -> None:
    sets = drawn(3)
    described = InContexts(sets, Association(*measure.split("/")), 1).describe()
    whole = d_of(sets, measure)
    compared = 0
    for number, each in enumerate(sets):
        for place, pulls in enumerate(described["pulls"][each.role]):
            assert len(pulls) == 2
            for context, change in pulls:
                left = each.vectors.copy()
                left[place] = np.delete(each.contexts[place], context, axis=0).mean(axis=0)
                without = [*sets[:number], replace(each, vectors=left), *sets[number + 1 :]]
                assert change == pytest.approx(whole - d_of(without, measure), abs=1e-10)
                compared += 1
    assert compared == 2 * 15


def test_draws_of_static_vectors_are_d_and_draws_of_one_context_are_plain() -> None:
    sets = drawn(4)
    still = sets_of([[np.repeat(row[np.newaxis], 5, axis=0) for row in each.vectors] for each in sets])
    found = InContexts(still, Association(), 1)
    assert found.draws(20)[0] == pytest.approx(d_of(sets), abs=1e-12)
    assert found.combined(20).effect_size == pytest.approx(d_of(sets), abs=1e-12)
    assert found.describe()["needed"] == 1
    effects, variances = InContexts(sets, Association(), 1).draws(50)
    assert len(set(effects)) == len(set(variances)) == 50
    swapped = [sets[1], sets[0], *sets[2:]]
    assert InContexts(swapped, Association(), 1).draws(50)[0].mean() == pytest.approx(
        -effects.mean(), abs=0.3
    )


def test_p_does_not_depend_on_the_number_of_contexts_but_that_of_draws_does() -> None:
    sets = drawn(5, (8, 8, 8, 8), 20)
    more = sets_of([[np.repeat(rows, 50, axis=0) for rows in each.contexts] for each in sets])
    (x, y, a, b), others = [[each.vectors for each in some] for some in (sets, more)]
    one, other = wg.associate(x, y, a, b), wg.associate(others[0], others[1], others[2], others[3])
    assert other.p_value == one.p_value
    assert other.value == pytest.approx(one.value, abs=1e-12)
    errors = [InContexts(sets, Association(), 1).combined(number).standard_error for number in (50, 800)]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.2)


def test_p_by_words_keeps_its_level_where_the_published_one_rejects_most_null_worlds() -> None:
    """400 worlds without any association, 8 words per set with 20 contexts; 5 % is the level, ± 2 % about 2 s.e."""
    draw = np.random.default_rng(13)
    by_words = published = 0
    for _ in range(400):
        vectors = draw.normal(size=(4, 8, 1, 20)) + draw.normal(size=(4, 8, 20, 20))
        sets = sets_of([list(words) for words in vectors])
        x, y, a, b = (each.vectors for each in sets)
        by_words += wg.associate(x, y, a, b, trust="none").p_value <= 0.05
        published += InContexts(sets, Association(), 1).combined(50).p <= 0.05
    assert 0.03 <= by_words / 400 <= 0.07
    assert published / 400 > 0.5


def test_shares_are_those_of_the_analysis_of_variance_in_a_balanced_table() -> None:
    draw = np.random.default_rng(6)
    words, contexts, attributes = 12, 10, 6
    to_a, to_b = planted(draw, words, contexts, attributes, (0.5, 0.4, 0.7))
    found = variance_shares(to_a, to_b, np.repeat(np.arange(words), contexts), words // 2)
    assert found
    scores = (to_a.mean(axis=1) - to_b.mean(axis=1)).reshape(words, contexts)
    within = scores.var(axis=1, ddof=1).mean()
    means = scores.mean(axis=1).reshape(2, -1)
    between = means.var(axis=1, ddof=1).mean() - within / contexts
    noise = 0.0
    for table in (to_a, to_b):
        cells = table.reshape(words, contexts, attributes)
        error = cells - cells.mean(axis=2, keepdims=True)  # of a context over attributes
        of_words = error.mean(axis=1).reshape(2, words // 2, attributes)
        of_words = of_words - of_words.mean(axis=1, keepdims=True)
        together = (of_words**2).sum() * contexts / ((words - 2) * (attributes - 1))
        left = error - error.mean(axis=1, keepdims=True)
        residual = (left**2).sum() / (words * (contexts - 1) * (attributes - 1))
        noise += (together - residual) / contexts / 2
    total = between + within
    # REML pools both sets of attributes, which have equal sizes here; so does the mean of both tables.
    assert found.contexts == pytest.approx(within / total, abs=1e-6)
    assert found.attributes == pytest.approx(noise * 2 / attributes / total, abs=1e-5)
    assert found.words + found.attributes + found.contexts == pytest.approx(1, abs=1e-12)


def planted(
    draw: np.random.Generator, words: int, contexts: int, attributes: int, sd: tuple[float, float, float]
) -> tuple[Matrix, Matrix]:
    """Closeness with planted spreads of words, contexts, and words × attributes."""
    lean = np.repeat(draw.normal(size=words) * sd[0], contexts) + draw.normal(size=words * contexts) * sd[1]
    tables = []
    for sign in (0.5, -0.5):
        cells = np.repeat(draw.normal(size=(words, attributes)) * sd[2], contexts, axis=0)
        general = draw.normal(size=attributes)
        noise = 0.1 * draw.normal(size=(words * contexts, attributes))
        tables.append(sign * lean[:, np.newaxis] + cells + general + noise)
    return tables[0], tables[1]


def test_planted_shares_are_found() -> None:
    draw = np.random.default_rng(7)
    expected = np.array([0.25, 0.49 * 2 / 8, 0.16 + 0.01 * 2 / 8])
    found = []
    for _ in range(30):
        counts = draw.integers(3, 12, 16)
        to_a, to_b = planted(draw, 16, 12, 8, (0.5, 0.4, 0.7))
        kept = np.concatenate([12 * word + np.arange(size) for word, size in enumerate(counts)])
        shares = variance_shares(to_a[kept], to_b[kept], np.repeat(np.arange(16), counts), 8)
        assert shares
        found.append([shares.words, shares.attributes, shares.contexts])
    assert np.mean(found, axis=0) == pytest.approx(expected / expected.sum(), abs=0.06)


def test_shares_need_several_words_and_contexts() -> None:
    table = np.random.default_rng(8).normal(size=(6, 3))
    assert variance_shares(table, table[::-1], np.arange(6), 3) is None
    assert variance_shares(np.ones((8, 3)), np.ones((8, 3)), np.repeat(np.arange(4), 2), 2) is None


def test_with_the_needed_contexts_d_is_as_stable_as_stated() -> None:
    draw = np.random.default_rng(9)
    words = [draw.normal(size=(8, 30)) for _ in range(4)]

    def sampled(number: int) -> list[VectorSet]:
        noise = [draw.normal(size=(8, number, 30)) for _ in range(4)]
        return sets_of([list(w[:, np.newaxis] + n) for w, n in zip(words, noise, strict=True)])

    described = [InContexts(sampled(60), Association(), 1).describe()["needed"] for _ in range(5)]
    needed = round(float(np.mean(described)))
    assert np.std(described) / needed < 0.3
    values = [d_of(sampled(needed)) for _ in range(200)]
    assert 1.96 * np.std(values) == pytest.approx(0.1, rel=0.25)
    assert needed_contexts([np.ones(1), np.ones(1)]) is None


def test_d_without_the_noise_of_contexts_is_that_of_many_contexts() -> None:
    """200 worlds with a planted effect: few contexts shrink d, and the correction removes that."""
    draw = np.random.default_rng(10)
    few, corrected, many = [], [], []
    for _ in range(200):
        lean = np.concatenate([draw.normal(0.5, 1, 25), draw.normal(-0.5, 1, 25)])
        errors = draw.normal(size=(50, 4))
        found = []
        for scores in (lean, lean + errors.mean(axis=1)):
            attributes = 1e-9 * draw.normal(size=(2, 50, 5)) + scores[:, np.newaxis] / 2 * np.ones(5)
            found.append((attributes[0], -attributes[1]))
        noise = errors.var(axis=1, ddof=1) / 4
        many.append(random_attributes(*found[0], 25).effect_size or np.nan)
        few.append(random_attributes(*found[1], 25).effect_size or np.nan)
        corrected.append(random_attributes(*found[1], 25, of_contexts=noise).effect_size or np.nan)
    assert np.mean(many) - np.mean(few) > 0.06
    assert np.mean(corrected) == pytest.approx(np.mean(many), abs=0.03)


def test_random_contexts_change_the_estimate_and_not_p() -> None:
    """The variance of contexts is in the variance between words already, so that only its noise is removed from d."""
    draw = np.random.default_rng(11)
    shift = draw.normal(size=20)
    leans = [[0.5 * sign + draw.normal() for _ in range(8)] for sign in (1, -1)] + [[2.0] * 8, [-2.0] * 8]
    words = [
        [draw.normal(size=20) + lean * shift + 2 * draw.normal(size=(4, 20)) for lean in of_set]
        for of_set in leans
    ]
    sets = sets_of(words)
    settings = chosen_settings(None, {}, wg.run)
    found = evaluate_sets(sets, Weat(), settings)
    fixed = evaluate_sets([replace(each, contexts=()) for each in sets], Weat(), settings)
    assert (found.value, found.p_value, found.p_random) == (fixed.value, fixed.p_value, fixed.p_random)
    assert found.effect_size_random
    assert fixed.effect_size_random
    assert found.effect_size_random > fixed.effect_size_random + 0.003
    assert found.score_reliability
    assert fixed.score_reliability
    assert found.score_reliability < fixed.score_reliability - 0.01
    assert found.ci_random_low is not None
    assert found.ci_random_high is not None
    assert found.ci_random_low < found.effect_size_random < found.ci_random_high
