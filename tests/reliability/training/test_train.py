"""A seed gives the same bytes every time, in whatever process; another seed gives others."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from weatherglass.parallel import InProcess
from weatherglass.reliability.corpus import Corpus
from weatherglass.reliability.training.train import (
    Algorithm,
    TrainingUnit,
    WordToVecSettings,
    default_settings,
    embedding_path,
    train,
    train_all,
)

ALGORITHMS: tuple[Algorithm, ...] = ("sgns", "cbow", "glove", "sgns-window")
"""The algorithms of word vectors; test_masked.py tests the language model."""
SMALL = {name: replace(default_settings(name), dimensions=8) for name in ALGORITHMS}

PROGRAM = """
import sys
from dataclasses import replace
from pathlib import Path
from weatherglass.reliability.training.train import TrainingUnit
from weatherglass.reliability.training.train import default_settings
from weatherglass.reliability.training.train import train_unit
for name in ("sgns", "cbow", "glove", "sgns-window"):
    settings = replace(default_settings(name), dimensions=8)
    train_unit(TrainingUnit(Path(sys.argv[1]), name, settings, 3, Path(sys.argv[2]) / f"{name}.safetensors"))
"""


@pytest.mark.large
def test_a_seed_gives_the_same_bytes_in_every_process(corpus: Corpus, tmp_path: Path) -> None:
    for hash_seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", PROGRAM, corpus.folder, tmp_path / hash_seed],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
        )
    for name in ALGORITHMS:
        one, other = (tmp_path / hash_seed / f"{name}.safetensors" for hash_seed in ("1", "2"))
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_another_seed_gives_other_vectors(corpus: Corpus, algorithm: Algorithm, tmp_path: Path) -> None:
    one, other = (train(corpus, algorithm, seed, SMALL[algorithm], tmp_path).vectors for seed in (1, 2))
    assert one.shape == other.shape == (len(corpus.words), 8)
    assert not np.isclose(one, other).all(axis=1).any()


def test_sgns_and_cbow_are_not_the_same(corpus: Corpus, tmp_path: Path) -> None:
    sgns, cbow = (train(corpus, name, 1, SMALL[name], tmp_path).vectors for name in ("sgns", "cbow"))
    assert not np.allclose(sgns, cbow)


def test_what_is_there_is_not_trained_again_and_a_failure_stops_no_other(
    corpus: Corpus, tmp_path: Path
) -> None:
    def unit(seed: int, folder: Path) -> TrainingUnit:
        target = embedding_path(tmp_path, corpus, "cbow", SMALL["cbow"], seed)
        return TrainingUnit(folder, "cbow", SMALL["cbow"], seed, target)

    there, fails, fine = unit(1, corpus.folder), unit(2, tmp_path / "absent"), unit(3, corpus.folder)
    train_all([there], InProcess())
    os.utime(there.target, (1, 1))
    failures = train_all([there, fails, fine], InProcess())
    assert there.target.stat().st_mtime == 1
    assert fine.target.is_file()
    assert len(failures) == 1
    assert fails.target.name in failures[0]


class Recorded:
    """A progress that records its steps."""

    def __init__(self) -> None:
        self.total, self.steps = 0, list[float]()

    def stage(self, name: str, total: int) -> None:
        del name
        self.total = total

    def advance(self, steps: float = 1) -> None:
        self.steps.append(steps)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_progress_moves_within_an_embedding(corpus: Corpus, algorithm: Algorithm, tmp_path: Path) -> None:
    units = [
        TrainingUnit(corpus.folder, algorithm, SMALL[algorithm], seed, tmp_path / f"{seed}.safetensors")
        for seed in (1, 2)
    ]
    progress = Recorded()
    assert not train_all(units, InProcess(), progress)
    assert sum(progress.steps) == pytest.approx(progress.total) == 2
    assert sum(0 < step < 1 for step in progress.steps) >= 2 * 5  # five epochs, fifteen iterations of GloVe


def test_the_name_of_an_embedding_changes_with_every_setting(corpus: Corpus, tmp_path: Path) -> None:
    settings = SMALL["sgns"]
    assert isinstance(settings, WordToVecSettings)
    other = replace(settings, window=3)
    assert embedding_path(tmp_path, corpus, "sgns", settings, 1) != embedding_path(
        tmp_path, corpus, "sgns", other, 1
    )
