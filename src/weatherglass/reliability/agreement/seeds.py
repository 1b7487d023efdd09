"""Measure how much seeds change results, using batches of a study's seeds and models that differ only in the seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.audit.results import Result, word_scores
from weatherglass.reliability.agreement.assess import five_number_summary
from weatherglass.reliability.agreement.icc import (
    FEWEST,
    LEVEL,
    MeanSquares,
    Tables,
    absolute_agreement,
    agreement_icc,
    crossed_retest,
    leave_one_group_out,
)
from weatherglass.reliability.scoring import raters
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.reliability.tables import SeedBatch, SeedNumber, StudyCondition
from weatherglass.stats.interval import jackknife_variance
from weatherglass.stats.seeds import seed_share, seeds_needed

EXTRAPOLATED = (16, 32, 64)
"""Numbers of seeds to which the interval is extrapolated if the study has fewer."""


def batches_of_seeds(condition: StudyCondition, tensor: ScoreTensor, words: Integers) -> list[SeedBatch]:
    """Compute box plots of the test–retest reliability of `words` for all seeds, and for disjoint halves and quarters
    of them.

    A batch has at least two seeds.
    """
    seeds = len(tensor.seeds)
    rows = []
    if len(tensor.pairs) < FEWEST or seeds < 2:
        return []
    for rule in raters(tensor.rules):
        scores = tensor.block(rule, words)
        for size in dict.fromkeys(size for size in (seeds, seeds // 2, seeds // 4) if size >= 2):
            for batch in range(seeds // size):
                chosen = slice(batch * size, (batch + 1) * size)
                iccs = absolute_agreement(MeanSquares.of(scores[:, :, chosen])).value
                which = " ".join(str(seed) for seed in tensor.seeds[chosen])
                box: dict[str, Any] = {**five_number_summary(iccs)}
                rows.append(
                    SeedBatch(
                        **condition.columns(), rule=rule, seeds=size, batch=batch + 1, which=which, **box
                    )
                )
    return rows


def estimate_by_seeds(condition: StudyCondition, tensor: ScoreTensor, words: Integers) -> list[SeedNumber]:
    """Compute the median test–retest reliability of `words`, and the median ends of its interval, for 2, 4, 8, …
    seeds.

    For more seeds than the study has, the interval is extrapolated from the variance components of all its seeds.
    """
    seeds = len(tensor.seeds)
    if len(tensor.pairs) < FEWEST or seeds < 2:
        return []
    available = sorted({2**power for power in range(1, seeds.bit_length())} | {seeds})
    rows = []
    for rule in raters(tensor.rules):
        scores = tensor.block(rule, words)
        all_squares = MeanSquares.of(scores)
        for number in [*available, *(more for more in EXTRAPOLATED if more > seeds)]:
            squares = (
                MeanSquares.of(scores[:, :, :number]) if number <= seeds else all_squares.with_columns(number)
            )
            estimates = absolute_agreement(squares)
            low, icc, high = (
                float(np.nanmedian(values)) for values in (estimates.low, estimates.value, estimates.high)
            )
            width = float(np.nanmedian(estimates.high - estimates.low))
            more = number > seeds
            rows.append(
                SeedNumber(
                    **condition.columns(),
                    rule=rule,
                    seeds=number,
                    icc=icc,
                    low=low,
                    high=high,
                    width=width,
                    extrapolated=more,
                )
            )
    return rows


def seed_sentences(
    batches: Sequence[SeedBatch], numbers: Sequence[SeedNumber]
) -> dict[tuple[str, str, str, str], str]:
    """Return a sentence for each corpus, algorithm, set of base pairs and rule that states whether there are enough
    seeds.
    """
    sentences = {}
    for key in dict.fromkeys(_key(row) for row in numbers):
        own_rows = [row for row in numbers if _key(row) == key]
        all_seeds = max((row for row in own_rows if not row.extrapolated), key=lambda row: row.seeds)
        line = (
            f"with {all_seeds.seeds} seeds, the median word has a test–retest reliability of {all_seeds.icc:.2f} "
            f"(95 % interval {all_seeds.low:.2f} to {all_seeds.high:.2f})"
        )
        halves = [row for row in batches if _key(row) == key and row.seeds == all_seeds.seeds // 2]
        if len(halves) >= 2:
            medians = [row.median for row in halves]
            spreads = [row.upper_quartile - row.lower_quartile for row in halves]
            line += (
                f"; disjoint batches of {halves[0].seeds} give medians from {min(medians):.2f} to "
                f"{max(medians):.2f} and boxes from {min(spreads):.2f} to {max(spreads):.2f} wide"
            )
        predicted = [row for row in own_rows if row.extrapolated and row.seeds == 32]
        if predicted:
            line += (
                f"; 32 seeds would change the interval's width from {all_seeds.width:.2f} to "
                f"{predicted[0].width:.2f} (extrapolated)"
            )
        sentences[key] = line + "."
    return sentences


def _key(row: SeedBatch | SeedNumber) -> tuple[str, str, str, str]:
    return row.corpus, row.algorithm, row.pairs, row.rule


BOX_WIDTH = "box"
"""The name of the interquartile range, among the five numbers of a box plot."""


@dataclass(frozen=True, slots=True)
class Movement:
    """The variation of one number of the box plot over batches of seeds."""

    part: str
    """A name of `five_number_summary`, or `BOX_WIDTH`."""
    size: int
    """The number of seeds in a batch."""
    whole: float
    """The value with all seeds."""
    mean: float
    """The mean over random batches; if it differs from `whole`, the number depends on how many seeds there are."""
    disjoint: tuple[float, ...]
    """The value for each disjoint batch."""
    sd: float
    """The standard deviation over batches of this size with other seeds."""
    sd_low: float
    sd_high: float


def disjoint_batches(seeds: int, size: int) -> list[Integers]:
    """Return all disjoint batches of this size, in the order of the seeds."""
    return [np.arange(start, start + size) for start in range(0, seeds - size + 1, size)]


def random_batches(seeds: int, size: int, number: int, rng: np.random.Generator) -> list[Integers]:
    """Draw batches, each without replacement; two batches may share seeds."""
    return [np.sort(rng.choice(seeds, size, replace=False)) for _ in range(number)]


def movements(scores: Tables, sizes: Sequence[int], number: int = 100) -> list[Movement]:
    """Compute how the box plot of the words' test–retest reliability varies over batches of each size.

    Two random batches of k of S seeds share seeds, so they differ less than batches of other seeds; their variance is
    divided by 1 − k/S. Its interval is that of a variance with S − 1 degrees of freedom, since the effect of a batch
    is approximately a sum over its seeds.

    Args:
        scores: word × pair × seed.
        sizes: numbers of seeds in a batch, each below S.
        number: the number of random batches of each size.
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
    """Return the five numbers of the words' ICC(2,1), and the width of the box."""
    with np.errstate(divide="ignore", invalid="ignore"):
        box = five_number_summary(agreement_icc(MeanSquares.of(scores)))
    return {**box, BOX_WIDTH: box["upper_quartile"] - box["lower_quartile"]}


