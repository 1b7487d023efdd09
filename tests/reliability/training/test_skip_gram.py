"""Skip-gram by windows: its step is the gradient, its draws have their distribution, and it learns what is planted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from weatherglass.reliability.corpus import CorpusSettings, encode_corpus
from weatherglass.reliability.study_file import read_study
from weatherglass.reliability.training import train as training
from weatherglass.reliability.training.embedding import Vectors
from weatherglass.reliability.training.skip_gram import (
    SIGMOID,
    STEPS,
    alias_table,
    chances_to_stay,
    draw,
    update_window,
)
from weatherglass.reliability.training.train import WordToVecSettings, embedding_path, train


def stepped(
    vectors: Vectors, outputs: Vectors, contexts: list[int], targets: list[int], rate: float
) -> tuple[Vectors, Vectors]:
    """Both matrices after one step, by the definition in double precision.

    The loss is −Σ log σ(c·t) over the first target and −Σ log σ(−c·t) over the others, for each context c.
    """
    new_vectors, new_outputs = vectors.astype(float), outputs.astype(float)
    for context in contexts:
        for place, target in enumerate(targets):
            if place and target == targets[0]:
                continue
            product = np.clip(vectors[context].astype(float) @ outputs[target], -6, 6)
            step = rate * ((place == 0) - 1 / (1 + np.exp(-product)))
            new_vectors[context] += step * outputs[target]
            new_outputs[target] += step * vectors[context]
    return new_vectors, new_outputs


@pytest.mark.parametrize("dimensions", [1, 7, 40, 100])
@pytest.mark.parametrize(
    ("contexts", "targets"),
    [
        ([3], [5, 1, 2, 4, 6, 7]),
        ([0, 1, 2], [5, 1, 2, 4, 6, 7]),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [5, 1, 2, 4, 6, 7]),
        ([1, 1, 2, 1, 1, 8], [1, 2, 2, 1, 9, 2]),  # doubled words, and a draw that is the middle word
        ([4, 2, 0, 3, 1], [0, 9]),
        ([4, 2], list(range(10))),
        ([], [0, 1]),
    ],
)
def test_a_window_takes_one_step_down_its_gradient(
    contexts: list[int], targets: list[int], dimensions: int
) -> None:
    rng = np.random.default_rng(dimensions)
    vectors, outputs = rng.normal(0, 1 / dimensions**0.25, (2, 10, dimensions)).astype(np.float32)
    rate = 0.5  # so large that values from after a part of the step would be seen
    expected = stepped(vectors, outputs, contexts, targets, rate)
    words = np.array(contexts, dtype=np.int64), np.array(targets, dtype=np.int64)
    old_contexts, old_targets, steps = (
        np.zeros(shape, np.float32) for shape in ((10, dimensions), (12, dimensions), (10, 12))
    )
    update_window(vectors, outputs, *words, np.float32(rate), old_contexts, old_targets, steps, SIGMOID)
    # The table is off by a quarter of half a step at most, in each of the terms of a sum.
    off = rate * 0.25 * 6 / STEPS * 10 * max(np.abs(vectors).max(), np.abs(outputs).max()) + 1e-5
    np.testing.assert_allclose(vectors, expected[0], atol=off)
    np.testing.assert_allclose(outputs, expected[1], atol=off)


def test_the_alias_table_holds_the_distribution_exactly() -> None:
    weights = np.random.default_rng(0).pareto(1, 1000) + 0.01
    itself, other = alias_table(weights)
    chances = itself.astype(float)
    np.add.at(chances, other, 1 - itself.astype(float))
    np.testing.assert_allclose(chances / len(weights), weights / weights.sum(), atol=1e-9)


def test_draws_have_the_distribution_of_the_weights() -> None:
    weights = np.array([1.0, 2.0, 3.0, 10.0])
    tables = alias_table(weights)
    states = np.random.default_rng(0).integers(2**64, size=40_000, dtype=np.uint64)
    drawn = Counter(int(draw(np.uint64(state), *tables)) for state in states)
    shares = np.array([drawn[place] for place in range(4)]) / len(states)
    np.testing.assert_allclose(shares, weights / 16, atol=0.012)  # five standard errors


def test_frequent_words_are_read_less_often() -> None:
    counts = np.array([90_000, 9_000, 990, 10])
    f = counts / counts.sum()
    expected = np.minimum(1, np.sqrt(1e-3 / f) + 1e-3 / f)  # word2vec's
    np.testing.assert_allclose(chances_to_stay(counts, 1e-3), expected, rtol=1e-6)


def test_two_topics_that_share_no_word_separate(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [" ".join(f"{'ab'[n % 2]}{word}" for word in rng.integers(30, size=12)) for n in range(1500)]
    (tmp_path / "text.txt").write_text("\n".join(lines))
    corpus = encode_corpus("text", tmp_path / "text.txt", tmp_path, CorpusSettings())
    settings = WordToVecSettings(dimensions=20, sample=1.0)
    vectors = train(corpus, "sgns-window", 1, settings, tmp_path).vectors
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    topic = np.array([word[0] for word in corpus.words])
    cosines, same = units @ units.T, topic[:, None] == topic[None]
    assert cosines[same].min() > cosines[~same].max()


def test_the_file_is_of_one_version_and_no_pattern_of_sgns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.txt").write_text("a b c\n" * 9)
    corpus = encode_corpus("text", tmp_path / "text.txt", tmp_path, CorpusSettings())
    path = embedding_path(tmp_path, corpus, "sgns-window", WordToVecSettings(), 1)
    assert not path.match("text-sgns-*")
    monkeypatch.setattr(training, "VERSIONS", {"sgns-window": 99})
    assert embedding_path(tmp_path, corpus, "sgns-window", WordToVecSettings(), 1) != path


def test_a_study_file_names_it_with_settings_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        'algorithms = ["sgns", "sgns-window"]\n[corpora.a]\npath = "a.txt"\n'
        "[training]\ndimensions = 50\n[training.sgns-window]\nwindow = 3\n"
    )
    assert read_study(tmp_path / "study.toml").algorithms == {
        "sgns": WordToVecSettings(dimensions=50),
        "sgns-window": WordToVecSettings(dimensions=50, window=3),
    }
