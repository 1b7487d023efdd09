"""A map of words takes the models that a run takes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.models import HashedEncoder

import weatherglass as wg

A, B = ["he", "man", "boy", "son"], ["she", "woman", "girl", "daughter"]
WORDS = ["nurse", "engineer", "teacher", "plumber", "pilot", "clerk"]


def in_memory() -> dict[str, Any]:
    """The same vectors, as every kind of object that `run` takes."""
    from gensim.models import KeyedVectors
    from pandas import DataFrame

    words = [*WORDS, *A, *B]
    matrix = HashedEncoder(8).encode(words)
    keyed = KeyedVectors(8)
    keyed.add_vectors(words, matrix)
    return {
        "KeyedVectors": keyed,
        "dict": dict(zip(words, matrix, strict=True)),
        "frame": DataFrame(matrix, index=words),
        "by name": {"mine": keyed},
        "in a list": [keyed],
        "function": HashedEncoder(8).encode,
        "encoder": HashedEncoder(8),
    }


@pytest.mark.parametrize(
    "kind", ["KeyedVectors", "dict", "frame", "by name", "in a list", "function", "encoder"]
)
def test_a_model_is_whatever_a_run_takes_behind_the_words_or_before_them(kind: str) -> None:
    model = in_memory()[kind]
    expected = wg.word_map(WORDS, (A, B), HashedEncoder(8)).words
    facts = dict.fromkeys(WORDS, 0.5)
    for found in (
        wg.word_map(WORDS, (A, B), model),
        wg.word_map(model, WORDS, (A, B)),
        wg.word_map(WORDS, [A, B], model=model),
        wg.word_map(model, facts, (A, B)),  # type: ignore[arg-type]
    ):
        assert [word.word for word in found.words] == [word.word for word in expected]
        effects = [word.effect_size for word in found.words]
        assert effects == pytest.approx([word.effect_size for word in expected], abs=1e-6)


def test_a_model_before_the_words_has_the_default_attributes() -> None:
    """A spec in the first place is a model, not the letters of its name."""
    expected = wg.word_map(["nurse", "engineer"])
    assert wg.word_map("wordllama", ["nurse", "engineer"]) == expected
    assert wg.word_map("wordllama", ["nurse", "engineer"], "weat7") == expected