def box_width_error(scores: Tables, draws: int = 200) -> float:
    """Compute the standard error of the box's width; as in `medians`, words, base pairs and seeds are random factors.

    The variance is the sum of the bootstrap variance over words and the jackknife variances over pairs and over seeds.

    Args:
        scores: word × pair × seed.
        draws: the number of bootstrap resamples.
    """
    _, pairs, seeds = scores.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        iccs = agreement_icc(MeanSquares.of(scores))
        without_pair = [_width(agreement_icc(rest)) for rest in leave_one_group_out(scores, np.arange(pairs))]
        without_seed = [
            _width(agreement_icc(rest.transposed()))
            for rest in leave_one_group_out(scores.swapaxes(1, 2), np.arange(seeds))
        ]
    rng = np.random.default_rng(0)
    drawn = [_width(iccs[rng.integers(0, len(iccs), len(iccs))]) for _ in range(draws)]
    variance = np.var(drawn) + sum(
        jackknife_variance(np.array(each)) for each in (without_pair, without_seed)
    )
    return math.sqrt(variance)


def _width(values: Vector) -> float:
    lower, upper = np.quantile(values[np.isfinite(values)], [0.25, 0.75])
    return float(upper - lower)


PRECISION = 0.1
"""The half-width of the interval of a mean over seeds for which `seeds_needed` is computed."""


@dataclass(frozen=True, slots=True)
class FamilyEffect:
    """The effect of seeds on one test and metric in a family of models; numbers that are not estimable are NaN."""

    family: str
    test: str
    metric: str
    sets: str
    members: tuple[str, ...]
    """The models that have a value."""
    values: tuple[float, ...]
    """The values of d, or of another metric."""
    mean: float
    sd: float
    low: float
    """The lower bound of the 95 % interval of the mean, with seeds as a random factor and words fixed."""
    high: float
    word_variance: float
    """The squared standard error over random target words, averaged over seeds."""
    attribute_variance: float
    """The squared standard error over random attribute words."""
    share: float
    """The seed's share of the variance over random seeds and target words."""
    share_low: float
    share_high: float
    icc: float
    """The test–retest reliability of the words' scores over members: ICC(2,1) with words as rows."""
    icc_low: float
    icc_high: float
    seeds_needed: int | None
    """The number of seeds for a mean within ± the precision; None if it is too large."""


