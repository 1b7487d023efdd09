"""InferSent: random weights in the original layouts, against the papers' equations and against torch's own LSTM."""

from __future__ import annotations

import pickle
import struct
import sys
import types
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.encoders.papers.paper_networks import lstm_states, random_recurrent
from tests.messages import mentions, naming

from weatherglass.encoders import load_encoder
from weatherglass.encoders.papers.infersent import moses_negation
from weatherglass.errors import EncoderError, SpecError, UnsafeFileError

WIDTH, HIDDEN = 6, 5
WORDS = (
    "<s>",
    "</s>",
    "<p>",
    "</p>",
    "this",
    "This",
    "is",
    "a",
    "dog",
    "Emily",
    "'s",
    "cat",
    ".",
    "do",
    "n't",
    "'t",
)

torch = pytest.importorskip("torch", reason="torch writes the checkpoints of this test")


@pytest.fixture(scope="module")
def vectors() -> dict[str, np.ndarray[Any, Any]]:
    rows = np.random.default_rng(1).normal(size=(len(WORDS), WIDTH)).round(4)
    return dict(zip(WORDS, rows, strict=True))


@pytest.fixture(scope="module")
def glove(tmp_path_factory: pytest.TempPathFactory, vectors: dict[str, np.ndarray[Any, Any]]) -> Path:
    path = tmp_path_factory.mktemp("glove") / "glove.txt"
    lines = [" ".join([word, *(f"{x:.4f}" for x in row)]) for word, row in vectors.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def weights() -> dict[str, np.ndarray[Any, Any]]:
    return {**random_recurrent(np.random.default_rng(0), 4, WIDTH, HIDDEN, 1, "enc_lstm.")}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, weights: dict[str, Any]) -> Path:
    path = tmp_path_factory.mktemp("infersent") / "infersent1.pkl"
    tensors = OrderedDict((name, torch.from_numpy(array)) for name, array in weights.items())
    torch.save(tensors, path, _use_new_zipfile_serialization=False)
    return path


def from_the_paper(
    words: list[str], vectors: dict[str, Any], weights: dict[str, Any]
) -> np.ndarray[Any, Any]:
    """Conneau et al. (2017): u_i = max over t of [forward h_t, backward h_t]_i."""
    inputs = np.stack([vectors[word] for word in words])
    plain = {name.removeprefix("enc_lstm."): array for name, array in weights.items()}
    forward = lstm_states(inputs, plain, "l0")
    backward = lstm_states(inputs[::-1], plain, "l0_reverse")[::-1]
    return np.asarray(np.concatenate([np.stack(forward), np.stack(backward)], axis=1).max(axis=0))


def test_a_text_is_the_maximum_over_time_of_the_papers_bilstm(
    checkpoint: Path, glove: Path, vectors: dict[str, Any], weights: dict[str, Any]
) -> None:
    encoder = load_encoder(f"infersent:{checkpoint}?glove={glove}")
    texts = ["This is Emily's cat.", "dog", "a dog is a dog"]
    splits = [["This", "is", "Emily", "'s", "cat", "."], ["dog"], ["a", "dog", "is", "a", "dog"]]
    expected = [from_the_paper(["<s>", *split, "</s>"], vectors, weights) for split in splits]
    np.testing.assert_allclose(encoder.encode(texts), expected, atol=1e-5)


def test_a_text_equals_the_maximum_over_time_of_torchs_lstm(
    checkpoint: Path, glove: Path, vectors: dict[str, Any], weights: dict[str, Any]
) -> None:
    module = torch.nn.LSTM(WIDTH, HIDDEN, bidirectional=True)
    module.load_state_dict({n.removeprefix("enc_lstm."): torch.from_numpy(w) for n, w in weights.items()})
    inputs = np.stack([vectors[word] for word in ("<s>", "a", "dog", "</s>")]).astype(np.float32)
    with torch.no_grad():
        expected = module(torch.from_numpy(inputs)[:, None])[0].numpy()[:, 0].max(axis=0)
    encoded = load_encoder(f"infersent:{checkpoint}?glove={glove}").encode(["a dog"])
    np.testing.assert_allclose(encoded[0], expected, atol=1e-5)


@pytest.mark.large
def test_the_published_size_gives_4096_dimensions(tmp_path: Path, glove: Path) -> None:
    shapes = {"weight_ih": (8192, WIDTH), "weight_hh": (8192, 2048), "bias_ih": (8192,), "bias_hh": (8192,)}
    weights = {
        f"enc_lstm.{kind}_l0{suffix}": torch.zeros(shape)
        for kind, shape in shapes.items()
        for suffix in ("", "_reverse")
    }
    torch.save(weights, tmp_path / "large.pkl")
    vectors = load_encoder(f"infersent:{tmp_path / 'large.pkl'}?glove={glove}").encode(["dog", "unheard-of"])
    assert vectors.shape == (2, 4096)


