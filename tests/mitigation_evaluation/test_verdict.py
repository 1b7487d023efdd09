"""The verdict's rule, and tests on words that a transform never saw."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.mitigation import TRUTHS, judged
from tests.messages import mentions

from weatherglass.catalogue import load_test
from weatherglass.mitigation_evaluation.recovery import BeforeAfter, IntervalEstimate
from weatherglass.mitigation_evaluation.verdict import (
    CANNOT_TELL,
    HIDDEN,
    NOT_REMOVED,
    REMOVED,
    HeldOut,
    MetricChange,
    held_out_test,
    verdict,
    with_holm,
)

ROW = MetricChange(
    *(
        "weat7 held-out",
        "cosine/mean",
        True,
        True,
        1.2,
        0.1,
        0.01,
        0.01,
        0.6,
        1.0,
        -1.5,
        -0.6,
        0.001,
        1.2,
        0.1,
        16,
    ),
    contrast=True,
    optimised=False,
)


def recovered(after: float, low: float) -> BeforeAfter:
    return BeforeAfter(
        "linear classifier", IntervalEstimate(0.9, 0.85, 0.95), IntervalEstimate(after, low, 1.0), 0.5
    )


@pytest.mark.parametrize(
    ("change", "left", "word"),
    [
        ({}, (0.52, 0.48), REMOVED),
        ({}, (0.90, 0.85), HIDDEN),
        ({}, (0.63, 0.59), REMOVED),  # a quarter of 0.4 above 0.5 is 0.6
        ({}, (0.66, 0.61), HIDDEN),
        ({"after": 0.7}, (0.52, 0.48), NOT_REMOVED),
        ({"p_after_holm": 0.03}, (0.52, 0.48), NOT_REMOVED),
        ({"after": -1.1, "p_after": 0.01, "p_after_holm": 0.03}, (0.52, 0.48), NOT_REMOVED),
        ({"p_after_holm": 0.03, "contrast": False}, (0.52, 0.48), REMOVED),
        ({"p_before_holm": 0.4}, (0.9, 0.85), CANNOT_TELL),
        ({"p_before": 0.01, "p_before_holm": 0.06}, (0.9, 0.85), CANNOT_TELL),  # the corrected p decides
    ],
)
def test_the_verdict_follows_the_printed_rule(
    change: dict[str, object], left: tuple[float, float], word: str
) -> None:
    row = replace(ROW, **change)  # type: ignore[arg-type]
    assert verdict([row], [row], [recovered(*left)], 0.05).word == word


def test_a_changed_sign_in_a_test_with_seen_words_is_not_removed_and_said_to_be_no_cure() -> None:
    turned = replace(ROW, test="weat7", before=0.97, after=-1.0, p_after=0.02, p_after_holm=0.04)
    for left in ((0.52, 0.48), (0.9, 0.85)):
        found = verdict([ROW], [turned], [recovered(*left)], 0.05)
        assert found.word == NOT_REMOVED
        assert any(mentions(reason, "weat7", "0.97", "−1.00", "sign") for reason in found.reasons)
    by_chance = replace(turned, p_after_holm=0.06)  # p after is 0.02, but there are several tests
    assert verdict([ROW], [by_chance], [recovered(0.52, 0.48)], 0.05).word == REMOVED


def test_the_level_is_the_one_that_is_given() -> None:
    weak = replace(ROW, p_before_holm=0.03, p_after_holm=0.03)
    assert verdict([weak], [weak], [], 0.05).word == NOT_REMOVED
    assert verdict([weak], [weak], [], 0.01).word == CANNOT_TELL
    turned = replace(ROW, after=-1.0, p_after_holm=0.03)
    assert (turned.flipped(0.05), turned.flipped(0.01)) == (True, False)


def test_holm_is_over_effect_sizes_before_and_over_contrasts_after() -> None:
    rows = [
        replace(ROW, test="one", p_before=0.01, p_after=0.02),
        replace(ROW, test="two", p_before=0.04, p_after=0.5),
        replace(ROW, test="one", metric="rnd", poolable=False, p_before=0.001, p_after=0.03),
        replace(ROW, test="one", metric="mac", poolable=False, contrast=False, p_after=0.001),
    ]
    corrected = with_holm(rows)
    assert [row.p_before_holm for row in corrected] == [pytest.approx(0.02), pytest.approx(0.04), None, None]
    after = [pytest.approx(0.06), pytest.approx(0.5), pytest.approx(0.06), None]
    assert [row.p_after_holm for row in corrected] == after


@pytest.mark.parametrize("truth", TRUTHS)
def test_planted_truths_are_found(truth: str) -> None:
    """A few repetitions of `python -m benchmarks.mitigation`, which prints the shares."""
    found = [judged(truth, seed)[0] for seed in range(8)]
    assert found.count(TRUTHS[truth]) >= 5, found


def test_seen_words_are_left_out_and_held_out_words_of_the_same_side_come_in_for_most_of_a_set() -> None:
    test = load_test("weat7")
    male, female = (element_set.words for element_set in test.attributes)
    seen = {*male[:6], "she"}
    spare = [("husband", "wife"), (male[0], "her"), ("actor", "actress")]
    held = held_out_test(test, seen, (male, female), spare)
    assert isinstance(held, HeldOut)
    assert held.left_out == (*male[:6], "she")
    assert held.added == (
        "husband",
        "actor",
    )  # none for the one word of the other side, and none that was seen
    a, b = held.test.attributes
    assert a.words == (*male[6:], "husband", "actor")
    assert b.words == tuple(word for word in female if word != "she")
    assert held.test.targets == test.targets


def test_a_test_whose_words_were_all_seen_has_no_held_out_form() -> None:
    test = load_test("sent-weat7")
    male = tuple(dict.fromkeys(test.attributes[0].words))
    said = held_out_test(test, set(male), (male, ()), [("husband", "wife")])
    assert isinstance(said, str)
    assert mentions(said, "sent-weat7", f"{len(male)} words", "MaleTerms")
