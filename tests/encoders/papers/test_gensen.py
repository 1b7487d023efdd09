"""GenSen: random weights in the original layouts, against the papers' equations and against torch's own GRU."""

from __future__ import annotations

import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.encoders.papers.paper_networks import gru_states, random_recurrent
from tests.messages import naming

from weatherglass.encoders import load_encoder
from weatherglass.encoders.papers.gensen import Expansion
from weatherglass.errors import EncoderError, SpecError, UnsafeFileError

torch = pytest.importorskip("torch", reason="torch writes the checkpoints of this test")

WIDTH, HIDDEN, GLOVE_WIDTH = 4, 3, 2
OWN = ("<s>", "<pad>", "</s>", "<unk>", "this", "is", "a", "dog", "cat", "café", ".", "she", "he", "runs")
GLOVE = (*OWN[4:], "zinnia", "Emily", "'s")
"""GloVe knows all but the marks, and three words more."""


class Model:
    """One GenSen checkpoint: files under a name, and the arrays that went into them."""

    def __init__(self, folder: Path, name: str, layers: int, seed: int, zipped: bool = False) -> None:
        generator = np.random.default_rng(seed)
        self.layers = layers
        self.weights = random_recurrent(generator, 3, WIDTH, HIDDEN, layers, "encoder.")
        self.embedding = generator.normal(size=(len(OWN), WIDTH)).astype(np.float32)
        tensors = OrderedDict({"src_embedding.weight": torch.from_numpy(self.embedding)})
        tensors.update({name: torch.from_numpy(array) for name, array in self.weights.items()})
        torch.save(tensors, folder / f"{name}.model", _use_new_zipfile_serialization=zipped)
        (folder / f"{name}_vocab.pkl").write_bytes(python_2_vocabulary(OWN))

    def embed(self, word: str, glove: dict[str, Any]) -> np.ndarray[Any, Any]:
        """Its own vector, else through a regression with intercept, solved here by the normal equations."""
        if word in OWN:
            return np.asarray(self.embedding[OWN.index(word)], dtype=float)
        if word not in glove:
            return np.asarray(self.embedding[OWN.index("<unk>")], dtype=float)
        shared = [word for word in OWN if word in glove]
        design = np.array([[1, *glove[word]] for word in shared])
        target = np.array([self.embedding[OWN.index(word)] for word in shared], dtype=float)
        solution = np.linalg.solve(design.T @ design, design.T @ target)
        return np.array([1, *glove[word]]) @ solution

    def states(self, words: list[str], glove: dict[str, Any]) -> tuple[Any, Any]:
        """Forward and backward states of the top layer, from the paper's equations."""
        plain = {name.removeprefix("encoder."): array for name, array in self.weights.items()}
        inputs = np.stack([self.embed(word, glove) for word in ["<s>", *words, "</s>"]])
        for layer in range(self.layers):
            forward = np.stack(gru_states(inputs, plain, f"l{layer}"))
            backward = np.stack(gru_states(inputs[::-1], plain, f"l{layer}_reverse")[::-1])
            inputs = np.concatenate([forward, backward], axis=1)
        return forward, backward

    def last(self, words: list[str], glove: dict[str, Any]) -> np.ndarray[Any, Any]:
        forward, backward = self.states(words, glove)
        return np.concatenate([backward[0], forward[-1]])


def python_2_vocabulary(words: tuple[str, ...]) -> bytes:
    """{"word2id": …, "id2word": …} as Python 2 pickled it: words as strings of bytes."""

    def text(word: str) -> bytes:
        content = word.encode("utf-8")
        return b"U" + struct.pack("<B", len(content)) + content

    def number(value: int) -> bytes:
        return b"K" + struct.pack("<B", value)

    word2id = b"".join(text(word) + number(i) for i, word in enumerate(words))
    id2word = b"".join(number(i) + text(word) for i, word in enumerate(words))
    return (
        b"\x80\x02}(" + text("word2id") + b"}(" + word2id + b"u" + text("id2word") + b"}(" + id2word + b"uu."
    )


@pytest.fixture(scope="module")
def glove() -> dict[str, Any]:
    rows = np.random.default_rng(7).normal(size=(len(GLOVE), GLOVE_WIDTH)).round(4)
    return dict(zip(GLOVE, rows, strict=True))


