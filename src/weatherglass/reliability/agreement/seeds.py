"""Are the seeds enough? Disjoint batches of seeds compared, and the estimate against the number of seeds."""

from __future__ import annotations

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.reliability.agreement.assess import Columns, Condition, five_numbers
from weatherglass.reliability.agreement.icc import FEWEST, MeanSquares, absolute_agreement
from weatherglass.reliability.scoring.scores import RATERS, ScoreTensor

FURTHER = (16, 32, 64)
"""Numbers of seeds for which the interval is foretold, where fewer are at hand."""


def batches_of_seeds(condition: Condition, tensor: ScoreTensor, words: Integers) -> list[Columns]:
    """Box plots of the test–retest of `words` for disjoint batches: all seeds, halves, quarters (of 2 at least)."""
    seeds = len(tensor.seeds)
    rows = []
    if len(tensor.pairs) < FEWEST or seeds < 2:
        return []
    for rule in RATERS:
        scores = tensor.block(rule, words)
        for size in dict.fromkeys(size for size in (seeds, seeds // 2, seeds // 4) if size >= 2):
            for batch in range(seeds // size):
                chosen = slice(batch * size, (batch + 1) * size)
                iccs = absolute_agreement(MeanSquares.of(scores[:, :, chosen])).value
                rows.append(
                    {
                        **condition.columns(),
                        "rule": rule,
                        "seeds": size,
                        "batch": batch + 1,
                        "which": " ".join(str(seed) for seed in tensor.seeds[chosen]),
                        **five_numbers(iccs),
                    }
                )
    return rows


def estimate_by_seeds(condition: Condition, tensor: ScoreTensor, words: Integers) -> list[Columns]:
    """The median test–retest of `words` and the medians of its interval's ends, for 2, 4, 8, … seeds.

    Beyond the seeds at hand, the variance components of all of them are put into the formula of the interval.
    """
    seeds = len(tensor.seeds)
    if len(tensor.pairs) < FEWEST or seeds < 2:
        return []
    at_hand = sorted({2**power for power in range(1, seeds.bit_length())} | {seeds})
    rows = []
    for rule in RATERS:
        scores = tensor.block(rule, words)
        of_all = MeanSquares.of(scores)
        for number in [*at_hand, *(further for further in FURTHER if further > seeds)]:
            squares = (
                MeanSquares.of(scores[:, :, :number]) if number <= seeds else of_all.with_columns(number)
            )
            estimates = absolute_agreement(squares)
            low, icc, high = (
                float(np.nanmedian(values)) for values in (estimates.low, estimates.value, estimates.high)
            )
            width = float(np.nanmedian(estimates.high - estimates.low))
            rows.append(
                {
                    **condition.columns(),
                    "rule": rule,
                    "seeds": number,
                    "icc": icc,
                    "low": low,
                    "high": high,
                    "width": width,
                    "extrapolated": number > seeds,
                }
            )
    return rows


def in_plain_words(batches: list[Columns], numbers: list[Columns]) -> list[str]:
    """One line per condition and rule: what the batches and the numbers say."""
    return [f"{', '.join(key)}: {sentence}" for key, sentence in seed_sentences(batches, numbers).items()]


def seed_sentences(batches: list[Columns], numbers: list[Columns]) -> dict[tuple[str, str, str, str], str]:
    """The same without the names: corpus, algorithm, set of base pairs and rule -> what is said of them."""
    sentences = {}
    for key in dict.fromkeys(_key(row) for row in numbers):
        mine = [row for row in numbers if _key(row) == key]
        whole = max((row for row in mine if not row["extrapolated"]), key=lambda row: row["seeds"])
        line = (
            f"with {whole['seeds']} seeds the median word has a test–retest of {whole['icc']:.2f} "
            f"(95 % interval {whole['low']:.2f} to {whole['high']:.2f})"
        )
        halves = [row for row in batches if _key(row) == key and row["seeds"] == whole["seeds"] // 2]
        if len(halves) >= 2:
            medians = [row["median"] for row in halves]
            spreads = [row["upper_quartile"] - row["lower_quartile"] for row in halves]
            line += (
                f"; disjoint batches of {halves[0]['seeds']} give medians from {min(medians):.2f} to "
                f"{max(medians):.2f} and boxes from {min(spreads):.2f} to {max(spreads):.2f} wide"
            )
        foretold = [row for row in mine if row["extrapolated"] and row["seeds"] == 32]
        if foretold:
            line += (
                f"; 32 seeds would change the interval's width from {whole['width']:.2f} to "
                f"{foretold[0]['width']:.2f} (extrapolated)"
            )
        sentences[key] = line + "."
    return sentences


def _key(row: Columns) -> tuple[str, str, str, str]:
    return row["corpus"], row["algorithm"], row["pairs"], row["rule"]
