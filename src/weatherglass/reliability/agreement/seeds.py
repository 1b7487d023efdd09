"""Are the seeds enough? Test–retest of disjoint batches of seeds, and by the number of seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.reliability.agreement.assess import five_number_summary
from weatherglass.reliability.agreement.icc import FEWEST, MeanSquares, absolute_agreement
from weatherglass.reliability.rows import Condition, SeedBatch, SeedNumber
from weatherglass.reliability.scoring.rules import raters
from weatherglass.reliability.scoring.scores import ScoreTensor

EXTRAPOLATED = (16, 32, 64)
"""Numbers of seeds for which the interval is extrapolated, if the study has fewer."""


def batches_of_seeds(condition: Condition, tensor: ScoreTensor, words: Integers) -> list[SeedBatch]:
    """Box plots of the test–retest of `words` for disjoint batches: all seeds, halves, quarters (at least 2)."""
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


def estimate_by_seeds(condition: Condition, tensor: ScoreTensor, words: Integers) -> list[SeedNumber]:
    """The median test–retest of `words` and the medians of its interval's ends, for 2, 4, 8, … seeds.

    For more seeds than the study has, the interval is computed from the variance components of all its seeds.
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


def seed_lines(batches: Sequence[SeedBatch], numbers: Sequence[SeedNumber]) -> list[str]:
    """One sentence for each condition and rule, with their names in front."""
    return [f"{', '.join(key)}: {sentence}" for key, sentence in seed_sentences(batches, numbers).items()]


def seed_sentences(
    batches: Sequence[SeedBatch], numbers: Sequence[SeedNumber]
) -> dict[tuple[str, str, str, str], str]:
    """Corpus, algorithm, set of base pairs and rule -> a sentence on whether the seeds are enough."""
    sentences = {}
    for key in dict.fromkeys(_key(row) for row in numbers):
        own_rows = [row for row in numbers if _key(row) == key]
        all_seeds = max((row for row in own_rows if not row.extrapolated), key=lambda row: row.seeds)
        line = (
            f"with {all_seeds.seeds} seeds the median word has a test–retest of {all_seeds.icc:.2f} "
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
