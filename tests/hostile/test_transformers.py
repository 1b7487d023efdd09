"""A folder whose configuration promises another network than its weights hold: one line, before it has memory."""

from __future__ import annotations

import json
import pickle
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.cases import every
from tests.hostile.limits import outcome_of, refusal
from tests.hostile.models import TOKENIZERS
from tests.messages import mentions

from weatherglass.encoders import load_encoder

torch = pytest.importorskip("torch", reason="transformers models need torch")
pytest.importorskip("transformers", reason="the model of this test is one of transformers")

HUGE = 2**32

BERT = {
    "10 000 layers": {"num_hidden_layers": 10_000},
    "hidden size": {"hidden_size": HUGE},
    "274 GB of intermediate size": {"intermediate_size": HUGE},
    "vocabulary": {"vocab_size": HUGE},
    "positions": {"max_position_embeddings": HUGE},
    "kinds of tokens": {"type_vocab_size": HUGE},
    "labels": {"num_labels": HUGE},
    "two sizes that are plausible alone": {"hidden_size": 2**14, "intermediate_size": 2**14},
}
GPT = {
    "layers": {"n_layer": 10_000},
    "width": {"n_embd": HUGE},
    "positions": {"n_positions": HUGE},
    "inner width": {"n_inner": HUGE},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    from tests.encoders.transformers.tiny_models import build

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a pool of threads does not outlive the fork of `refusal`
    base = tmp_path_factory.mktemp("models")
    for family in ("bert", "gpt2"):
        folder = build(family, base / family)
        assert outcome_of(encode, f"hf:{folder}") == "read"
    yield base
    torch.set_num_threads(threads)


def encode(spec: str) -> None:
    torch.set_num_threads(1)
    load_encoder(spec, cache=False).encode(["a rose"])


def refusal_with(config: Path, changes: Mapping[str, int], kind: str) -> str:
    """The line that refuses the folder of a configuration while it is changed so."""
    whole = config.read_text()
    try:
        config.write_text(json.dumps({**json.loads(whole), **changes}))
        return refusal(encode, f"{kind}:{config.parent}")
    finally:
        config.write_text(whole)


@pytest.mark.parametrize(
    ("family", "name"), [*(("bert", name) for name in BERT), *(("gpt2", name) for name in GPT)]
)
def test_sizes_of_a_configuration_are_compared_with_the_files(
    family: str, name: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    file = folders / family / "config.json"
    changes = (BERT if family == "bert" else GPT)[name]
    line = refusal_with(file, changes, "hf")
    assert "configuration" in line
    assert "allocate" not in line


def test_weights_of_other_shapes_are_one_line_that_says_so(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    file = folders / "gpt2" / "config.json"
    line = refusal_with(file, {"n_positions": 41}, "hf")
    assert mentions(line, "shapes", "config.json")


@pytest.mark.parametrize("zipped", [True, False])
def test_weights_that_promise_more_bytes_than_they_have_are_refused_before_torch_reads_them(
    zipped: bool, folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch allocates the 4 GB that a text of the pickle says it has."""
    import torch
    from safetensors.torch import load_file

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        if (folders / "bert" / name).exists():
            (tmp_path / name).write_bytes((folders / "bert" / name).read_bytes())
    weights = tmp_path / "pytorch_model.bin"
    tensors = load_file(folders / "bert" / "model.safetensors")
    torch.save(tensors, weights, _use_new_zipfile_serialization=zipped)
    assert outcome_of(encode, f"hf:{tmp_path}?pooling=mean") == "read"
    first = next(iter(tensors)).encode()
    content = weights.read_bytes()
    text = b"X" + len(first).to_bytes(4, "little") + first
    assert content.count(text) == 1
    weights.write_bytes(content.replace(text, b"X\xff\xff\xff\xff" + first))
    if zipped:
        _repack(weights)
    line = refusal(encode, f"hf:{tmp_path}?pooling=mean")
    assert mentions(line, "bytes")


@pytest.mark.parametrize("kind", ["hf", pytest.param("st", marks=pytest.mark.large)])
@pytest.mark.parametrize("name", every(1, TOKENIZERS))
def test_a_tokenizer_that_fills_memory_is_refused(
    name: str, kind: str, folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library ends the process where memory does not suffice."""
    if kind == "st":
        pytest.importorskip("sentence_transformers", reason="the model is loaded by it")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    shutil.copytree(folders / "bert", tmp_path, dirs_exist_ok=True)
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **TOKENIZERS[name]}))
    assert refusal(encode, f"{kind}:{tmp_path}").startswith(f"{file}: ")


def test_weights_that_ask_for_a_bytearray_are_refused(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch allows it, and it makes 2 GB of nine bytes."""
    import torch

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for file in (folders / "bert").glob("*.json"):
        shutil.copy(file, tmp_path)
    weights = tmp_path / "pytorch_model.bin"
    torch.save({}, weights, _use_new_zipfile_serialization=False)
    hostile = b"cbuiltins\nbytearray\n(J\x00\x00\x00\x7ftR0"
    magic = pickle.dumps(0x1950A86A20F9469CFC6C, 2)
    assert weights.read_bytes().startswith(magic)
    weights.write_bytes(weights.read_bytes().replace(magic, magic[:2] + hostile + magic[2:]))
    assert "bytearray" in refusal(encode, f"hf:{tmp_path}?pooling=mean")


def _repack(path: Path) -> None:
    """With the checksums of what its entries hold now, as whoever means harm would write them."""
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        starts = {entry: entry.header_offset for entry in archive.infolist()}
    entries: dict[str, bytes] = {}
    for entry, start in starts.items():
        name, extra = (int.from_bytes(content[start + at : start + at + 2], "little") for at in (26, 28))
        begin = start + 30 + name + extra
        entries[entry.filename] = content[begin : begin + entry.file_size]
    with zipfile.ZipFile(path, "w") as archive:
        for each, data in entries.items():
            archive.writestr(each, data)


def test_sentence_transformers_with_a_layer_without_weights_is_refused(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gave random vectors, others each time, without a word."""
    pytest.importorskip("sentence_transformers", reason="the model is loaded by it")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    file = folders / "bert" / "config.json"
    first = load_encoder(f"st:{file.parent}", cache=False).encode(["a rose"])
    line = refusal_with(file, {"num_hidden_layers": 4}, "st")
    assert mentions(line, 16, "encoder.layer.3.")
    again = load_encoder(f"st:{file.parent}", cache=False).encode(["a rose"])
    assert (first == again).all()


def test_a_module_of_sentence_transformers_is_compared_with_the_files(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sentence_transformers", reason="the model is made by it")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as models
    from tests.encoders.transformers.tiny_models import SIZE

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    modules = [models.Transformer(str(folders / "bert")), models.Pooling(SIZE), models.Dense(SIZE, 3)]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path), create_model_card=False)
    assert outcome_of(encode, f"st:{tmp_path}") == "read"
    dense = tmp_path / "2_Dense" / "config.json"
    whole = dense.read_text()
    dense.write_text(json.dumps({**json.loads(whole), "out_features": HUGE}))
    assert mentions(refusal(encode, f"st:{tmp_path}"), "2_Dense/config.json", "network")
    dense.write_text(whole)
    settings = tmp_path / "sentence_bert_config.json"
    content = json.loads(settings.read_text())
    content["modality_config"]["text"]["method"] = 0.5
    settings.write_text(json.dumps(content))
    assert mentions(refusal(encode, f"st:{tmp_path}"), tmp_path, "encode", "'float'")
