"""Word vectors as an encoder: means over known words, and an account of the unknown ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.messages import mentions, naming

import weatherglass as wg
from weatherglass.audit.reference import reference_effect_sizes
from weatherglass.encoders import ModelEncoder, load_encoder
from weatherglass.encoders import vectors as encoder_module
from weatherglass.encoders.vectors import VectorEncoder
from weatherglass.errors import SpecError, VectorFileError

LINES = ["Amy 1 2", "amy 9 9", "'s 3 4", ". 5 6", "bob 0.5 0.25", "New_York 7 8", "Amy 100 100", "zero 0 0"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "vectors.txt"
    file.write_text("\n".join(LINES) + "\n")
    return file


@pytest.fixture
def encoder(path: Path) -> VectorEncoder:
    return VectorEncoder(path)


def test_a_text_is_the_mean_over_its_tokens_and_punctuation_counts(encoder: VectorEncoder) -> None:
    vectors = encoder.encode(["Amy", "Amy's.", "Amy Amy Bob"])
    np.testing.assert_array_equal(vectors, [[1, 2], [3, 4], [2.5 / 3, 4.25 / 3]])
    assert vectors.dtype == np.float64


def test_the_memory_of_texts_is_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_module, "MOST_SPLIT", 10)
    encoder, fresh = VectorEncoder(path), VectorEncoder(path)
    for start in range(0, 100, 5):
        texts = [f"{'Amy ' * (1 + number % 3)}bob {number}" for number in range(start, start + 5)]
        np.testing.assert_array_equal(encoder.encode(texts), fresh.encode(texts))
        assert len(encoder._split) <= 15


def test_unknown_words_are_left_out_and_listed(encoder: VectorEncoder) -> None:
    texts = ["Amy of Zyx", "Zyx", ""]
    vectors = encoder.encode(texts)
    assert vectors[0].tolist() == [1, 2]
    assert np.isnan(vectors[1:]).all()
    covered = encoder.coverage(texts)
    assert [text.tokens for text in covered] == [("Amy", "of", "Zyx"), ("Zyx",), ()]
    assert [text.missing for text in covered] == [("of", "Zyx"), ("Zyx",), ()]


def test_coverage_may_be_asked_first(path: Path, encoder: VectorEncoder) -> None:
    assert encoder.coverage(["Bob runs"])[0].missing == ("runs",)
    np.testing.assert_array_equal(encoder.encode(["Bob"]), VectorEncoder(path).encode(["Bob"]))


@pytest.mark.parametrize(
    ("case", "amy", "bob"),
    [
        ("exact-then-lower", [1, 2], [0.5, 0.25]),
        ("exact", [1, 2], [np.nan, np.nan]),
        ("lower", [9, 9], [0.5, 0.25]),
    ],
)
def test_the_case_of_a_word_follows_the_option(
    path: Path, case: str, amy: list[float], bob: list[float]
) -> None:
    encoder = load_encoder(f"vectors:{path}?case={case}")
    np.testing.assert_array_equal(encoder.encode(["Amy", "Bob"]), [amy, bob])


def test_the_notes_tell_of_lower_case_and_of_duplicates(encoder: VectorEncoder) -> None:
    assert encoder.notes() == []
    encoder.encode(["Amy met Bob", "Bob"])
    lowered, duplicates = encoder.notes()
    assert mentions(lowered, 1, "lower case", "Bob")
    assert mentions(duplicates, 1)


@pytest.mark.parametrize(
    ("tokens", "text", "vector"),
    [("words", "Amy.", [3, 4]), ("whitespace", "Amy .", [3, 4]), ("none", "New_York", [7, 8])],
)
def test_the_tokeniser_is_an_option(path: Path, tokens: str, text: str, vector: list[float]) -> None:
    encoder = load_encoder(f"{path}?tokens={tokens}")
    assert encoder.encode([text]).tolist() == [vector]
    assert encoder.options == {"tokens": tokens, "case": "exact-then-lower"}


def test_whitespace_does_not_find_a_word_with_its_full_stop(path: Path) -> None:
    assert np.isnan(load_encoder(f"{path}?tokens=whitespace").encode(["Amy."])).all()


def test_the_file_is_scanned_once_for_texts_that_are_known(
    encoder: VectorEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = encoder.encode(["Amy's Bob"])
    monkeypatch.setattr(encoder_module, "read_vectors", lambda *_: pytest.fail("the file was read again"))
    np.testing.assert_array_equal(encoder.encode(["Amy's Bob"]), first)
    assert encoder.coverage(["Bob", "Amy"])[0].missing == ()


def test_words_asked_for_later_are_found_too(encoder: VectorEncoder) -> None:
    assert encoder.encode(["Amy"]).tolist() == [[1, 2]]
    assert encoder.encode(["Bob", "Amy"]).tolist() == [[0.5, 0.25], [1, 2]]


def test_no_texts_give_no_rows_of_the_right_width(encoder: VectorEncoder) -> None:
    assert encoder.encode([]).shape == (0, 2)


def test_a_zero_vector_is_left_for_the_scoring_to_refuse(encoder: VectorEncoder) -> None:
    assert encoder.encode(["zero"]).tolist() == [[0, 0]]


def test_the_spec_stands_in_the_name_and_describes_the_same_encoder(path: Path) -> None:
    encoder = load_encoder(f"vectors:{path}?case=lower")
    assert isinstance(encoder, ModelEncoder)
    assert encoder.name == f"vectors:{path}?case=lower"
    assert load_encoder(encoder.name).identity() == encoder.identity()


def test_the_identity_follows_content_and_options_but_not_the_place(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.txt"
    copy.write_bytes(path.read_bytes())
    identity = VectorEncoder(path).identity()
    assert VectorEncoder(copy).identity() == identity
    assert VectorEncoder(path, case="lower").identity() != identity
    assert VectorEncoder(path, tokens="none").identity() != identity
    copy.write_bytes(path.read_bytes().replace(b"7 8", b"7 9"))
    assert VectorEncoder(copy).identity() != identity


def test_the_identity_includes_the_numbers_in_a_file_beside(tmp_path: Path) -> None:
    from gensim.models import KeyedVectors

    for folder, value in (("one", 1.0), ("two", 2.0)):
        (tmp_path / folder).mkdir()
        vectors = KeyedVectors(2)
        vectors.add_vectors(["a"], np.full((1, 2), value, dtype=np.float32))
        vectors.save(str(tmp_path / folder / "v.kv"), sep_limit=0)
    (tmp_path / "two" / "v.kv").write_bytes((tmp_path / "one" / "v.kv").read_bytes())
    one, two = (VectorEncoder(tmp_path / folder / "v.kv") for folder in ("one", "two"))
    assert one.identity() != two.identity()


def test_mistakes_are_found_before_anything_is_read(path: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=naming("vectors:glove.840B.300d.txt")):
        load_encoder("vectors:")
    with pytest.raises(SpecError, match=naming("tokens=word", suggesting="words")):
        load_encoder(f"vectors:{path}?tokens=word")
    with pytest.raises(SpecError, match=naming("'pooling'", "tokens", "case")):
        load_encoder(f"vectors:{path}?pooling=max")
    with pytest.raises(VectorFileError, match=naming(tmp_path / "nowhere.txt", "No such file")):
        load_encoder(f"vectors:{tmp_path}/nowhere.txt")
    with pytest.raises(VectorFileError, match=naming(tmp_path, "folder")):
        load_encoder(f"vectors:{tmp_path}")


def test_the_embedded_words_give_the_effect_sizes_of_the_whole_glove_file() -> None:
    """The audit of all 400 000 words in single precision is in the table of reference models."""
    run = wg.run("glove", "*")
    whole = reference_effect_sizes()["GloVe 6B 50d"]
    assert len(run.results) == len(whole) == 46
    assert max(abs(whole[row.test] - row.effect_size) for row in run.results) < 0.002
    assert all(verdict.found for verdict in run.verdicts() if verdict.check)


def test_the_embedded_words_are_one_model_of_a_few_megabytes() -> None:
    assert encoder_module.GLOVE.stat().st_size < 5e6
    assert load_encoder("glove").identity() != load_encoder("glove?case=exact").identity()
    with pytest.raises(SpecError, match=naming("glove:mine.txt", "vectors:mine.txt")):
        load_encoder("glove:mine.txt")


def test_a_model_is_not_compared_with_its_own_rounded_vectors() -> None:
    (standing,) = [one.reference for one in wg.run("glove", ["weat6", "weat6b"]).verdicts() if one.reference]
    assert standing.models == len(reference_effect_sizes()) - 1
