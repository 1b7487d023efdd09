"""Models whose small files, headers or checkpoints are damaged: one line, before anything is allocated."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tests.cases import every
from tests.encoders.papers.paper_networks import random_recurrent
from tests.hostile import models
from tests.hostile.limits import outcome_of, refusal
from tests.messages import mentions

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders import load_encoder
from weatherglass.encoders.gguf import read_metadata
from weatherglass.encoders.onnx_files import read_graph
from weatherglass.encoders.papers.elmo import read_options
from weatherglass.storage import child_process


def identity(spec: str) -> str:
    """What the key of results is made from: every file of the model is read."""
    return load_encoder(spec, cache=False).identity()


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.mark.parametrize("name", models.JSON)
def test_a_configuration_that_is_no_json(name: str, tmp_path: Path) -> None:
    content = models.JSON[name].encode("utf-8", "surrogateescape")
    for file in ("config.json", "tokenizer_config.json", "modules.json"):
        (tmp_path / file).write_bytes(content)
        for kind in ("", "hf:"):
            if file != "modules.json":
                assert refusal(identity, f"{kind}{tmp_path}")
        (tmp_path / file).write_text("{}")


@pytest.mark.parametrize("name", models.CONFIGURATIONS)
def test_a_configuration_with_impossible_values(name: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(models.CONFIGURATIONS[name]))
    line = refusal(lambda: load_encoder(f"hf:{tmp_path}?layers=mean", cache=False))
    assert str(tmp_path) in line


@pytest.mark.parametrize("name", models.GGUF)
def test_a_header_of_gguf(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(models.GGUF[name])
    assert refusal(lambda: read_metadata(path)).startswith(f"{path}: ")


@pytest.mark.parametrize("name", models.ONNX)
def test_a_graph_of_onnx(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(models.ONNX[name])
    assert refusal(lambda: read_graph(path)).startswith(f"{path}: ")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is proven yet, neither in this process nor in the user's cache."""
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(child_process, "_proven", set())
    return tmp_path / "cache"


def encoded(spec: str) -> AnyMatrix:
    return load_encoder(spec, cache=False).encode(["a", "a b", "b"])


@pytest.mark.parametrize("name", ["a loop without an end", "an array of 3.6 GB", "one row for all texts"])
@pytest.mark.usefixtures("own_cache")
def test_a_graph_that_does_harm_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnx", reason="a development dependency")
    monkeypatch.setattr(child_process, "SECONDS", 2)
    folder = models.write_onnx(tmp_path / "model", name)
    assert refusal(encoded, f"onnx:{folder}").startswith(f"{folder / 'model.onnx'}: ")


@pytest.mark.parametrize(
    ("name", "kind"), every(3, [(name, kind) for kind in ("model2vec", "onnx") for name in models.TOKENIZERS])
)
@pytest.mark.usefixtures("own_cache")
def test_a_tokenizer_that_fills_memory_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    """The library ends the process if memory runs out."""
    pytest.importorskip("onnx", reason="a development dependency")
    folder = models.write_onnx(tmp_path / "model", "good", **models.TOKENIZERS[name])
    (folder / "config.json").write_text("{}")
    save_file({"embeddings": np.ones((3, 2), np.float32)}, folder / "model.safetensors")
    assert refusal(encoded, f"{kind}:{folder}").startswith(f"{folder / 'tokenizer.json'}: ")


def test_a_model_is_proven_once_per_content(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnx", reason="a development dependency")
    folder = models.write_onnx(tmp_path / "model", "good")
    tried: list[str] = []
    run = child_process.run_child

    def counted(order: Sequence[str], timeout: float) -> int:
        tried.append(Path(order[1]).name)
        return run(order, timeout)

    monkeypatch.setattr(child_process, "run_child", counted)
    vectors = encoded(f"onnx:{folder}")
    assert vectors.tolist() == [[0.5, 0.5], [1.5, 1.5], [1.0, 1.0]]
    assert sorted(tried) == ["model.onnx", "tokenizer.json"]
    encoded(f"onnx:{folder}")
    monkeypatch.setattr(child_process, "_proven", set())  # as in another process
    encoded(f"onnx:{folder}")
    assert len(tried) == 2
    assert len(list((own_cache / "proven").iterdir())) == 2
    (folder / "tokenizer.json").write_text(json.dumps(models.tokenizer(normalizer={"type": "Lowercase"})))
    encoded(f"onnx:{folder}")
    assert tried[2:] == ["tokenizer.json"]


@pytest.mark.parametrize("name", models.ELMO)
def test_options_of_elmo(name: str, tmp_path: Path) -> None:
    path = tmp_path / "options.json"
    path.write_text(models.ELMO[name])
    line = refusal(lambda: read_options(path))
    assert line.startswith(f"{path}: ")
    assert mentions(line, "ELMo")


def damaged(content: bytes, generator: np.random.Generator) -> bytes:
    """Cut, or with some bytes changed, which are near its start as often as anywhere."""
    if generator.random() < 0.2:
        return content[: generator.integers(1, len(content))]
    changed = bytearray(content)
    reach = len(content) if generator.random() < 0.5 else min(200, len(content))
    for place in generator.integers(reach, size=generator.integers(1, 9)):
        changed[place] = generator.integers(256)
    return bytes(changed)


@pytest.mark.parametrize("times", [6, pytest.param(60, marks=pytest.mark.large)])
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("kind", ["infersent", "gensen"])
def test_damaged_checkpoints_are_read_or_refused(kind: str, zipped: bool, times: int, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch writes the checkpoints of this test")
    generator = np.random.default_rng(0)
    words = ("<s>", "</s>", "<unk>", "rose")
    (tmp_path / "glove.txt").write_text("".join(f"{word} 1.5 {row}.5\n" for row, word in enumerate(words)))
    gates, prefix = (4, "enc_lstm.") if kind == "infersent" else (3, "encoder.")
    weights = random_recurrent(generator, gates, 2, 3, 1, prefix)
    weights["src_embedding.weight"] = generator.normal(size=(4, 2)).astype(np.float32)
    path = tmp_path / "m.model"
    tensors = OrderedDict((name, torch.from_numpy(array)) for name, array in weights.items())
    torch.save(tensors, path, _use_new_zipfile_serialization=zipped)
    vocabulary = tmp_path / "m_vocab.pkl"
    vocabulary.write_bytes(b"\x80\x02}X\7\0\0\0word2id}(" + b"".join(
        b"X" + len(word).to_bytes(4, "little") + word.encode() + b"K" + bytes([row]) for row, word in enumerate(words)
    ) + b"us.")  # fmt: skip
    target = (
        f"infersent:{path}?glove={tmp_path}/glove.txt"
        if kind == "infersent"
        else f"gensen:{tmp_path}?models=m"
    )
    assert load_encoder(target, cache=False).encode(["rose"]).shape == (1, 6)
    for file in (path, vocabulary)[: 1 if kind == "infersent" else 2]:
        whole = file.read_bytes()
        for number in range(times):
            file.write_bytes(damaged(whole, np.random.default_rng(number)))
            outcome = outcome_of(lambda: load_encoder(target, cache=False).encode(["rose"]))
            assert outcome == "read" or outcome.startswith("refused: "), (number, outcome)
            assert "\n" not in outcome
        file.write_bytes(whole)
