"""The time that training will take follows from two calibrations; a linear cost is found exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from weatherglass.cli import app
from weatherglass.reliability.corpus import Corpus
from weatherglass.reliability.training import train as training
from weatherglass.reliability.training.glove import Cooccurrence, GloveSettings, count_cooccurrence
from weatherglass.reliability.training.train import (
    Algorithm,
    Settings,
    TrainingUnit,
    WordToVecSettings,
    estimate_training,
    first_tokens,
    some_cells,
)


@pytest.fixture
def linear_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training that takes 2 s and 0.1 ms a token and epoch; or 3 s, 10 µs a cell, and 20 µs a cell and iteration."""
    clock = [0.0]

    def train(corpus: Corpus, _algorithm: Algorithm, _seed: int, settings: Any, _scratch: Path) -> None:
        clock[0] += 2 + 1e-4 * len(corpus.tokens) * settings.epochs

    def fit(counts: Cooccurrence, _seed: int, settings: GloveSettings, _scratch: Path) -> None:
        clock[0] += 3 + len(counts.keys) * (1e-5 + 2e-5 * settings.iterations)

    monkeypatch.setattr(training, "train", train)
    monkeypatch.setattr(training, "fit", fit)
    monkeypatch.setattr("weatherglass.reliability.training.train.time.process_time", lambda: clock[0])
    monkeypatch.setattr(training, "TOKENS", 500)
    monkeypatch.setattr(training, "PAIRS", 300)


def unit(corpus: Corpus, algorithm: Algorithm, settings: Settings, seed: int) -> TrainingUnit:
    return TrainingUnit(corpus.folder, algorithm, settings, seed, Path(f"{algorithm}{seed}"))


@pytest.mark.usefixtures("linear_cost")
def test_a_linear_cost_is_found_exactly(corpus: Corpus, tmp_path: Path) -> None:
    sgns, glove = WordToVecSettings(epochs=7), GloveSettings(iterations=9)
    units = [unit(corpus, "sgns", sgns, seed) for seed in (1, 2, 3)] + [unit(corpus, "glove", glove, 1)]
    found = estimate_training(units, tmp_path)
    cells = len(count_cooccurrence(corpus, glove.window).keys)
    first, second = found.parts
    assert (first.algorithm, first.embeddings, first.tokens) == ("sgns", 3, len(corpus.tokens))
    assert first.seconds == pytest.approx(2 + 1e-4 * len(corpus.tokens) * 7)
    assert (second.algorithm, second.embeddings, second.cooccurrences) == ("glove", 1, cells)
    assert second.seconds == pytest.approx(3 + cells * (1e-5 + 2e-5 * 9))
    assert found.seconds(2) == pytest.approx((3 * first.seconds + second.seconds) / 2)


def test_a_part_of_a_corpus_has_whole_lines_and_the_whole_vocabulary(corpus: Corpus) -> None:
    part = first_tokens(corpus, 1000)
    assert 900 < len(part.tokens) < 1100
    assert (part.offsets[0], part.offsets[-1]) == (0, len(part.tokens))
    assert part.words == corpus.words
    start = next(
        int(start)
        for start in corpus.offsets
        if np.array_equal(corpus.tokens[start:][:1000], part.tokens[:1000])
    )
    assert start in corpus.offsets
    assert len(first_tokens(corpus, 10**9).tokens) == len(corpus.tokens)


def test_some_cells_are_spread_over_all(corpus_of: Callable[..., Corpus]) -> None:
    counts = count_cooccurrence(corpus_of(["a b c d e f g h"] * 3), 5)
    some = some_cells(counts, 5)
    assert len(some.keys) < len(counts.keys)
    assert some.vocabulary == counts.vocabulary
    assert set(some.keys) <= set(counts.keys)
    assert np.array_equal(some_cells(counts, 10**6).keys, counts.keys)


def test_the_command_estimates_and_trains_nothing(text: Path, tmp_path: Path) -> None:
    options = ["--corpus", str(text), "--seeds", "3", "-o", str(tmp_path / "out"), "--estimate", "--json"]
    done = CliRunner().invoke(app, ["reliability", "train", *options], catch_exceptions=False)
    import json

    found = json.loads(done.stdout)
    assert {(part["algorithm"], part["embeddings"]) for part in found["parts"]} == {("sgns", 3), ("glove", 3)}
    assert found["seconds"] == pytest.approx(sum(3 * part["seconds"] for part in found["parts"]))
    assert found["seconds"] > 0
    assert not list((tmp_path / "out" / "embeddings").glob("*.safetensors"))


def test_short_training_is_not_estimated(corpus: Corpus) -> None:
    units = [unit(corpus, "sgns", WordToVecSettings(), seed) for seed in range(3)]
    assert not training.is_worthwhile(units)
    many = [replace(one, settings=WordToVecSettings(epochs=10_000)) for one in units]
    assert training.is_worthwhile(many)
