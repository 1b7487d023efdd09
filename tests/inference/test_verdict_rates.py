"""How often the rule says what: a few cells of `python -m benchmarks.verdicts`, which measures all of them."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.verdicts import covered, outcomes

from weatherglass.inference.verdict import Outcome

REPETITIONS = 300


@pytest.mark.large
@pytest.mark.parametrize(
    ("n", "noise", "d", "stated"),
    [
        (8, 0.1, 0.0, 0.002),
        (8, 0.1, 1.5, 0.82),
        (8, 0.4, 1.5, 0.48),
        (25, 0.1, 1.0, 0.79),
        (25, 0.4, 1.0, 0.38),
    ],
)
def test_shown_is_said_as_often_as_docs_methods_12_states(
    n: int, noise: float, d: float, stated: float
) -> None:
    counts = outcomes(f"test, {n}, {noise}, {d}", n, 8, noise, [d], REPETITIONS)
    # Three standard errors of our share, and as much again for the stated one.
    allowed = 5 * max(np.sqrt(stated * (1 - stated) / REPETITIONS), 0.004)
    assert counts[Outcome.SHOWN] / REPETITIONS == pytest.approx(stated, abs=allowed)


@pytest.mark.large
def test_a_topic_of_eight_tests_without_effect_is_not_shown_more_often() -> None:
    counts = outcomes("test, eight", 8, 8, 0.3, [0.0] * 8, REPETITIONS)
    assert counts[Outcome.SHOWN] + counts[Outcome.THESE_WORDS] + counts[Outcome.MIXED] <= 0.03 * REPETITIONS


@pytest.mark.large
@pytest.mark.parametrize("step", [0, 4, 8])
def test_the_size_of_a_topic_is_covered_whatever_the_tests_share(step: int) -> None:
    """At least 92 %, as docs/methods 12 states; taking tests that share all words as independent does not."""
    together, alone = covered(f"test, {step}", 6, 8, step, 0.7, 1000)
    assert together.mean() >= 0.92
    assert alone.mean() < 0.85 or step > 0
