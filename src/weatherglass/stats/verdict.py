"""Decide the outcome of each topic of one model and metric from its tests (docs/methods 12).

A family contains the N topics of one model and metric, so that an outcome depends neither on the other models of a run
nor on the number of rows. The same decision tree judges rows and topics, so that they cannot contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from weatherglass.stats import Limit, Outcome, Significance
from weatherglass.stats.attributes import fixed_attributes
from weatherglass.stats.interval import Interval
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.power import minimum_detectable_effect_size, power_at
from weatherglass.stats.topic import Topic, TopicTest, topic_of
from weatherglass.stats.topic_attributes import topic_p_random
from weatherglass.stats.topic_effect import (
    BesidePieces,
    Lifting,
    SingleTests,
    adjusted_p_of_tests,
    beside_pieces,
    lifting_words,
    topic_interval,
    topic_p,
)


@dataclass(frozen=True, slots=True)
class RowEvidence:
    """The evidence of one test of a topic."""

    p: float
    """The p of the row for fixed attributes; 1 if it is undefined."""
    p_adjusted: float
    """p_maxT, adjusted for the number of tests of the topic."""
    sign: int | None
    """The sign of the effect; None if the metric has no direction."""
    p_random: float | None = None
    pieces: BesidePieces | None = None
    stable: bool | None = None
    """Whether p is at most alpha without any single word; None if this was not computed."""
    bound: float | None = None
    """U, the limit above which |d| is excluded."""
    p_both: float = field(init=False)
    """q, the larger of p_maxT and the p of the row for random attributes."""
    p_pieces: float = field(init=False)
    """The p adjusted for the number of tokens; 0 if that number does not vary."""

    def __post_init__(self) -> None:
        p_both = 1.0 if self.p_random is None else max(self.p_adjusted, _known(self.p_random))
        object.__setattr__(self, "p_both", p_both)
        object.__setattr__(self, "p_pieces", 0.0 if self.pieces is None else self.pieces.p)


@dataclass(frozen=True, slots=True, eq=False)
class TopicEvidence:
    """The evidence of a topic before it is compared with others."""

    rows: tuple[RowEvidence | None, ...]
    """The evidence of each test, in the given order; None for a confounded test, which has an effect size but no p."""
    significance: Significance | None
    """The p of D; None if no test is tested."""
    topic: Topic | None = None
    """The tests that make up D; None for metrics that are not a signed d."""
    places: tuple[int, ...] = ()
    """The indices of the combined tests among the given ones."""
    effect_size: float | None = None
    """D; None for metrics that are not a signed d."""
    interval: Interval | None = None
    p_random: float | None = None
    pieces: BesidePieces | None = None
    method_of_rows: str = ""
    """The method by which p_maxT was computed."""
    tested: tuple[RowEvidence, ...] = field(init=False)
    """The rows that are tested."""
    p_exchange: float = field(init=False)
    """The p of D."""
    p: float = field(init=False)
    """The larger of the p of D and the p after adjustment for the number of tokens."""
    p_both: float = field(init=False)
    """The larger of p and the p for random attributes; 1 if that does not exist."""
    p_pieces_of_rows: tuple[float, ...] = field(init=False)
    """The p of each test after adjustment for the number of tokens, corrected with Holm's method over the tests of the
    topic.
    """

    def __post_init__(self) -> None:
        tested = tuple(row for row in self.rows if row is not None)
        p_exchange = 1.0 if self.significance is None else _known(self.significance.p_value)
        p = max(p_exchange, 0.0 if self.pieces is None else self.pieces.p)
        pieces = iter(adjust([row.p_pieces for row in tested], "holm")) if tested else iter(())
        computed = {
            "tested": tested,
            "p_exchange": p_exchange,
            "p": p,
            "p_both": 1.0 if self.p_random is None else max(p, _known(self.p_random)),
            "p_pieces_of_rows": tuple(0.0 if row is None else float(next(pieces)) for row in self.rows),
        }
        for name, value in computed.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class RowDecision:
    """The outcome of one test."""

    outcome: Outcome | None
    """The outcome; None if the test is confounded, or the metric has no p."""
    marked: bool
    """Whether the test is significant after correction for the tests of its topic and for all topics."""
    limit: Limit | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TopicDecision:
    """The outcome of one topic and its evidence."""

    outcome: Outcome | None
    """The outcome; None if no test is tested, or the metric has no p."""
    limit: Limit | None
    rows: tuple[RowDecision, ...]
    p_adjusted: float | None
    """p, adjusted with Holm's method over the topics."""
    p_both_adjusted: float | None
    """The larger of p and the p for random attributes, adjusted with Holm's method over the topics."""
    family: int
    """N, the number of topics that are corrected together."""
    evidence: TopicEvidence
    lifting: tuple[Lifting, ...] = ()
    """Words without which the p of D is above alpha; they are computed only if the outcome depends on them."""


