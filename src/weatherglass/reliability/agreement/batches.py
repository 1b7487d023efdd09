"""How far a batch of other seeds moves the box plot of test–retest: disjoint and random batches of a study's seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.reliability.agreement.assess import five_number_summary
from weatherglass.reliability.agreement.groups import leave_one_group_out
from weatherglass.reliability.agreement.icc import LEVEL, MeanSquares, Tables, agreement_icc
from weatherglass.reliability.agreement.medians import jackknife_variance

BOX_WIDTH = "box"
"""The distance of the quartiles, beside the five numbers of a box plot."""


@dataclass(frozen=True, slots=True)
class Movement:
    """One number of the box plot over batches of some seeds."""

    part: str
    """A name of `five_number_summary`, or `BOX_WIDTH`."""
    size: int
    """Seeds in a batch."""
    whole: float
    """With all seeds."""
    mean: float
    """Over random batches: where it differs from `whole`, fewer seeds shift the number."""
    disjoint: tuple[float, ...]
    """Of each of the disjoint batches."""
    sd: float
    """Over batches of other seeds of this size."""
    sd_low: float
    sd_high: float


def disjoint_batches(seeds: int, size: int) -> list[Integers]:
    """As many batches without a common seed as there are, in the order of the seeds."""
    return [np.arange(start, start + size) for start in range(0, seeds - size + 1, size)]


def random_batches(seeds: int, size: int, number: int, rng: np.random.Generator) -> list[Integers]:
    """Batches drawn without replacement; two of them may share seeds."""
    return [np.sort(rng.choice(seeds, size, replace=False)) for _ in range(number)]


def movements(scores: Tables, sizes: Sequence[int], number: int = 100) -> list[Movement]:
    """The box plot of the words' test–retest over batches of each size.

    Two random batches of k of S seeds share seeds, so that they differ by less than batches of other seeds do: their
    variance is divided by 1 − k/S. Its interval is that of a variance with S − 1 degrees of freedom, since what a batch
    moves is about a sum over its seeds.

    Args:
        scores: word × pair × seed.
        sizes: numbers of seeds, each below S.
        number: of random batches of each size.
    """
    from scipy.special import chdtri

    seeds = scores.shape[2]
    whole = box_of(scores)
    low_factor, high_factor = (
        ((seeds - 1) / float(chdtri(seeds - 1, tail))) ** 0.5 for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    )
    found = []
    for size in sizes:
        random = random_batches(seeds, size, number, np.random.default_rng(size))
        drawn = [box_of(scores[:, :, batch]) for batch in random]
        apart = [box_of(scores[:, :, batch]) for batch in disjoint_batches(seeds, size)]
        for part, value in whole.items():
            own = np.array([box[part] for box in drawn])
            sd = float(own.std(ddof=1)) / (1 - size / seeds) ** 0.5
            batches = tuple(box[part] for box in apart)
            found.append(
                Movement(part, size, value, float(own.mean()), batches, sd, sd * low_factor, sd * high_factor)
            )
    return found


def box_of(scores: Tables) -> dict[str, float]:
    """The five numbers of the words' ICC(2,1), and the width of the box."""
    with np.errstate(divide="ignore", invalid="ignore"):
        box = five_number_summary(agreement_icc(MeanSquares.of(scores)))
    return {**box, BOX_WIDTH: box["upper_quartile"] - box["lower_quartile"]}


def box_width_error(scores: Tables, draws: int = 200) -> float:
    """The standard error of the box's width for other words, base pairs and seeds, as that of a median (`medians`).

    A bootstrap over words, and a jackknife of the width over pairs and over seeds.

    Args:
        scores: word × pair × seed.
        draws: of the bootstrap.
    """
    _, pairs, seeds = scores.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        iccs = agreement_icc(MeanSquares.of(scores))
        without_pair = [_width(agreement_icc(rest)) for rest in leave_one_group_out(scores, np.arange(pairs))]
        without_seed = [
            _width(agreement_icc(MeanSquares(rest.columns, rest.rows, rest.error, rest.k, rest.n)))
            for rest in leave_one_group_out(scores.swapaxes(1, 2), np.arange(seeds))
        ]
    rng = np.random.default_rng(0)
    drawn = [_width(iccs[rng.integers(0, len(iccs), len(iccs))]) for _ in range(draws)]
    variance = float(np.var(drawn)) + jackknife_variance(without_pair) + jackknife_variance(without_seed)
    return math.sqrt(variance)


def _width(values: Vector) -> float:
    lower, upper = np.quantile(values[np.isfinite(values)], [0.25, 0.75])
    return float(upper - lower)
