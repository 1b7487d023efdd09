"""The decision tree for topics and rows (docs/methods 12)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.stats.topic_cases import random_topic

from weatherglass.stats import Limit, Outcome, Significance
from weatherglass.stats.topic import topic_of
from weatherglass.stats.topic_effect import BesidePieces
from weatherglass.stats.verdict import (
    RowEvidence,
    TopicEvidence,
    decide,
    judge_topics,
    measure_topic,
    measure_unsigned_topic,
    minimum_detectable_mean,
)

FIRM = RowEvidence(1e-6, 1e-6, 1, p_random=1e-6, stable=True, bound=2.0)


def topic(
    p: float, p_random: float | None, *rows: RowEvidence | None, pieces: float | None = None
) -> TopicEvidence:
    beside = None if pieces is None else BesidePieces(0.1, pieces, None)
    return TopicEvidence(
        rows, Significance(p, p, p, "enumerate", 0.0, True, p), p_random=p_random, pieces=beside
    )


def null() -> TopicEvidence:
    return topic(0.9, 0.9, RowEvidence(0.9, 0.9, 1, p_random=0.9))


def first(
    evidence: TopicEvidence, others: int = 7, margin: float | None = None
) -> tuple[Outcome | None, Limit | None]:
    decision = decide([evidence, *[null()] * others], 0.05, margin)[0]
    return decision.outcome, decision.limit


def test_every_outcome_has_its_own_mark() -> None:
    assert "".join(outcome.mark for outcome in Outcome) == "●◐↔◇○≈·"


def test_the_first_rule_that_fits_decides() -> None:
    assert first(topic(0.001, 0.001, FIRM)) == (Outcome.ROBUST, None)
    assert first(topic(0.001, 0.02, FIRM)) == (Outcome.LIMITED, Limit.ATTRIBUTES)
    assert first(topic(0.001, None, FIRM)) == (Outcome.LIMITED, Limit.ATTRIBUTES)
    assert first(topic(0.001, 0.001, replace(FIRM, stable=False))) == (Outcome.LIMITED, Limit.ONE_WORD)
    against = replace(FIRM, sign=-1)
    assert first(topic(0.5, 0.5, FIRM, against)) == (Outcome.CONFLICTING, None)
    weak = replace(FIRM, p=0.5, p_adjusted=0.5)
    assert first(topic(0.5, 0.5, FIRM, weak)) == (Outcome.ISOLATED, None)
    assert first(topic(0.04, 0.001, weak, weak)) == (Outcome.UNCONFIRMED, None)
    assert first(topic(0.5, 0.5, weak, weak)) == (Outcome.INCONCLUSIVE, None)
    small = replace(weak, bound=0.3)
    assert first(topic(0.5, 0.5, small, small), margin=0.5) == (Outcome.SMALL, None)
    assert first(topic(0.5, 0.5, small, weak), margin=0.5) == (Outcome.INCONCLUSIVE, None)


def test_holm_is_over_the_topics_that_are_tested() -> None:
    confounded = TopicEvidence((None, None), None)
    evidence = topic(0.009, 0.009, FIRM)
    assert first(evidence, others=4) == (Outcome.ROBUST, None)
    assert first(evidence, others=5) == (Outcome.UNCONFIRMED, None)
    found = decide([evidence, confounded, *[null()] * 4])
    assert found[0].outcome is Outcome.ROBUST
    assert found[0].family == 5
    assert found[1].outcome is None
    assert [row.outcome for row in found[1].rows] == [None, None]


def test_pieces_only_lower() -> None:
    assert first(topic(0.001, 0.001, FIRM, pieces=1e-9)) == (Outcome.ROBUST, None)
    assert first(topic(0.001, 0.001, FIRM, pieces=0.03)) == (Outcome.UNCONFIRMED, Limit.PIECES)
    weak = replace(FIRM, p_adjusted=0.5)
    assert first(topic(0.001, 0.001, weak, weak, pieces=0.3)) == (Outcome.INCONCLUSIVE, Limit.PIECES)
    row = replace(FIRM, pieces=BesidePieces(0.1, 0.3, None))
    (decision,) = decide([topic(0.5, 0.5, row, weak)])
    assert (decision.rows[0].marked, decision.rows[0].limit) == (False, Limit.PIECES)
    assert decision.outcome is Outcome.INCONCLUSIVE


def test_pieces_of_rows_are_corrected_for_tests_and_topics() -> None:
    row = replace(FIRM, pieces=BesidePieces(0.1, 0.004, None))
    other = replace(FIRM, p=0.5, p_adjusted=0.5, pieces=BesidePieces(0.1, 0.5, None))
    (alone,) = decide([topic(0.5, 0.5, row, other)])
    assert alone.rows[0].marked
    among_eight = decide([topic(0.5, 0.5, row, other), *[null()] * 7])[0]
    assert (among_eight.rows[0].outcome, among_eight.rows[0].limit) == (Outcome.UNCONFIRMED, Limit.PIECES)


def test_a_multiverse_can_take_back_robust() -> None:
    evidence = topic(0.001, 0.001, FIRM)
    found = [decide([evidence], multiverse_p=[p])[0] for p in (0.01, 0.2, None, math.nan)]
    assert [d.outcome for d in found] == [Outcome.ROBUST, Outcome.LIMITED, Outcome.ROBUST, Outcome.LIMITED]
    assert found[1].limit is Limit.MULTIVERSE


def test_rows_are_judged_by_the_same_words() -> None:
    rows = [
        FIRM,
        replace(FIRM, stable=False),
        replace(FIRM, p_random=0.2),
        replace(FIRM, p=0.001, p_adjusted=0.02),
        replace(FIRM, p=0.2, p_adjusted=0.4),
        None,
    ]
    decision = decide([topic(0.5, 0.5, *rows), *[null()] * 3])[0]
    assert [(row.outcome, row.marked) for row in decision.rows] == [
        (Outcome.ROBUST, True),
        (Outcome.LIMITED, True),
        (Outcome.LIMITED, True),
        (Outcome.UNCONFIRMED, False),
        (Outcome.INCONCLUSIVE, False),
        (None, False),
    ]
    assert decision.outcome is Outcome.ISOLATED


def test_a_row_is_robust_only_where_holm_of_the_smallest_q_is_below_alpha() -> None:
    row = replace(FIRM, p_random=0.03)
    other = replace(FIRM, p=0.5, p_adjusted=0.5)
    alone = decide([topic(0.5, 0.5, row, other)])[0]
    among = decide([topic(0.5, 0.5, row, other), null()])[0]
    assert alone.rows[0].outcome is Outcome.ROBUST
    assert (among.rows[0].outcome, among.rows[0].limit) == (Outcome.LIMITED, Limit.ATTRIBUTES)


def test_metrics_without_a_signed_d_are_at_most_limited_and_without_sign_never_conflicting() -> None:
    signed = measure_unsigned_topic([(1e-4, 1), (1e-4, -1), (0.5, 1)])
    assert signed.p_exchange == pytest.approx(3e-4)
    assert (signed.effect_size, signed.interval) == (None, None)
    assert decide([signed])[0].outcome is Outcome.LIMITED
    assert decide([signed])[0].limit is Limit.ATTRIBUTES
    # Holm over the topics is what "limited" asks, so a conflict shows only where the topic's own p does not pass.
    conflicting = replace(signed, significance=replace(signed.significance, p_value=0.5))  # type: ignore[type-var]
    assert decide([conflicting])[0].outcome is Outcome.CONFLICTING
    unsigned = replace(conflicting, rows=tuple(replace(row, sign=None) for row in signed.tested))
    assert decide([unsigned])[0].outcome is Outcome.ISOLATED
    assert decide([measure_unsigned_topic([(math.nan, None)])])[0].outcome is Outcome.INCONCLUSIVE


def test_confounded_and_flat_tests_take_no_part() -> None:
    tests = random_topic(np.random.default_rng(0), 3, (5, 6), "none", effect=2.0)
    flat = replace(tests[0], scores=np.zeros(len(tests[0].words)), p_value=1.0)
    confounded = replace(tests[1], confounded=True)
    found = measure_topic([flat, confounded, tests[2]])
    alone = measure_topic([tests[2]])
    assert found.effect_size == alone.effect_size
    assert found.p_exchange == alone.p_exchange
    assert found.rows[1] is None
    assert found.rows[0] is not None
    assert found.rows[0].p == 1.0
    assert measure_topic([confounded]).significance is None
    nothing = judge_topics([[confounded], [tests[2]]])
    assert nothing[0].outcome is None
    assert nothing[1].family == 1


def test_a_topic_hangs_on_one_word_where_its_p_does() -> None:
    hanging = 0
    for seed in range(40):
        tests = [
            replace(test, pieces=None)
            for test in random_topic(np.random.default_rng(seed), 2, (5, 6), "none", effect=1.5)
        ]
        evidence = measure_topic(tests)
        assert evidence.p_random is not None
        if evidence.p_random > evidence.p:
            continue
        # At a level just above p, there is always a word that carries the effect.
        alpha = 1.02 * evidence.p
        (found,) = judge_topics([tests], alpha)
        assert (found.outcome, found.limit) == (Outcome.LIMITED, Limit.ONE_WORD)
        assert all(entry.p > alpha and entry.role in "XYAB" for entry in found.lifting)
        hanging += bool(found.lifting)
    assert hanging > 3


def test_power_is_at_the_level_after_correction() -> None:
    tests = random_topic(np.random.default_rng(2), 1, (8, 8))
    alone, among = (minimum_detectable_mean(topic_of(tests), 0.05 / family) for family in (1, 8))
    assert alone == pytest.approx(1.21, abs=0.03)
    assert among is not None
    assert among > 1.4


def test_one_reading_is_robust_only_without_any_single_unit() -> None:
    rows = [(1e-4, 1)]
    assert decide([measure_unsigned_topic(rows, [True])])[0].outcome is Outcome.ROBUST
    fragile = decide([measure_unsigned_topic(rows, [False])])[0]
    assert (fragile.outcome, fragile.limit) == (Outcome.LIMITED, Limit.ONE_WORD)
    unknown = decide([measure_unsigned_topic(rows, [None])])[0]
    assert unknown.outcome is Outcome.LIMITED
    several = [(1e-4, 1), (0.3, 1)]
    assert decide([measure_unsigned_topic(several, [True, False])])[0].outcome is Outcome.ROBUST
    assert decide([measure_unsigned_topic(several, [False, True])])[0].outcome is Outcome.LIMITED
