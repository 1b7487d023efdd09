"""Define null hypotheses by the units that are exchangeable under them, and compute p (docs/methods 10 and 13).

The labels of scores, the signs of scores, or the labels of vectors are exchanged. For intervals and leave-one-out, a
value is recomputed without single units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from weatherglass.arrays import Integers, Vector

if TYPE_CHECKING:
    from weatherglass.stats import Alternative, Budget, Significance
    from weatherglass.stats.pairs import Share
    from weatherglass.stats.robustness import Assessment


@dataclass(frozen=True, slots=True)
class PValueOptions:
    """The method and the budget of p."""

    method: str
    budget: Budget
    precision: float
    seed: int
    inner: bool = False
    """Whether fewer draws are enough, because this p is one of many, such as the p-values without each word."""
    decisive_only: bool = False
    """Whether p is computed only without the word, and without the template, that probably raises it most."""

    def for_many(self, rough: bool = False) -> PValueOptions:
        """Return the options for p without a word or template; the budget is small because there are many of them.

        Args:
            rough: whether it is enough to know on which side of alpha p is.
        """
        from weatherglass.stats import Budget

        precision = max(self.precision, ROUGH) if rough else self.precision
        return replace(self, budget=Budget(seconds=INNER_SECONDS), precision=precision, inner=True)


INNER_SECONDS = 0.01
"""The budget of p without a word or template; if counting takes longer, bounds within 1 % are enough."""
ROUGH = 0.1
"""The relative width of bounds that only show whether p is below alpha; they cost far less than bounds within 1 %."""


class Null(Protocol):
    """A null hypothesis, together with its data."""

    @property
    def units(self) -> tuple[int, int]:
        """Return the number of exchanged units in the first set and in the others; (pairs, 0) for signs."""

    def tail(self, requested: Alternative) -> Alternative:
        """Return the alternative that is tested when this one is requested."""

    def test(self, requested: Alternative, options: PValueOptions) -> Significance:
        """Return the p for that alternative."""

    def two_sided_p(self, reported: float, requested: Alternative, options: PValueOptions) -> float | None:
        """Return the exact two-sided p, which agrees with the interval whatever alternative and method were requested.

        Args:
            reported: the p that `test` returned for the same alternative and options.
            requested: the requested alternative.
            options: the options of that p.

        Returns:
            The p; None if the value is always on one side of the value without bias.
        """

    def quantiles(self, levels: Vector, options: PValueOptions) -> list[float]:
        """Return the quantiles of the value under exchanged labels at the given levels; empty if the value does not
        vary.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Two groups of scores with exchangeable labels; the value depends on the sum over one of them."""

    x: Vector
    y: Vector
    effect_size: Callable[[Vector, Vector], float]
    """A function that computes the metric's value from the scores of X and Y."""
    significance: Callable[[Vector, Vector, Alternative, np.random.Generator], Significance] | None = None
    """A function that computes p by the metric's profile; None for the exact permutation test."""
    ddof: int = 1
    """Delta degrees of freedom of the standard deviation in d."""
    alternatives: tuple[Alternative, ...] = ()
    """The alternatives of the profile, its default first; empty for all."""

    @property
    def units(self) -> tuple[int, int]:
        """Return the number of scores of X and of Y."""
        return len(self.x), len(self.y)

    def tail(self, requested: Alternative) -> Alternative:
        """Return the alternative to test."""
        known = self.alternatives
        return requested if not known or requested in known else known[0]

    def test(self, requested: Alternative, options: PValueOptions) -> Significance:
        """Return p from an exact method, or from the method of the profile."""
        if self.significance:
            return self.significance(
                self.x, self.y, self.tail(requested), np.random.default_rng(options.seed)
            )
        from weatherglass.stats.permutation import permutation_test

        return permutation_test(
            self.x,
            self.y,
            method=options.method,
            alternative=requested,
            budget=options.budget,
            precision=options.precision,
            rng=np.random.default_rng(options.seed),
        )

    def two_sided_p(self, reported: float, requested: Alternative, options: PValueOptions) -> float:
        """Return the p of the permutation test, even if the profile or the method reports a different one."""
        exact = self.significance is None and options.method in ("auto", "exact")
        if exact and self.tail(requested) == "two-sided":
            return reported
        plain = replace(self, significance=None, alternatives=())
        return plain.test("two-sided", replace(options, method="auto")).p_value

    def quantiles(self, levels: Vector, options: PValueOptions) -> list[float]:
        """Return the quantiles of the value over random partitions."""
        from weatherglass.stats.permutation.grid import on_grid
        from weatherglass.stats.permutation.sampled import sample_sums

        grid = on_grid(self.x, self.y)
        if grid.constant:
            return []
        shares = sample_sums(grid, NULL_DRAWS, np.random.default_rng(options.seed)).astype(np.float64)
        total, least = float(np.sum(self.x) + np.sum(self.y)), min(self.x.min(), self.y.min())
        step = (max(self.x.max(), self.y.max()) - least) / float(grid.values[-1])
        sums = len(self.x) * least + step * shares
        n_x, n_y = self.units
        return [float(v) for v in np.quantile(sums / n_x - (total - sums) / n_y, levels)]


