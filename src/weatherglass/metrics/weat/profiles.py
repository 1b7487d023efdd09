"""Compute d and p as other papers and tools do, including their mistakes, for comparison (docs/methods 9)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.weat.scores import effect_size
from weatherglass.registry import one_of
from weatherglass.stats import Alternative, Significance
from weatherglass.stats.permutation.grid import Grid, on_grid

ALL_PARTITIONS = 100_000
"""The maximum number of partitions that are all counted, as in the code of May et al."""
BLOCK_ENTRIES = 1 << 21
"""The number of values in a block of draws."""

PermutationTest = Callable[[Vector, Vector, Alternative, np.random.Generator], Significance]
"""A function that computes p from the scores of X and Y, the alternative and a random number generator."""


def bit_equality(x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator) -> Significance:  # noqa: ARG001
    """Compute p as in May et al., comparing sums of floats without a tolerance, which can miss ties."""
    scores = np.concatenate([x, y])
    observed = float(scores[np.newaxis, : len(x)].sum(axis=1)[0])
    if math.comb(len(scores), len(x)) <= ALL_PARTITIONS:
        sums = scores[_all_subsets(len(scores), len(x))].sum(axis=1)
        return _counted(int((sums >= observed).sum()), len(sums), 1 / len(sums))
    hits = sum(
        int((scores[subsets].sum(axis=1) >= observed).sum())
        for subsets in _random_subsets(len(scores), len(x), ALL_PARTITIONS - 1, rng)
    )
    return _drawn(hits + 1, ALL_PARTITIONS, 1 / ALL_PARTITIONS, hits)


def sampled(x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator) -> Significance:
    """Compute p as in bias-bench, which is like May et al. except that ties count."""
    from weatherglass.stats.permutation import permutation_test

    return permutation_test(x, y, method="sampled", alternative=alternative, rng=rng)


def fitted_normal(x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator) -> Significance:
    """Compute p as in Caliskan et al., from a normal distribution fitted to 100 000 draws."""
    from weatherglass.stats.permutation import permutation_test

    return permutation_test(x, y, method="normal-sampled", alternative=alternative, rng=rng)


def without_ties(x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator) -> Significance:
    """Compute p as in Azarpanah & Farhadloo, from sums strictly beyond the observed one on the observed side."""
    from weatherglass.stats.permutation.grid import direction

    grid = on_grid(x, y)
    if direction(grid, alternative) == "less":
        grid = on_grid(-x, -y)
    if grid.partitions <= ALL_PARTITIONS:
        return _counted(_strictly_beyond(grid), grid.partitions, 0.0)
    hits = _hits_among_draws(grid, ALL_PARTITIONS - 1, rng)
    return _drawn(hits + 1, ALL_PARTITIONS, 1 / ALL_PARTITIONS, hits)


def with_replacement(
    x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator
) -> Significance:
    """Compute p as in wefe 1.0, which draws X and Y with replacement 10 000 times instead of permuting them."""
    draws = 10_000
    scores = np.concatenate([x, y])
    observed = float(x.sum() - y.sum())
    signs = np.concatenate([np.ones(len(x)), -np.ones(len(y))])
    hits = 0
    for size in _blocks(draws, len(scores)):
        drawn = scores[rng.integers(len(scores), size=(size, len(scores)))] @ signs
        if alternative == "two-sided":
            drawn = np.abs(drawn)
        hits += int((drawn < observed if alternative == "less" else drawn > observed).sum())
    p = (hits + 1) / (draws + 1)
    return Significance(p, None, None, "10 000 draws with replacement", 1 / (draws + 1), False, p)


def without_the_observed(
    x: Vector,
    y: Vector,
    alternative: Alternative,  # noqa: ARG001
    rng: np.random.Generator,
) -> Significance:
    """Compute p as in responsibly, from all partitions or 1 000 draws without the observed one, so that p can be 0."""
    grid = on_grid(x, y)
    if grid.partitions <= ALL_PARTITIONS:
        return _counted(_strictly_beyond(grid), grid.partitions, 0.0)
    draws = 1_000
    hits = _hits_among_draws(grid, draws, rng)
    return _drawn(hits, draws, 0.0, hits, draws)


def of_draws(*given: object) -> Significance:
    """Refuse scores, since p as in Guo & Caliskan (2021) is computed from draws of contexts (`stats.contexts`)."""
    del given
    raise WeatherglassError("p of CEAT needs contexts; add --contexts CORPUS")


def _strictly_beyond(grid: Grid) -> int:
    """Return the number of partitions with a larger sum than the observed one."""
    sums = grid.values[_all_subsets(grid.n, grid.size)].sum(axis=1)
    return int((sums > grid.observed).sum())


def _hits_among_draws(grid: Grid, draws: int, rng: np.random.Generator) -> int:
    from weatherglass.stats.permutation.sampled import sample_sums

    return int((sample_sums(grid, draws, rng) > grid.observed).sum())


def _all_subsets(n: int, size: int) -> Integers:
    """Return all subsets of this size, one row each."""
    members = chain.from_iterable(combinations(range(n), size))
    return np.fromiter(members, dtype=np.int64).reshape(-1, size)


def _random_subsets(n: int, size: int, draws: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Yield uniform random subsets in blocks of rows, each in the order of a shuffle, as in the published code."""
    for rows in _blocks(draws, n):
        yield np.argsort(rng.random((rows, n)), axis=1)[:, :size]


