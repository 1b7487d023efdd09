"""Combine the tests of one topic into D = Σ ω·d, over tests that may share words (docs/methods 12)."""

from __future__ import annotations

import hashlib
import math
from base64 import b64decode, b64encode
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.stats.scale import NO_SPREAD, Scale

SAME_NUMBER = 1e-9
"""The difference of logarithms below which two numbers of labellings are equal."""


@dataclass(frozen=True, slots=True, eq=False)
class AttributeTables:
    """The measures between the words of a test and single attribute words; larger means closer."""

    to_a: Matrix
    """A table with a row per target word (X first) and a column per word of A, averaged over the sentences of both."""
    to_b: Matrix
    a: Sequence[Hashable]
    """The words of A, in the order of the columns."""
    b: Sequence[Hashable]
    templates: Matrix | None = None
    """The scores s(w, t) by sentence template, if all target words occur in the same three or more templates."""
    template_names: Sequence[Hashable] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the measures for the journal; scores by template are stored with the scores of the row.

        Single precision is enough: p for random attributes comes from a t-test, and rounding a similarity to 7 digits
        changes it by less than one in a million. Verdicts always use the rounded numbers, even before they are stored.
        """
        table = np.concatenate([self.to_a, self.to_b], axis=1).astype("<f4")
        return {"a": list(self.a), "b": list(self.b), "table": b64encode(table.tobytes()).decode("ascii")}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> AttributeTables:
        """Return the tables from the result of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: if the record is damaged.
        """
        a, b = tuple(record["a"]), tuple(record["b"])
        numbers = np.frombuffer(b64decode(record["table"], validate=True), dtype="<f4")
        table = numbers.reshape(-1, len(a) + len(b)).astype(np.float64)
        return cls(table[:, : len(a)], table[:, len(a) :], a, b)

    def stored(self) -> AttributeTables:
        """Return the tables with the rounding that storing causes."""
        table = np.concatenate([self.to_a, self.to_b], axis=1).astype("<f4").astype(np.float64)
        columns = len(self.a)
        return replace(
            self, to_a=table[:, :columns], to_b=table[:, columns:], a=tuple(self.a), b=tuple(self.b)
        )


@dataclass(frozen=True, slots=True, eq=False)
class TopicTest:
    """The contribution of one test to its topic."""

    words: Sequence[Hashable]
    """The target words, X first."""
    n_x: int
    scores: Vector
    """The score s of each word."""
    p_value: float
    """The two-sided p of the row for fixed attributes, by words."""
    ddof: int = 1
    tables: AttributeTables | None = None
    """The attribute tables; None if the scores are not a difference of means over attribute words."""
    pieces: Vector | None = None
    """The mean number of tokens of each word's texts; None if the tokenizer is unknown."""
    p_random: float | None = None
    """The p of the row for random attributes; None if it does not exist."""
    stable: bool | None = None
    """Whether the p of the row is at most alpha without any single word; None if this was not computed."""
    bound: float | None = None
    """U, the limit above which |d| for random attributes is excluded; None if it is not estimable."""
    confounded: bool = False
    """Whether X and Y are confounded with a shared token or template, so that a p by words is not valid."""

    @property
    def varies(self) -> bool:
        """Return whether d is defined."""
        scores = np.asarray(self.scores, dtype=np.float64)
        return bool(np.isfinite(scores).all() and np.ptp(scores) > NO_SPREAD * np.abs(scores).max())