NULL_DRAWS = 9_999


@dataclass(frozen=True, slots=True, eq=False)
class SignFlips:
    """Scores with exchangeable signs, such as those of pairs; the value is their mean."""

    scores: Vector

    @property
    def units(self) -> tuple[int, int]:
        """Return the number of scores; there is no second group."""
        return len(self.scores), 0

    def tail(self, requested: Alternative) -> Alternative:
        """Return the requested alternative, since all are possible."""
        return requested

    def test(self, requested: Alternative, options: PValueOptions) -> Significance:
        """Return p, which is exact for up to 36 scores."""
        from weatherglass.stats.relabelling import DRAWS, sign_flip_test

        draws = NULL_DRAWS if options.inner else DRAWS
        return sign_flip_test(self.scores, requested, np.random.default_rng(options.seed), draws)

    def two_sided_p(self, reported: float, requested: Alternative, options: PValueOptions) -> float:
        """Return the two-sided p."""
        return reported if requested == "two-sided" else self.test("two-sided", options).p_value

    def quantiles(self, levels: Vector, options: PValueOptions) -> list[float]:
        """Return the quantiles of the mean over random signs."""
        signs = 2.0 * np.random.default_rng(options.seed).integers(0, 2, (NULL_DRAWS, len(self.scores))) - 1.0
        means = signs @ self.scores / len(self.scores)
        return [float(v) for v in np.quantile(means, levels)]


@dataclass(frozen=True, slots=True, eq=False)
class PairFlips:
    """Sentence pairs with exchangeable order; all pairs of one unit are exchanged together."""

    share: Share

    @property
    def units(self) -> tuple[int, int]:
        """Return the number of units; there is no second group."""
        return len(self.share.leads), 0

    def tail(self, requested: Alternative) -> Alternative:
        """Return the requested alternative, since all are possible."""
        return requested

    def test(self, requested: Alternative, options: PValueOptions) -> Significance:
        """Return p, which is exact or has certified bounds unless there are very many units."""
        from weatherglass.stats.pairs import flip_test

        return flip_test(self.share.scores, requested, np.random.default_rng(options.seed))

    def two_sided_p(self, reported: float, requested: Alternative, options: PValueOptions) -> float:
        """Return the two-sided p."""
        return reported if requested == "two-sided" else self.test("two-sided", options).p_value

    def quantiles(self, levels: Vector, options: PValueOptions) -> list[float]:
        """Return quantiles of the share, in per cent, over random signs."""
        scores = self.share.scores
        rng = np.random.default_rng(options.seed)
        sums = [(2.0 * rng.integers(0, 2, len(scores)) - 1.0) @ scores for _ in range(NULL_DRAWS)]
        return [float(v) for v in 50 + np.quantile(sums, levels) * (50 / self.share.number)]