def test_version_2_reads_fasttext_between_its_own_boundaries(
    checkpoint: Path, glove: Path, vectors: dict[str, Any], weights: dict[str, Any]
) -> None:
    encoder = load_encoder(f"infersent:{checkpoint}?fasttext={glove}")
    assert encoder.options["version"] == "2"
    expected = from_the_paper(["<p>", "a", "dog", "</p>"], vectors, weights)
    np.testing.assert_allclose(encoder.encode(["a dog"])[0], expected, atol=1e-5)


def test_version_2_writes_negations_as_moses_does() -> None:
    assert moses_negation(["I", "do", "n't", "know"]) == ["I", "don", "'t", "know"]
    assert moses_negation(["n't", "you", "do", "n't"]) == ["n't", "you", "do", "n't"]


def test_unknown_words_are_skipped_and_listed(
    checkpoint: Path, glove: Path, vectors: dict[str, Any], weights: dict[str, Any]
) -> None:
    encoder = load_encoder(f"infersent:{checkpoint}?glove={glove}")
    encoded = encoder.encode(["a zinnia is a dog", "zinnia", ""])
    expected = from_the_paper(["<s>", "a", "is", "a", "dog", "</s>"], vectors, weights)
    np.testing.assert_allclose(encoded[0], expected, atol=1e-5)
    assert np.isnan(encoded[1:]).all()
    assert [covered.missing for covered in encoder.coverage(["a zinnia is a dog", "zinnia"])] == [
        ("zinnia",)
    ] * 2


def test_whitespace_tokens_follow_the_released_code_of_may_et_al(checkpoint: Path, glove: Path) -> None:
    encoder = load_encoder(f"infersent:{checkpoint}?glove={glove}&tokens=whitespace")
    assert encoder.coverage(["This is a dog."])[0].missing == ("dog.",)


def test_a_missing_boundary_mark_is_left_out_and_noted(checkpoint: Path, tmp_path: Path) -> None:
    path = tmp_path / "few.txt"
    path.write_text("".join(f"{word} {'0.5 ' * WIDTH}\n" for word in ("a", "dog", "<s>")), encoding="utf-8")
    encoder = load_encoder(f"infersent:{checkpoint}?glove={path}")
    assert np.isfinite(encoder.encode(["a dog"])).all()
    (note,) = encoder.notes()
    assert mentions(note, "'</s>'", "few.txt")


def test_a_text_does_not_depend_on_its_neighbours(checkpoint: Path, glove: Path) -> None:
    encoder = load_encoder(f"infersent:{checkpoint}?glove={glove}")
    texts = ["This is a dog.", "dog", "cat", "Emily"]
    for text, vector in zip(texts, encoder.encode(texts), strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-6)


@pytest.fixture
def models_module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module `models` that the published pickle names, and the backend that old modules carried with them."""
    models = types.ModuleType("models")

    models.BLSTMEncoder = type("BLSTMEncoder", (torch.nn.Module,), {"__module__": "models"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "models", models)
    backend = types.ModuleType("torch.nn.backends.thnn")

    def _get_thnn_function_backend() -> None: ...

    _get_thnn_function_backend.__module__ = "torch.nn.backends.thnn"
    _get_thnn_function_backend.__qualname__ = "_get_thnn_function_backend"
    backend._get_thnn_function_backend = _get_thnn_function_backend  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.nn.backends", types.ModuleType("torch.nn.backends"))
    monkeypatch.setitem(sys.modules, "torch.nn.backends.thnn", backend)
    return models


def allnli_model(models: Any, weights: dict[str, Any]) -> Any:
    model = models.BLSTMEncoder()
    model.enc_lstm = torch.nn.LSTM(WIDTH, HIDDEN, bidirectional=True)
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    model.pool_type, model.use_cuda, model.word_vec = "max", True, {"dog": np.ones(3)}
    return model


@pytest.mark.filterwarnings("ignore:Couldn't retrieve source code")
@pytest.mark.parametrize("zipped", [False, True])
def test_the_pickled_allnli_model_is_read_without_its_code(
    tmp_path: Path, glove: Path, checkpoint: Path, weights: dict[str, Any], models_module: Any, zipped: bool
) -> None:
    path = tmp_path / "infersent.allnli.pickle"
    torch.save(allnli_model(models_module, weights), path, _use_new_zipfile_serialization=zipped)
    del sys.modules["models"]  # The class is not there when the model is read.
    encoded = load_encoder(f"infersent:{path}?glove={glove}").encode(["a dog"])
    expected = load_encoder(f"infersent:{checkpoint}?glove={glove}").encode(["a dog"])
    np.testing.assert_array_equal(encoded, expected)


class PickleOfTorch02(pickle.Pickler):
    """Writes a module as torch 0.2 did on a GPU: Parameters built from tensors, CUDA storages, a function backend."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, 2)
        self.storages: dict[str, np.ndarray[Any, Any]] = {}
        self.seen: set[type] = set()

    def persistent_id(self, value: object) -> object:
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.float32:
            key = str(len(self.storages))
            self.storages[key] = value
            return ("storage", torch.cuda.FloatStorage, key, "cuda:0", len(value), None)
        if isinstance(value, type) and issubclass(value, torch.nn.Module) and value not in self.seen:
            self.seen.add(value)
            return ("module", value, "models.py", "class BLSTMEncoder: ...")
        return None

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, torch.nn.Parameter):
            return torch.nn.Parameter, (value.data,), (True, False, OrderedDict())
        if isinstance(value, torch.Tensor):
            storage = np.ascontiguousarray(value.numpy()).ravel()
            return torch._utils._rebuild_tensor, (storage, 0, tuple(value.shape), value.stride())
        if isinstance(value, Backend):
            return sys.modules["torch.nn.backends.thnn"]._get_thnn_function_backend, ()
        return NotImplemented


