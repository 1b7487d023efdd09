"""The verdict's rule, and tests on words that a transform never saw."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.messages import mentions

from weatherglass.catalogue import load_test
from weatherglass.cures.estimate import BeforeAfter, Estimate
from weatherglass.cures.held_out import HeldOut, held_out_test
from weatherglass.cures.rule import CANNOT_TELL, HIDDEN, NOT_REMOVED, REMOVED, Row, verdict

ROW = Row(
    *("weat7 held-out", "cosine/mean", True, True, 1.2, 0.1, 0.01, 0.6, 1.0, -1.5, -0.6, 0.001, 1.2, 0.1, 16),
    contrast=True,
    optimised=False,
)


def recovered(after: float, low: float) -> BeforeAfter:
    return BeforeAfter("linear classifier", Estimate(0.9, 0.85, 0.95), Estimate(after, low, 1.0), 0.5)


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
        ({"p_before": 0.4}, (0.9, 0.85), CANNOT_TELL),
    ],
)
def test_the_verdict_follows_the_printed_rule(
    change: dict[str, object], left: tuple[float, float], word: str
) -> None:
    row = replace(ROW, **change)  # type: ignore[arg-type]
    assert verdict([row], [row], [recovered(*left)]).word == word


def test_a_turned_sign_is_said_to_be_no_cure_also_where_it_is_in_a_test_with_seen_words() -> None:
    turned = replace(ROW, test="weat7", before=0.97, after=-1.0, p_after=0.02)
    found = verdict([ROW], [turned, ROW], [recovered(0.9, 0.85)])
    assert found.word == HIDDEN
    assert any(mentions(reason, "weat7", "0.97", "−1.00", "sign") for reason in found.reasons)


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