def judge_topics(
    topics: Sequence[Sequence[TopicTest]],
    alpha: float = 0.05,
    margin: float | None = None,
    multiverse_p: Sequence[float | None] | None = None,
) -> list[TopicDecision]:
    """Return the decision on each topic of one family, for a metric that is a signed d.

    Args:
        topics: the tests of each topic, including confounded ones.
        alpha: the significance level of the whole family.
        margin: the smallest |d| of interest; without it, no outcome is small.
        multiverse_p: the p of a multiverse for each topic; None for a topic without one.
    """
    return decide([measure_topic(tests, alpha) for tests in topics], alpha, margin, multiverse_p)


def measure_topic(tests: Sequence[TopicTest], alpha: float = 0.05) -> TopicEvidence:
    """Return D with its p, its interval and the other evidence that the rule needs.

    Args:
        tests: the tests of the topic; tests that are confounded or have constant scores are left out.
        alpha: the significance level; the interval has the level 1 − alpha.
    """
    taking_part = [place for place, test in enumerate(tests) if not test.confounded and test.varies]
    if not taking_part:
        rows = [None if test.confounded else RowEvidence(1.0, 1.0, 0) for test in tests]
        known = any(row is not None for row in rows)
        nothing = Significance(1.0, 1.0, 1.0, "enumerate", 1.0, True, 1.0) if known else None
        return TopicEvidence(tuple(rows), nothing)
    topic = topic_of([tests[place] for place in taking_part])
    own_p = [_known(test.p_value) for test in topic.tests]
    pieces = beside_pieces(topic, alpha)
    if len(topic.tests) == 1:  # all numbers are exactly those of the row
        (test,) = topic.tests
        x, y = np.split(np.asarray(test.scores, dtype=np.float64), [test.n_x])
        interval = fixed_attributes(x, y, own_p[0], alpha, test.ddof).interval
        significance = Significance(own_p[0], None, None, "own", 0.0, False, own_p[0])
        adjusted, p_random = SingleTests(np.array(own_p), "own"), test.p_random
        own_pieces = [pieces]
    else:
        significance = topic_p(topic.layout)
        interval = topic_interval(topic, significance.p_value, alpha)
        adjusted, p_random = adjusted_p_of_tests(topic.layout, own_p), topic_p_random(topic)
        own_pieces = [beside_pieces(topic_of([test]), alpha) for test in topic.tests]
    found = {
        place: RowEvidence(
            p=own,
            p_adjusted=float(p),
            sign=int(d > 0) - int(d < 0),
            p_random=test.p_random,
            pieces=beside,
            stable=test.stable,
            bound=test.bound,
        )
        for place, test, own, p, d, beside in zip(
            taking_part, topic.tests, own_p, adjusted.p, topic.layout.d, own_pieces, strict=True
        )
    }
    flat = RowEvidence(1.0, 1.0, 0)
    return TopicEvidence(
        rows=tuple(None if t.confounded else found.get(place, flat) for place, t in enumerate(tests)),
        significance=significance,
        topic=topic,
        places=tuple(taking_part),
        effect_size=topic.layout.effect_size,
        interval=interval,
        p_random=p_random,
        pieces=pieces,
        method_of_rows=adjusted.method,
    )


