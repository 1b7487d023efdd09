"""One estimand, one answer: p and interval of a real run agree, and words as the unit follow from raw vectors."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import weatherglass as wg
from weatherglass.arrays import Matrix
from weatherglass.audit.results import Result
from weatherglass.catalogue import load_test
from weatherglass.catalogue.test import ElementSet
from weatherglass.encoders import load_encoder


def leaves_out_zero(low: float, high: float) -> bool:
    """An end at 0 counts as left out (docs/methods 10)."""
    return low >= 0 or high <= 0


@pytest.mark.parametrize(
    ("tests", "count", "alpha"),
    [
        ("weat[6-9]", 4, 0.05),
        *(pytest.param("*", 46, alpha, marks=pytest.mark.large) for alpha in (0.05, 0.01)),
    ],
)
def test_p_and_interval_of_each_reading_agree_in_all_tests(tests: str, count: int, alpha: float) -> None:
    run = wg.run("wordllama", tests, metrics=["cosine/mean", "euclidean/median"], alpha=alpha)
    assert len(run.results) == 2 * count
    such = 0
    for result in run.results:
        assert result.alternative == "two-sided"
        assert result.permute == "words"
        if result.ci_low is not None and result.ci_high is not None:
            assert leaves_out_zero(result.ci_low, result.ci_high) == (result.p_value <= alpha), result.test
        if (
            result.ci_random_low is not None
            and result.ci_random_high is not None
            and result.p_random is not None
        ):
            such += 1
            agree = leaves_out_zero(result.ci_random_low, result.ci_random_high) == (result.p_random <= alpha)
            assert agree, result.test
    tested = [result for result in run.results if not result.not_tested]
    assert all((result.ci_low is None) == bool(result.not_tested) for result in run.results)
    assert len(tested) >= 2 * (count - 9)
    assert such > len(tested) / 2


def vectors_by_word(element_set: ElementSet) -> tuple[list[Matrix], list[list[str | None]]]:
    """The unit vectors of each word's sentences, and their templates."""
    encoder = load_encoder("wordllama")
    rows = np.asarray(encoder.encode(element_set.texts), dtype=np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    words = np.array([e.word for e in element_set.elements])
    names = list(dict.fromkeys(words))
    templates = [[e.template for e in element_set.elements if e.word == name] for name in names]
    return [rows[words == name] for name in names], templates


def test_words_as_the_unit_follow_from_raw_vectors() -> None:
    """docs/methods 10.2 and 10.3 for sent-weat6, in plain numpy: m(w, a) is the mean over all pairs of sentences."""
    (result,) = wg.run("wordllama", tests="sent-weat6").results
    (x, tx), (y, ty), (a, _), (b, _) = (vectors_by_word(s) for s in load_test("sent-weat6").sets)
    to_a, to_b = (np.array([[(w @ v.T).mean() for v in side] for w in x + y]) for side in (a, b))
    scores = to_a.mean(axis=1) - to_b.mean(axis=1)
    n_x, n_y = len(x), len(y)
    n = n_x + n_y
    sx, sy = scores[:n_x], scores[n_x:]
    assert result.effect_size == pytest.approx((sx.mean() - sy.mean()) / scores.std(ddof=1), rel=1e-5)
    assert unit_scores(result) == pytest.approx(scores, abs=1e-6)

    sums = np.array([scores[list(chosen)].sum() for chosen in combinations(range(n), n_x)])
    centre = n_x * scores.mean()
    hits = np.abs(sums - centre) >= abs(sx.sum() - centre) - 1e-12 * np.abs(scores).sum()
    assert result.p_value == pytest.approx(hits.mean(), rel=1e-3)  # wordllama's rows are float32

    # Reading 2. The templates are a third source where all words stand in the same three or more.
    tables, nu = [to_a, to_b], n - 2
    crossed = len({frozenset(t) for t in tx + ty}) == 1 and len(tx[0]) >= 3
    if crossed:
        order = tx[0]
        axis = np.mean([v.mean(axis=0) for v in a], axis=0) - np.mean([v.mean(axis=0) for v in b], axis=0)
        tables.append(
            np.array([[w[t.index(k)] @ axis for k in order] for w, t in zip(x + y, tx + ty, strict=True)])
        )
    delta = sx.mean() - sy.mean()
    squares = ((sx - sx.mean()) ** 2).sum() + ((sy - sy.mean()) ** 2).sum()
    noise, choices = 0.0, []
    for table in tables:
        k = table.shape[1]
        left = np.concatenate([part - part.mean(axis=0) for part in (table[:n_x], table[n_x:])])
        left -= left.mean(axis=1, keepdims=True)
        noise += (left**2).sum() / (nu * (k - 1)) / k
        apart = table[:n_x].mean(axis=0) - table[n_x:].mean(axis=0)
        choices.append((apart.var(ddof=1) / k, k - 1))
    words = [(sx.var(ddof=1) / n_x, n_x - 1), (sy.var(ddof=1) / n_y, n_y - 1)]
    w, c = sum(v for v, _ in words), sum(v for v, _ in choices)
    v0 = max(w + c - noise * (1 / n_x + 1 / n_y), w, c)
    df = (w + c) ** 2 / sum(v**2 / m for v, m in words + choices)
    tau2 = squares / nu - noise
    assert result.score_reliability == pytest.approx(tau2 * nu / squares, rel=1e-4)
    assert result.p_random == pytest.approx(2 * stats.t.sf(abs(delta) / math.sqrt(v0), df), rel=1e-3)
    g = delta / math.sqrt(tau2)
    d = g / math.sqrt((n - 2) / (n - 1) + g**2 * n_x * n_y / (n * (n - 1)))
    assert result.effect_size_random == pytest.approx(d, rel=1e-4)
    assert result.robustness is not None
    assert result.robustness.templates_random == crossed


def unit_scores(result: Result) -> list[float]:
    """The mean score of each word of X, then of Y."""
    by_word: dict[tuple[str, str], list[float]] = {}
    for score in result.scores:
        by_word.setdefault((score.role, score.word), []).append(score.score)
    return [float(np.mean(values)) for values in by_word.values()]


def test_associate_returns_both_readings_without_being_asked() -> None:
    rng = np.random.default_rng(3)
    X, Y, A, B = (rng.normal(size=(8, 5)) + shift for shift in (0.8, 0.0, 0.9, -0.9))
    result = wg.associate(X, Y, A, B)
    for name in (
        *("ci_low", "ci_high", "p_random", "effect_size_random", "ci_random_low", "ci_random_high"),
        *("score_reliability", "robustness"),
    ):
        assert getattr(result, name) is not None, name
    assert (result.alternative, result.permute, result.units()) == ("two-sided", "words", (8, 8))
    assert result.robustness is not None
    assert result.robustness.level == 0.95
    assert len(result.robustness.left_out) == 32


def test_permute_elements_gives_the_published_numbers() -> None:
    """May et al.: every sentence is an element; d and one-sided p by counting all partitions of weat6's 8 + 8."""
    settings = {"permute": "elements", "alternative": "greater", "alpha": 0.01, "trust": "none"}
    word_test, sentence_test = wg.run("wordllama", ["weat6", "sent-weat6"], **settings).results  # type: ignore[arg-type]
    scores = np.array([s.score for s in word_test.scores])
    sums = np.array([scores[list(chosen)].sum() for chosen in combinations(range(16), 8)])
    assert word_test.p_value == (sums >= scores[:8].sum() - 1e-12).mean()
    assert word_test.effect_size == pytest.approx(
        (scores[:8].mean() - scores[8:].mean()) / scores.std(ddof=1)
    )
    x, y = sentence_test.x_scores, sentence_test.y_scores
    assert sentence_test.units() == (len(x), len(y)) == sentence_test.target_sizes
    d = (x.mean() - y.mean()) / np.concatenate([x, y]).std(ddof=1)
    assert sentence_test.effect_size == pytest.approx(d)
