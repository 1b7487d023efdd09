"""What the transforms promise, by algebra: projections, equalised pairs, LEACE's guarantee, INLP's directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.arrays import Matrix, unit_length
from weatherglass.mitigation.base import Steps, projection
from weatherglass.mitigation.centring import AllButTheTop
from weatherglass.mitigation.debiasing import DoubleHard, HardDebias, SentenceDebias
from weatherglass.mitigation.erasure import Inlp, Leace, MeanDifference, classifier_directions
from weatherglass.mitigation.lists import Classes

WIDTH = 12
MALE, FEMALE = tuple(f"m{n}" for n in range(9)), tuple(f"f{n}" for n in range(9))
NEUTRAL = tuple(f"w{n}" for n in range(80))
PAIRS = tuple(zip(MALE, FEMALE, strict=True))
CLASSES = Classes("made-up", ("male", "female"), (MALE, FEMALE))


def made_up(words: tuple[str, ...], seed: int = 1) -> Matrix:
    """Vectors in which the two sides differ along one axis, among others."""
    rng = np.random.default_rng(seed)
    axis = rng.standard_normal(WIDTH)
    sign = np.array([{"m": 1.0, "f": -1.0}.get(word.rpartition(" ")[2][:1], 0.0) for word in words])
    return np.asarray(rng.standard_normal((len(words), WIDTH)) + 0.5 + sign[:, None] * axis)


@pytest.fixture
def neutral() -> Matrix:
    return made_up(NEUTRAL, seed=2)


HARD = HardDebias("hard", PAIRS, equalise=PAIRS[:3], keep=("w0",))


@pytest.mark.parametrize(
    "transform",
    [
        HARD,
        MeanDifference(CLASSES),
        Inlp(CLASSES, 3),
        SentenceDebias("sentence", PAIRS, ("a {} b", "c {}"), 2),
    ],
)
def test_what_is_removed_is_orthogonal_to_every_neutral_word_and_removing_it_again_changes_nothing(
    transform: Any, neutral: Matrix
) -> None:
    change: Steps = transform.fit(made_up(transform.texts()))
    (step,) = change.steps
    basis = step.right
    assert basis @ basis.T == pytest.approx(np.eye(len(basis)), abs=1e-12)
    words = NEUTRAL[1:]  # w0 is kept by hard debiasing
    changed = change(neutral[1:], words)
    assert np.abs(changed @ basis.T).max() < 1e-12
    assert change(changed, words) == pytest.approx(changed, abs=1e-12)


def test_the_direction_of_hard_debiasing_is_the_first_principal_one_of_the_pairs() -> None:
    vectors = made_up(HARD.texts())
    place = {text: row for row, text in enumerate(HARD.texts())}
    units = unit_length(vectors)
    halves = [units[place[a]] - units[place[b]] for a, b in PAIRS]
    values, axes = np.linalg.eigh(np.cov(np.concatenate([halves, -np.array(halves)]).T))
    (step,) = HARD.fit(vectors).steps
    assert abs(step.right[0] @ axes[:, values.argmax()]) == pytest.approx(1, abs=1e-12)


def test_equalised_pairs_are_as_near_to_each_neutral_word_and_kept_words_only_change_their_length(
    neutral: Matrix,
) -> None:
    change = HARD.fit(made_up(HARD.texts()))
    pair = change(made_up(("m0", "f0")), ("m0", "f0"))
    rest = change(neutral, NEUTRAL)
    assert pair[0] @ rest[1:].T == pytest.approx(pair[1] @ rest[1:].T, abs=1e-12)
    assert np.linalg.norm(pair, axis=1) == pytest.approx(1)
    assert pair[0] - pair[1] == pytest.approx(
        2 * (pair[0] @ change.steps[0].right[0]) * change.steps[0].right[0], abs=1e-12
    )
    assert rest[0] == pytest.approx(neutral[0] / np.linalg.norm(neutral[0]))


@pytest.mark.parametrize("shrinkage", [True, False])
def test_after_leace_no_linear_classifier_beats_the_base_rate_on_the_words_of_the_list(
    shrinkage: bool,
) -> None:
    rows = made_up(CLASSES.all_words)
    labels = np.array(CLASSES.labels)
    change = Leace(CLASSES, shrinkage).fit(rows)
    erased = change(rows, CLASSES.all_words)
    means = [erased[labels == side].mean(axis=0) for side in (0, 1)]
    assert means[0] == pytest.approx(means[1], abs=1e-6)
    # Equal class means are what "no linear classifier" comes to: the best least-squares one has no slope left.
    design = np.column_stack([erased, np.ones(len(erased))])
    weights = np.linalg.lstsq(design, labels * 1.0, rcond=1e-10)[0]
    assert design @ weights == pytest.approx(np.full(len(labels), labels.mean()), abs=1e-6)
    assert change(erased, CLASSES.all_words) == pytest.approx(erased, abs=1e-9)
    assert erased.mean(axis=0) == pytest.approx(rows.mean(axis=0), abs=1e-9)


def test_each_direction_of_inlp_is_orthogonal_to_those_before_and_nothing_is_left_to_read_at_the_end() -> (
    None
):
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    rows = rng.standard_normal((400, 6))
    rows[:, 0] += 3.0 * labels
    rows[:, 1] += 2.0 * labels
    few, many = (classifier_directions(rows, labels, count) for count in (1, 5))
    assert many @ many.T == pytest.approx(np.eye(len(many)), abs=1e-10)
    assert abs(few[0] @ many[0]) == pytest.approx(1, abs=1e-6)
    left = rows - (rows @ many.T) @ many
    # The difference of the class means is what a linear classifier reads first; it is gone up to noise.
    before, after = (
        np.linalg.norm(r[labels == 1].mean(axis=0) - r[labels == 0].mean(axis=0)) for r in (rows, left)
    )
    assert before > 3
    assert after < 0.3


def test_all_but_the_top_is_the_papers_formula() -> None:
    """v − mean − Σ (uᵢ·v) uᵢ, with u from an eigendecomposition instead of our SVD (Mu & Viswanath 2018)."""
    rows = made_up(NEUTRAL, seed=3)
    mean = rows.mean(axis=0)
    values, axes = np.linalg.eigh(np.cov(rows.T))
    top = axes[:, np.argsort(-values)[:2]]
    expected = rows - mean - (rows @ top) @ top.T
    changed = AllButTheTop("made-up", NEUTRAL, 2).fit(rows)(rows, NEUTRAL)
    assert changed == pytest.approx(expected, abs=1e-10)


def test_double_hard_removes_one_principal_direction_and_then_that_of_the_pairs() -> None:
    hard = HardDebias("hard?x&components=1", PAIRS)
    transform = DoubleHard(hard, "made-up", NEUTRAL, candidates=4, biased=20)
    vectors = made_up(transform.texts())
    change = transform.fit(vectors)
    frequent = vectors[-len(NEUTRAL) :]
    values, axes = np.linalg.eigh(np.cov(frequent.T))
    first, second = change.steps
    top = axes[:, np.argsort(-values)[:4]]
    assert np.linalg.norm(top.T @ first.right[0]) == pytest.approx(
        1, abs=1e-9
    )  # one of the four, or in their span
    assert np.abs(top.T @ first.right[0]).max() == pytest.approx(1, abs=1e-9)
    changed = change(made_up(NEUTRAL, seed=5), NEUTRAL)
    assert np.abs(changed @ second.right.T).max() < 1e-12


def test_sentence_debias_takes_differences_template_by_template() -> None:
    transform = SentenceDebias("sentence", PAIRS[:2], ("a {} b", "c {}"), 1)
    assert transform.texts() == (
        *("a m0 b", "a f0 b", "a m1 b", "a f1 b"),
        *("c m0", "c f0", "c m1", "c f1"),
    )
    vectors = np.zeros((8, 3))
    vectors[:, 2] = [5, 5, 7, 7, 1, 1, 3, 3]  # what pairs have in common does not matter
    vectors[::2, 0] = 1.0
    (step,) = transform.fit(vectors).steps
    assert np.abs(step.right) == pytest.approx(np.array([[1.0, 0.0, 0.0]]), abs=1e-12)


def test_a_row_of_nan_stays_one_and_no_row_depends_on_another(neutral: Matrix) -> None:
    change = HARD.fit(made_up(HARD.texts()))
    with_gap = neutral.copy()
    with_gap[3] = np.nan
    changed = change(with_gap, NEUTRAL)
    assert np.isnan(changed[3]).all()
    others = np.arange(len(NEUTRAL)) != 3
    assert (changed[others] == change(neutral, NEUTRAL)[others]).all()
    blocks: Callable[[slice], Matrix] = lambda part: change(neutral[part], NEUTRAL[part])  # noqa: E731
    together = np.concatenate([blocks(slice(0, 33)), blocks(slice(33, 80))])
    assert together == pytest.approx(change(neutral, NEUTRAL), abs=1e-14)


def test_a_projection_of_another_width_is_refused() -> None:
    from weatherglass.errors import EncoderError

    with pytest.raises(EncoderError, match=naming("3 dimensions", 2)):
        projection(np.eye(3)[:1])(np.ones((1, 2)), ("word",))