def measure_unsigned_topic(
    rows: Sequence[tuple[float, int | None]], stable: Sequence[bool | None] | None = None
) -> TopicEvidence:
    """Return the evidence of a topic for a metric that is not a signed d; its p is J times the smallest p of its rows.

    Args:
        rows: the p of each test and its sign, which is None if the metric has no direction.
        stable: whether p is at most alpha without any single unit, by test; None for a metric that depends on more
            than the units that are exchanged, so that its p does not generalise.
    """
    p = np.array([_known(value) for value, _ in rows])
    smallest = min(1.0, len(p) * float(p.min()))
    found = zip(p, adjust(p, "holm"), rows, stable or [None] * len(rows), strict=True)
    return TopicEvidence(
        rows=tuple(
            RowEvidence(float(own), float(adjusted), sign, float(own) if stable else None, stable=known)
            for own, adjusted, (_, sign), known in found
        ),
        significance=Significance(smallest, None, None, "smallest of the tests", 0.0, False, smallest),
        p_random=smallest if stable else None,
        method_of_rows="holm",
    )


def decide(
    topics: Sequence[TopicEvidence],
    alpha: float = 0.05,
    margin: float | None = None,
    multiverse_p: Sequence[float | None] | None = None,
) -> list[TopicDecision]:
    """Return the decision on each topic of one family; see `judge_topics`."""
    family = [place for place, topic in enumerate(topics) if topic.significance is not None]
    multiverse = multiverse_p or [None] * len(topics)
    tested = [topics[place] for place in family]
    smallest_of_rows = [min((row.p_both for row in topic.tested), default=1.0) for topic in tested]
    by_kind = (
        [topic.p_exchange for topic in tested],
        [topic.p for topic in tested],
        [topic.p_both for topic in tested],
        smallest_of_rows,
    )
    holm = _Holm(*(dict(zip(family, map(float, adjust(p, "holm")), strict=True)) for p in by_kind))
    judge = _Judge(alpha, margin, len(family), holm)
    return [judge.topic(place, topic, multiverse[place]) for place, topic in enumerate(topics)]


@dataclass(frozen=True, slots=True)
class _Holm:
    """Adjusted p-values by the index of the topic."""

    exchange: dict[int, float]
    p: dict[int, float]
    both: dict[int, float]
    smallest_of_rows: dict[int, float]


