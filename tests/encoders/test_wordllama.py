"""The vectors of the package wordllama: read without the network, and nobody's logging disturbed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.encoders import ModelEncoder, load_encoder
from weatherglass.encoders import wordllama as encoder_module
from weatherglass.errors import MissingExtraError, SpecError

TEXTS = ["This is a rose.", "rose", "naïve 日本 🌹", "She can't stay; he left."]


def test_the_vectors_are_those_of_the_package() -> None:
    from wordllama import WordLlama

    folder = encoder_module.package_folder()
    theirs = WordLlama.load(encoder_module.MODEL, cache_dir=folder, dim=256, disable_download=True).embed(
        TEXTS
    )
    ours = load_encoder("wordllama").encode(TEXTS)
    assert ours.shape == (4, 256)
    assert ours.dtype == np.float64
    # The package averages in float32, and pads a batch of texts to one length.
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_a_text_has_the_same_vector_whatever_stands_beside_it() -> None:
    encoder = load_encoder("wordllama")
    np.testing.assert_array_equal(encoder.encode(TEXTS)[1], encoder.encode(["rose"])[0])


def test_fewer_dimensions_are_the_first_ones() -> None:
    short = load_encoder("wordllama?dim=64").encode(TEXTS)
    np.testing.assert_array_equal(short, load_encoder("wordllama").encode(TEXTS)[:, :64])


def test_a_text_without_tokens_is_a_row_of_nan() -> None:
    encoder = load_encoder("wordllama")
    vectors = encoder.encode(["", "rose"])
    assert np.isnan(vectors[0]).all()
    assert np.isfinite(vectors[1]).all()
    assert encoder.coverage(["", "rose"])[0].tokens == ()


def test_no_token_is_missing_however_odd_the_text() -> None:
    (covered,) = load_encoder("wordllama").coverage(["\u2603 zzxqj"])
    assert covered.tokens
    assert "<unk>" not in covered.tokens
    assert covered.missing == ()


def test_the_identity_follows_the_options() -> None:
    encoder = load_encoder("wordllama")
    assert isinstance(encoder, ModelEncoder)
    assert encoder.name == "wordllama"
    assert encoder.options == {"dim": "256", "pooling": "mean"}
    assert encoder.identity() == load_encoder("wordllama?dim=256").identity()
    assert encoder.identity() != load_encoder("wordllama?dim=64").identity()


def test_mistakes_in_the_spec() -> None:
    with pytest.raises(SpecError, match=naming("'wordllama:large'", "'wordllama'")):
        load_encoder("wordllama:large")
    with pytest.raises(SpecError, match=naming("dim=512", "256, 128, 64")):
        load_encoder("wordllama?dim=512")


def test_a_missing_package_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_module, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"\[wordllama\]"):
        load_encoder("wordllama")


def test_a_new_process_reaches_no_network_writes_no_cache_and_leaves_logging_alone(tmp_path: Path) -> None:
    program = """
        import logging, socket, sys

        def refuse(*arguments, **options):
            print("NETWORK", arguments)
            raise OSError("no network here")

        socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
        from weatherglass.encoders import load_encoder

        encoder = load_encoder("wordllama")
        assert "wordllama" not in sys.modules, "building an encoder loads no weights"
        shape = encoder.encode(["rose"]).shape
        assert "wordllama" not in sys.modules, "its files are read, its code is not run"
        print(shape, logging.root.handlers, logging.root.level == logging.WARNING)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == "(1, 256) [] True"
    assert result.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_text_is_tokenised_once_for_coverage_and_encode(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = encoder_module.WordLlamaEncoder()
    tokeniser, seen = encoder._tokenizer, []

    class Counting:
        def encode(self, text: str, **options: bool) -> object:
            seen.append(text)
            return tokeniser.encode(text, **options)

    monkeypatch.setattr(encoder, "_tokenizer", Counting())
    texts = ["rose", "a daisy", ""]
    encoder.coverage(texts)
    encoder.encode(texts)
    assert seen == texts
    encoder.encode(["tulip", "rose"])
    assert seen == [*texts, "tulip"]
