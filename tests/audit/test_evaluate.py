"""Laws of the association test, for arrays."""

from __future__ import annotations

import doctest
import math
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import mahalanobis
from scipy.stats import ortho_group
from tests.messages import naming
from tests.models import HashedEncoder

from weatherglass.api.audits import run
from weatherglass.arrays import Matrix
from weatherglass.audit.evaluate import associate, evaluate
from weatherglass.audit.results import Result
from weatherglass.audit.settings import Settings
from weatherglass.catalogue import load_test
from weatherglass.catalogue.test import Element
from weatherglass.errors import UnitError
from weatherglass.metrics.sets import VectorSet
from weatherglass.metrics.weat.metric import Weat

Sets = tuple[Matrix, Matrix, Matrix, Matrix]


@st.composite
def vector_sets(draw: st.DrawFn) -> Sets:
    """X, Y, A, B of a few rows each; some rows equal, since real sets share words."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    width = draw(st.integers(2, 6))
    sizes = [
        draw(st.integers(2, 5)),
        draw(st.integers(2, 5)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 4)),
    ]
    sets = [rng.normal(size=(size, width)) for size in sizes]
    if draw(st.booleans()):
        sets[1][0] = sets[0][0]
    return sets[0], sets[1], sets[2], sets[3]


def two_sided(X: Matrix, Y: Matrix, A: Matrix, B: Matrix) -> Result:
    return associate(X, Y, A, B, alternative="two-sided")


@given(vector_sets())
def test_swapping_the_targets_negates_effect_and_statistic(sets: Sets) -> None:
    X, Y, A, B = sets
    there, back = associate(X, Y, A, B), associate(Y, X, A, B)
    assert back.effect_size == -there.effect_size
    assert back.test_statistic == -there.test_statistic


@given(vector_sets())
def test_swapping_the_attributes_negates_effect_and_statistic(sets: Sets) -> None:
    X, Y, A, B = sets
    there, back = associate(X, Y, A, B), associate(X, Y, B, A)
    assert back.effect_size == -there.effect_size
    assert back.test_statistic == -there.test_statistic


@given(vector_sets(), st.randoms(use_true_random=False))
def test_order_changes_nothing_to_the_last_bit(sets: Sets, random: Random) -> None:
    shuffled = [rows[random.sample(range(len(rows)), len(rows))] for rows in sets]
    first, second = two_sided(*sets), two_sided(*shuffled)
    assert second.p_value == first.p_value
    assert second.effect_size == first.effect_size
    assert second.test_statistic == first.test_statistic
    assert sorted(second.x_scores) == sorted(first.x_scores)


@given(vector_sets(), st.floats(1e-3, 1e3))
def test_scaling_and_rotating_all_vectors_changes_nothing(sets: Sets, scale: float) -> None:
    rotation = ortho_group.rvs(sets[0].shape[1], random_state=1) * scale
    first, turned = associate(*sets), associate(*(rows @ rotation for rows in sets))
    assert turned.effect_size == pytest.approx(first.effect_size, abs=1e-9)
    assert turned.p_value == pytest.approx(first.p_value, abs=1e-12)


@settings(max_examples=60)
@given(vector_sets(), st.sampled_from(["greater", "less", "two-sided"]))
def test_p_is_the_share_of_partitions_counted_one_by_one(sets: Sets, alternative: str) -> None:
    X, Y, A, B = sets
    result = associate(X, Y, A, B, alternative=alternative)

    def cosine(u: Matrix, v: Matrix) -> float:
        return math.fsum(u * v) / math.sqrt(math.fsum(u * u) * math.fsum(v * v))

    def s(w: Matrix) -> float:
        return math.fsum(cosine(w, a) for a in A) / len(A) - math.fsum(cosine(w, b) for b in B) / len(B)

    scores = [s(w) for w in [*X, *Y]]
    sums = [math.fsum(scores[i] for i in chosen) for chosen in combinations(range(len(scores)), len(X))]
    mean, observed, tie = math.fsum(scores) * len(X) / len(scores), sums[0], 1e-10
    hits = {
        "greater": sum(value >= observed - tie for value in sums),
        "less": sum(value <= observed + tie for value in sums),
        "two-sided": sum(abs(value - mean) >= abs(observed - mean) - tie for value in sums),
    }[alternative]
    assert result.p_value == pytest.approx(hits / len(sums), rel=1e-12)
    assert result.p_value >= result.p_floor
    assert result.test_statistic == pytest.approx(observed - (math.fsum(scores) - observed), abs=1e-9)


def test_effect_size_of_a_worked_example() -> None:
    """By hand: cosines to A are 1, .8 and to B 0, .6 and the like; scores X 1, .2, Y -1, -.2."""
    result = associate([[1.0, 0], [0.8, 0.6]], [[0, 1.0], [0.6, 0.8]], A=[[1, 0]], B=[[0, 1]])
    assert list(result.x_scores) == pytest.approx([1, 0.2])
    assert list(result.y_scores) == pytest.approx([-1, -0.2])
    assert result.effect_size == pytest.approx(1.2 / math.sqrt(2.08 / 3))
    assert result.test_statistic == pytest.approx(2.4)
    assert result.p_value == pytest.approx(2 / 6)  # two-sided: the mirror image counts, too
    one_sided = associate(
        *([[1.0, 0], [0.8, 0.6]], [[0, 1.0], [0.6, 0.8]]), A=[[1, 0]], B=[[0, 1]], alternative="greater"
    )
    assert one_sided.p_value == pytest.approx(1 / 6)


def test_the_example_of_associate_prints_what_its_docstring_says() -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(
        associate, "associate", globs={"associate": associate}
    )
    outcome = doctest.DocTestRunner().run(example)
    assert outcome.attempted == 4
    assert outcome.failed == 0


@pytest.mark.parametrize("estimator", ["glasso", "ledoit-wolf"])
def test_mahalanobis_of_arrays_is_that_of_a_run(estimator: str) -> None:
    encoder = HashedEncoder(width=6)
    X, Y, A, B = (encoder.encode(element_set.texts) for element_set in load_test("weat9").sets)
    ours = associate(X, Y, A, B, measure="mahalanobis/mean", covariance=estimator)
    (theirs,) = run(encoder, "weat9", "mahalanobis/mean", covariance=estimator, trust="none").results
    assert (ours.effect_size, ours.p_value) == (theirs.effect_size, theirs.p_value)
    assert ours.notes["covariance"] == theirs.notes["covariance"]


def test_whitened_vectors_have_the_mahalanobis_distance_for_euclidean() -> None:
    """docs/methods 1: with one covariance for both sets, Mahalanobis is Euclidean after whitening; here by scipy."""
    from sklearn.covariance import LedoitWolf

    rng = np.random.default_rng(8)
    X, Y, A = (rng.normal(size=(6, 3)) * [1.0, 2.0, 5.0] for _ in range(3))
    precision = np.linalg.inv(LedoitWolf().fit(A).covariance_)
    B = A + 4.0  # Moved, so that its covariance is that of A.
    distances = [[np.mean([mahalanobis(w, v, precision) for v in side]) for side in (A, B)] for w in [*X, *Y]]
    result = associate(X, Y, A, B, measure="mahalanobis/mean", covariance="ledoit-wolf")
    scores = [*result.x_scores, *result.y_scores]
    assert scores == pytest.approx([to_b - to_a for to_a, to_b in distances], rel=1e-9)


def test_equal_scores_have_no_effect_size_and_p_one() -> None:
    result = associate([[1, 1], [2, 2]], [[3, 3], [1, 1]], A=[[1, 0]], B=[[0, 1]])
    assert math.isnan(result.effect_size)
    assert result.p_value == 1


def test_an_effect_is_called_small_only_below_the_smallest_that_was_stated() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 40, 8))
    A, B = rng.normal(size=(2, 12, 8)) + np.array([1, -1])[:, np.newaxis, np.newaxis]
    found = associate(X, Y, A, B)
    assert found.small is None
    assert found.robustness is not None
    bound = found.robustness.excluded_above
    assert bound is not None
    assert associate(X, Y, A, B, smallest=bound + 0.01).small is True
    assert associate(X, Y, A, B, smallest=bound - 0.01).small is False


def test_ddof_zero_divides_by_n() -> None:
    rng = np.random.default_rng(0)
    X, Y, A, B = (rng.normal(size=(5, 8)) for _ in range(4))
    expected = associate(X, Y, A, B).effect_size * math.sqrt(10 / 9)
    assert associate(X, Y, A, B, ddof=0).effect_size == pytest.approx(expected)


def test_words_are_averaged_over_their_sentences_before_they_are_permuted() -> None:
    rng = np.random.default_rng(3)

    def sentences(role: str, words: int) -> VectorSet:
        elements = tuple(Element(f"{role}{i} {t}", f"{role}{i}") for i in range(words) for t in range(3))
        return VectorSet(role, rng.normal(size=(len(elements), 5)), elements)

    sets = [sentences("X", 4), sentences("Y", 4), sentences("A", 2), sentences("B", 2)]
    settings = Settings(permute="elements", alternative="greater", trust="none")
    by_element = next(evaluate(sets, [Weat()], settings))
    by_word = next(evaluate(sets, [Weat()], settings.changed(permute="words")))
    means = by_element.x_scores.reshape(4, 3).mean(axis=1), by_element.y_scores.reshape(4, 3).mean(axis=1)
    sums = [sum(chosen) for chosen in combinations([*means[0], *means[1]], 4)]
    expected = sum(value >= sums[0] - 1e-12 for value in sums) / len(sums)
    assert by_word.p_value == pytest.approx(expected)
    assert (by_word.p_elements, by_word.effect_size_elements) == (by_element.p_value, by_element.effect_size)
    assert by_element.p_value != by_word.p_value


def test_sentences_of_attribute_words_alone_have_a_published_number_beside_them() -> None:
    """Their words count once each by words, their sentences as published; here one word of A has four of six."""
    rng = np.random.default_rng(4)

    def elements(role: str, *sentences: int) -> VectorSet:
        named = tuple(
            Element(f"{role}{i} {t}", f"{role}{i}") for i, k in enumerate(sentences) for t in range(k)
        )
        return VectorSet(role, rng.normal(size=(len(named), 5)), named)

    sets = [elements("X", 1, 1, 1), elements("Y", 1, 1, 1), elements("A", 4, 1, 1), elements("B", 1, 2, 1)]
    by_element = next(evaluate(sets, [Weat()], Settings(permute="elements", trust="none")))
    by_word = next(evaluate(sets, [Weat()], Settings(trust="none")))
    assert by_element.effect_size != pytest.approx(by_word.effect_size)
    assert (by_word.p_elements, by_word.effect_size_elements) == (by_element.p_value, by_element.effect_size)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (([[1.0, 0]], [[0, 1.0], [1, 1]], [[1, 0]], [[0, 1]]), naming("X", 1, 2)),
        (([[1.0, 0], [0, 0]], [[0, 1.0], [1, 1]], [[1, 0]], [[0, 1]]), naming("X[1]", "zero")),
        (([[1.0, 0], [1, 2]], [[0, np.nan], [1, 1]], [[1, 0]], [[0, 1]]), naming("Y[0]", "NaN")),
        (([[1.0, 0], [1, 2]], [[0, 1], [1, 1]], [[1, 0, 0]], [[0, 1]]), naming("A", 3, "X", 2)),
        (([1.0, 0], [[0, 1], [1, 1]], [[1, 0]], [[0, 1]]), naming("X", "matrix")),
        (([[1.0, 0], [1]], [[0, 1], [1, 1]], [[1, 0]], [[0, 1]]), naming("X", "real numbers")),
        (([[1.0, 0], [1, 2]], [[0, 1j], [1, 1]], [[1, 0]], [[0, 1]]), naming("Y", "complex")),
        (
            ([[1.0, 0], [1, 2]], np.ma.masked_equal([[0, 1], [1, 7]], 7), [[1, 0]], [[0, 1]]),
            naming("Y[1]", "masked"),
        ),
    ],
)
def test_what_has_no_answer_is_refused_by_name(sets: Sets, message: str) -> None:
    with pytest.raises(UnitError, match=message):
        associate(*sets)
