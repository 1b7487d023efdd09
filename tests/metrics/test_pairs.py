"""Metrics of sentence pairs: scores of sentences in closed form, and the laws of the share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import weatherglass as wg
from weatherglass.arrays import Vector
from weatherglass.catalogue.test import Element
from weatherglass.errors import UnitError
from weatherglass.metrics.base import Context, Estimate
from weatherglass.metrics.pairs import AllUnmasked, CrowsPairs, PairMetric, Sentence, StereoSet
from weatherglass.metrics.sets import VectorSet
from weatherglass.stats.pairs import stereoset_figures

FIRST = Sentence(("the", "wo", "##man", "cried", "."), np.array([-1.0, -2.0, -3.0, -4.0, -5.0]))
SECOND = Sentence(("the", "man", "cried", "."), np.array([-1.5, -9.0, -2.5, -3.5]))
THIRD = Sentence(("the", "sky", "cried", "."), np.array([-1.0, -20.0, -1.0, -1.0]))


def test_crows_pairs_sums_the_tokens_that_both_share() -> None:
    assert CrowsPairs().sentence_scores([FIRST, SECOND], causal=False) == [-10.0, -7.5]


def test_a_causal_model_scores_all_tokens() -> None:
    assert CrowsPairs().sentence_scores([FIRST, SECOND], causal=True) == [-15.0, -16.5]
    without_context = replace_first(FIRST, np.nan)
    assert CrowsPairs().sentence_scores([without_context, SECOND], causal=True) == [-14.0, -16.5]


def replace_first(sentence: Sentence, value: float) -> Sentence:
    return Sentence(sentence.tokens, np.array([value, *sentence.values[1:]]))


def test_aul_and_stereoset_are_means() -> None:
    assert AllUnmasked().sentence_scores([FIRST, SECOND], causal=False) == [-3.0, -4.125]
    assert StereoSet().sentence_scores([FIRST, SECOND, THIRD], causal=False) == [-3.0, -4.125, -5.75]


def test_a_sentence_without_tokens_has_no_score() -> None:
    empty = Sentence((), np.array([]))
    for metric in (CrowsPairs(), AllUnmasked(), StereoSet()):
        assert np.isnan(metric.sentence_scores([empty, SECOND], causal=True)[0])


def sets_of(columns: list[Vector], terms: list[str]) -> list[VectorSet]:
    roles = ("X", "Y", "X3")
    return [
        VectorSet(
            role,
            column[:, np.newaxis],
            tuple(Element(f"{role} {n}", term) for n, term in enumerate(terms)),
            role,
        )
        for role, column in zip(roles, columns, strict=False)
    ]


def estimate(metric: PairMetric, columns: list[Vector], terms: list[str], permute: str = "words") -> Estimate:
    return metric.evaluate(sets_of(columns, terms), Context(permute=permute))


@pytest.fixture
def columns() -> list[Vector]:
    rng = np.random.default_rng(2)
    return [rng.normal(0.4, 1, 60), rng.normal(0, 1, 60), rng.normal(-1, 1, 60)]


TERMS = [f"term {n % 15}" for n in range(60)]


@pytest.mark.parametrize("metric", [CrowsPairs(), AllUnmasked(), StereoSet()])
def test_order_changes_nothing_and_renamed_groups_mirror(metric: PairMetric, columns: list[Vector]) -> None:
    whole = estimate(metric, columns, TERMS)
    order = np.random.default_rng(0).permutation(60)
    shuffled = estimate(metric, [column[order] for column in columns], [TERMS[n] for n in order])
    assert shuffled.value == pytest.approx(whole.value, abs=1e-12)
    mirrored = estimate(metric, [columns[1], columns[0], columns[2]], TERMS)
    assert mirrored.value == pytest.approx(100 - whole.value, abs=1e-12)
    assert whole.unbiased == 50
    assert whole.null
    assert whole.null.units == (15, 0)
    assert whole.by_elements
    assert whole.by_elements.null.units == (60, 0)
    assert mirrored.bias == pytest.approx(-whole.bias, abs=1e-12)


def test_pairs_are_units_where_elements_are_exchanged(columns: list[Vector]) -> None:
    found = estimate(CrowsPairs(), columns[:2], TERMS, "elements")
    assert found.null
    assert found.null.units == (60, 0)
    assert found.by_elements is None
    assert found.value == 100 * float((columns[0] > columns[1]).mean())


def test_stereoset_reports_the_published_figures(columns: list[Vector]) -> None:
    found = estimate(StereoSet(), columns, TERMS)
    figures = stereoset_figures(columns[0], columns[1], columns[2], TERMS)
    assert found.details.items() >= figures._asdict().items()
    assert found.details["icat_low"] <= figures.icat <= found.details["icat_high"]
    assert found.value == pytest.approx(figures.ss)


def test_ties_are_counted_and_no_pair_is_an_error(columns: list[Vector]) -> None:
    tied = estimate(CrowsPairs(), [columns[0], columns[0]], TERMS)
    assert tied.details == {"ties": 60}
    assert tied.value == 50
    with pytest.raises(UnitError):
        estimate(CrowsPairs(), [np.array([]), np.array([])], [])


def test_scores_in_memory_are_measured_as_they_are(columns: list[Vector]) -> None:
    result = wg.measure("crows-pairs", [column[:, np.newaxis] for column in columns[:2]], [])
    assert result.value == 100 * float((columns[0] > columns[1]).mean())
    assert result.ci_low is not None
    assert result.ci_high is not None
    assert (not result.ci_low < 50 < result.ci_high) == (result.p_value <= 0.05)
    assert replace(result, seconds=0.0).effect_size is not None
