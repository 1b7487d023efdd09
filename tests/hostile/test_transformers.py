"""A folder whose configuration promises another network than its weights hold: one line, before it has memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.hostile.limits import outcome_of, refusal

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
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.encoders.transformers.tiny_models import build

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a pool of threads does not outlive the fork of `refusal`
    base = tmp_path_factory.mktemp("models")
    for family in ("bert", "gpt2"):
        folder = build(family, base / family)
        assert outcome_of(encode, f"hf:{folder}") == "read"
    torch.set_num_threads(threads)
    return base


def encode(spec: str) -> None:
    torch.set_num_threads(1)
    load_encoder(spec, cache=False).encode(["a rose"])


@pytest.mark.parametrize(
    ("family", "name"), [*(("bert", name) for name in BERT), *(("gpt2", name) for name in GPT)]
)
def test_sizes_of_a_configuration_are_compared_with_the_files(
    family: str, name: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    file = folders / family / "config.json"
    whole = file.read_text()
    changes = (BERT if family == "bert" else GPT)[name]
    try:
        file.write_text(json.dumps({**json.loads(whole), **changes}))
        line = refusal(encode, f"hf:{file.parent}")
    finally:
        file.write_text(whole)
    assert "configuration" in line
    assert "allocate" not in line


def test_weights_of_other_shapes_are_one_line_that_says_so(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    file = folders / "gpt2" / "config.json"
    whole = file.read_text()
    try:
        file.write_text(json.dumps({**json.loads(whole), "n_positions": 41}))
        line = refusal(encode, f"hf:{file.parent}")
    finally:
        file.write_text(whole)
    assert "other shapes than config.json asks for" in line
