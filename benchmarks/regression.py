"""Time the regression at the size of the published study, and stability over all pairs of seeds.

    python -m benchmarks.regression [ROWS]

Baselines: the same rows by ordinary least squares, which knows nothing of levels; and one alignment after another
with scipy, as the released code of Du et al. does it.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.reliability.regression.explain import explain_part
from weatherglass.reliability.regression.features import Design, embedding_stability
from weatherglass.reliability.regression.fit import MODELS, fit

TAGS = 10
Result = TypeVar("Result")


def data(rows: int) -> Design:
    """Return crossed rows of 3 rules, 3 corpora, 2 algorithms and as many words as needed."""
    rng = np.random.default_rng(0)
    words = -(-rows // 18)
    word, corpus, algorithm, rule = (axis.ravel()[:rows] for axis in np.indices((words, 3, 2, 3)))
    tag = rng.integers(0, TAGS + 1, words)[word]
    columns = {f"rule:{i}": (rule == i).astype(float) for i in (1, 2)}
    columns["log freq"] = rng.normal(size=(words, 3))[word, corpus]
    columns["log freq squared"] = columns["log freq"] ** 2
    columns["log senses"] = rng.normal(size=words)[word]
    columns |= {f"pos:{i}": (tag == i).astype(float) for i in range(1, TAGS + 1)}
    for name in ("nn similarity", "l2 norm", "embedding stability"):
        columns[name] = rng.normal(size=(words, 3, 2))[word, corpus, algorithm]
    score = 0.5 + 0.13 * columns["embedding stability"] + 0.02 * columns["log freq"]
    score += (
        rng.normal(0, 0.1, words)[word] + rng.normal(0, 0.07, 2)[algorithm] + rng.normal(0, 0.02, 3)[corpus]
    )
    score += rng.normal(0, 0.15, rows)
    factors = {"algorithm": algorithm, "corpus": corpus, "word": word}
    return Design(score, columns, factors, {"rule": "0", "pos": "0"}, rows, {})


def timed(label: str, work: Callable[[], Result], baseline: float | None = None) -> tuple[Result, float]:
    """Print the processor time, its ratio to the baseline's, and the largest memory so far."""
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    ratio = f"{seconds / baseline:8.1f}×" if baseline else "baseline"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{label:<64}{seconds:9.2f} s {ratio:>10} {memory:7.2f} GB", flush=True)
    return result, seconds


def one_by_one(seeds: list[np.ndarray[tuple[int, int], np.dtype[np.float32]]]) -> Vector:
    """Compute the mean cosine after scipy's alignment, one pair at a time."""
    from scipy.linalg import orthogonal_procrustes

    cosines = []
    for i, first in enumerate(seeds):
        for second in seeds[i + 1 :]:
            turned = first @ orthogonal_procrustes(first, second)[0]
            lengths = np.linalg.norm(turned, axis=1) * np.linalg.norm(second, axis=1)
            cosines.append((turned * second).sum(axis=1) / lengths)
    mean: Vector = np.mean(cosines, axis=0)
    return mean


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    print(f"{'processor time, ratio to the baseline above, largest memory':<64}")
    design = data(rows)
    _, baseline = timed(f"{rows:,} rows, least squares", lambda: fit(design, ()))
    for name, random in MODELS.items():
        timed(f"{rows:,} rows, {name} {random}", partial(fit, design, random), baseline)
    timed(
        f"{rows:,} rows, both models and what each factor adds",
        lambda: explain_part("test-retest", design),
        baseline,
    )
    rng = np.random.default_rng(0)
    seeds = [rng.normal(size=(10_000, 100)).astype(np.float32) for _ in range(16)]
    expected, baseline = timed("120 alignments of 10,000 × 100, scipy one by one", lambda: one_by_one(seeds))
    found, _ = timed("120 alignments of 10,000 × 100, batched", lambda: embedding_stability(seeds), baseline)
    print(f"largest difference of the two: {np.abs(found - expected).max():.1e}")


if __name__ == "__main__":
    main()
