"""A map of words takes the models that a run takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.messages import naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.errors import WeatherglassError

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
        wg.word_map(model, facts, (A, B)),
    ):
        assert [word.word for word in found.words] == [word.word for word in expected]
        effects = [word.effect_size for word in found.words]
        assert effects == pytest.approx([word.effect_size for word in expected], abs=1e-6)


def test_a_model_before_the_words_has_the_default_attributes() -> None:
    """A spec in the first place is a model, not the letters of its name."""
    expected = wg.word_map(["nurse", "engineer"])
    assert wg.word_map("glove", ["nurse", "engineer"]) == expected
    assert wg.word_map("glove", ["nurse", "engineer"], "weat7") == expected


def test_words_and_facts_in_a_series_or_a_file(tmp_path: Path) -> None:
    from pandas import Series

    facts = {"nurse": 90.5, "engineer": 15.0, "teacher": 75.0, "plumber": 3.0, "pilot": None}
    model = HashedEncoder(8)
    expected = wg.words(model, facts, (A, B))
    assert expected == wg.word_map(facts, (A, B), model)
    series = Series([90.5, 15, 75, 3, float("nan")], index=list(facts))
    assert wg.words(model, series, (A, B)) == expected
    path = tmp_path / "jobs.csv"
    path.write_text(
        "job;share\n" + "".join(f"{job};{share or ''}\n".replace(".", ",") for job, share in facts.items())
    )
    assert wg.words(model, path, (A, B), facts="share") == expected
    plain = wg.words(model, list(facts), (A, B))
    assert wg.words(model, str(path), (A, B)) == wg.words(model, Series(list(facts)), (A, B)) == plain
    with pytest.raises(WeatherglassError, match=naming("'share'")):
        wg.words(model, facts, (A, B), facts="share")


def test_columns_of_a_frame_are_sets() -> None:
    from pandas import DataFrame

    frame = DataFrame({"maths": ["sum", "root", "angle"], "arts": ["poem", "dance", None]})
    test = wg.test(X={"maths": frame["maths"]}, Y=frame["arts"], A=A, B=B)
    assert [each.words for each in test.targets] == [("sum", "root", "angle"), ("poem", "dance")]
    assert test.categories == ("maths", "arts", "A", "B")