def _blocks(draws: int, n: int) -> Iterator[int]:
    rows = max(1, BLOCK_ENTRIES // n)
    yield from (min(rows, draws - start) for start in range(0, draws, rows))


def _counted(hits: int, partitions: int, floor: float) -> Significance:
    p = hits / partitions
    return Significance(p, p, p, "all partitions", floor, False, p)


def _drawn(
    numerator: int, denominator: int, floor: float, hits: int, draws: int | None = None
) -> Significance:
    """Return p from draws, with its 99 % confidence interval."""
    from weatherglass.stats.permutation.sampled import clopper_pearson

    draws = denominator - 1 if draws is None else draws
    low, high = clopper_pearson(hits, draws)
    p = numerator / denominator
    return Significance(p, low, high, f"{draws:,} draws".replace(",", " "), floor, False, p)


@dataclass(frozen=True, slots=True)
class Profile:
    """The way in which a paper or a tool computes d and p."""

    name: str
    ddof: int
    alternatives: tuple[Alternative, ...]
    """The alternatives that the profile has; the first is the default."""
    test: PermutationTest
    draws: str
    """A description of how p is computed."""
    caution: str
    """A known mistake, or a caution for readers."""
    habits: str
    """How the paper or tool treats vectors and words; a profile does not change the encoder, which the model's spec
    defines.
    """
    absolute: bool = False
    """Whether |d| is printed."""
    headline: bool = False
    """Whether the mean of |d| over all tests is printed, significant or not."""
    combines_draws: bool = False
    """Whether the value and p combine draws of one context per word, so that contexts are needed and scores are not
    enough.
    """

    def effect_size(self, x: Vector, y: Vector) -> float:
        """Return d with this profile's standard deviation and sign."""
        d = effect_size(x, y, self.ddof)
        return abs(d) if self.absolute else d

    def significance(
        self, x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator
    ) -> Significance:
        """Return p by the method of this profile; p_method names it."""
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if on_grid(x, y).constant:
            return Significance(1.0, 1.0, 1.0, f"{self.name}: all scores are equal", 1.0, True, 1.0)
        significance = self.test(x, y, alternative, rng)
        return replace(significance, p_method=f"{self.name}: {significance.p_method}")

    def tail(self, requested: str) -> Alternative:
        """Return the requested alternative if the profile has it, or the profile's default instead of "greater".

        Raises:
            WeatherglassError: if the profile does not have the alternative.
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
            habits=(
                "the published code lower-cases texts and omits [CLS] for BERT, and passes single "
                "characters to ELMo"
            ),
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
            draws="like may2019, but only sums beyond the observed one count",
            caution="the side of the test is chosen after seeing the data, so its true level is twice the "
            "nominal one. Equal sums do not count, so p can be 0. The sign of d is dropped",
            habits="single words as input, even for contextual models",
            absolute=True,
        ),
        Profile(
            "bias-bench",
            ddof=1,
            alternatives=("greater",),
            test=sampled,
            draws="like may2019, but ties count",
            caution=(
                "its summary, the mean of |d|, grows with noise, since small sets have a large |d| "
                "even without bias"
            ),
            habits="the mean over all tokens, including special ones, scaled to length 1",
            headline=True,
        ),
        Profile(
            "wefe",
            ddof=0,
            alternatives=("greater", "less", "two-sided"),
            test=with_replacement,
            draws="10 000 draws with replacement, (hits + 1) / (draws + 1)",
            caution="words are drawn with replacement, so this is not a permutation test, and p has no "
            "guaranteed level; the two-sided p is wrong if the statistic is negative",
            habits="word vectors; a set that lacks more than 20 % of its words makes the result NaN",
        ),
        Profile(
            "responsibly",
            ddof=0,
            alternatives=("greater",),
            test=without_the_observed,
            draws="all partitions up to 100 000, else 1 000 draws; only sums beyond the observed one count",
            caution="the observed partition is not counted, so p can be 0, which is impossible in a permutation test",
            habits="word vectors; when words are missing, the other set is trimmed at random",
        ),
        Profile(
            "ceat2021",
            ddof=1,
            alternatives=("two-sided",),
            test=of_draws,
            draws="1 000 draws of one context per word, combined by DerSimonian and Laird; normal p",
            caution="p counts draws as observations, so it approaches 0 with their number even without any "
            "association (in 94 % of simulated worlds with 1 000 draws)",
            habits=(
                "the last piece of the word in the top layer (hf:…?span_pooling=last), and 1 000 or 10 000 sentences "
                "per word"
            ),
            combines_draws=True,
        ),
    )
}
"""Profiles by name."""
OF_SCORES = tuple(profile for profile in PROFILES.values() if not profile.combines_draws)
"""The profiles whose d and p follow from the scores of words."""


def profile_of(name: str) -> Profile:
    """Return the profile called `name`.

    Raises:
        UnknownNameError: if the name is unknown; the message suggests the nearest name.
    """
    return PROFILES[one_of("profile", name, list(PROFILES))]
