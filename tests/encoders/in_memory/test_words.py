"""Word vectors in memory: dicts, frames and gensim's objects give what the same vectors in a file give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import mentions, naming

import weatherglass
from weatherglass.encoders import load_encoder
from weatherglass.encoders.in_memory import model
from weatherglass.errors import EncoderError, SpecError

WORDS = [word for element_set in weatherglass.load_test("weat6").sets for word in element_set.words]
MATRIX = np.random.default_rng(6).normal(size=(len(WORDS), 12)).astype(np.float32)
VECTORS = dict(zip(WORDS, MATRIX, strict=True))
TEXTS = ["Amy", "family home", "Amy and nobody", "nothing known"]


def keyed_vectors() -> Any:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(MATRIX.shape[1])
    keyed.add_vectors(WORDS, MATRIX)
    return keyed


def pandas_frame() -> Any:
    import pandas

    return pandas.DataFrame(MATRIX, index=WORDS)


def pandas_frame_with_a_column_of_words() -> Any:
    return pandas_frame().reset_index()


def polars_frame() -> Any:
    import polars

    return polars.DataFrame({"word": WORDS} | {f"d{n}": MATRIX[:, n] for n in range(MATRIX.shape[1])})


def polars_frame_of_lists() -> Any:
    import polars

    return polars.DataFrame({"word": WORDS, "vector": MATRIX.tolist()})


OBJECTS = [
    lambda: VECTORS,
    keyed_vectors,
    pandas_frame,
    pandas_frame_with_a_column_of_words,
    polars_frame,
    polars_frame_of_lists,
]
NAMES = ["dict", "KeyedVectors", "pandas index", "pandas column", "polars", "polars lists"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "vectors.kv"
    keyed_vectors().save(str(path))
    return path


@pytest.mark.parametrize("make", OBJECTS, ids=NAMES)
def test_vectors_are_those_of_the_file(make: Any, file: Path) -> None:
    held, stored = model(make()), load_encoder(f"vectors:{file}")
    np.testing.assert_array_equal(held.encode(TEXTS), stored.encode(TEXTS))
    assert held.coverage(TEXTS) == stored.coverage(TEXTS)


@pytest.mark.parametrize("make", OBJECTS, ids=NAMES)
def test_a_run_gives_what_the_file_gives_and_can_be_resumed(make: Any, file: Path, tmp_path: Path) -> None:
    stored = weatherglass.run(f"vectors:{file}", "weat6").results[0]
    first = weatherglass.run(make(), "weat6", folder=tmp_path / "run")
    assert first.results[0].effect_size == stored.effect_size
    assert first.results[0].p_value == stored.p_value
    assert first.record["models"][0]["resumable"] is True
    journal = (tmp_path / "run" / "journal.jsonl").read_bytes()
    again = weatherglass.run(make(), "weat6", folder=tmp_path / "run")
    assert again.record["models"][0]["identity"] == first.record["models"][0]["identity"]
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == journal, "a second run computed it again"


def test_one_changed_number_is_another_model() -> None:
    changed = {**VECTORS, WORDS[0]: MATRIX[0] * 1.01}
    assert model(changed).identity() != model(VECTORS).identity()
    renamed = {(f"{word}s" if word == WORDS[0] else word): vector for word, vector in VECTORS.items()}
    assert model(renamed).identity() != model(VECTORS).identity()


def test_double_precision_is_kept() -> None:
    third = {"a": np.array([1 / 3, 2 / 3]), "b": [0.1, 0.2]}
    assert model(third).encode(["a"])[0, 0] == 1 / 3


def test_fasttext_in_memory_knows_subwords_and_says_so() -> None:
    from gensim.models import FastText

    trained = FastText([["pleasant", "flower", "insect"]] * 20, vector_size=8, min_count=1, epochs=1, seed=1)
    encoder = model(trained, name="ours")
    np.testing.assert_allclose(encoder.encode(["flowers"])[0], trained.wv["flowers"], rtol=1e-6)
    assert mentions(encoder.coverage(["flowers"])[0].note, "subwords", "flowers")
    assert encoder.coverage(["flower"])[0].note == ""


def test_case_and_tokens_are_chosen_as_in_a_spec() -> None:
    vectors = {"New York": [1.0, 0.0], "amy": [0.0, 1.0]}
    assert np.isnan(model(vectors, case="exact").encode(["Amy"])).all()
    assert model(vectors).encode(["Amy"])[0, 1] == 1.0
    assert model(vectors, tokens="none").encode(["New York"])[0, 0] == 1.0
    with pytest.raises(SpecError, match=naming("case=upper", "exact")):
        model(vectors, case="upper")
    with pytest.raises(SpecError, match=naming("'pooling'", "case", "tokens")):
        model(vectors, pooling="mean")


def test_a_number_that_is_not_finite_is_named() -> None:
    with pytest.raises(EncoderError, match=naming("ours", "'a'", "number 2", "nan")):
        model({"a": [1.0, np.nan]}, name="ours").encode(["a"])


def test_vectors_of_different_widths_are_named() -> None:
    with pytest.raises(EncoderError, match=naming("'b'", 3, "'a'", 2)):
        model({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]})


def test_a_word_that_occurs_twice_is_in_the_notes() -> None:
    import pandas

    frame = pandas.DataFrame([[1.0, 0.0], [0.0, 1.0]], index=["a", "a"])
    encoder = model(frame)
    assert encoder.encode(["a"]).tolist() == [[1.0, 0.0]]
    (note,) = encoder.notes()
    assert mentions(note, 1)


@pytest.mark.parametrize(
    ("frame", "facts"),
    [
        ({"a": ["x"], "b": ["y"], "n": [1.0]}, ["2 of text", "1 of numbers", 0]),
        ({"a": ["x"]}, ["numbers"]),
    ],
)
def test_a_frame_that_leaves_words_or_numbers_open_is_refused(
    frame: dict[str, Any], facts: list[object]
) -> None:
    import pandas
    import polars

    for library in (pandas, polars):
        with pytest.raises(EncoderError, match=naming(library.__name__, *facts)):
            model(library.DataFrame(frame))


def test_numbers_as_words_are_refused() -> None:
    import pandas

    with pytest.raises(EncoderError, match=naming("pandas", "int", "index")):
        model(pandas.DataFrame([[1.0, 2.0]]))


def test_vectors_that_are_not_contiguous_are_accepted() -> None:
    columns = {word: np.asfortranarray(MATRIX)[row] for row, word in enumerate(WORDS)}
    strided = {word: np.repeat(MATRIX[row], 2)[::2] for row, word in enumerate(WORDS)}
    assert not any(vector.flags.contiguous for vector in (*columns.values(), *strided.values()))
    expected = weatherglass.run(VECTORS, "weat6").results[0]
    for vectors in (columns, strided):
        assert model(vectors).identity() == model(VECTORS).identity()
        result = weatherglass.run(vectors, "weat6").results[0]
        assert (result.effect_size, result.p_value) == (expected.effect_size, expected.p_value)


def masked_vectors(masked: bool) -> dict[str, Any]:
    vectors: dict[str, Any] = dict(VECTORS)
    vectors["Amy"] = np.ma.masked_array(MATRIX[WORDS.index("Amy")], mask=[masked, *[False] * 11])
    return vectors


def masked_keyed_vectors(masked: bool) -> Any:
    keyed = keyed_vectors()
    keyed.vectors = np.ma.masked_array(keyed.vectors, mask=False)
    keyed.vectors.mask[WORDS.index("Amy"), 3] = masked
    return keyed


@pytest.mark.parametrize("given", [masked_vectors, masked_keyed_vectors])
def test_masked_values_are_refused_with_their_word(given: Any) -> None:
    with pytest.raises(EncoderError, match=r"'Amy' has masked values; fill .*remove"):
        weatherglass.run(given(True), "weat6")
    expected, result = (weatherglass.run(each, "weat6").results[0] for each in (VECTORS, given(False)))
    assert result.effect_size == expected.effect_size