@dataclass(frozen=True, slots=True)
class FamilyAgreement:
    """The test–retest reliability of a metric's values over a family: ICC(2,1) with tests as rows."""

    family: str
    metric: str
    tests: int
    members: int
    icc: float
    low: float
    high: float
    note: str


@dataclass(frozen=True, slots=True)
class FamilyReport:
    """The effects of seeds in all families of a run."""

    effects: tuple[FamilyEffect, ...]
    agreements: tuple[FamilyAgreement, ...]
    precision: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values, with null instead of NaN."""
        return {
            "precision": self.precision,
            "effects": [_plain(asdict(effect)) for effect in self.effects],
            "agreements": [_plain(asdict(agreement)) for agreement in self.agreements],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> FamilyReport:
        """Return the report from the result of `to_json`."""
        return cls(
            tuple(FamilyEffect(**_numbers(effect)) for effect in record["effects"]),
            tuple(FamilyAgreement(**_numbers(agreement)) for agreement in record["agreements"]),
            record["precision"],
        )


def family_report(
    results: Sequence[Result], families: Mapping[str, Sequence[str]], precision: float = PRECISION
) -> FamilyReport:
    """Report every test and metric of a run over every family with at least two members.

    Args:
        results: the results of the run.
        families: the models of each family.
        precision: the half-width of the interval of the mean over seeds, for `seeds_needed`.
    """
    effects = []
    for family, members in families.items():
        cells: dict[tuple[str, str, str], list[Result]] = {}
        for result in results:
            if result.model in members and not math.isnan(result.value):
                cells.setdefault((result.test, result.metric, result.sets), []).append(result)
        effects += [_effect(family, own, precision) for own in cells.values() if len(own) > 1]
    keys = dict.fromkeys((effect.family, effect.metric) for effect in effects)
    agreements = [
        _agreement([e for e in effects if (e.family, e.metric) == key], families[key[0]]) for key in keys
    ]
    return FamilyReport(tuple(effects), tuple(agreements), precision)


def _effect(family: str, results: Sequence[Result], precision: float) -> FamilyEffect:
    first = results[0]
    values = np.array([result.value for result in results])
    without = _without_each_word(results)
    targets = [table for role, table in without.items() if role[0] in "XY"]
    attributes = [table for role, table in without.items() if role[0] in "AB"]
    seeds = seed_share(values, targets)
    words = crossed_retest(_word_table(results)[None], rows="words")
    return FamilyEffect(
        family,
        first.test,
        first.metric,
        first.sets,
        tuple(result.model for result in results),
        tuple(values.tolist()),
        seeds.mean,
        seeds.sd,
        seeds.low,
        seeds.high,
        seeds.word_variance,
        sum(float(jackknife_variance(table.mean(axis=0))) for table in attributes)
        if attributes
        else math.nan,
        seeds.share,
        seeds.share_low,
        seeds.share_high,
        float(words.value[0]),
        float(words.low[0]),
        float(words.high[0]),
        seeds_needed(seeds.sd, precision),
    )


def _without_each_word(results: Sequence[Result]) -> dict[str, Matrix]:
    """Return, for each set, the values (member × word) without each word that all members know."""
    tables = [
        {
            (left.role, left.name): left.effect_size
            for left in result.robustness.left_out
            if left.kind == "word"
        }
        if result.robustness
        else {}
        for result in results
    ]
    common = [key for key in tables[0] if all(table.get(key) is not None for table in tables)]
    return {
        role: np.array(
            [[table[key] for key in common if key[0] == role] for table in tables], dtype=np.float64
        )
        for role in dict.fromkeys(role for role, _ in common)
    }


def _word_table(results: Sequence[Result]) -> Matrix:
    """Return the scores of the words that all members know, word × member."""
    tables = [{(unit.role, unit.name): unit.score for unit in word_scores(result)} for result in results]
    common = [key for key in tables[0] if all(key in table for table in tables)]
    return np.array([[table[key] for table in tables] for key in common]).reshape(len(common), len(results))


def _agreement(effects: Sequence[FamilyEffect], members: Sequence[str]) -> FamilyAgreement:
    """Compute the agreement over the tests for which all members have a value."""
    whole = [effect for effect in effects if len(effect.members) == len(members)]
    values = np.array([effect.values for effect in whole]).reshape(len(whole), len(members))
    icc = crossed_retest(values[None], rows="tests")
    return FamilyAgreement(
        effects[0].family,
        effects[0].metric,
        len(whole),
        len(members),
        float(icc.value[0]),
        float(icc.low[0]),
        float(icc.high[0]),
        icc.reason,
    )


def _numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    read = {
        name: math.nan if value is None and name != "seeds_needed" else value
        for name, value in values.items()
    }
    return {name: tuple(value) if isinstance(value, list) else value for name, value in read.items()}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in values.items()}