@pytest.fixture(scope="module")
def glove_file(tmp_path_factory: pytest.TempPathFactory, glove: dict[str, Any]) -> Path:
    path = tmp_path_factory.mktemp("glove") / "glove.txt"
    lines = [" ".join([word, *(f"{x:.4f}" for x in row)]) for word, row in glove.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gensen")


@pytest.fixture(scope="module")
def models(folder: Path) -> dict[str, Model]:
    return {
        "nli_large_bothskip": Model(folder, "nli_large_bothskip", layers=1, seed=0),
        "nli_large_bothskip_parse": Model(folder, "nli_large_bothskip_parse", layers=1, seed=1),
        "nli_large_bothskip_2layer": Model(
            folder, "nli_large_bothskip_2layer", layers=2, seed=2, zipped=True
        ),
    }


TEXTS = ["this is a dog.", "cat", "zinnia", "Emily's dog is a café", "a qwzx runs"]
SPLITS = [
    ["this", "is", "a", "dog", "."],
    ["cat"],
    ["zinnia"],
    ["Emily", "'s", "dog", "is", "a", "café"],
    ["a", "qwzx", "runs"],
]


@pytest.mark.parametrize("name", ["nli_large_bothskip", "nli_large_bothskip_2layer"])
def test_a_text_is_the_backward_then_the_forward_last_state_of_the_papers_gru(
    folder: Path, models: dict[str, Model], glove_file: Path, glove: dict[str, Any], name: str
) -> None:
    encoder = load_encoder(f"gensen:{folder}?models={name}&glove={glove_file}")
    expected = [models[name].last(split, glove) for split in SPLITS]
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["nli_large_bothskip", "nli_large_bothskip_2layer"])
def test_a_text_equals_the_last_states_of_torchs_gru(
    folder: Path, models: dict[str, Model], glove_file: Path, name: str
) -> None:
    model = models[name]
    module = torch.nn.GRU(WIDTH, HIDDEN, model.layers, bidirectional=True)
    module.load_state_dict(
        {n.removeprefix("encoder."): torch.from_numpy(w) for n, w in model.weights.items()}
    )
    rows = [OWN.index(word) for word in ("<s>", "this", "is", "a", "dog", ".", "</s>")]
    with torch.no_grad():
        _, last = module(torch.from_numpy(model.embedding[rows])[:, None])
    vectors = load_encoder(f"gensen:{folder}?models={name}&glove={glove_file}").encode(TEXTS[:1])
    np.testing.assert_allclose(vectors[0], torch.cat([last[-1, 0], last[-2, 0]]).numpy(), atol=1e-5)


def test_two_models_stand_side_by_side_and_the_authors_pair_is_the_default(
    folder: Path, models: dict[str, Model], glove_file: Path, glove: dict[str, Any]
) -> None:
    encoder = load_encoder(f"gensen:{folder}?glove={glove_file}")
    assert encoder.options["models"] == "nli_large_bothskip_parse,nli_large_bothskip"
    pair = [models["nli_large_bothskip_parse"], models["nli_large_bothskip"]]
    expected = [np.concatenate([model.last(split, glove) for model in pair]) for split in SPLITS]
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-5)


def test_the_maximum_over_time_can_be_had_instead(
    folder: Path, models: dict[str, Model], glove_file: Path, glove: dict[str, Any]
) -> None:
    encoder = load_encoder(f"gensen:{folder}?models=nli_large_bothskip&glove={glove_file}&pooling=max")
    forward, backward = models["nli_large_bothskip"].states(SPLITS[0], glove)
    expected = np.concatenate([forward, backward], axis=1).max(axis=0)
    np.testing.assert_allclose(encoder.encode(TEXTS[:1])[0], expected, atol=1e-5)


def test_the_published_size_gives_2048_dimensions_a_model(tmp_path: Path) -> None:
    shapes = {"weight_ih": (3072, WIDTH), "weight_hh": (3072, 1024), "bias_ih": (3072,), "bias_hh": (3072,)}
    weights = {
        f"encoder.{kind}_l0{end}": torch.zeros(s) for kind, s in shapes.items() for end in ("", "_reverse")
    }
    for name in ("one", "two"):
        torch.save(
            {"src_embedding.weight": torch.zeros(len(OWN), WIDTH), **weights}, tmp_path / f"{name}.model"
        )
        (tmp_path / f"{name}_vocab.pkl").write_bytes(python_2_vocabulary(OWN))
    assert load_encoder(f"gensen:{tmp_path}?models=one").encode(["dog"]).shape == (1, 2048)
    assert load_encoder(f"gensen:{tmp_path}?models=one,two").encode(["dog"]).shape == (1, 4096)


