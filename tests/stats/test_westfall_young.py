"""maxT against brute force, and its laws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.stats.cases import exchange_p, waves

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.multiplicity import westfall_young


def brute_force(scores: Matrix, n_x: int) -> list[float]:
    """d of every test under every labelling, from its definition."""
    n = len(scores)

    def effects(x: list[int]) -> Vector:
        y = [i for i in range(n) if i not in x]
        return np.asarray((scores[x].mean(axis=0) - scores[y].mean(axis=0)) / scores.std(axis=0, ddof=1))

    largest = [np.abs(effects(list(x))).max() for x in itertools.combinations(range(n), n_x)]
    return [float(np.mean(np.array(largest) >= abs(d) - 1e-12)) for d in effects(list(range(n_x)))]


@pytest.mark.parametrize(("n_x", "n_y", "tests"), [(4, 4, 3), (5, 3, 1), (3, 6, 7), (2, 2, 2)])
def test_small_cases_by_brute_force(n_x: int, n_y: int, tests: int) -> None:
    scores = waves(n_x + n_y, tests, 0.3)
    scores[:n_x] += 0.6
    found = westfall_young(scores, n_x)
    assert found.exact
    assert found.p == pytest.approx(brute_force(scores, n_x))


def test_one_test_has_its_exact_p_and_copies_cost_nothing() -> None:
    scores = waves(12, 1, 0.7)
    scores[:6] += 0.8
    p = exchange_p(scores[:, 0], 6)
    assert westfall_young(scores, 6).p == pytest.approx([p])
    copies = np.concatenate([scores, 3 * scores, scores - 5], axis=1)
    assert westfall_young(copies, 6).p == pytest.approx([p] * 3)


def test_tied_labellings_count() -> None:
    scores = np.array([[0.1 + 0.2], [0.3], [0.1], [0.3], [0.1], [0.1]])
    assert westfall_young(scores, 3).p == pytest.approx([exchange_p(scores[:, 0], 3)])


def test_one_sided_alternatives_mirror_each_other() -> None:
    scores = waves(10, 3, 0.4)
    greater = westfall_young(scores, 5, "greater").p
    assert greater == pytest.approx(westfall_young(-scores, 5, "less").p)
    assert not np.allclose(greater, westfall_young(scores, 5).p)


def test_a_test_without_spread_has_p_1_and_does_not_disturb() -> None:
    scores = waves(8, 2, 0.4)
    flat = np.column_stack([scores, np.full(8, 0.3)])
    assert westfall_young(flat, 4).p == pytest.approx([*westfall_young(scores, 4).p, 1.0])


def test_draws_come_near_the_exact_p_and_repeat() -> None:
    scores = waves(24, 4, 0.2)
    scores[:12] += np.array([0.0, 0.3, 0.6, 0.9])
    found = westfall_young(scores, 12)  # 2.7 million labellings.
    assert not found.exact
    assert found.labellings == 10_000
    np.testing.assert_array_equal(found.p, westfall_young(scores, 12).p)
    more = westfall_young(scores, 12, draws=99_999, seed=1)
    assert found.p == pytest.approx(more.p, abs=0.02)
    assert found.p.min() >= 1e-4
