"""Simulate how often the intervals of metrics other than WEAT contain the value that endless words would give.

    python -m benchmarks._coverage_of_metrics [repetitions]

The words that p exchanges are drawn again each time (8 or 12 per set, normal vectors about a mean of their set), the
others are fixed. The truth is the value with 4 000 words per set. docs/methods 13 has its table.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

import weatherglass as wg
from weatherglass.metrics import select_metrics
from weatherglass.metrics.set_metric import SetMetric

Array = NDArray[np.float64]
WIDTH, ENDLESS = 20, 4_000
EXCHANGED = {
    "sc-weat": "attributes",
    "rnd": "targets",
    "mac": "targets",
    "ripa": "targets",
    "ect": "targets",
    "same": "attributes",
    "direct-bias": "targets",
}
SHAPES = {"sc-weat": (1, 2), "mac": (2, 1), "same": (1, 2)}


def drawn(rng: np.random.Generator, means: Array, size: int) -> list[Array]:
    """Return a set of `size` words about each mean."""
    return [mean + rng.standard_normal((size, WIDTH)) for mean in means]


def coverage(name: str, size: int, repetitions: int, seed: int = 0) -> tuple[float, float]:
    """Return the share of intervals that contain the truth, and their mean width."""
    rng = np.random.default_rng(seed)
    n_targets, n_attributes = SHAPES.get(name, (2, 1))
    targets, attributes = (rng.standard_normal((n, WIDTH)) / 2 for n in (n_targets, n_attributes))
    fixed = drawn(rng, attributes if EXCHANGED[name] == "targets" else targets, 8)

    def sets(size: int) -> tuple[list[Array], list[Array]]:
        varied = drawn(rng, targets if EXCHANGED[name] == "targets" else attributes, size)
        return (varied, fixed) if EXCHANGED[name] == "targets" else (fixed, varied)

    (metric,) = select_metrics([name])
    assert isinstance(metric, SetMetric)
    truth = metric.value_and_scores(*sets(ENDLESS))[0]
    results = [wg.measure(metric, *sets(size)) for _ in range(repetitions)]
    ends = [(result.ci_low, result.ci_high) for result in results]
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    held = float(np.mean([low <= truth <= high for low, high in known]))
    return held, float(np.mean([high - low for low, high in known]))


def main() -> None:
    """Return a row for each metric and size."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print("| metric | words | holds the truth | mean width |\n|---|---|---|---|")
    for name in EXCHANGED:
        for size in (8, 12):
            held, width = coverage(name, size, repetitions)
            print(f"| `{name}` | {size} | {100 * held:.0f} % | {width:.3f} |", flush=True)


if __name__ == "__main__":
    main()
