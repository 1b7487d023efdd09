"""Measure what a multiverse costs compared with a run, the joint test of many specifications, and its level.

Run with `python -m benchmarks.multiverse [cost|joint|level]`; without arguments all. Exit code 1 if 60 specifications ×
46 tests take 3 times the CPU of a run or more, if 1 000 specifications take twice as long as one or more, or if a level
is not 0.05 ± 0.01.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial

import numpy as np
from benchmarks._rows import cpu
from numpy.typing import NDArray

import weatherglass as wg
from weatherglass.stats.multiplicity import westfall_young
from weatherglass.stats.multiverse import joint_test
from weatherglass.stats.permutation.kernels import prepare

Array = NDArray[np.float64]
WORDS = 8
SIMILARITIES = ("cosine", "euclidean", "manhattan", "dot")
STATISTICS = ("mean", "median", "nearest", "farthest", "eq2")
"""Four similarities by five statistics, so that the 46 tests have at least 60 specifications each."""


def world(rng: np.random.Generator, n: int, specifications: int, shared: float) -> Array:
    """Return scores of n words, specifications across, any two with this correlation, and no effect."""
    common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, specifications))
    return np.asarray(np.sqrt(shared) * common + np.sqrt(1 - shared) * own)


def level(repetitions: int, specifications: int, shared: float, seed: int = 0) -> tuple[float, float]:
    """Return the level of multiverse p and of the smallest maxT p at 0.05, with 8 + 8 words."""
    rng = np.random.default_rng(seed)
    joint = largest = 0
    for _ in range(repetitions):
        scores = world(rng, 2 * WORDS, specifications, shared)
        joint += joint_test(scores, WORDS).p <= 0.05
        largest += westfall_young(scores, WORDS).p.min() <= 0.05
    return joint / repetitions, largest / repetitions


def show_level() -> bool:
    """Return the level with 60 dependent specifications."""
    held = True
    for shared in (0.5, 0.8):
        joint, largest = level(4_000, 60, shared)
        held &= abs(joint - 0.05) <= 0.01 and abs(largest - 0.05) <= 0.01
        print(
            f"level, 60 specifications that correlate {shared}: joint {joint:.3f}, maxT {largest:.3f} (4 000 draws)"
        )
    return held


def _ten_times(scores: Array, n: int) -> None:
    for _ in range(10):
        joint_test(scores, n)


def show_joint() -> bool:
    """Time the joint test of 1 000 specifications against one."""
    prepare()
    held = True
    for n in (8, 16, 25):
        scores = world(np.random.default_rng(1), 2 * n, 1_000, 0.7)
        scores[:n] += 0.4
        many = cpu(partial(_ten_times, scores, n)) / 10
        # The same standardised scores as one specification, so that the same p is computed.
        one = joint_test(scores, n).scores[:, np.newaxis]
        single = cpu(partial(_ten_times, one, n)) / 10
        held &= many < 2 * single
        print(
            f"joint test, {n} + {n} words: 1 000 specifications {1e3 * many:.2f} ms, one {1e3 * single:.2f} ms, "
            f"ratio {many / single:.2f}"
        )
    return held


def show_cost() -> bool:
    """Time all 46 tests in at least 60 specifications per test against `weatherglass run` on the same model."""
    wg.run(tests="weat6")  # compiled code and the model's file are then at hand
    with tempfile.TemporaryDirectory() as folder:
        run = cpu(lambda: wg.run(folder=f"{folder}/run"), repeats=1)
        found: list[wg.Multiverse] = []
        spent = cpu(
            lambda: found.append(wg.multiverse(similarities=SIMILARITIES, statistics=STATISTICS)), repeats=1
        )
    number = sum(len(entry["specifications"]) for entry in found[0].topics)
    print(
        f"run, 46 tests: {run:.1f} CPU s; multiverse, {number} specifications of the same tests "
        f"({number / 46:.0f} a test): {spent:.1f} CPU s, ratio {spent / run:.2f}"
    )
    return number >= 60 * 46 and spent < 3 * run


PARTS = {"cost": show_cost, "joint": show_joint, "level": show_level}


def main() -> None:
    """Print the parts that were asked for."""
    held = [PARTS[name]() for name in sys.argv[1:] or PARTS]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
