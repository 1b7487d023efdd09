"""What a seed moves: planted embeddings whose seeds differ by a known noise, and the laws of the numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t

from weatherglass.inference.leave_one_out import effect_sizes_without_words
from weatherglass.inference.seed_share import SeedShare, seed_share, seeds_needed
from weatherglass.reliability.agreement.icc import Estimates, retest

Array = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """n + n target words around two means, fixed attributes, and seeds that add normal noise to every vector."""

    n: int
    seeds: int
    noise: float
    lean: float
    attributes: int = 8
    dimensions: int = 20

    def scores(self, repetitions: int, seeds: int, rng: np.random.Generator) -> Array:
        """s(w, A, B) by cosines, repetition × seed × word: other words in each repetition, the same attributes."""
        fixed = np.random.default_rng(7).normal(size=(2 * self.attributes, self.dimensions))
        fixed[: self.attributes, 0] += 2
        fixed[self.attributes :, 0] -= 2
        words = rng.normal(size=(repetitions, 2 * self.n, self.dimensions))
        words[:, : self.n, 0] += self.lean
        words[:, self.n :, 0] -= self.lean

        def embedded(vectors: Array) -> Array:
            shape = (repetitions, seeds, *vectors.shape[-2:])
            noisy = np.expand_dims(vectors, -3) + self.noise * rng.normal(size=shape)
            return np.asarray(noisy / np.linalg.norm(noisy, axis=-1, keepdims=True))

        cosines = embedded(words) @ embedded(fixed).swapaxes(-1, -2)
        return np.asarray(cosines[..., : self.attributes].mean(-1) - cosines[..., self.attributes :].mean(-1))

    def effect_sizes(self, scores: Array) -> Array:
        x, y = scores[..., : self.n], scores[..., self.n :]
        return np.asarray((x.mean(-1) - y.mean(-1)) / scores.std(-1, ddof=1))

    def true_share(self) -> float:
        """From the definition, by brute force: 4 000 choices of words, 32 seeds each."""
        d = np.concatenate(
            [self.effect_sizes(self.scores(200, 32, np.random.default_rng([1, part]))) for part in range(20)]
        )
        of_seeds = d.var(axis=1, ddof=1).mean()
        of_words = d.mean(axis=1).var(ddof=1) - of_seeds / 32
        return float(of_seeds / (of_seeds + of_words))

    def true_icc(self) -> float:
        """The variance of words over that of single scores, both of one population of X and Y."""
        scores = np.concatenate(
            [self.scores(50, 32, np.random.default_rng([2, part])) for part in range(20)]
        ).swapaxes(0, 1)
        table = scores.reshape(32, -1)
        of_seeds = table.var(axis=0, ddof=1).mean()
        of_words = table.mean(axis=0).var() - of_seeds / 32
        return float(of_words / (of_words + of_seeds))

    def measured(self, repetitions: int) -> tuple[list[SeedShare], Estimates]:
        scores = self.scores(repetitions, self.seeds, np.random.default_rng(3))
        d, without = self.effect_sizes(scores), effect_sizes_without_words(scores, self.n)
        shares = [
            seed_share(d[r], [without[r, :, : self.n], without[r, :, self.n :]]) for r in range(repetitions)
        ]
        return shares, retest(scores.swapaxes(1, 2), rows="words")


def coverage(world: World, repetitions: int) -> tuple[float, float]:
    """How often the intervals of the seed's share and of the words' ICC hold what was planted."""
    share, icc = world.true_share(), world.true_icc()
    shares, iccs = world.measured(repetitions)
    return (
        float(np.mean([one.share_low <= share <= one.share_high for one in shares])),
        float(((iccs.low <= icc) & (icc <= iccs.high)).mean()),
    )


def test_planted_noise_of_seeds_is_found() -> None:
    """300 repetitions: three standard errors at 95 % are 3.8 points."""
    of_share, of_icc = coverage(World(8, 8, noise=0.5, lean=0.5), 300)
    assert of_share >= 0.95 - 0.038
    assert of_icc >= 0.95 - 0.038


@pytest.mark.large
@pytest.mark.parametrize(
    "world",
    [
        World(8, 8, 0.5, 0.5),
        World(8, 8, 1.0, 0.5),
        World(8, 8, 0.5, 0.0),
        World(25, 16, 0.5, 0.3),
        World(25, 8, 0.3, 0.5),
        World(25, 32, 1.0, 0.5),
    ],
    ids=str,
)
def test_coverage_of_planted_noise(world: World) -> None:
    """1 000 repetitions: three standard errors are 2.1 points."""
    of_share, of_icc = coverage(world, 1_000)
    assert 0.929 <= of_share <= 0.985
    assert of_icc >= 0.929


def test_more_noise_gives_the_seed_a_larger_share() -> None:
    medians = []
    for noise in (0.2, 0.5, 1.0):
        shares, _ = World(8, 8, noise, 0.5).measured(100)
        medians.append(np.median([one.share for one in shares]))
    assert medians == sorted(medians)
    assert medians[0] < 0.2 < 0.4 < medians[2]


def test_the_mean_has_the_interval_of_student() -> None:
    values = np.random.default_rng(1).normal(0.4, 0.1, 9)
    own = seed_share(values, [])
    reach = t.ppf(0.975, 8) * values.std(ddof=1) / 3
    assert [own.low, own.high] == pytest.approx([values.mean() - reach, values.mean() + reach])
    assert np.isnan([own.share, own.share_low, own.share_high]).all()  # nothing is known of the words


def test_seeds_needed_are_the_fewest_that_reach_the_precision() -> None:
    for sd, precision in ((0.1, 0.05), (0.27, 0.1), (0.1, 0.01), (0.001, 0.5)):
        number = seeds_needed(sd, precision)
        assert number is not None
        assert t.ppf(0.975, number - 1) * sd / number**0.5 <= precision
        assert number == 2 or t.ppf(0.975, number - 2) * sd / (number - 1) ** 0.5 > precision
    assert seeds_needed(5, 1e-4) is None
