"""fastText .bin models: gensim, which has a reader and a writer of its own, is the peer."""

from __future__ import annotations

import gzip
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import mentions, naming

from weatherglass.encoders import load_encoder
from weatherglass.errors import SpecError, VectorFileError
from weatherglass.vectors import read_every_word, read_vectors

SENTENCES = [
    ["the", "rose", "is", "red", "Straße", "naïve"],
    ["the", "violet", "is", "blue", "日本語", "rose"],
    ["a", "daisy", "and", "a", "rose", "is", "the", "Rose"],
] * 5
UNKNOWN = ["rhodora", "x", "ümlaut", "日本", "unknowable", "€"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A trained model on the disk, and the same model read by gensim."""
    from gensim.models import FastText
    from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

    trained = FastText(
        SENTENCES, vector_size=12, min_count=1, epochs=2, bucket=500, min_n=2, max_n=4, workers=1, seed=1
    )
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    save_facebook_model(trained, str(path))
    return path, load_facebook_vectors(str(path))


def test_words_and_unknown_words_have_gensims_vectors(model: tuple[Path, Any]) -> None:
    path, peer = model
    known = list(peer.key_to_index)
    read = read_vectors(path, [*known, *UNKNOWN])
    assert read.from_subwords == set(UNKNOWN)
    for word in [*known, *UNKNOWN]:
        np.testing.assert_allclose(read[word], peer[word], atol=1e-6, err_msg=word)


def test_single_characters_are_subwords_where_min_n_is_one(tmp_path: Path) -> None:
    from gensim.models import FastText
    from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

    trained = FastText(
        SENTENCES, vector_size=4, min_count=1, epochs=1, bucket=50, min_n=1, max_n=2, workers=1
    )
    save_facebook_model(trained, str(tmp_path / "model.bin"))
    peer = load_facebook_vectors(str(tmp_path / "model.bin"))
    read = read_vectors(tmp_path / "model.bin", UNKNOWN)
    for word in UNKNOWN:
        np.testing.assert_allclose(read[word], peer[word], atol=1e-6, err_msg=word)


def test_every_word_is_read_with_its_count(model: tuple[Path, Any]) -> None:
    path, peer = model
    read = read_every_word(path)
    assert list(read.rows) == list(peer.index_to_key)
    assert read.counts is not None
    assert read.counts.tolist() == [peer.get_vecattr(word, "count") for word in read.rows]


def test_the_record_says_which_words_have_subword_vectors(model: tuple[Path, Any]) -> None:
    encoder = load_encoder(f"vectors:{model[0]}")
    assert not np.isnan(encoder.encode(["the rhodora", "rose"])).any()
    covered, known = encoder.coverage(["the rhodora", "rose"])
    assert covered.missing == ()
    assert mentions(covered.note, "out-of-vocabulary", "subwords", "rhodora")
    assert known.note == ""
    assert encoder.options["subwords"] == "yes"
    (note,) = encoder.notes()
    assert mentions(note, 1, "out-of-vocabulary", "subwords=no", "rhodora")


def test_lower_case_in_the_vocabulary_comes_before_subwords(model: tuple[Path, Any]) -> None:
    encoder = load_encoder(f"vectors:{model[0]}")
    np.testing.assert_array_equal(encoder.encode(["Violet"]), encoder.encode(["violet"]))
    np.testing.assert_allclose(encoder.encode(["Rhodora"])[0], model[1]["Rhodora"], atol=1e-6)


def test_without_subwords_unknown_words_are_missing(model: tuple[Path, Any]) -> None:
    with_subwords, without = (
        load_encoder(f"vectors:{model[0]}"),
        load_encoder(f"vectors:{model[0]}?subwords=no"),
    )
    assert np.isnan(without.encode(["rhodora"])).all()
    assert without.coverage(["rhodora"])[0].missing == ("rhodora",)
    assert with_subwords.identity() != without.identity()


def test_other_files_have_no_such_option(tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text("rose 1 2\nviolet 3 4\n")
    with pytest.raises(SpecError, match=naming("'subwords'", "tokens", "case")):
        load_encoder(f"vectors:{tmp_path / 'glove.txt'}?subwords=no")


def test_a_file_cut_off_anywhere_is_one_line(model: tuple[Path, Any], tmp_path: Path) -> None:
    content = model[0].read_bytes()
    damaged = tmp_path / "cut.bin"
    for length in (4, 8, 30, 60, 90, 120, 300, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:length])
        with pytest.raises(VectorFileError) as caught:
            read_vectors(damaged, ["rose"])
        assert "\n" not in str(caught.value)
        assert "cut.bin" in str(caught.value)


def test_flipped_bytes_of_header_and_dictionary_are_refused_or_harmless(
    model: tuple[Path, Any], tmp_path: Path
) -> None:
    content = model[0].read_bytes()
    damaged = tmp_path / "flipped.bin"
    generator = random.Random(0)
    for _ in range(200):
        place = generator.randrange(4, 400)
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            read_vectors(damaged, ["rose", "rhodora"])
        except VectorFileError as error:
            assert "\n" not in str(error)  # noqa: PT017 - some flips change no more than a count


@pytest.mark.parametrize(
    ("place", "value", "facts"),
    [
        (4, struct.pack("<i", 11), ["version 11", "version 12"]),
        (64, struct.pack("<i", 2**31 - 1), ["2147483647 entries"]),
        (84, struct.pack("<q", 3), ["quantised", ".ftz"]),
    ],
)
def test_impossible_headers_name_what_is_wrong(
    model: tuple[Path, Any], tmp_path: Path, place: int, value: bytes, facts: list[str]
) -> None:
    content = model[0].read_bytes()
    (tmp_path / "bad.bin").write_bytes(content[:place] + value + content[place + len(value) :])
    with pytest.raises(VectorFileError, match=naming(tmp_path / "bad.bin", *facts)):
        read_vectors(tmp_path / "bad.bin", ["rose"])


def test_a_packed_model_has_to_be_unpacked(model: tuple[Path, Any], tmp_path: Path) -> None:
    (tmp_path / "model.bin.gz").write_bytes(gzip.compress(model[0].read_bytes()))
    with pytest.raises(VectorFileError, match=naming(tmp_path / "model.bin.gz", "fastText", "gunzip")):
        read_vectors(tmp_path / "model.bin.gz", ["rose"])
