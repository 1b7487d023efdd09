"""ELMo against the outputs of the original implementation (allennlp's test fixtures, Apache-2.0), to 1e-5."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weatherglass.encoders import load_encoder
from weatherglass.encoders.elmo.characters import boundary_ids, character_ids
from weatherglass.encoders.elmo.files import find_files, read_options
from weatherglass.errors import EncoderError, SpecError

torch = pytest.importorskip("torch", reason="ELMo runs in torch")
h5py = pytest.importorskip("h5py", reason="ELMo's weights are HDF5")

WIDTH = 32
"""Of the fixture: 16 dimensions a direction."""


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "reference" / "elmo_fixture"


@pytest.fixture(scope="module")
def model(folder: Path) -> Any:
    from weatherglass.encoders.elmo.model import ElmoModel

    options, weights = find_files(folder)
    return ElmoModel.load(read_options(options), weights)


@pytest.fixture(scope="module")
def stream(folder: Path) -> list[list[str]]:
    """The ten sentences of stream 0, already tokenised."""
    streams = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    return [sentence.split() for sentence in streams[0]]


def expected_top_layer(folder: Path, number: int) -> np.ndarray[Any, Any]:
    """Forward and backward states side by side, as ELMo lays out a layer."""
    with h5py.File(folder / "lm_embeddings_0.hdf5", "r") as file:
        forward, backward = file[str(number)][...]
    return np.concatenate([forward, backward], axis=1)


def test_the_character_cnn_matches_the_original_for_the_whole_vocabulary(folder: Path, model: Any) -> None:
    words = (folder / "vocab_test.txt").read_text(encoding="utf-8").split("\n")
    ids = character_ids(words, model.options.word_width)
    # The original's vocabulary gives the two boundary "words" their own spelling.
    ids[[words.index("<S>"), words.index("</S>")]] = boundary_ids(model.options.word_width)
    with h5py.File(folder / "elmo_token_embeddings.hdf5", "r") as file:
        expected = file["embedding"][...]
    assert len(expected) == len(words) == 458
    np.testing.assert_allclose(model.cnn(torch.from_numpy(ids)).numpy(), expected, atol=1e-5)


def test_the_first_sentence_matches_the_original_from_zero_state(
    folder: Path, model: Any, stream: list[list[str]]
) -> None:
    states = model.states([stream[0]])
    assert states.shape == (3, 1, len(stream[0]), WIDTH)
    np.testing.assert_allclose(states[-1, 0], expected_top_layer(folder, 0), atol=1e-5)


def test_later_sentences_match_the_original_with_the_state_carried_on(
    folder: Path, model: Any, stream: list[list[str]]
) -> None:
    carried = None
    for number, sentence in enumerate(stream):
        states, carried = model.states_from([sentence], carried)
        np.testing.assert_allclose(states[-1, 0], expected_top_layer(folder, number), atol=1e-5)


def test_each_text_starts_from_zero_state(folder: Path, model: Any, stream: list[list[str]]) -> None:
    alone = model.states([stream[1]])[-1, 0]
    model.states([stream[0]])
    np.testing.assert_array_equal(model.states([stream[1]])[-1, 0], alone)
    assert np.abs(alone - expected_top_layer(folder, 1)).max() > 1e-3  # the reference carried state into it


def test_layer_0_is_the_token_layer_twice(model: Any, stream: list[list[str]]) -> None:
    words = stream[0]
    tokens = model.cnn(torch.from_numpy(character_ids(words, model.options.word_width))).numpy()
    layer = model.states([words])[0, 0]
    np.testing.assert_allclose(layer, np.concatenate([tokens, tokens], axis=1), atol=1e-6)


def test_a_batch_gives_what_its_texts_give_alone(folder: Path) -> None:
    encoder = load_encoder(f"elmo:{folder}")
    texts = ["dogs", "This is a dog.", "That is a cat.", "", "The dog sees Emily's cats."]
    together = encoder.encode(texts)
    assert np.isnan(together[3]).all()
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-5)


@pytest.mark.parametrize("pooling", ["mean", "max", "last"])
@pytest.mark.parametrize("layers", ["sum", "mean", "concat", "0", "1", "-1"])
def test_tokens_are_pooled_within_a_layer_and_layers_joined_after(
    folder: Path, model: Any, pooling: str, layers: str
) -> None:
    states = model.states([["This", "is", "Emily", "."]])[:, 0]
    pooled = {"mean": states.mean(axis=1), "max": states.max(axis=1), "last": states[:, -1]}[pooling]
    expected = {
        "sum": pooled.sum(axis=0),
        "mean": pooled.mean(axis=0),
        "concat": np.concatenate(list(pooled)),
        "0": pooled[0],
        "1": pooled[1],
        "-1": pooled[2],
    }[layers]
    found = load_encoder(f"elmo:{folder}?pooling={pooling}&layers={layers}").encode(["This is Emily."])
    np.testing.assert_allclose(found[0], expected, atol=1e-5)


def test_the_default_is_the_papers_mean_over_tokens_and_sum_over_layers(folder: Path) -> None:
    assert load_encoder(f"elmo:{folder}").options == {"pooling": "mean", "layers": "sum", "tokens": "words"}


def test_tokens_can_be_words_blanks_or_the_characters_of_the_released_code(folder: Path, model: Any) -> None:
    text = "Emily's cats."
    for tokens, split in {
        "words": ["Emily", "'s", "cats", "."],
        "whitespace": ["Emily's", "cats."],
        "characters": list(text),
    }.items():
        encoder = load_encoder(f"elmo:{folder}?tokens={tokens}&layers=-1")
        assert encoder.coverage([text])[0].tokens == tuple(split)
        np.testing.assert_allclose(
            encoder.encode([text])[0], model.states([split])[-1, 0].mean(axis=0), atol=1e-5
        )


def test_a_word_longer_than_the_network_reads_is_cut_and_noted(folder: Path) -> None:
    encoder = load_encoder(f"elmo:{folder}")
    long, longer = "a" * 48, "a" * 60
    np.testing.assert_array_equal(*encoder.encode([long, longer]))
    assert [covered.note for covered in encoder.coverage([long, longer])] == ["", "a token cut to 48 bytes"]


def test_a_word_is_spelt_in_bytes_between_marks() -> None:
    # 258 and 259 stand for the word's beginning and end, 260 fills up (Jozefowicz et al. 2016; Peters et al. 2018).
    assert character_ids(["né"], 7).tolist() == [[258, ord("n"), 0xC3, 0xA9, 259, 260, 260]]
    assert boundary_ids(4).tolist() == [[258, 256, 259, 260], [258, 257, 259, 260]]


def test_equal_files_and_choices_have_equal_identities(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("options.json", "lm_weights.hdf5"):
        shutil.copy(folder / name, copy)
    assert load_encoder(f"elmo:{copy}").identity() == load_encoder(f"elmo:{folder}").identity()
    assert load_encoder(f"elmo:{copy}?pooling=max").identity() != load_encoder(f"elmo:{folder}").identity()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("pooling=cls", "pooling=cls is none of"),
        ("layers=3", "layers 0"),
        ("layers=top", "layers=top"),
        ("tokens=bytes", "tokens=bytes is none of"),
        ("layer=1", "did you mean 'layers'"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_loaded(folder: Path, query: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load_encoder(f"elmo:{folder}?{query}")


def test_a_folder_without_elmo_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"no file matches \*options\.json"):
        load_encoder(f"elmo:{tmp_path}")
    with pytest.raises(SpecError, match="no folder"):
        load_encoder(f"elmo:{tmp_path / 'nowhere'}")


def test_weights_that_do_not_belong_to_the_options_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "lm_weights.hdf5", tmp_path)
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    options["lstm"]["n_layers"] = 3
    (tmp_path / "options.json").write_text(json.dumps(options), encoding="utf-8")
    with pytest.raises(EncoderError, match=r"lm_weights\.hdf5: no array 'RNN_0/RNN/MultiRNNCell/Cell2"):
        load_encoder(f"elmo:{tmp_path}").encode(["dog"])
