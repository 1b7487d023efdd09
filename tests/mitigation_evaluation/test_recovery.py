"""What can be recovered: known answers on made-up words, and scikit-learn's classifiers beside ours."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.cluster import KMeans
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression

from weatherglass.arrays import Matrix, unit_length
from weatherglass.mitigation.base import Steps, projection
from weatherglass.mitigation.fitting import logistic_weights, purity, two_clusters
from weatherglass.mitigation_evaluation import cost, recovery
from weatherglass.mitigation_evaluation.recovery import BeforeAfter, correlation, share

N, WIDTH = 400, 10


@pytest.fixture(scope="module")
def rows() -> Matrix:
    """Words with a bias along the first axis, and a shadow of it on the second."""
    rng = np.random.default_rng(4)
    made = rng.standard_normal((N, WIDTH))
    made[:, 1] += made[:, 0]
    return np.asarray(made)


def measured(rows: Matrix, changed: Matrix) -> dict[str, BeforeAfter]:
    first, second = np.eye(WIDTH)[:1], -np.eye(WIDTH)[:1]
    words = recovery.NeutralWords(tuple(map(str, range(N))), recovery.old_bias(rows, first, second))
    measured = [recovery.measures(some, words) for some in (rows, changed, rows)]
    return {one.name: one for one in recovery.recoveries(measured, words)}


@pytest.mark.large
def test_removing_one_direction_hides_and_removing_its_shadow_too_removes(rows: Matrix) -> None:
    hidden, removed = (projection(np.eye(WIDTH)[:rank])(rows, ["w"] * N) for rank in (1, 2))
    for name in (recovery.LINEAR, recovery.KERNEL, recovery.NEARBY):
        assert measured(rows, hidden)[name].after.low > (measured(rows, hidden)[name].chance or 0.0)
        one = measured(rows, removed)[name]
        assert one.after.low <= (one.chance or 0.0)
        assert one.before.low > (one.chance or 0.0)


def test_the_old_bias_is_the_cosine_with_the_direction(rows: Matrix) -> None:
    bias = recovery.old_bias(rows, np.eye(WIDTH)[:1], -np.eye(WIDTH)[:1])
    assert bias == pytest.approx(rows[:, 0] / np.linalg.norm(rows, axis=1))


def test_logistic_regression_is_that_of_scikit_learn(rows: Matrix) -> None:
    labels = (rows[:, 0] + rows[:, 3] > 0).astype(np.int64)
    weights, intercepts = logistic_weights(rows, labels, penalty=0.01)
    # Two rows of weights, w/2 and −w/2, have half the penalty of scikit-learn's one row w.
    other = LogisticRegression(C=2 / (0.01 * N), tol=1e-10, max_iter=10_000).fit(rows, labels)
    assert weights[1] - weights[0] == pytest.approx(other.coef_[0], abs=1e-3)
    assert intercepts[1] - intercepts[0] == pytest.approx(other.intercept_[0], abs=1e-3)


def test_the_kernel_classifier_is_scikit_learns_kernel_ridge(rows: Matrix) -> None:
    labels = (rows[:, 0] * rows[:, 2] > 0).astype(np.int64)
    train, new = rows[:300], rows[300:]
    variance = float(((train - train.mean(axis=0)) ** 2).sum(axis=1).mean())
    other = KernelRidge(alpha=recovery.RIDGE, kernel="rbf", gamma=1 / variance).fit(
        train, 2.0 * labels[:300] - 1
    )
    told = recovery._kernel(train, labels[:300], new)
    assert (told == (other.predict(new) > 0)).all()
    assert (told == labels[300:]).mean() > 0.75  # no straight line tells these apart


def test_every_word_is_told_by_a_classifier_that_did_not_see_it() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((200, 60)), np.arange(200) % 2
    told = recovery.cross_validated(rows, labels, recovery._linear)
    assert 0.35 < (told == labels).mean() < 0.65  # noise; on the words it was trained on it would be near 1


def test_clusters_are_as_tight_as_scikit_learns(rows: Matrix) -> None:
    far = rows.copy()
    far[: N // 2, 5] += 8
    ours = two_clusters(far)
    other = KMeans(2, n_init=10, random_state=0).fit(far)
    assert purity(ours, other.labels_.astype(np.int64)) == 1.0
    assert purity(ours, np.repeat([0, 1], N // 2)) > 0.98
    assert purity(ours, np.arange(N) % 2) < 0.6


def test_a_random_change_has_the_rank_and_the_lengths_of_the_given_one(rows: Matrix) -> None:
    given = Steps((projection(np.eye(WIDTH)[:3], shift=np.full(WIDTH, 2.0)),))
    drawn = recovery.random_change(given, seed=1)
    assert drawn.steps[0].rank == 3
    assert np.linalg.norm(drawn.steps[0].shift) == pytest.approx(np.linalg.norm(given.steps[0].shift))
    assert np.linalg.matrix_rank(drawn(rows, ["w"] * N) + drawn.steps[0].shift) == WIDTH - 3
    assert not np.allclose(drawn.steps[0].right, recovery.random_change(given, seed=2).steps[0].right)


def test_intervals_are_those_of_the_textbook(rows: Matrix) -> None:
    # Wilson's interval of 8 of 10: Newcombe 1998, method 3.
    one = share(8, 10)
    assert (one.low, one.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    other = pearsonr(rows[:, 0], rows[:, 1])
    ends = other.confidence_interval(0.95)
    ours = correlation(rows[:, 0], rows[:, 1])
    assert (ours.value, ours.low, ours.high) == pytest.approx((other.statistic, ends.low, ends.high))


def test_spearman_is_scipys_with_ties(rows: Matrix) -> None:
    first, second = np.round(rows[:, 0]), rows[:, 1]
    assert cost.spearman(first, second) == pytest.approx(spearmanr(first, second).statistic)


def test_analogies_leave_out_the_words_of_the_question() -> None:
    units = unit_length(
        np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.6, 1.0], [1.0, 0.9, 0.0]])
    )
    assert cost.answered(np.array([[0, 1, 2, 3], [0, 1, 2, 4]]), units).tolist() == [1.0, 0.0]


def test_neighbours_kept_is_one_without_a_change(rows: Matrix) -> None:
    assert cost.neighbours_kept(rows, 3 * rows).after.value == 1.0
    shuffled = np.random.default_rng(0).permutation(rows)
    assert cost.neighbours_kept(rows, shuffled).after.value < 0.1
