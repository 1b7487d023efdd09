"""Co-occurrence and GloVe against the definitions written out, and on real text."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from weatherglass.reliability.corpus import Corpus, CorpusSettings, encode_corpus
from weatherglass.reliability.training import glove
from weatherglass.reliability.training.glove import (
    CONTEXT,
    PAIR,
    WORD,
    GloveSettings,
    count_cooccurrence,
    descend,
    fit,
    initial_parameters,
    shuffled_pairs,
)


def cells_by_definition(corpus: Corpus, window: int) -> dict[tuple[int, int], float]:
    """X as the paper defines it, with both directions, as two loops."""
    cells: dict[tuple[int, int], float] = defaultdict(float)
    for start, end in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True):
        line = corpus.tokens[start:end].tolist()
        for place, word in enumerate(line):
            for other in range(len(line)):
                if 0 < abs(place - other) <= window:
                    cells[word, line[other]] += 1 / abs(place - other)
    return cells


@pytest.mark.parametrize("memory", [2**28, 2**14], ids=["in memory", "spilled"])
@pytest.mark.parametrize("frequent", [2048, 3], ids=["all frequent", "few frequent"])
def test_cooccurrence_is_the_sum_of_inverse_distances(
    corpus_of: Callable[..., Corpus], monkeypatch: pytest.MonkeyPatch, memory: int, frequent: int
) -> None:
    monkeypatch.setattr(glove, "FREQUENT", frequent)
    monkeypatch.setattr(glove, "MERGE", 50)
    rng = np.random.default_rng(0)
    corpus = corpus_of([" ".join(f"w{word}" for word in rng.integers(0, 60, 30)) for _ in range(60)])
    counted = count_cooccurrence(corpus, window=4, memory=memory)
    expected = cells_by_definition(corpus, window=4)
    upper = {key: value for key, value in expected.items() if key[0] <= key[1]}
    assert sorted(row * len(corpus.words) + column for row, column in upper) == counted.keys.tolist()
    for key, value in zip(counted.keys.tolist(), counted.values.tolist(), strict=True):
        assert value == pytest.approx(upper[divmod(key, len(corpus.words))], rel=1e-12)


def test_every_cell_is_trained_once_in_each_direction(corpus: Corpus, tmp_path: Path) -> None:
    counted = count_cooccurrence(corpus, window=3)
    settings = GloveSettings(window=3)
    with shuffled_pairs(counted, np.random.default_rng(0), settings, tmp_path) as buckets:
        trained = {
            (int(p["word"]), int(p["context"])): (float(p["log"]), float(p["weight"])) for p in buckets[0]
        }
        assert len(buckets[0]) == len(trained)
    expected = cells_by_definition(corpus, window=3)
    assert trained.keys() == expected.keys()
    for cell, value in expected.items():
        weight = min(1.0, (value / 10) ** 0.75)
        assert trained[cell] == pytest.approx((math.log(value), weight), rel=1e-5, abs=1e-6)


def test_a_step_follows_the_gradient_of_the_paper() -> None:
    """Pennington et al. 2014, equations 8 and 9, in plain Python; AdaGrad as in the released program."""
    rng = np.random.default_rng(3)
    d, eta = 5, 0.05
    cells = [(0, 1, 2.5), (1, 0, 40.0), (2, 2, 1.0), (0, 1, 7.0)]
    pairs = np.array([(i, j, math.log(x), min(1.0, (x / 10) ** 0.75)) for i, j, x in cells], dtype=PAIR)
    parameters = [initial_parameters(rng, 3, d, side) for side in (WORD, CONTEXT)]
    places = [[*range(d), side] for side in (WORD, CONTEXT)]
    for side, columns in zip(parameters, places, strict=True):
        side[:, 0, columns] = rng.normal(size=(3, d + 1))
    start = [side[:, 0, columns] for side, columns in zip(parameters, places, strict=True)]
    loss = descend(pairs, parameters[0], parameters[1], np.float32(eta))

    w, c = (array.astype(float).tolist() for array in start)
    w_squares, c_squares = ([[1.0] * (d + 1) for _ in range(3)] for _ in range(2))
    expected_loss = 0.0
    for i, j, x in cells:
        error = sum(w[i][k] * c[j][k] for k in range(d)) + w[i][d] + c[j][d] - math.log(x)
        f = min(1.0, (x / 10) ** 0.75)
        expected_loss += 0.5 * f * error**2
        for k in range(d + 1):  # d J / d w = f · error · c, and 1 in place of c for the bias
            w_step = eta * f * error * (c[j][k] if k < d else 1.0)
            c_step = eta * f * error * (w[i][k] if k < d else 1.0)
            w[i][k] -= w_step / math.sqrt(w_squares[i][k])
            c[j][k] -= c_step / math.sqrt(c_squares[j][k])
            w_squares[i][k] += w_step**2
            c_squares[j][k] += c_step**2
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    for side, columns, expected in zip(parameters, places, ((w, w_squares), (c, c_squares)), strict=True):
        for trained, by_hand in zip((side[:, 0, columns], side[:, 1, columns]), expected, strict=True):
            assert trained == pytest.approx(np.array(by_hand), rel=2e-4, abs=1e-5)


@pytest.fixture
def by_topic(corpus_of: Callable[..., Corpus]) -> Corpus:
    """Lines of 8 topics, each with 10 words of its own, among words that all topics use."""
    rng = np.random.default_rng(5)
    lines = []
    for topic in rng.integers(0, 8, 1500):
        own = rng.random(14) < 0.6
        words = np.where(own, rng.integers(0, 10, 14), rng.integers(0, 30, 14))
        lines.append(
            " ".join(f"topic{topic}x{w}" if o else f"common{w}" for o, w in zip(own, words, strict=True))
        )
    return corpus_of(lines)


def test_the_loss_falls_and_the_nearest_words_are_of_the_same_topic(by_topic: Corpus, tmp_path: Path) -> None:
    settings = GloveSettings(dimensions=20, window=10, iterations=12)
    vectors, losses = fit(count_cooccurrence(by_topic, settings.window), 1, settings, tmp_path)
    assert all(later < earlier for earlier, later in pairwise(losses))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -1)
    topics = np.array([word.split("x")[0] for word in by_topic.words])
    rows = np.flatnonzero(np.char.startswith(topics, "topic"))
    assert len(rows) == 80
    nearest = np.argsort(-cosines[rows], axis=1)[:, :9]
    # By chance 9 of the other 109 words would be of the same topic: 0.08.
    assert (topics[nearest] == topics[rows, None]).mean() > 0.95


@pytest.mark.shared
def test_on_real_text_the_loss_falls_and_neighbours_make_sense(shared: Path, tmp_path: Path) -> None:
    source = shared / "corpora" / "forum.txt.xz"
    corpus = encode_corpus("forum", source, tmp_path, CorpusSettings(share=0.06, min_count=20))
    settings = GloveSettings(dimensions=40, window=10, iterations=12)
    vectors, losses = fit(count_cooccurrence(corpus, settings.window), 1, settings, tmp_path)
    assert all(later < earlier for earlier, later in pairwise(losses))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    place = {word: number for number, word in enumerate(corpus.words)}

    def nearest(word: str, number: int = 10) -> set[str]:
        order = np.argsort(-(units @ units[place[word]]))
        return {corpus.words[row] for row in order[1 : number + 1]}

    assert nearest("he") & {"she", "him", "his"}
    assert nearest("two") & {"three", "four", "five"}
    assert nearest("year") & {"years", "last", "month", "months"}
