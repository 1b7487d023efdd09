"""Simulate how often the verdict on a mitigation is right where the truth is known; docs/methods 14.

    python -m benchmarks.mitigation [--repetitions 200] [--write docs/mitigation.md]

Word vectors are drawn: six tests of 8 + 8 target words and 8 + 8 attribute words, all held out, and 400 neutral words
with a bias along the attribute's direction. The transform removes that direction (no bias before, removed, hidden) or
another one (left), or mirrors it (reversed). Where the bias is hidden, neutral words also carry it along ten other
directions. The t-test replaces the permutation test, which it approximates. The old rule does not correct p before.
Exit code 1 if a truth is found in less than 85 % of repetitions. Two minutes on one core.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks._rows import write_between
from scipy.stats import ttest_ind
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Matrix, unit_length
from weatherglass.mitigation_evaluation.recovery import NeutralWords, measures, old_bias, recoveries
from weatherglass.mitigation_evaluation.verdict import (
    CANNOT_TELL,
    HIDDEN,
    NOT_REMOVED,
    REMOVED,
    MetricChange,
    verdict,
    with_holm,
)

MARK = "planted truths"
TRUTHS: Mapping[str, str] = {
    "no bias before": CANNOT_TELL,
    "removed": REMOVED,
    "hidden": HIDDEN,
    "left": NOT_REMOVED,
    "reversed": NOT_REMOVED,
}
"""Each planted truth and the verdict that is right."""
ALPHA, LEAST_RIGHT = 0.05, 0.85
WIDTH, TESTS, WORDS, NEUTRAL, OTHERS = 50, 6, 8, 400, 10
LEANING, ATTRIBUTE, BIAS = 2.5, 6.0, 3.0
"""Lengths along the attribute's direction, where the noise in every direction has a standard deviation of 1."""


def effect_and_p(x: Matrix, y: Matrix, a: Matrix, b: Matrix) -> tuple[float, float]:
    """Return d of WEAT (cosine, mean) and the p of a t-test."""
    to_a, to_b = unit_length(a).mean(axis=0), unit_length(b).mean(axis=0)
    scores = [unit_length(rows) @ (to_a - to_b) for rows in (x, y)]
    d = (scores[0].mean() - scores[1].mean()) / np.concatenate(scores).std(ddof=1)
    return float(d), float(ttest_ind(*scores).pvalue)


def judged(truth: str, seed: int) -> tuple[str, str]:
    """Return the verdict on one drawn model and transform, and that of the old rule."""
    rng = np.random.default_rng([seed, list(TRUTHS).index(truth)])
    attribute, *others = np.linalg.qr(rng.normal(size=(WIDTH, 1 + OTHERS)))[0].T
    leaning = 0.0 if truth == "no bias before" else LEANING

    def changed(rows: Matrix) -> Matrix:
        direction = others[0] if truth == "left" else attribute
        part = np.outer(rows @ direction, direction)
        return np.asarray(rows - (2 if truth == "reversed" else 1) * part)

    def words(number: int, length: float) -> Matrix:
        return np.asarray(rng.normal(size=(number, WIDTH)) + length * attribute)

    rows = []
    for test in range(TESTS):
        sets = [words(WORDS, length) for length in (leaning, -leaning, ATTRIBUTE, -ATTRIBUTE)]
        before, p_before = effect_and_p(*sets)
        # A mirrored word beside attribute words that stay: a transform that equalises some words only
        after_sets = [changed(s) for s in sets[:2]] + (
            sets[2:] if truth == "reversed" else [changed(s) for s in sets[2:]]
        )
        after, p_after = effect_and_p(*after_sets)
        rows.append(
            MetricChange(
                *(f"test {test}", "cosine/mean", True, True, before, after, p_before, None, p_after, None),
                *(None, None, None, before, after, 2 * WORDS),
                contrast=True,
                optimised=False,
            )
        )
    biases = rng.normal(size=NEUTRAL)
    neutral_rows = words(NEUTRAL, 0.0) + BIAS * np.outer(biases, attribute)
    if truth == "hidden":
        neutral_rows += BIAS * np.outer(biases, np.mean(others, axis=0) * np.sqrt(OTHERS))
    ends = [words(20, length) for length in (ATTRIBUTE, -ATTRIBUTE)]
    neutral = NeutralWords(
        tuple(f"w{number}" for number in range(NEUTRAL)), old_bias(neutral_rows, ends[0], ends[1])
    )
    left = recoveries([measures(each, neutral) for each in (neutral_rows, changed(neutral_rows))], neutral)
    corrected = with_holm(rows)
    uncorrected = [replace(row, p_before_holm=row.p_before) for row in corrected]
    return verdict(corrected, corrected, left, ALPHA).word, verdict(
        uncorrected, uncorrected, left, ALPHA
    ).word


def table(repetitions: int, outside: list[str]) -> Iterator[str]:
    """Yield the lines of the table; a truth that is found too seldom is appended to `outside`."""
    words = (CANNOT_TELL, REMOVED, HIDDEN, NOT_REMOVED)
    yield f"| truth | {' | '.join(words)} | correct | *correct without correction before* |"
    yield "|---" * (len(words) + 3) + "|"
    for truth, right in TRUTHS.items():
        found = [judged(truth, seed) for seed in range(repetitions)]
        new, old = (Counter(pair[rule] for pair in found) for rule in (0, 1))
        if new[right] < LEAST_RIGHT * repetitions:
            outside.append(f"{truth}: right in {new[right]} of {repetitions}")
        cells = [f"{100 * new[word] / repetitions:.1f}" for word in words]
        shares = [100 * counts[right] / repetitions for counts in (new, old)]
        yield f"| {truth} | {' | '.join(cells)} | **{shares[0]:.1f}** | *{shares[1]:.1f}* |"


def main() -> None:
    """Print the table, write it into a document between its marks, and fail where a truth is not found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    outside: list[str] = []
    lines = []
    with threadpool_limits(1):
        for line in table(options.repetitions, outside):
            print(line, flush=True)
            lines.append(line)
    if options.write:
        write_between(options.write, MARK, lines)
    if outside:
        sys.exit("\n".join(["verdicts are right too seldom:", *outside]))


if __name__ == "__main__":
    main()
