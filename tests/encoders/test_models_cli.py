"""The commands models, try, encode and cache, and how what the user types becomes a spec."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.messages import mentions, naming

from weatherglass.arrays import neighbours
from weatherglass.cli import app
from weatherglass.encoders import ENCODERS, KINDS, load_encoder, resolve_spec
from weatherglass.encoders.encodings import read_encodings, write_encodings
from weatherglass.encoders.spec import PRESETS
from weatherglass.errors import MissingExtraError, UnknownNameError, WeatherglassError

TinyModel = Callable[[str], Path]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def three_vectors(tmp_path: Path) -> Path:
    write_encodings(
        tmp_path / "three.npz",
        ["rose", "tulip", "wasp", "[MASK]"],
        np.array([[1.0, 0.0], [1.0, 0.5], [-1.0, 0.1], [0.0, 0.0]]),
        "",
    )
    return tmp_path / "three.npz"


def test_every_kind_that_can_be_loaded_is_listed_and_its_example_can_be_read() -> None:
    assert set(ENCODERS.names()) <= set(KINDS)
    for name, kind in KINDS.items():
        assert resolve_spec(kind.example).kind == name


def test_models_lists_kinds_presets_and_examples() -> None:
    output = run("models")
    for name, kind in KINDS.items():
        assert name in output
        assert kind.example in output
    assert all(name in output and str(preset.spec) in output for name, preset in PRESETS.items())


def test_what_is_not_installed_comes_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    absent = ("torch", "httpx", "h5py")
    monkeypatch.setattr(
        "weatherglass.storage.installed.find_spec", lambda name: None if name in absent else object()
    )
    monkeypatch.setattr("weatherglass.storage.installed.installed_from", lambda: None)  # as from an index
    output = run("models")
    assert "no: pip install 'weatherglass[transformers]'" in output
    assert "no: pip install 'weatherglass[api]'" in output
    assert ": pip install 'weatherglass[encodings]'" in output
    assert "no: pip install 'weatherglass[encodings]'" not in output  # the rest works without it
    listed = {entry["kind"]: entry for entry in json.loads(run("models", "--json"))["kinds"]}
    assert listed["hf"]["missing"] == ["torch"]
    assert listed["vectors"]["missing"] == []
    for spec in ("hf:some/model", "st:some/model"):
        with pytest.raises(
            MissingExtraError, match=naming(spec, "torch", "pip install 'weatherglass[transformers]'")
        ):
            load_encoder(spec)
    with pytest.raises(
        MissingExtraError, match=naming("openai:m", "httpx", "pip install 'weatherglass[api]'")
    ):
        load_encoder("openai:m")


def test_models_imports_nothing_heavy() -> None:
    program = (
        "import sys; from weatherglass.cli.models import models; models([], standalone_mode=False);"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'huggingface_hub', 'httpx', 'h5py', 'polars'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_try_shows_tokens_choices_and_neighbours(tiny_model: TinyModel) -> None:
    from transformers import AutoTokenizer

    pieces = AutoTokenizer.from_pretrained(tiny_model("bert")).tokenize("This is a rose")
    output = run("try", f"hf:{tiny_model('bert')}?pooling=mean&layers=sum:-2..", "This is a rose", "a 漢")
    assert f"This is a rose  [CLS] {' '.join(pieces)} [SEP]" in output
    assert "pooling=mean  layers=sum:-2..  special_tokens=yes" in output
    assert mentions(output, 1, "[UNK]", "cosine")


def test_try_shows_what_is_missing_and_cosines(three_vectors: Path) -> None:
    output = run("try", f"encodings:{three_vectors}", "rose", "tulip", "wasp", "bee", "[MASK]")
    rows = [line.split() for line in output.splitlines()]
    # cos(rose, tulip) = 1 / √1.25, cos(rose, wasp) = −1 / √1.01
    assert ["rose", "tulip", "0.894", "wasp", "-0.995"] in rows
    assert ["bee", "bee", "bee"] in [
        row[:3] for row in rows if len(row) > 3
    ]  # a text, its tokens, the unknown
    (masked,) = [row for row in rows if row[:1] == ["[MASK]"] and row[1] != "[MASK]"]
    assert not any(each.isdigit() for each in "".join(masked))


def test_neighbours_are_sorted_and_leave_out_what_has_no_direction() -> None:
    vectors = np.array([[1.0, 0], [0, 2], [3, 3], [np.nan, np.nan], [0, 0]])
    first, _, third, unread, zero = neighbours(vectors)
    assert [other for other, _ in first] == [2, 1]
    np.testing.assert_allclose([cosine for _, cosine in first], [np.sqrt(0.5), 0], atol=1e-15)
    assert [other for other, _ in third] == [0, 1]
    assert unread == zero == []


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_encode_writes_what_encodings_reads(tiny_model: TinyModel, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"out{suffix}"
    model = f"hf:{tiny_model('gpt2')}"
    output = run("encode", model, "-t", "weat7", "-t", "weat8", "-o", file, "--quiet")
    encoded = read_encodings(file)
    assert mentions(output, f"{len(encoded.texts)} texts", "16 dimensions", file)
    assert output.count("\n") == 1
    assert len(encoded.texts) == len(set(encoded.texts)) < 64  # 4 × 8 each, some shared
    assert encoded.model == model
    np.testing.assert_array_equal(load_encoder(f"encodings:{file}").encode(encoded.texts), encoded.vectors)
    np.testing.assert_array_equal(load_encoder(model).encode(encoded.texts), encoded.vectors)


@pytest.mark.parametrize(
    ("name", "content"),
    [("texts.txt", "rose\nwasp\n\nrose\nbee\n"), ("texts.json", '["rose", "wasp", "bee", "rose"]')],
)
def test_encode_reads_texts_of_a_file_each_once(
    three_vectors: Path, tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    output = run(
        "encode", f"encodings:{three_vectors}", "--texts", tmp_path / name, "-o", tmp_path / "out.npz"
    )
    assert mentions(output, "3 texts", "2 dimensions", 1, "NaN")
    assert read_encodings(tmp_path / "out.npz").texts == ["rose", "wasp", "bee"]


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["-o", "out.txt"], ["out.txt", ".npz", ".safetensors"]),
        (["-o", "out.npz", "--texts", "absent.txt"], ["absent.txt", "No such file"]),
        (["-o", "out.npz", "--texts", "absent.txt", "-t", "weat1"], ["-t", "--texts"]),
        (["-o", "absent-folder/out.npz", "-t", "weat7"], ["absent-folder/out.npz", "No such file"]),
    ],
)
def test_a_mistake_of_encode_is_one_line(
    three_vectors: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    facts: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WeatherglassError, match=r"^[^\n]*$") as caught:
        run("encode", f"encodings:{three_vectors}", *arguments)
    assert mentions(str(caught.value), *facts)


def test_cache_info_and_clear(tiny_model: TinyModel, own_cache: Path) -> None:
    run("cache", "info")
    model = f"hf:{tiny_model('bert')}?pooling=max"
    run("try", model, "rose", "wasp")
    output = run("cache", "info")
    assert str(own_cache) in output
    assert [model, "2"] in [line.split()[:2] for line in output.splitlines()]
    (listed,) = json.loads(run("cache", "info", "--json"))["models"]
    assert (listed["name"], listed["texts"]) == (model, 2)
    assert mentions(run("cache", "clear"), "2 encodings")
    assert json.loads(run("cache", "info", "--json"))["models"] == []


@pytest.mark.parametrize(
    ("typed", "spec"),
    [
        ("bert-large-cased", "hf:google-bert/bert-large-cased?pooling=cls&layers=-1"),
        ("bert-large-cased?pooling=mean", "hf:google-bert/bert-large-cased?pooling=mean&layers=-1"),
        ("gpt", "hf:openai-community/openai-gpt?pooling=last&layers=-1"),
        ("azarpanah-bert", "hf:google-bert/bert-base-cased?pooling=cls&layers=sum:-4.."),
        (
            "bias-bench:owner/name?device=cpu",
            "hf:owner/name?pooling=mean&layers=-1&special_tokens=yes&normalise=yes&device=cpu",
        ),
        (
            "sent-bias:bert-base-cased",
            "hf:bert-base-cased?pooling=first&layers=-1&special_tokens=no&lowercase=yes",
        ),
    ],
)
def test_a_preset_stands_for_the_papers_settings(typed: str, spec: str) -> None:
    assert str(resolve_spec(typed)) == spec
    assert resolve_spec(spec) == resolve_spec(typed)  # a row of results can be run again


def test_the_presets_settings_are_valid_for_a_model(tiny_model: TinyModel) -> None:
    bert, gpt = tiny_model("bert"), tiny_model("openai-gpt")
    azarpanah = dict(PRESETS["azarpanah-bert"].spec.options)
    options = "&".join(f"{name}={value}" for name, value in azarpanah.items())
    assert np.isfinite(load_encoder(f"hf:{bert}?{options}").encode(["a rose"])).all()
    for spec in (f"bias-bench:{bert}", f"sent-bias:{bert}", f"bias-bench:{gpt}"):
        assert np.isfinite(load_encoder(spec).encode(["a rose"])).all()


def test_a_folder_tells_its_kind(tiny_model: TinyModel, tmp_path: Path) -> None:
    assert resolve_spec(str(tiny_model("bert"))).kind == "hf"
    assert str(resolve_spec(f"{tiny_model('bert')}?pooling=max")) == f"hf:{tiny_model('bert')}?pooling=max"
    (tmp_path / "modules.json").write_text("[]")
    assert resolve_spec(str(tmp_path)).kind == "st"


def test_a_misspelt_preset_is_told_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match=naming("bert-lrge-cased", suggesting="bert-large-cased")):
        resolve_spec("bert-lrge-cased")