class Backend:
    """Stands for the object that old modules kept as `_backend`."""


def test_a_model_pickled_by_an_old_torch_on_a_gpu_is_read(
    tmp_path: Path, glove: Path, checkpoint: Path, weights: dict[str, Any], models_module: Any
) -> None:
    from weatherglass.storage.torch_file import MAGIC, PROTOCOL

    model = allnli_model(models_module, weights)
    for module in (model, model.enc_lstm):
        module.__dict__["_backend"] = Backend()
        module.__dict__.pop("_flat_weights", None)
    path = tmp_path / "infersent.allnli.pickle"
    with path.open("wb") as file:
        for part in (MAGIC, PROTOCOL, {"protocol_version": PROTOCOL, "little_endian": True}):
            pickle.dump(part, file, 2)
        pickler = PickleOfTorch02(file)
        pickler.dump(model)
        pickle.dump(list(pickler.storages), file, 2)
        for storage in pickler.storages.values():
            file.write(struct.pack("<q", len(storage)) + storage.tobytes())
    encoded = load_encoder(f"infersent:{path}?glove={glove}").encode(["a dog"])
    expected = load_encoder(f"infersent:{checkpoint}?glove={glove}").encode(["a dog"])
    np.testing.assert_array_equal(encoded, expected)


class Payload:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        import shutil

        return shutil.copyfile, (__file__, str(self.trace))


@pytest.mark.filterwarnings("ignore:Couldn't retrieve source code")
def test_a_checkpoint_with_a_payload_is_refused_by_name_and_the_payload_does_not_run(
    tmp_path: Path, glove: Path, weights: dict[str, Any], models_module: Any
) -> None:
    model = allnli_model(models_module, weights)
    trace, path = tmp_path / "trace", tmp_path / "infersent.allnli.pickle"
    model.word_vec = {"dog": Payload(trace)}
    torch.save(model, path, _use_new_zipfile_serialization=False)
    with pytest.raises(UnsafeFileError, match=naming("infersent.allnli.pickle", "shutil.copyfile")):
        load_encoder(f"infersent:{path}?glove={glove}").encode(["a dog"])
    assert not trace.exists()


def test_the_vectors_must_have_the_width_that_the_checkpoint_reads(checkpoint: Path, tmp_path: Path) -> None:
    path = tmp_path / "wide.txt"
    path.write_text("dog 1 2 3\ncat 4 5 6\n", encoding="utf-8")
    with pytest.raises(EncoderError, match=naming("3 dimensions", 6)):
        load_encoder(f"infersent:{checkpoint}?glove={path}").encode(["dog"])


def test_a_spec_without_vectors_or_with_both_is_refused(checkpoint: Path, glove: Path) -> None:
    for query in ("", f"?glove={glove}&fasttext={glove}"):
        with pytest.raises(SpecError, match=naming("glove=PATH", "fasttext=PATH")):
            load_encoder(f"infersent:{checkpoint}{query}")
    with pytest.raises(SpecError, match=naming("'nowhere.pkl'")):
        load_encoder(f"infersent:nowhere.pkl?glove={glove}")