@dataclass(frozen=True, slots=True)
class _Judge:
    alpha: float
    margin: float | None
    family: int
    holm: _Holm

    def topic(self, place: int, evidence: TopicEvidence, multiverse_p: float | None) -> TopicDecision:
        if evidence.significance is None:
            rows = tuple(RowDecision(None, False) for _ in evidence.rows)
            return TopicDecision(None, None, rows, None, None, self.family, evidence)
        rows = tuple(self._row(place, number, evidence) for number in range(len(evidence.rows)))
        outcome, limit, lifting = self._outcome(place, evidence, rows, multiverse_p)
        if len(evidence.tested) == 1:
            # The only row of a topic has the outcome of the topic.
            marked = outcome in (Outcome.ROBUST, Outcome.LIMITED)
            rows = tuple(
                own if row is None else replace(own, outcome=outcome, marked=marked, limit=limit)
                for own, row in zip(rows, evidence.rows, strict=True)
            )
        return TopicDecision(
            outcome,
            limit,
            rows,
            self.holm.p[place],
            self.holm.both[place],
            self.family,
            evidence,
            lifting,
        )

    def _outcome(
        self, place: int, evidence: TopicEvidence, rows: Sequence[RowDecision], multiverse_p: float | None
    ) -> tuple[Outcome, Limit | None, tuple[Lifting, ...]]:
        alpha = self.alpha
        if self.holm.p[place] <= alpha:
            if self.holm.both[place] > alpha:
                return Outcome.LIMITED, Limit.ATTRIBUTES, ()
            stable, lifting = self._stable(evidence)
            if not stable:
                return Outcome.LIMITED, Limit.ONE_WORD, lifting
            if multiverse_p is not None and not multiverse_p <= alpha:
                return Outcome.LIMITED, Limit.MULTIVERSE, ()
            return Outcome.ROBUST, None, ()
        # Pieces limit the outcome if it would be stronger without them.
        corrected = self.holm.exchange[place] <= alpha < self.holm.p[place]
        pieces = Limit.PIECES if corrected or evidence.p_exchange <= alpha < evidence.p else None
        marked = [
            row.sign for row, own in zip(evidence.rows, rows, strict=True) if row is not None and own.marked
        ]
        if 1 in marked and -1 in marked:
            return Outcome.CONFLICTING, pieces, ()
        if marked and len(evidence.tested) > 1:
            return Outcome.ISOLATED, pieces, ()
        if evidence.p <= alpha:
            return Outcome.UNCONFIRMED, pieces, ()
        return self._small_or_inconclusive(evidence.tested), pieces, ()

    def _stable(self, evidence: TopicEvidence) -> tuple[bool, tuple[Lifting, ...]]:
        """Return whether the p of D is at most alpha without any single word, and the words whose removal makes it
        larger.
        """
        tested = evidence.tested
        if len(tested) == 1 and tested[0].stable is not None:
            return tested[0].stable, ()
        if evidence.topic is None:
            return bool(min(tested, key=lambda row: row.p_adjusted).stable), ()
        lifting = tuple(lifting_words(evidence.topic, self.alpha))
        return not lifting, lifting

    def _row(self, place: int, number: int, evidence: TopicEvidence) -> RowDecision:
        row = evidence.rows[number]
        if row is None:
            return RowDecision(None, False)
        alpha = self.alpha
        # p with pieces is corrected like p; without correction, random models would have a marked row in 16 % of runs.
        p_pieces = evidence.p_pieces_of_rows[number]
        if self.family * max(row.p_adjusted, p_pieces) <= alpha:
            if row.p_both > alpha or self.holm.smallest_of_rows[place] > alpha:
                return RowDecision(Outcome.LIMITED, True, Limit.ATTRIBUTES)
            if not self._row_stable(evidence, number):
                return RowDecision(Outcome.LIMITED, True, Limit.ONE_WORD)
            return RowDecision(Outcome.ROBUST, True)
        if max(row.p, row.p_pieces) <= alpha:
            limit = Limit.PIECES if self.family * row.p_adjusted <= alpha else None
            return RowDecision(Outcome.UNCONFIRMED, False, limit)
        limit = Limit.PIECES if row.p <= alpha < row.p_pieces else None
        return RowDecision(self._small_or_inconclusive([row]), False, limit)

    def _row_stable(self, evidence: TopicEvidence, number: int) -> bool:
        row = evidence.rows[number]
        assert row is not None
        if row.stable is not None or evidence.topic is None:
            return bool(row.stable)
        test = evidence.topic.tests[evidence.places.index(number)]
        return not lifting_words(topic_of([test]), self.alpha, first_only=True)

    def _small_or_inconclusive(self, rows: Sequence[RowEvidence]) -> Outcome:
        if self.margin is not None and all(row.bound is not None and row.bound < self.margin for row in rows):
            return Outcome.SMALL
        return Outcome.INCONCLUSIVE


def minimum_detectable_mean(topic: Topic, alpha: float, chance: float = 0.8) -> float | None:
    """Return the smallest D that is detected with the power `chance`; None if no effect can be detected.

    Scores are assumed to be normal, and the covariance of the tests of the topic to be as observed.
    """
    layout = topic.layout
    if len(topic.tests) == 1:
        (test,) = topic.tests
        n_y = len(test.words) - test.n_x
        return minimum_detectable_effect_size(test.n_x, n_y, alpha, "two-sided", chance, test.ddof)
    inside = float(layout.weights @ np.array([s.df / (s.n - s.ddof) for s in layout.scales]))
    if layout.exchangeable:
        if 1 / layout.labellings > alpha:
            return None
        variance, df = layout.exchange_variance, max(layout.word_df, float(layout.df))
    else:
        # Because of the effect, z varies less within the sets than over both.
        room = 1 - (layout.effect_size / layout.largest) ** 2
        variance, df = layout.word_variance * inside / max(room, 1e-6), float(layout.df)
    if not variance > 0 or not df >= 1:
        return None
    sd = math.sqrt(variance)
    beyond = sd
    while power_at(beyond / sd, df, alpha) < chance:
        beyond *= 2
    g, step = beyond / 2, beyond / 4
    while step > 1e-9 * beyond:
        g += step if power_at(g / sd, df, alpha) < chance else -step
        step /= 2
    return g / math.sqrt(inside + (g / layout.largest) ** 2)


def _known(p: float) -> float:
    return 1.0 if math.isnan(p) else p