@dataclass(frozen=True, slots=True, eq=False)
class Relabelling:
    """Units of several sets with exchangeable labels; the value is recomputed for every labelling."""

    sizes: tuple[int, ...]
    values: Callable[[Integers], Vector]
    """A function that computes the value of each labelling; a row contains the pooled units in their new order."""
    alternatives: tuple[Alternative, ...] = ()
    """The possible alternatives; empty for all."""
    draws: int = 9_999
    inner_draws: int = 999
    ordered: bool = False
    """Whether the order of the units within a set matters, as it does for pairs."""

    @property
    def units(self) -> tuple[int, int]:
        """Return the number of units in the first set and in all others."""
        return self.sizes[0], sum(self.sizes[1:])

    def tail(self, requested: Alternative) -> Alternative:
        """Return the alternative to test."""
        known = self.alternatives
        return requested if not known or requested in known else known[0]

    def test(self, requested: Alternative, options: PValueOptions) -> Significance:
        """Return p over all labellings if there are few, and over random labellings otherwise."""
        from weatherglass.stats.relabelling import relabelling_test

        draws = self.inner_draws if options.inner else self.draws
        tail = self.tail(requested)
        return relabelling_test(
            self.sizes, self.values, tail, draws, np.random.default_rng(options.seed), self.ordered
        ).significance

    def two_sided_p(self, reported: float, requested: Alternative, options: PValueOptions) -> float | None:
        """Return the two-sided p; None if only one tail is possible."""
        if self.tail("two-sided") != "two-sided":
            return None
        if self.tail(requested) == "two-sided":
            return reported
        return self.test("two-sided", options).p_value

    def quantiles(self, levels: Vector, options: PValueOptions) -> list[float]:
        """Return the quantiles of the value over labellings."""
        from weatherglass.stats.relabelling import relabelling_test

        values = relabelling_test(
            self.sizes,
            self.values,
            "greater",
            self.inner_draws,
            np.random.default_rng(options.seed),
            self.ordered,
        ).values
        return [float(v) for v in np.quantile(values, levels)]


@dataclass(frozen=True, slots=True)
class Tested:
    """A value with its p, and the options for further p-values."""

    value: float
    unbiased: float
    null: Null | None
    """The p; None for a metric without p."""
    p_value: float
    alternative: Alternative
    """The requested alternative."""
    options: PValueOptions
    alpha: float
    """The significance level; intervals have the level 1 − alpha."""
    ci: str
    """The kind of interval: jackknife, bca or none."""

    def significance_of(self, null: Null, rough: bool = False) -> Significance:
        """Return the p of a null hypothesis without a unit; with `rough`, the bounds may be wide."""
        return null.test(self.alternative, self.options.for_many(rough))


class Resample(Protocol):
    """A value with the data from which it was computed."""

    def assess(self, tested: Tested) -> Assessment:
        """Return intervals, the value without each unit, and its distribution under exchanged labels."""


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Units that form a sample: the words of a set, or the pairs of two sets."""

    role: str
    """The role of the set, such as X or A; XY for pairs."""
    names: tuple[str, ...]
    exchanged: bool
    """Whether the units are exchanged for p, so that they also vary in the interval that belongs to p."""
    sample: str = ""
    """The name of the sample, if it contains several groups, which then vary about one mean."""


class Recompute(ABC):
    """A Resample for any metric, which recomputes the value without each unit in turn."""

    @property
    @abstractmethod
    def groups(self) -> tuple[UnitGroup, ...]:
        """Return the units, grouped by sample."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest possible value."""

    @abstractmethod
    def without(self, group: int, unit: int) -> tuple[float, Null | None]:
        """Return the value and the null hypothesis without one unit of a group."""

    def assess(self, tested: Tested) -> Assessment:
        """Assess the value by the jackknife."""
        from weatherglass.stats.robustness import assess_recomputed

        return assess_recomputed(self, tested)
