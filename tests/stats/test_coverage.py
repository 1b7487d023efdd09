"""Coverage of intervals: a few cells of `python -m benchmarks.coverage`, which simulates all of them, and its judge."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.coverage import Judge, Shape, covers, exchange_p, generator, t_test_p, tables, word_scores

from weatherglass.stats.attributes import crossed, fixed_ends
from weatherglass.stats.scale import within

REPETITIONS = 600
THREE_ERRORS = 3 * (0.95 * 0.05 / REPETITIONS) ** 0.5


@pytest.mark.parametrize("d", [0.0, 1.4])
def test_intervals_for_fixed_attributes_contain_the_true_effect(d: float) -> None:
    scores = within(word_scores(generator("these", d), "normal", 25, d, 0.5, REPETITIONS), 25)
    p = t_test_p(word_scores(generator("these", d), "normal", 25, d, 0.5, REPETITIONS), 25)
    assert covers(*fixed_ends(scores, p, 0.05), d, scores.scale).mean() == pytest.approx(
        0.95, abs=THREE_ERRORS
    )


@pytest.mark.parametrize(
    ("shape", "n", "noise", "d", "least"),
    [
        ("normal", 25, 0.3, 0.0, 0.932),
        ("normal", 25, 0.3, 1.4, 0.932),
        ("normal", 8, 0.5, 1.4, 0.936),
        ("skewed", 8, 0.05, 1.8, 0.88),
    ],
)
def test_intervals_for_random_attributes_contain_the_true_effect(
    shape: Shape, n: int, noise: float, d: float, least: float
) -> None:
    """At least what docs/methods 10.2 states; the skewed cell had 84 % before Q₁ had the floor of the words alone."""
    cell = generator("such", shape, n, noise, d)
    found = crossed(*tables(cell, "interaction", shape, n, 8, noise, d, REPETITIONS), n)
    assert covers(*found.ends(0.05), d, found.scale).mean() >= least - THREE_ERRORS / 2


def test_a_cell_is_outside_only_if_chance_does_not_explain_it() -> None:
    """90 of 100 and 900 of 1 000: the 99 % Clopper–Pearson intervals end at 96.2 and 92.3 (scipy's binomtest)."""
    judge = Judge()
    assert judge.cell("few", np.arange(100) < 90, (94, 97)) == "90.0 ± 3.0"
    assert judge.cell("many", np.arange(1_000) < 900, (94, 97)) == "**90.0 ± 0.9**"
    assert judge.outside == ["many: 90.0 ± 0.9, stated 94 to 97"]


def test_sentences_taken_for_independent_inflate_the_level_and_words_keep_it() -> None:
    """600 repetitions of 8 words with 4 sentences, half of the variance in common: standard error 0.9 points at 5 %."""
    rng = np.random.default_rng(0)
    sentences = rng.normal(size=(600, 16, 1)) + rng.normal(size=(600, 16, 4))
    words = exchange_p(sentences.mean(axis=2), 8)
    elements = exchange_p(sentences.reshape(600, 64), 32, draws=999)
    assert (words <= 0.05).mean() == pytest.approx(0.05, abs=0.027)
    assert (elements <= 0.05).mean() > 0.1
