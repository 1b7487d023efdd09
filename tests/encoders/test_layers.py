"""The layer expressions, and pooling on arrays, apart from any model."""

from __future__ import annotations

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.arrays import unit_length
from weatherglass.encoders.pooling import Layers, pool
from weatherglass.errors import EncoderError, SpecError


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("-1", [12]),
        ("0", [0]),
        ("2", [2]),
        ("sum", list(range(13))),
        ("mean:..", list(range(13))),
        ("sum:-4..", [9, 10, 11, 12]),
        ("concat:1..3", [1, 2, 3]),
        ("mean:..-11", [0, 1, 2]),
        ("sum:5..5", [5]),
    ],
)
def test_an_expression_names_layers_of_a_model_of_thirteen(text: str, numbers: list[int]) -> None:
    assert Layers.parse(text).numbers(13) == numbers


@pytest.mark.parametrize("text", ["-1", "7", "sum", "mean:1..3", "concat:-2..", "sum:..4"])
def test_an_expression_is_its_own_text_form(text: str) -> None:
    assert str(Layers.parse(text)) == text
    assert Layers.parse(str(Layers.parse(text))) == Layers.parse(text)


@pytest.mark.parametrize("text", ["", "top", "sum:", "sum:1", "1..3", "max", "sum:1...3", "1.5", "+1"])
def test_anything_else_is_a_mistake(text: str) -> None:
    with pytest.raises(SpecError, match=naming(f"layers={text} ", "sum:-4..")):
        Layers.parse(text)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("13", 0, 12), ("-14", 0, 12), ("sum:0..13", 0, 12), ("sum:-14..", 0, 12), ("sum:3..2", 3, 2)],
)
def test_layers_that_a_model_lacks_are_a_mistake(text: str, first: int, last: int) -> None:
    with pytest.raises(SpecError, match=naming(f"layers={text}:", first, last)):
        Layers.parse(text).numbers(13)


STATES = np.array([[[1.0, 5.0], [3.0, 1.0], [99.0, 99.0]], [[-2.0, -4.0], [-6.0, -1.0], [-4.0, -7.0]]])
LENGTHS = np.array([2, 3])


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ("first", [[1, 5], [-2, -4]]),
        ("last", [[3, 1], [-4, -7]]),
        ("mean", [[2, 3], [-4, -4]]),
        ("max", [[3, 5], [-2, -1]]),
    ],
)
def test_pooling_sees_tokens_and_no_padding(pooling: str, expected: list[list[float]]) -> None:
    np.testing.assert_array_equal(pool(STATES, LENGTHS, pooling), expected)


def test_cls_is_taken_where_it_stands() -> None:
    np.testing.assert_array_equal(pool(STATES, LENGTHS, "cls", np.array([1, 2])), [[3, 1], [-4, -7]])
    with pytest.raises(EncoderError, match=naming("pooling=cls", "pooling=first")):
        pool(STATES, LENGTHS, "cls")


@pytest.mark.parametrize("pooling", ["first", "last", "mean", "max"])
def test_a_text_without_tokens_has_no_vector(pooling: str) -> None:
    pooled = pool(STATES, np.array([0, 3]), pooling)
    assert np.isnan(pooled[0]).all()
    assert np.isfinite(pooled[1]).all()


def test_unit_length_keeps_the_type_and_leaves_zeros_alone() -> None:
    vectors = np.array([[3, 4], [0, 0]], dtype=np.float32)
    np.testing.assert_array_equal(unit_length(vectors), np.array([[0.6, 0.8], [0, 0]], dtype=np.float32))
    assert unit_length(vectors).dtype == np.float32
