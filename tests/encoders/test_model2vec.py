"""Static models of model2vec, of a small tokenizer; `python -m proofs.static` compares with the package itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tests.messages import mentions, naming
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from weatherglass.encoders import load_encoder
from weatherglass.errors import EncoderError, SpecError

TOKENS = ["[UNK]", "the", "rose", "violet", "is", "##s", "red"]
VECTORS = np.random.default_rng(0).normal(size=(len(TOKENS), 6)).astype(np.float32)


def write_model(folder: Path, *, config: Any = None, **tensors: Any) -> Path:
    """A folder as `StaticModel.save_pretrained` writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(TOKENS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file({"embeddings": VECTORS, **tensors}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", **(config or {})}))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model")


def test_a_text_is_the_mean_over_its_known_tokens(folder: Path) -> None:
    encoder = load_encoder(f"model2vec:{folder}")
    vectors = encoder.encode(["The roses", "violet unheard red", "unheard", ""])
    np.testing.assert_allclose(vectors[0], VECTORS[[1, 2, 5]].mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(vectors[1], VECTORS[[3, 6]].mean(axis=0), rtol=1e-6)
    assert np.isnan(vectors[2:]).all()
    covered = encoder.coverage(["violet unheard red"])[0]
    assert covered.tokens == ("violet", "[UNK]", "red")
    assert covered.missing == ("unheard",)


def test_normalised_as_the_config_says(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "unit", config={"normalize": True})
    encoder = load_encoder(f"model2vec:{folder}")
    assert encoder.options["normalise"] == "yes"
    np.testing.assert_allclose(np.linalg.norm(encoder.encode(["the rose", "red"]), axis=1), 1, rtol=1e-6)
    plain = load_encoder(f"model2vec:{folder}?normalise=no")
    np.testing.assert_allclose(plain.encode(["red"])[0], VECTORS[6], rtol=1e-6)
    assert plain.identity() != encoder.identity()


def test_weights_and_mapping_of_a_quantised_vocabulary(tmp_path: Path) -> None:
    mapping = np.array([0, 1, 1, 2, 2, 0, 1], dtype=np.int64)
    weights = np.linspace(0.5, 2, len(TOKENS)).astype(np.float32)
    folder = write_model(tmp_path / "quantised", embeddings=VECTORS[:3], mapping=mapping, weights=weights)
    expected = (VECTORS[mapping[[2, 6]]] * weights[[2, 6], None]).mean(axis=0)
    np.testing.assert_allclose(
        load_encoder(f"model2vec:{folder}").encode(["rose red"])[0], expected, rtol=1e-6
    )


@pytest.mark.parametrize("kind", [np.float16, np.int8])
def test_narrow_types_are_read(tmp_path: Path, kind: type) -> None:
    narrow: NDArray[Any] = (VECTORS * 20).astype(kind)
    folder = write_model(tmp_path / "narrow", embeddings=narrow)
    got = load_encoder(f"model2vec:{folder}").encode(["rose red"])[0]
    np.testing.assert_allclose(got, narrow[[2, 6]].astype(np.float64).mean(axis=0), rtol=1e-3)


def test_long_texts_are_cut_and_the_coverage_says_so(folder: Path) -> None:
    encoder = load_encoder(f"model2vec:{folder}?max_length=2")
    # The median token has 3 characters, so model2vec looks at the first 6 and takes up to 2 tokens of them.
    np.testing.assert_allclose(encoder.encode(["is the rose"])[0], VECTORS[[4, 1]].mean(axis=0), rtol=1e-6)
    assert mentions(encoder.coverage(["is the rose"])[0].note, 2)
    assert encoder.coverage(["red"])[0].note == ""


def test_a_path_alone_is_recognised(folder: Path) -> None:
    assert load_encoder(str(folder)).name == f"model2vec:{folder}"


def test_the_layout_of_sentence_transformers(tmp_path: Path) -> None:
    write_model(tmp_path / "st" / "0_StaticEmbedding")
    save_file({"embedding.weight": VECTORS}, tmp_path / "st" / "0_StaticEmbedding" / "model.safetensors")
    encoder = load_encoder(f"model2vec:{tmp_path / 'st'}")
    np.testing.assert_allclose(encoder.encode(["red"])[0], VECTORS[6], rtol=1e-6)


def test_missing_files_are_named(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EncoderError, match=naming(folder, "tokenizer.json")):
        load_encoder(f"model2vec:{folder}")
    with pytest.raises(SpecError, match=naming("model2vec:minishlab/potion-base-8M")):
        load_encoder("model2vec:")


@pytest.mark.parametrize(
    ("tensors", "facts"),
    [
        ({"embeddings": VECTORS[:4]}, ["4 rows", "7 tokens"]),
        ({"embeddings": VECTORS[0]}, ["'embeddings'", f"shape {VECTORS[0].shape}"]),
        ({"mapping": np.full(7, 9)}, ["'mapping'", "'embeddings'", len(VECTORS)]),
        ({"weights": np.ones(3, dtype=np.float32)}, ["3 weights", "7 tokens"]),
    ],
)
def test_tensors_that_do_not_fit_are_named(
    tmp_path: Path, tensors: dict[str, NDArray[Any]], facts: list[object]
) -> None:
    folder = write_model(tmp_path / "bad", **tensors)
    with pytest.raises(EncoderError, match=naming(*facts)):
        load_encoder(f"model2vec:{folder}").encode(["rose"])


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_damaged_files_are_one_line(folder: Path, name: str) -> None:
    path = folder / name
    content = path.read_bytes()
    for length in (0, 1, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(EncoderError, match=name) as caught:
            load_encoder(f"model2vec:{folder}").encode(["rose"])
        assert "\n" not in str(caught.value)
