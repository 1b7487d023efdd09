"""Planted worlds in which seeds move words' scores by a known noise; what is true of d in them, and what is measured.

A world draws its words anew in every repetition. A word's score for a seed is

    ± lean / 2  +  what the word is  +  what the seed does to the whole side  +  what the seed does to the word.

`share` is the seed's share of the variance of the difference of means, by which the noises are scaled; of d it is a
little another, and what d's is comes from brute force over thousands of choices of words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weatherglass.reliability.agreement.icc import IccEstimates, crossed_retest
from weatherglass.stats.leave_one_out import effect_sizes_without_words
from weatherglass.stats.seeds import SeedShare, seed_share

Array = NDArray[np.float64]
Rng = np.random.Generator

LAWS: Mapping[str, Callable[[Rng, tuple[int, ...]], Array]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t3": lambda rng, shape: rng.standard_t(3, shape) / 3**0.5,
    "t4": lambda rng, shape: rng.standard_t(4, shape) / 2**0.5,
    "skewed": lambda rng, shape: rng.standard_exponential(shape) - 1,
    "laplace": lambda rng, shape: rng.laplace(size=shape) / 2**0.5,
    "lognormal": lambda rng, shape: (
        (rng.lognormal(0, 0.5, shape) - np.exp(0.125)) / ((np.exp(0.25) - 1) * np.exp(0.25)) ** 0.5
    ),
    "uniform": lambda rng, shape: rng.uniform(-(3**0.5), 3**0.5, shape),
}
"""Each with mean 0 and variance 1."""


@dataclass(frozen=True)
class ScoreWorld:
    """n + n words, whose scores are drawn directly."""

    n: int
    seeds: int
    share: float
    words: str = "normal"
    """The law of what a word is."""
    noise: str = "normal"
    """The law of what a seed does to a word."""
    common: float = 0.5
    """Of the seed's variance, what it does to a whole side at once, as noise in the attributes does."""
    lean: float = 0.7
    unequal: bool = False
    """Words differ in how far they lie apart and how much a seed moves them (lognormal scales)."""
    templates: int = 0
    """If not 0, half of what a seed does to words comes by so many templates, which weigh on each word differently."""
    cluster: int = 1
    """Words come in groups of so many, with half of their variance in common."""

    def scores(self, repetitions: int, seeds: int, rng: Rng) -> Array:
        """s(w, A, B), repetition × seed × word, X first."""
        odds = self.share / (1 - self.share)
        words, shape = 2 * self.n, (repetitions, 1, 2 * self.n)
        scale = np.ones(shape)
        if self.unequal:
            scale = np.exp(rng.normal(0, 0.6, shape) - 0.36)  # The mean of the squares is 1.
        side = np.where(np.arange(words) < self.n, 0.5, -0.5)
        own = LAWS[self.words](rng, shape)
        if self.cluster > 1:
            groups = LAWS[self.words](rng, (repetitions, 1, -(-words // self.cluster)))
            own = (own + np.repeat(groups, self.cluster, axis=-1)[..., :words]) / 2**0.5
        moved = LAWS[self.noise](rng, (repetitions, seeds, words))
        if self.templates:
            of_seed = LAWS[self.noise](rng, (repetitions, seeds, self.templates))
            weights = rng.normal(size=(repetitions, self.templates, words)) / self.templates**0.5
            moved = (moved + of_seed @ weights) / 2**0.5
        whole = (self.common * odds * 2 / self.n) ** 0.5 * rng.normal(size=(repetitions, seeds, 1))
        single = ((1 - self.common) * odds) ** 0.5 * moved
        return np.asarray(self.lean * side + scale * own + side * whole + scale * single)


@dataclass(frozen=True)
class EmbeddingWorld:
    """n + n word vectors around two means, fixed attributes, and seeds that add noise to every vector; cosines."""

    n: int
    seeds: int
    noise: float
    lean: float
    law: str = "normal"
    unequal: bool = False
    """Words differ in how much a seed moves them (lognormal scales)."""
    attributes: int = 8
    dimensions: int = 20

    def scores(self, repetitions: int, seeds: int, rng: Rng) -> Array:
        """s(w, A, B) by cosines, repetition × seed × word: other words in each repetition, the same attributes."""
        fixed = np.random.default_rng(7).normal(size=(2 * self.attributes, self.dimensions))
        fixed[: self.attributes, 0] += 2
        fixed[self.attributes :, 0] -= 2
        words = rng.normal(size=(repetitions, 2 * self.n, self.dimensions))
        words[:, : self.n, 0] += self.lean
        words[:, self.n :, 0] -= self.lean
        scale = np.ones((repetitions, 1, 2 * self.n, 1))
        if self.unequal:
            scale = np.exp(rng.normal(0, 0.6, scale.shape) - 0.36)

        def embedded(vectors: Array, scale: Array | float) -> Array:
            shape = (repetitions, seeds, *vectors.shape[-2:])
            noisy = np.expand_dims(vectors, -3) + self.noise * scale * LAWS[self.law](rng, shape)
            return np.asarray(noisy / np.linalg.norm(noisy, axis=-1, keepdims=True))

        cosines = embedded(words, scale) @ embedded(fixed, 1.0).swapaxes(-1, -2)
        return np.asarray(cosines[..., : self.attributes].mean(-1) - cosines[..., self.attributes :].mean(-1))


World = ScoreWorld | EmbeddingWorld


def effect_sizes(scores: Array) -> Array:
    """d, the first half of the last axis being X."""
    n = scores.shape[-1] // 2
    return np.asarray((scores[..., :n].mean(-1) - scores[..., n:].mean(-1)) / scores.std(-1, ddof=1))


def truth(world: World, seeds: int = 32, parts: int = 20) -> tuple[float, float]:
    """By brute force from the definitions, over 200 choices of words a part: the seed's share of d, the words' ICC."""
    d, words, noise = [], [], []
    for part in range(parts):
        scores = world.scores(200, seeds, np.random.default_rng([1, part]))
        d.append(effect_sizes(scores))
        noise.append(scores.var(axis=1, ddof=1).mean())
        words.append(scores.mean(axis=1).ravel())
    values = np.concatenate(d)
    of_seeds = values.var(axis=1, ddof=1).mean()
    of_words = values.mean(axis=1).var(ddof=1) - of_seeds / seeds
    within = float(np.mean(noise))
    between = float(np.concatenate(words).var()) - within / seeds
    return float(of_seeds / (of_seeds + of_words)), between / (between + within)


def measured(world: World, repetitions: int, entropy: int = 3) -> tuple[list[SeedShare], IccEstimates]:
    """What the library says in each repetition: the seed's share of d, and the test–retest of the words."""
    scores = world.scores(repetitions, world.seeds, np.random.default_rng(entropy))
    d, without, n = effect_sizes(scores), effect_sizes_without_words(scores, world.n), world.n
    shares = [seed_share(d[r], [without[r, :, :n], without[r, :, n:]]) for r in range(repetitions)]
    return shares, crossed_retest(scores.swapaxes(1, 2), rows="words")


def coverage(world: World, repetitions: int) -> tuple[float, float]:
    """How often the 95 % intervals of the seed's share and of the words' ICC hold what was planted."""
    noisy = isinstance(world, ScoreWorld) and world.share > 0.9
    share, icc = truth(world, *((256, 10) if noisy else (32, 20)))
    shares, iccs = measured(world, repetitions)
    return (
        float(np.mean([one.share_low <= share <= one.share_high for one in shares])),
        float(((iccs.low <= icc) & (icc <= iccs.high)).mean()),
    )
