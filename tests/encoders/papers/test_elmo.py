"""ELMo: a tiny one in the original files against the papers' network in plain numpy.

`make test-shared` also holds it against the outputs of the original implementation (allennlp's fixtures, Apache-2.0).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.encoders.papers.tiny_elmo import PlainElmo, write_elmo
from tests.messages import mentions, naming

from weatherglass.encoders import Input, load_encoder
from weatherglass.encoders.papers.elmo import boundary_ids, character_ids, find_files, read_options
from weatherglass.errors import EncoderError, SpecError

torch = pytest.importorskip("torch", reason="ELMo runs in torch")
h5py = pytest.importorskip("h5py", reason="ELMo's weights are HDF5")

SENTENCES = [["The", "dog", "sees", "Emily", "'s", "cats", "."], ["dogs"], ["né", "a" * 60, "wasp"]]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> PlainElmo:
    return write_elmo(tmp_path_factory.mktemp("elmo") / "tiny")


@pytest.fixture(scope="module")
def folder(plain: PlainElmo) -> Path:
    return plain.folder


def loaded(folder: Path) -> Any:
    from weatherglass.encoders.papers.elmo_network import ElmoModel

    options, weights = find_files(folder)
    return ElmoModel.load(read_options(options), weights)


@pytest.fixture(scope="module")
def model(folder: Path) -> Any:
    return loaded(folder)


def test_the_character_cnn_is_the_papers(plain: PlainElmo, model: Any) -> None:
    words = [word for sentence in SENTENCES for word in sentence]
    ids = character_ids(words, model.options.word_width)
    expected = [plain.word_vector(word.encode()) for word in words]
    np.testing.assert_allclose(model.cnn(torch.from_numpy(ids)).numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("sentence", SENTENCES, ids=len)
def test_all_layers_are_the_papers_from_zero_state(plain: PlainElmo, model: Any, sentence: list[str]) -> None:
    states = model.states([sentence])
    assert states.shape == (3, 1, len(sentence), 10)
    np.testing.assert_allclose(states[:, 0], plain.states(sentence), atol=1e-5)


def test_the_tiny_network_feels_both_clips(plain: PlainElmo) -> None:
    plain.states(SENTENCES[0])
    assert plain.clipped == {"cell_clip", "proj_clip"}


def test_the_state_is_carried_on_as_in_the_papers(plain: PlainElmo, model: Any) -> None:
    carried, memory = None, {}  # type: ignore[var-annotated]
    for sentence in SENTENCES:
        states, carried = model.states_from([sentence], carried)
        np.testing.assert_allclose(states[:, 0], plain.states(sentence, memory), atol=1e-5)


def test_each_text_starts_from_zero_state(model: Any) -> None:
    alone = model.states([SENTENCES[1]])
    _, after = model.states_from([SENTENCES[0]], None)
    np.testing.assert_array_equal(model.states([SENTENCES[1]]), alone)
    assert np.abs(model.states_from([SENTENCES[1]], after)[0] - alone).max() > 1e-3


def test_layer_0_is_the_token_layer_twice(model: Any) -> None:
    words = SENTENCES[0]
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
@pytest.mark.parametrize(
    "layers", ["sum", *(pytest.param(n, marks=pytest.mark.large) for n in ("mean", "concat", "0", "1", "-1"))]
)
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
    vectors = load_encoder(f"elmo:{folder}?pooling={pooling}&layers={layers}").encode(["This is Emily."])
    np.testing.assert_allclose(vectors[0], expected, atol=1e-5)


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
    np.testing.assert_array_equal(encoder.encode([long]), encoder.encode([longer]))
    whole, cut = encoder.coverage([long, longer])
    assert whole.note == ""
    assert mentions(cut.note, 48)


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
    ("query", "facts"),
    [
        ("pooling=cls", ["pooling=cls", "mean", "max"]),
        ("layers=3", ["layers=3", 0, 2]),
        ("layers=top", ["layers=top", "sum:-4.."]),
        ("tokens=bytes", ["tokens=bytes", "words", "whitespace"]),
        ("layer=1", ["'layer'", "'layers'"]),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_loaded(
    folder: Path, query: str, facts: list[object]
) -> None:
    with pytest.raises(SpecError, match=naming(*facts)):
        load_encoder(f"elmo:{folder}?{query}")


def test_a_folder_without_elmo_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=naming(tmp_path, "*options.json")):
        load_encoder(f"elmo:{tmp_path}")
    with pytest.raises(SpecError, match=naming(f"'{tmp_path / 'nowhere'}'", "folder")):
        load_encoder(f"elmo:{tmp_path / 'nowhere'}")


def test_weights_that_do_not_belong_to_the_options_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "lm_weights.hdf5", tmp_path)
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    options["lstm"]["n_layers"] = 3
    (tmp_path / "options.json").write_text(json.dumps(options), encoding="utf-8")
    with pytest.raises(EncoderError, match=r"lm_weights\.hdf5: .*'RNN_0/RNN/MultiRNNCell/Cell2"):
        load_encoder(f"elmo:{tmp_path}").encode(["dog"])


@pytest.fixture(scope="module")
def allennlp(shared: Path) -> Path:
    """The original implementation's fixture: an ELMo of 16 dimensions a direction, with its outputs."""
    return shared / "reference" / "elmo_fixture"


