"""`st:`, and how `hf:` with the same pooling agrees with sentence-transformers' own vectors on a real model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import mentions, naming

from weatherglass.catalogue import load_tests
from weatherglass.encoders.sentence_transformers import SentenceTransformerEncoder
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.transformers import TransformerEncoder
from weatherglass.errors import EncoderError, SpecError, UnsafeFileError, WeatherglassError

pytest.importorskip("sentence_transformers", reason="the transformers extra is not installed")

TinyModel = Callable[[str], Path]

TEXTS = ["This is a rose.", "wasp", "Shaniqua and Jamel are here.", "The naïve café – 漢字."]


def encoder(folder: Path, **options: str) -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder.from_spec(Spec("st", str(folder), tuple(options.items())))


@pytest.fixture(scope="module")
def library_vectors(minilm_folder: Path) -> Callable[[list[str]], Any]:
    """What sentence-transformers itself makes of texts."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(minilm_folder), device="cpu")
    return lambda texts: model.encode(texts, show_progress_bar=False)


def test_vectors_are_those_of_the_library(
    minilm_folder: Path, library_vectors: Callable[[list[str]], Any]
) -> None:
    np.testing.assert_allclose(encoder(minilm_folder).encode(TEXTS), library_vectors(TEXTS), atol=1e-6)


def test_hf_with_mean_pooling_and_unit_length_agrees_with_the_library(
    minilm_folder: Path, library_vectors: Callable[[list[str]], Any]
) -> None:
    texts = list(dict.fromkeys(text for test in load_tests(["weat1", "sent-weat6"]) for text in test.texts))[
        ::4
    ]
    assert len(texts) > 50
    spec = Spec("hf", str(minilm_folder), (("pooling", "mean"), ("normalise", "yes")))
    vectors = TransformerEncoder.from_spec(spec).encode(texts)
    assert np.abs(vectors - library_vectors(texts)).max() < 1e-5


def test_the_vectors_of_this_model_have_not_changed(minilm_folder: Path) -> None:
    """The model card of all-MiniLM-L6-v2 (on the hub) states 384 dimensions; its last module makes unit length."""
    vectors = encoder(minilm_folder).encode(["This is an example sentence", "Each sentence is converted"])
    assert vectors.shape == (2, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_what_was_cut_is_on_record(minilm_folder: Path) -> None:
    model = encoder(minilm_folder)
    long, short = model.coverage(["wasp " * 400, "wasp"])
    assert mentions(long.note, 256, 402)
    assert short.note == ""
    assert short.tokens == ("[CLS]", "wasp", "[SEP]")
    (cut,) = encoder(minilm_folder, max_length="10").coverage(["wasp " * 400])
    assert mentions(cut.note, 10, 402)


def test_a_plain_transformers_folder_is_mean_pooled(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    mean = TransformerEncoder.from_spec(Spec("hf", str(folder), (("pooling", "mean"),)))
    np.testing.assert_allclose(encoder(folder).encode(TEXTS), mean.encode(TEXTS), atol=1e-4)


def test_normalise_makes_unit_length(tiny_model: TinyModel) -> None:
    vectors = encoder(tiny_model("bert"), normalise="yes").encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_prompt_is_put_before_every_text(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    prompted = encoder(folder, prompt="This is ")
    np.testing.assert_allclose(prompted.encode(["wasp"]), encoder(folder).encode(["This is wasp"]), atol=1e-6)
    assert prompted.coverage(["wasp"]) == encoder(folder).coverage(["This is wasp"])


def test_identity_follows_weights_and_choices(tiny_model: TinyModel, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    first = encoder(folder).identity()
    assert encoder(tiny_model("bert"), batch_size="3").identity() == first
    assert encoder(folder, prompt="query: ").identity() != first
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    assert encoder(folder).identity() != first


def test_identity_needs_no_torch(tiny_model: TinyModel) -> None:
    program = (
        "import sys; from weatherglass.encoders.spec import Spec;"
        "from weatherglass.encoders.sentence_transformers import SentenceTransformerEncoder as E;"
        f"e = E.from_spec(Spec('st', {str(tiny_model('bert'))!r})); e.identity(); dict(e.options); e.notes();"
        "sys.exit(sum(name in sys.modules for name in ('torch', 'transformers', 'sentence_transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def with_module_of_its_own(folder: Path, payload: Path) -> None:
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Own", "type": "own_module.Own"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Own").mkdir()
    (folder / "own_module.py").write_text(f"from pathlib import Path\nPath({str(payload)!r}).touch()\n")


def test_a_folders_own_code_does_not_run(tiny_model: TinyModel, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    with_module_of_its_own(folder, tmp_path / "it ran")
    with pytest.raises(UnsafeFileError, match=naming("'own_module.Own'")):
        encoder(folder).encode(TEXTS)
    assert not (tmp_path / "it ran").exists()


def test_trusting_is_noted(tiny_model: TinyModel) -> None:
    assert encoder(tiny_model("bert")).notes() == []
    assert "trust_remote_code=yes" in encoder(tiny_model("bert"), trust_remote_code="yes").notes()[0]


def test_weights_that_would_run_code_are_refused_and_do_not_run(
    tiny_model: TinyModel, tmp_path: Path
) -> None:
    import torch

    payload = tmp_path / "it ran"

    class TellTale:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (payload,))

    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    (folder / "model.safetensors").unlink()
    torch.save({"embeddings.word_embeddings.weight": TellTale()}, folder / "pytorch_model.bin")
    with pytest.raises(UnsafeFileError):
        encoder(folder).encode(TEXTS)
    assert not payload.exists()


def test_a_mistake_in_the_spec_is_told_at_once(tiny_model: TinyModel, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=naming("'normalize'", suggesting="normalise")):
        encoder(tiny_model("bert"), normalize="yes")
    with pytest.raises(SpecError, match=naming(tmp_path, "modules.json", "config.json")):
        encoder(tmp_path)


def test_a_name_without_owner_is_one_of_sentence_transformers_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(WeatherglassError, match=naming("'sentence-transformers/no-such-model'", "cache")):
        encoder(Path("no-such-model"))


def test_a_list_of_modules_that_is_none_is_told(tiny_model: TinyModel, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    (folder / "modules.json").write_text('{"0": "Transformer"}')
    with pytest.raises(EncoderError, match=naming("modules.json", "list")):
        encoder(folder)
