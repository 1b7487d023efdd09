"""`gguf:` against the torch model that a file was written from, against plain transformers, and what is refused."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.encoders.gguf.tiny_llama import LAYERS, POSITIONS, SIZE, build
from tests.messages import mentions, naming

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders import load_encoder, resolve_spec
from weatherglass.encoders.gguf import GgufEncoder, read_metadata
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError

pytest.importorskip("gguf", reason="the gguf extra is not installed")
pytest.importorskip("accelerate", reason="the gguf extra is not installed")

TinyModel = Callable[[str], Path]

TEXTS = ["This is a rose", "wasp", "The engineer is here and the nurse was there", "love"]
CLOSE = 1e-5


@pytest.fixture(scope="session")
def written(tiny_model: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    file = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    return file, build(tiny_model("gpt2"), file)


@pytest.fixture
def file(written: tuple[Path, Any]) -> Path:
    return written[0]


def encoder(file: Path, **options: str) -> GgufEncoder:
    return GgufEncoder.from_spec(Spec("gguf", str(file), tuple(options.items())))


def states_of(written: tuple[Path, Any], tiny_model: TinyModel, text: str) -> list[AnyMatrix]:
    """Per layer the tokens' vectors, by the torch model and the tokenizer that the file was written from."""
    import torch
    from transformers import AutoTokenizer

    ids = AutoTokenizer.from_pretrained(tiny_model("gpt2"))(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        states = written[1](ids, output_hidden_states=True).hidden_states
    return [layer[0].numpy() for layer in states]


def test_vectors_are_those_of_the_model_that_was_written(
    written: tuple[Path, Any], tiny_model: TinyModel
) -> None:
    states = [states_of(written, tiny_model, text) for text in TEXTS]
    last = encoder(written[0]).encode(TEXTS)
    np.testing.assert_allclose(last, [layers[-1][-1] for layers in states], atol=CLOSE)
    mean = encoder(written[0], pooling="mean", layers="1").encode(TEXTS)
    np.testing.assert_allclose(mean, [layers[1].mean(axis=0) for layers in states], atol=CLOSE)


def test_vectors_are_those_of_plain_transformers(file: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModel.from_pretrained(file.parent, gguf_file=file.name).eval()
    with torch.no_grad():
        expected = [
            model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, -1].numpy() for text in TEXTS
        ]
    np.testing.assert_allclose(encoder(file).encode(TEXTS), expected, atol=CLOSE)


def test_choices_and_what_the_file_says_are_on_record(file: Path) -> None:
    options = encoder(file).options
    assert options["architecture"] == "llama"
    assert options["weights"] == "F32"
    assert (options["pooling"], options["layers"], options["max_length"]) == ("last", "-1", str(POSITIONS))
    assert "trust_remote_code" not in options


def test_loading_prints_nothing(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    encoder(file).encode(TEXTS)
    assert capfd.readouterr() == ("", "")


def test_the_pooling_that_a_file_asks_for_is_the_default(file: Path, tmp_path: Path) -> None:
    entry = b"llama.pooling_type"
    content = bytearray(file.read_bytes())
    (count,) = struct.unpack_from("<Q", content, 16)
    struct.pack_into("<Q", content, 16, count + 1)
    content[24:24] = struct.pack("<Q", len(entry)) + entry + struct.pack("<II", 4, 1)
    (tmp_path / "mean.gguf").write_bytes(content)
    assert encoder(tmp_path / "mean.gguf").options["pooling"] == "mean"


def test_a_path_or_a_folder_with_one_file_is_enough(file: Path) -> None:
    assert resolve_spec(str(file)).kind == "gguf"
    assert encoder(file.parent).identity() == encoder(file).identity()


def test_the_header_is_what_was_written(file: Path) -> None:
    metadata = read_metadata(file)
    assert metadata["general.architecture"] == "llama"
    assert metadata["llama.embedding_length"] == SIZE
    assert metadata["llama.block_count"] == LAYERS
    assert "tokenizer.ggml.tokens" not in metadata  # an array


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"", ["empty"]),
        (b"GGU", ["'GGUF'"]),
        (b"PK\x03\x04 an archive", ["'GGUF'"]),
        (b"GGUF\x09\x00\x00\x00" + bytes(16), ["version 9", 2, 3]),
        (b"GGUF\x03\x00\x00\x00" + bytes(16), ["general.architecture"]),
        (b"GGUF\x03\x00\x00\x00" + bytes(8) + b"\xff" * 8, ["damaged", 2**64 - 1]),
    ],
)
def test_a_damaged_or_foreign_file_is_one_line(tmp_path: Path, content: bytes, facts: list[object]) -> None:
    (tmp_path / "model.gguf").write_bytes(content)
    with pytest.raises(EncoderError, match=r"^[^\n]*$") as caught:
        encoder(tmp_path / "model.gguf")
    assert mentions(str(caught.value), tmp_path / "model.gguf", *facts)