def original_top_layer(allennlp: Path, number: int) -> np.ndarray[Any, Any]:
    """Forward and backward states of a sentence of stream 0 side by side, as ELMo lays out a layer."""
    with h5py.File(allennlp / "lm_embeddings_0.hdf5", "r") as file:
        forward, backward = file[str(number)][...]
    return np.concatenate([forward, backward], axis=1)


@pytest.mark.shared
def test_the_character_cnn_matches_the_original_for_the_whole_vocabulary(allennlp: Path) -> None:
    model = loaded(allennlp)
    words = (allennlp / "vocab_test.txt").read_text(encoding="utf-8").split("\n")
    ids = character_ids(words, model.options.word_width)
    # The original's vocabulary gives the two boundary "words" their own spelling.
    ids[[words.index("<S>"), words.index("</S>")]] = boundary_ids(model.options.word_width)
    with h5py.File(allennlp / "elmo_token_embeddings.hdf5", "r") as file:
        expected = file["embedding"][...]
    assert len(expected) == len(words) == 458
    np.testing.assert_allclose(model.cnn(torch.from_numpy(ids)).numpy(), expected, atol=1e-5)


@pytest.mark.shared
def test_states_match_the_original_which_carried_them_over_sentences(allennlp: Path) -> None:
    model, plain = loaded(allennlp), PlainElmo.read(allennlp)
    streams = json.loads((allennlp / "sentences.json").read_text(encoding="utf-8"))
    carried, memory = None, {}  # type: ignore[var-annotated]
    for number, sentence in enumerate(line.split() for line in streams[0]):
        states, carried = model.states_from([sentence], carried)
        expected = original_top_layer(allennlp, number)
        np.testing.assert_allclose(states[-1, 0], expected, atol=1e-5)
        np.testing.assert_allclose(plain.states(sentence, memory)[-1], expected, atol=1e-5)


@pytest.mark.shared
def test_only_the_first_sentence_matches_the_original_from_zero_state(allennlp: Path) -> None:
    model = loaded(allennlp)
    streams = json.loads((allennlp / "sentences.json").read_text(encoding="utf-8"))
    first, second = (model.states([line.split()])[-1, 0] for line in streams[0][:2])
    np.testing.assert_allclose(first, original_top_layer(allennlp, 0), atol=1e-5)
    assert np.abs(second - original_top_layer(allennlp, 1)).max() > 1e-3  # the original carried state into it


@pytest.mark.shared
@pytest.mark.parametrize("number", range(0, 60, 7))
def test_the_vector_of_a_word_at_a_span_is_the_state_of_its_token(allennlp: Path, number: int) -> None:
    """The top layer of the original's first sentence, at the place of each word."""
    sentence = json.loads((allennlp / "sentences.json").read_text(encoding="utf-8"))[0][0]
    words = sentence.split()
    number = number % len(words)
    start = len(" ".join([*words[:number], ""])) if number else 0
    model = load_encoder(f"elmo:{allennlp}?tokens=whitespace&layers=-1", cache=False)
    asked = Input(sentence, (start, start + len(words[number])))
    assert asked.word == words[number]
    found = model.observe([asked, Input(f"He saw {sentence}", (3, 6))], "token-vectors")
    np.testing.assert_allclose(found.matrix[0], original_top_layer(allennlp, 0)[number], atol=1e-5)
    assert [covered.tokens for covered in found.coverage] == [(words[number],), ("saw",)]


def test_a_span_of_several_tokens_is_pooled(folder: Path) -> None:
    text = "A New York nurse"
    one = {
        pooling: load_encoder(f"elmo:{folder}?span_pooling={pooling}", cache=False)
        .observe([Input(text, (2, 10)), Input(text, (2, 5)), Input(text, (6, 10))], "token-vectors")
        .matrix
        for pooling in ("mean", "first", "last")
    }
    both, new, york = one["mean"]
    np.testing.assert_allclose(both, (new + york) / 2, atol=1e-6)
    np.testing.assert_allclose(one["first"][0], new, atol=1e-6)
    np.testing.assert_allclose(one["last"][0], york, atol=1e-6)


def test_a_sentence_with_several_words_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from weatherglass.encoders.papers.elmo_network import ElmoModel

    read: list[int] = []
    states = ElmoModel.states

    def counted(self: Any, sentences: Any) -> Any:
        read.append(len(sentences))
        return states(self, sentences)

    encoder = load_encoder(f"elmo:{folder}", cache=False)
    asked = [Input("The dog sees cats", span) for span in ((4, 7), (8, 12), (13, 17))]
    asked.insert(1, Input("A dog sees cats", (2, 5)))
    alone = [encoder.observe([each], "token-vectors").matrix[0] for each in asked]
    monkeypatch.setattr(ElmoModel, "states", counted)
    np.testing.assert_allclose(encoder.observe(asked, "token-vectors").matrix, alone, atol=1e-6)
    assert sum(read) == 2