@dataclass(frozen=True, eq=False)
class Layout:
    """The tests (rows) and distinct words (columns) of a topic; entries are 0 if a word is not in a test."""

    scores: Matrix
    side: NDArray[np.int8]
    """The label of each word: 1 in X, −1 in Y, and 0 if the word is not in the test."""
    ddof: Integers
    words: tuple[Hashable, ...] = field(repr=False)
    given_weights: Vector | None = None
    """The weights ω of either sign, for a contrast; None for weights by size."""
    one_sd: bool = False
    """Whether all tests are divided by the common sd of all their words."""

    n_x: Integers = field(init=False, repr=False)
    """|X| of each test."""
    n_y: Integers = field(init=False, repr=False)
    variance_factor: Vector = field(init=False, repr=False)
    """1/|X| + 1/|Y| of each test."""
    weights: Vector = field(init=False, repr=False)
    """ω, proportional to |X||Y|/n; the weights sum to 1 and do not depend on labels."""
    sd: Vector = field(init=False, repr=False)
    """The sd of the scores of X and Y together, for each test."""
    z: Matrix = field(init=False, repr=False)
    """Standardised scores, which do not depend on labels."""
    d: Vector = field(init=False, repr=False)
    """d of each test."""
    effect_size: float = field(init=False)
    """D."""
    df: int = field(init=False)
    """The smallest degrees of freedom within the sets of a test."""

    def __post_init__(self) -> None:
        n_x, n_y = (self.side > 0).sum(axis=1), (self.side < 0).sum(axis=1)
        n, there = n_x + n_y, self.side != 0
        # Without a word, a test may have an empty set or no spread; `_whole_tests` leaves it out.
        with np.errstate(divide="ignore", invalid="ignore"):
            variance_factor = 1 / n_x + 1 / n_y
            weights = 1 / variance_factor
            weights = weights / weights.sum() if self.given_weights is None else self.given_weights
            centred = self.scores - (self.scores.sum(axis=1) / n)[:, np.newaxis]
            sd = np.sqrt((np.where(there, centred, 0.0) ** 2).sum(axis=1) / (n - self.ddof))
            if self.one_sd:
                # A word in several tests counts once; its score is the same in all, because the attributes are.
                first = there.argmax(axis=0)
                sd = np.full(len(sd), self.scores[first, np.arange(len(first))].std(ddof=1))
            z = np.where(there, centred / sd[:, np.newaxis], 0.0)
            x, y = (np.where(self.side == side, z, 0.0).sum(axis=1) for side in (1, -1))
            d = x / n_x - y / n_y
        computed = {"n_x": n_x, "n_y": n_y, "variance_factor": variance_factor, "weights": weights}
        computed |= {"sd": sd, "z": z, "d": d, "effect_size": float(weights @ d), "df": int(n.min()) - 2}
        for name, value in computed.items():
            object.__setattr__(self, name, value)

    @cached_property
    def scales(self) -> list[Scale]:
        """Return the sizes of each test."""
        return [Scale(int(x), int(y), int(d)) for x, y, d in zip(self.n_x, self.n_y, self.ddof, strict=True)]

    @cached_property
    def largest(self) -> float:
        """Return L, the largest |D| for these sizes."""
        return float(self.weights @ np.array([scale.largest for scale in self.scales]))

    @cached_property
    def contributions(self) -> Matrix:
        """Return the difference in d of each test between having a word in X and having it in Y."""
        return np.asarray(self.z * self.variance_factor[:, np.newaxis])

    @cached_property
    def in_x(self) -> NDArray[np.bool_]:
        """Return whether each word is in X; undefined if a word is in X of one test and in Y of another."""
        return np.asarray((self.side > 0).any(axis=0))

    @cached_property
    def flipped(self) -> bool:
        """Return whether a word is in X of one test and in Y of another."""
        return bool(((self.side > 0).any(axis=0) & (self.side < 0).any(axis=0)).any())

    @cached_property
    def strata(self) -> list[Integers]:
        """Return groups of words with the same set of tests."""
        return _groups(self.side != 0)

    @cached_property
    def labellings(self) -> int:
        """Return the number of labellings by exchange within strata."""
        return math.prod(math.comb(len(s), int(self.in_x[s].sum())) for s in self.strata)

    @cached_property
    def exchangeable(self) -> bool:
        """Return whether exchange within strata allows at least as many labellings as exchange within one test."""
        if self.flipped:
            return False
        if any(not 0 < self.in_x[stratum].sum() < len(stratum) for stratum in self.strata):
            return False
        alone = max(math.comb(scale.n, scale.n_x) for scale in self.scales)
        return math.log(self.labellings) >= math.log(alone) - SAME_NUMBER

    @cached_property
    def word_parts(self) -> Matrix:
        """Return the part of each test and word in √V_W: ± ω·e/√(m(m − 1)), with e centred within the word's set."""
        parts = np.zeros_like(self.z)
        for side, sizes in ((1, self.n_x), (-1, self.n_y)):
            there, m = self.side == side, sizes[:, np.newaxis]
            mean = np.where(there, self.z, 0.0).sum(axis=1, keepdims=True) / m
            with np.errstate(divide="ignore", invalid="ignore"):
                parts += np.where(there, side * (self.z - mean) / np.sqrt(m * (m - 1)), 0.0)
        return np.asarray(self.weights[:, np.newaxis] * parts)

    @cached_property
    def word_variance(self) -> float:
        """Return V_W, the variance of D over target words, with shared words counted once; NaN if a set has only one
        word.
        """
        return float((self.word_parts.sum(axis=0) ** 2).sum())

    @cached_property
    def word_df(self) -> float:
        """Return df_W, Satterthwaite's degrees of freedom over groups of words with the same tests and side."""
        squares = self.word_parts.sum(axis=0) ** 2
        sizes = np.where(self.side > 0, self.n_x[:, np.newaxis], self.n_y[:, np.newaxis])
        smallest = np.where(self.side != 0, sizes, np.inf).min(axis=0)
        total = 0.0
        for group in _groups(self.side):
            total += float(squares[group].sum()) ** 2 / max(0.5, float((1 - 1 / smallest[group]).sum()))
        return self.word_variance**2 / total if total > 0 else math.nan

    @cached_property
    def exchange_variance(self) -> float:
        """Return the variance of D when labels are exchanged within strata."""
        u = self.weights @ self.contributions
        total = 0.0
        for stratum in self.strata:
            n, x = len(stratum), int(self.in_x[stratum].sum())
            if n > 1:
                total += x * (n - x) / (n * (n - 1)) * float(((u[stratum] - u[stratum].mean()) ** 2).sum())
        return total

    @cached_property
    def exchange_mean(self) -> float:
        """Return the mean of D when labels are exchanged within strata; 0 if all tests have the same words."""
        u = self.weights @ self.contributions
        moved = sum(
            float(u[s].sum()) * float(self.in_x[s].mean()) - float(u[s][self.in_x[s]].sum())
            for s in self.strata
        )
        return self.effect_size + moved

    @cached_property
    def seed(self) -> int:
        """Return the seed of draws, which depends on the words and scores, but not on the order of tests or sets."""
        rows = sorted(
            "".join(sorted(f"{self.words[place]!r} {row[place]!r};" for place in np.flatnonzero(side)))
            for row, side in zip(self.scores, self.side, strict=True)
        )
        return int.from_bytes(hashlib.sha256("\n".join(rows).encode()).digest()[:8], "big")

    def without_word(self, word: int) -> Layout | None:
        """Return the layout without a word in all tests; None if no test with two sets is left."""
        return Layout(
            np.delete(self.scores, word, axis=1),
            np.delete(self.side, word, axis=1),
            self.ddof,
            self.words[:word] + self.words[word + 1 :],
        )._whole_tests()

    def with_scores(self, scores: Matrix) -> Layout | None:
        """Return the layout of the same words with other scores."""
        return Layout(scores, self.side, self.ddof, self.words)._whole_tests()

    def _whole_tests(self) -> Layout | None:
        """Return the layout without tests that have an empty set or constant scores, and without words that occur in
        no other test.
        """
        size = np.abs(self.scores).max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = (self.n_x > 0) & (self.n_y > 0) & (self.sd > NO_SPREAD * size)
        if whole.all():
            return self
        if not whole.any():
            return None
        there = (self.side[whole] != 0).any(axis=0)
        return Layout(
            self.scores[whole][:, there],
            self.side[whole][:, there],
            self.ddof[whole],
            tuple(word for word, kept in zip(self.words, there, strict=True) if kept),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """The tests of a topic, with shared words matched."""

    tests: tuple[TopicTest, ...]
    layout: Layout
    places: tuple[Integers, ...]
    """The positions of the words of each test in the layout, X first."""


def topic_of(tests: Sequence[TopicTest]) -> Topic:
    """Match the words of the tests of a topic.

    Args:
        tests: at least one test, each with scores that are not all equal.
    """
    on_both_sides = {
        word for test in tests for word in set(test.words[: test.n_x]) & set(test.words[test.n_x :])
    }
    keys = [
        [(word, place < test.n_x if word in on_both_sides else None) for place, word in enumerate(test.words)]
        for test in tests
    ]
    # The order of words does not depend on the order of tests.
    distinct = sorted({key for names in keys for key in names}, key=repr)
    at = {key: place for place, key in enumerate(distinct)}
    scores = np.zeros((len(tests), len(distinct)))
    side = np.zeros(scores.shape, dtype=np.int8)
    places = []
    for row, (test, names) in enumerate(zip(tests, keys, strict=True)):
        where = np.array([at[name] for name in names])
        scores[row, where] = test.scores
        side[row, where] = np.where(np.arange(len(where)) < test.n_x, 1, -1)
        places.append(where)
    ddof = np.array([test.ddof for test in tests])
    return Topic(tuple(tests), Layout(scores, side, ddof, tuple(key[0] for key in distinct)), tuple(places))


def _groups(table: NDArray[np.int8] | NDArray[np.bool_]) -> list[Integers]:
    """Return groups of positions whose columns are equal."""
    groups: dict[bytes, list[int]] = {}
    for place, column in enumerate(np.ascontiguousarray(table.T)):
        groups.setdefault(column.tobytes(), []).append(place)
    return [np.array(group) for group in groups.values()]
