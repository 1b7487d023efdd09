"""Models of sentence-transformers and transformers in memory, beside the same models loaded by their specs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import naming

import weatherglass
from weatherglass.encoders import load_encoder
from weatherglass.errors import EncoderError, SpecError

pytest.importorskip("sentence_transformers", reason="the transformers extra is not installed")

TinyModel = Callable[[str], Path]
TEXTS = ["rose", "The engineer is here .", "wasp and spiders"]


def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


def own_module() -> Any:
    import torch

    class Own(torch.nn.Module):  # type: ignore[misc]
        def forward(self, states: Any) -> Any:
            return states

    return Own()


def sentence_model(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
@pytest.mark.parametrize("options", [{}, {"pooling": "mean", "layers": "sum:-2.."}])
def test_a_pair_gives_what_its_folder_gives(
    tiny_model: TinyModel, family: str, options: dict[str, str]
) -> None:
    folder = tiny_model(family)
    spec = "&".join(f"{name}={value}" for name, value in options.items())
    stored = load_encoder(f"hf:{folder}{'?' if spec else ''}{spec}", cache=False)
    held = weatherglass.model(loaded(folder), name="tiny", **options)
    np.testing.assert_allclose(held.encode(TEXTS), stored.encode(TEXTS), atol=1e-6)
    assert held.coverage(TEXTS) == stored.coverage(TEXTS)
    assert held.options["pooling"] == stored.options["pooling"]


def test_a_sentence_transformer_gives_what_its_folder_gives(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    held = weatherglass.model(sentence_model(folder))
    stored = load_encoder(f"st:{folder}", cache=False)
    np.testing.assert_allclose(held.encode(TEXTS), stored.encode(TEXTS), atol=1e-6)
    assert held.coverage(TEXTS) == stored.coverage(TEXTS)


@pytest.mark.parametrize("load", [loaded, sentence_model], ids=["pair", "SentenceTransformer"])
def test_the_same_weights_are_the_same_model_and_others_are_not(
    tiny_model: TinyModel, load: Callable[[Path], Any], tmp_path: Path
) -> None:
    import torch

    folder = tiny_model("bert")
    first = weatherglass.run({"tiny": load(folder)}, "weat6", folder=tmp_path)
    again = weatherglass.run({"tiny": load(folder)}, "weat6", folder=tmp_path)
    identities = [run.record["models"][0]["identity"] for run in (first, again)]
    assert identities[0] == identities[1]
    assert first.record["models"][0]["resumable"] is True
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 1
    changed = load(folder)
    network = changed[0] if isinstance(changed, tuple) else changed
    with torch.no_grad():
        next(network.parameters()).view(-1)[0] += 1e-3
    assert weatherglass.run({"tiny": changed}, "weat6").record["models"][0]["identity"] != identities[0]


def test_dropout_is_off_while_encoding_and_on_again_afterwards(tiny_model: TinyModel) -> None:
    network, tokenizer = loaded(tiny_model("bert"))
    expected = weatherglass.model((network, tokenizer)).encode(TEXTS)
    network.train()
    network.embeddings.eval()  # a part that its owner froze
    held = weatherglass.model((network, tokenizer))
    np.testing.assert_array_equal(held.encode(TEXTS), expected)
    assert network.training
    assert not network.embeddings.training


def test_code_of_someone_elses_cannot_be_hashed(tiny_model: TinyModel) -> None:
    network, tokenizer = loaded(tiny_model("bert"))
    network.embeddings.dropout = own_module()
    held = weatherglass.model((network, tokenizer), name="mine")
    assert weatherglass.run(held, "weat6").record["models"][0]["resumable"] is False
    found = weatherglass.multiverse(held, "weat6", choices=["pooling"])
    assert not found.failures  # its views are not cached under an identity that it does not have


def test_a_pair_alone_or_among_others_is_one_model(tiny_model: TinyModel) -> None:
    pair = loaded(tiny_model("bert"))
    named = weatherglass.model(pair, name="pair")
    assert len(weatherglass.run(pair, "weat6").results) == 1
    assert [r.model for r in weatherglass.run([named, "wordllama"], "weat6").results] == ["pair", "wordllama"]


def test_a_multiverse_varies_pooling_and_layers_of_a_pair(tiny_model: TinyModel) -> None:
    found = weatherglass.multiverse(
        weatherglass.model(loaded(tiny_model("bert")), name="tiny"), "weat6", choices=["pooling", "layers"]
    )
    assert not found.failures
    choices = found.topics[0]["lists"][0]["choices"] if "lists" in found.topics[0] else found.to_json()
    assert "mean" in str(choices)


def test_half_of_a_pair_is_told_what_is_missing(tiny_model: TinyModel) -> None:
    network, tokenizer = loaded(tiny_model("bert"))
    for half in (network, tokenizer):
        with pytest.raises(EncoderError, match=naming(type(half).__name__, "(model, tokenizer)")):
            weatherglass.run(half, "weat6")
    given = f"({type(tokenizer).__name__}, {type(network).__name__})"
    with pytest.raises(EncoderError, match=naming("(model, tokenizer)", given)):
        weatherglass.run((tokenizer, network), "weat6")


def test_wrong_options_of_a_pair_are_named(tiny_model: TinyModel) -> None:
    pair = loaded(tiny_model("bert"))
    with pytest.raises(SpecError, match=naming("'pool'", suggesting="pooling")):
        weatherglass.model(pair, pool="mean")
    with pytest.raises(SpecError, match=naming("layers=9", 0)):
        weatherglass.model(pair, layers="9")


def test_a_module_of_torch_without_encode_is_refused() -> None:
    import torch

    with pytest.raises(EncoderError, match=naming("Linear", "KeyedVectors")):
        weatherglass.run(torch.nn.Linear(2, 2), "weat6")