@pytest.mark.usefixtures("models")
def test_unseen_words_come_through_the_regression_else_as_unk(folder: Path, glove_file: Path) -> None:
    encoder = load_encoder(f"gensen:{folder}?models=nli_large_bothskip&glove={glove_file}")
    covered = encoder.coverage(["a zinnia", "a qwzx", "qwzx"])
    assert [cover.missing for cover in covered] == [(), ("qwzx",), ("qwzx",)]
    vectors = encoder.encode(["a zinnia", "a qwzx", "a dog", "qwzx"])
    assert len(np.unique(vectors[:3].round(5), axis=0)) == 3
    assert np.isnan(vectors[3]).all()  # nothing in the text is known


def test_without_glove_an_unseen_word_is_unk_and_the_record_says_so(
    folder: Path, models: dict[str, Model]
) -> None:
    encoder = load_encoder(f"gensen:{folder}?models=nli_large_bothskip")
    np.testing.assert_array_equal(*encoder.encode(["a zinnia", "a qwzx"]))
    np.testing.assert_allclose(
        encoder.encode(["a zinnia"])[0], models["nli_large_bothskip"].last(["a", "zinnia"], {}), atol=1e-5
    )
    assert "<unk>" in encoder.notes()[0]


def test_the_regression_recovers_an_affine_map() -> None:
    generator = np.random.default_rng(3)
    weight, intercept = generator.normal(size=(5, 4)), generator.normal(size=4)
    glove = generator.normal(size=(40, 5)).astype(np.float32)
    fitted = Expansion.fit(glove, (glove @ weight + intercept).astype(np.float32))
    new = generator.normal(size=(3, 5)).astype(np.float32)
    np.testing.assert_allclose(fitted(new), new @ weight + intercept, atol=1e-4)


@pytest.mark.usefixtures("models")
def test_lowercase_is_a_choice(folder: Path, glove_file: Path) -> None:
    spec = f"gensen:{folder}?models=nli_large_bothskip&glove={glove_file}"
    assert load_encoder(spec).coverage(["A dog"])[0].missing == ("A",)
    assert load_encoder(f"{spec}&lowercase=yes").coverage(["A dog"])[0].missing == ()


def test_a_vocabulary_with_a_payload_is_refused_by_name_and_does_not_run(tmp_path: Path) -> None:
    Model(tmp_path, "bad", layers=1, seed=0)
    trace = tmp_path / "trace"
    # shutil.copyfile(this file, trace), which pickle itself would call
    call = f"cshutil\ncopyfile\n(V{__file__}\nV{trace}\ntR.".encode()
    (tmp_path / "bad_vocab.pkl").write_bytes(call)
    with pytest.raises(UnsafeFileError, match=naming("bad_vocab.pkl", "shutil.copyfile")):
        load_encoder(f"gensen:{tmp_path}").encode(["dog"])
    assert not trace.exists()


def test_a_vocabulary_of_another_model_is_refused(tmp_path: Path) -> None:
    Model(tmp_path, "bad", layers=1, seed=0)
    (tmp_path / "bad_vocab.pkl").write_bytes(python_2_vocabulary((*OWN, "one", "more")))
    with pytest.raises(EncoderError, match=naming("bad_vocab.pkl", "row 15", "14 rows")):
        load_encoder(f"gensen:{tmp_path}").encode(["dog"])


def test_a_folder_that_does_not_say_which_model_is_meant_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=naming(tmp_path, "NAME.model")):
        load_encoder(f"gensen:{tmp_path}")
    for name in ("one", "two"):
        Model(tmp_path, name, layers=1, seed=0)
    with pytest.raises(SpecError, match=naming(tmp_path, "one, two", "models=NAME")):
        load_encoder(f"gensen:{tmp_path}")
    with pytest.raises(SpecError, match=naming(f"'{tmp_path / 'three.model'}'", "one, two")):
        load_encoder(f"gensen:{tmp_path}?models=three")