@pytest.mark.parametrize("kept", [0.02, 0.5, 0.95])
def test_a_file_that_was_cut_is_one_line(file: Path, tmp_path: Path, kept: float) -> None:
    content = file.read_bytes()
    (tmp_path / "cut.gguf").write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(EncoderError, match=r"^[^\n]*cut\.gguf[^\n]*$"):
        encoder(tmp_path / "cut.gguf").encode(TEXTS)


def test_mistakes_are_told_before_weights_are_loaded(file: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=naming("layers=9", 0, LAYERS)):
        encoder(file, layers="9")
    with pytest.raises(SpecError, match=naming("trust_remote_code=yes", "code")):
        encoder(file, trust_remote_code="yes")
    with pytest.raises(SpecError, match=naming("'poling'", suggesting="pooling")):
        encoder(file, poling="mean")
    with pytest.raises(SpecError, match=naming(f"'{tmp_path / 'absent.gguf'}'")):
        encoder(tmp_path / "absent.gguf")
    with pytest.raises(SpecError, match=naming(tmp_path, "folder", 0)):
        encoder(tmp_path)


def test_code_beside_the_file_does_not_run(file: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(file.read_bytes())
    (tmp_path / "own.py").write_text(
        f"from pathlib import Path\nPath({str(tmp_path / 'it ran')!r}).touch()\n"
    )
    own = '{"model_type": "own", "auto_map": {"AutoConfig": "own.C", "AutoModel": "own.M"}}'
    (tmp_path / "config.json").write_text(own)
    (tmp_path / "tokenizer_config.json").write_text('{"auto_map": {"AutoTokenizer": ["own.T", null]}}')
    np.testing.assert_array_equal(encoder(tmp_path / "tiny.gguf").encode(TEXTS), encoder(file).encode(TEXTS))
    assert not (tmp_path / "it ran").exists()


def test_a_prompt_stands_before_every_text(file: Path) -> None:
    prompted = encoder(file, prompt="This is ")
    np.testing.assert_allclose(prompted.encode(["love"]), encoder(file).encode(["This is love"]), atol=1e-6)
    assert prompted.identity() != encoder(file).identity()


def test_checking_a_spec_loads_no_torch(file: Path) -> None:
    program = (
        "import sys; from weatherglass.encoders import load_encoder;"
        f"e = load_encoder({f'gguf:{file}'!r}); e.identity(); dict(e.options); e.notes();"
        "sys.exit(sum(name in sys.modules for name in ('torch', 'transformers', 'gguf')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_cache_serves_a_gguf_model(file: Path) -> None:
    first = load_encoder(f"gguf:{file}").encode(TEXTS)
    again = load_encoder(f"gguf:{file}")
    np.testing.assert_array_equal(again.encode(TEXTS), first)
    assert "_model" not in vars(again.inner)  # type: ignore[attr-defined]


def test_log_probabilities_are_those_of_the_model_that_was_written(
    written: tuple[Path, Any], tiny_model: TinyModel
) -> None:
    """The file has no weights for the head, so it is tied to the token vectors."""
    import torch
    from transformers import AutoTokenizer

    model, tokenizer = written[1], AutoTokenizer.from_pretrained(tiny_model("gpt2"))
    observed = encoder(written[0]).observe(TEXTS, "log-probabilities")
    for text, found in zip(TEXTS, observed.values, strict=True):
        ids = [tokenizer.eos_token_id, *tokenizer(text)["input_ids"]]
        with torch.no_grad():
            states = model(torch.tensor([ids])).last_hidden_state[0]
            predicted = (states @ model.embed_tokens.weight.T).log_softmax(-1)
        expected = [float(predicted[place, number]) for place, number in enumerate(ids[1:])]
        np.testing.assert_allclose(found, expected, atol=1e-4)
