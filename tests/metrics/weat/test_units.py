"""Words are numbered and averaged alike everywhere, whatever the order of their sentences."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weatherglass.metrics.sets import mean_by_unit, unit_numbers

SCORES = st.floats(-1e3, 1e3)
ELEMENTS = st.lists(st.tuples(st.sampled_from("abcd"), SCORES), min_size=1, max_size=40)


@given(elements=ELEMENTS, data=st.data())
def test_the_order_of_the_sentences_changes_no_bit(
    elements: list[tuple[str, float]], data: st.DataObject
) -> None:
    def means(some: list[tuple[str, float]]) -> dict[str, float]:
        words = [word for word, _ in some]
        values = mean_by_unit(np.array([score for _, score in some]), unit_numbers(words))
        return dict(zip(dict.fromkeys(words), values.tolist(), strict=True))

    assert means(data.draw(st.permutations(elements))) == means(elements)


@given(elements=ELEMENTS)
def test_the_mean_is_that_of_exact_arithmetic(elements: list[tuple[str, float]]) -> None:
    words = [word for word, _ in elements]
    found = mean_by_unit(np.array([score for _, score in elements]), unit_numbers(words))
    for word, mean in zip(dict.fromkeys(words), found.tolist(), strict=True):
        own = [Fraction(score) for each, score in elements if each == word]
        largest = max(abs(score) for score in own)
        rounding = len(own) * Fraction(1, 2**52) * largest + Fraction(5e-324)  # the least that a float can be
        assert abs(Fraction(mean) - sum(own, Fraction()) / len(own)) <= rounding


def test_columns_are_averaged_each_on_its_own() -> None:
    rng = np.random.default_rng(0)
    scores, units = rng.normal(size=(30, 5)), np.repeat([2, 0, 1], [5, 15, 10])
    columns = [mean_by_unit(column, units) for column in scores.T]
    np.testing.assert_allclose(mean_by_unit(scores, units), np.stack(columns, axis=1), rtol=1e-14)


def test_an_element_that_stands_alone_keeps_its_score() -> None:
    scores = np.array([0.1, 0.2, 0.3])
    assert mean_by_unit(scores, unit_numbers(["x", "y", "z"])).tolist() == scores.tolist()
    assert mean_by_unit(scores, np.array([2, 0, 1])).tolist() == [0.2, 0.3, 0.1]


def test_no_elements_have_no_means() -> None:
    assert mean_by_unit(np.array([]), unit_numbers([])).tolist() == []
