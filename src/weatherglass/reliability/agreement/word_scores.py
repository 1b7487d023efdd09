"""The score of every word with its uncertainty: does it lean to one end of the base pairs, and how sure is that?"""

from __future__ import annotations

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.inference.correction import adjust
from weatherglass.inference.crossed_mean import crossed_mean
from weatherglass.inference.sign_flips_of_rows import sign_flip_p_values
from weatherglass.reliability.agreement.icc import Estimates
from weatherglass.reliability.rows import (
    CANNOT_TELL,
    SHOWN,
    THESE_SEEDS,
    Columns,
    Condition,
    WordScore,
    columns,
)
from weatherglass.reliability.scoring.scores import ScoreTensor

ALPHA = 0.05
FEWEST_SEEDS = 3
"""With two, the interval for other seeds holds the truth in 86 to 98 % of cases (docs/methods 10.5)."""
WORDS_AT_A_TIME = 4096


def word_scores(condition: Condition, tensor: ScoreTensor, rule: str, retest: Estimates) -> Columns:
    """Rows of the table `words`: all words by one rule, corrected over these words.

    Args:
        retest: the test–retest of every word by this rule.
    """
    parts = []
    rng = np.random.default_rng(0)  # It is used beyond 36 pairs, and must give the same table every time.
    for start in range(0, len(tensor.words), WORDS_AT_A_TIME):
        scores = tensor.block(rule, slice(start, start + WORDS_AT_A_TIME))
        crossed = crossed_mean(scores)
        these_seeds = sign_flip_p_values(scores.mean(2), rng)
        parts.append(np.stack([crossed.mean, crossed.low, crossed.high, crossed.p_value, these_seeds]))
    score, low, high, p_value, p_these_seeds = np.concatenate(parts, axis=1)
    p_adjusted = adjust(p_value, "benjamini-hochberg")
    p_these_seeds_adjusted = adjust(p_these_seeds, "benjamini-hochberg")
    first, second = tensor.pairs[0]
    return columns(
        WordScore,
        condition,
        rule=rule,
        word=list(tensor.words),
        score=score,
        low=low,
        high=high,
        toward=np.where(score >= 0, first, second).tolist(),
        verdict=_verdicts(p_adjusted, p_these_seeds_adjusted, len(tensor.seeds)),
        p_value=p_value,
        p_adjusted=p_adjusted,
        p_these_seeds=p_these_seeds,
        p_these_seeds_adjusted=p_these_seeds_adjusted,
        icc=retest.value,
        icc_low=retest.low,
        icc_high=retest.high,
        rank=_ranks(score),
        of=len(tensor.words),
    )


def _verdicts(p_adjusted: Vector, p_these_seeds_adjusted: Vector, seeds: int) -> list[str]:
    shown = (p_adjusted <= ALPHA) & (seeds >= FEWEST_SEEDS)
    these_seeds = np.where(p_these_seeds_adjusted <= ALPHA, THESE_SEEDS, CANNOT_TELL)
    verdicts: list[str] = np.where(shown, SHOWN, these_seeds).tolist()
    return verdicts


def _ranks(scores: Vector) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """1 for the word that leans most to the first words of the pairs; of equal scores the more frequent word first."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
