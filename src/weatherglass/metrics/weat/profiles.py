"""Profiles: d and p as other papers and tools have them, so that theirs and ours can be compared (docs/methods 9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.weat.effect import effect_size
from weatherglass.registry import one_of
from weatherglass.stats.permutation.base import Alternative, Significance
from weatherglass.stats.permutation.elsewhere import (
    PermutationTest,
    bit_equality,
    fitted_normal,
    sampled,
    with_replacement,
    without_the_observed,
    without_ties,
)
from weatherglass.stats.permutation.grid import on_grid

if TYPE_CHECKING:
    from weatherglass.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class Profile:
    """How a paper or a tool comes to d and p."""

    name: str
    ddof: int
    alternatives: tuple[Alternative, ...]
    """The tails that it knows; the first is its default."""
    test: PermutationTest
    draws: str
    """How its p is computed, in words."""
    caution: str
    """What is wrong with it, or what to know before quoting it."""
    habits: str
    """What it does to vectors and words; a profile does not change the encoder, the model's spec does."""
    absolute: bool = False
    """Whether |d| is printed."""
    headline: bool = False
    """Whether the mean of |d| over all tests is printed, whatever their p."""

    def effect_size(self, x: Vector, y: Vector) -> float:
        """d with this profile's standard deviation and sign."""
        d = effect_size(x, y, self.ddof)
        return abs(d) if self.absolute else d

    def significance(
        self, x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator
    ) -> Significance:
        """p as this profile has it; p_method names it."""
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if on_grid(x, y).constant:
            return Significance(1.0, 1.0, 1.0, f"{self.name}: all scores are equal", 1.0, True, 1.0)
        significance = self.test(x, y, alternative, rng)
        return Significance(
            significance.p_value,
            significance.p_low,
            significance.p_high,
            f"{self.name}: {significance.p_method}",
            significance.p_floor,
            significance.certified,
            significance.p_middle,
        )

    def tail(self, requested: str) -> Alternative:
        """The alternative to use: the one asked for where the profile knows it.

        Raises:
            WeatherglassError: if it was asked for and is not among the profile's; "greater" counts as not asked.
        """
        if requested in self.alternatives:
            return one_of("alternative", requested, self.alternatives)
        if requested == "greater":
            return self.alternatives[0]
        raise WeatherglassError(
            f"profile '{self.name}' has no alternative '{requested}' (it has: {', '.join(self.alternatives)})"
        )


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "may2019",
            ddof=1,
            alternatives=("greater",),
            test=bit_equality,
            draws="all partitions up to 100 000, else 99 999 draws and the observed one; sums compared bit by bit",
            caution="two sums of the same numbers can differ in the last bit, so ties are missed and p is too small",
            habits="the published code lower-cases for BERT and adds no [CLS], and gives ELMo single characters",
        ),
        Profile(
            "caliskan2017",
            ddof=1,
            alternatives=("greater",),
            test=fitted_normal,
            draws="a normal distribution fitted to 100 000 draws",
            caution="the far tail is not normal: below about 0.001, p can be wrong by orders of magnitude",
            habits="word vectors; a missing word is left out",
        ),
        Profile(
            "azarpanah2021",
            ddof=1,
            alternatives=("observed",),
            test=without_ties,
            draws="as may2019, but only sums beyond the observed one count",
            caution="the side of the test is chosen after looking, so its true level is twice the nominal one; "
            "equal sums do not count, so p can be 0; the sign of d is dropped",
            habits="single words as input, also for contextual models",
            absolute=True,
        ),
        Profile(
            "bias-bench",
            ddof=1,
            alternatives=("greater",),
            test=sampled,
            draws="as may2019, ties counted",
            caution="its headline, the mean of |d|, grows with noise: small sets have large |d| without any bias",
            habits="the mean over all tokens, special ones included, then unit length",
            headline=True,
        ),
        Profile(
            "wefe",
            ddof=0,
            alternatives=("greater", "less", "two-sided"),
            test=with_replacement,
            draws="10 000 draws with replacement, (hits + 1) / (draws + 1)",
            caution="words are drawn with replacement, so this is no permutation test and p has no guaranteed level; "
            "two-sided p is wrong where the statistic is negative",
            habits="word vectors; a set that lacks more than 20 % of its words makes the result NaN",
        ),
        Profile(
            "responsibly",
            ddof=0,
            alternatives=("greater",),
            test=without_the_observed,
            draws="all partitions up to 100 000, else 1 000 draws; only sums beyond the observed one count",
            caution="the observed partition is not counted, so p can be 0, which no permutation test can show",
            habits="word vectors; when words are missing, the other set is trimmed at random",
        ),
    )
}
"""By name."""


def profile_of(name: str) -> Profile:
    """The profile called `name`.

    Raises:
        UnknownNameError: naming the nearest.
    """
    return PROFILES[one_of("profile", name, list(PROFILES))]


def profiles_of(metrics: Iterable[Metric]) -> list[Profile]:
    """Return the profiles that metrics report by, each once."""
    names = dict.fromkeys(name for metric in metrics if (name := getattr(metric, "profile", "")))
    return [profile_of(name) for name in names]
