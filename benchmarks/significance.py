"""Time p-values against a plain numpy implementation of the published procedure, both in one run.

Run with `python -m benchmarks.significance`; compiling is not counted, and each case is the best of three.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from functools import partial
from statistics import NormalDist

import numpy as np
from benchmarks._rows import cpu
from numpy.typing import NDArray

from weatherglass.stats.permutation import Significance, permutation_test
from weatherglass.stats.permutation.kernels import prepare

Scores = NDArray[np.float64]
SHUFFLES = 99_999


def plain(x: Scores, y: Scores, shuffles: int = SHUFFLES) -> float:
    """Compute p by the published procedure in numpy: shuffle the pooled scores, add up the first |X|, compare."""
    rng = np.random.default_rng(0)
    pooled, size = np.concatenate([x, y]), len(x)
    observed, hits = pooled[:size].sum(), 0
    for _ in range(shuffles):
        hits += rng.permutation(pooled)[:size].sum() >= observed
    return float((hits + 1) / (shuffles + 1))


def scores(x_size: int, y_size: int, p: float) -> tuple[Scores, Scores]:
    """Return normal scores shifted so that the normal p is about p."""
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(x_size), rng.standard_normal(y_size)
    x -= x.mean()
    y -= y.mean()
    z = -NormalDist().inv_cdf(p)
    n = x_size + y_size
    # A shift that is z standard errors of the pooled scores, which the shift itself widens.
    share = x_size * y_size / n
    within = float((x**2).sum() + (y**2).sum())
    shift = z * math.sqrt(within / (share * (n - 1 - z * z)))
    return x + shift, y


def row(case: str, goal: str, seconds: float, reached: str) -> None:
    print(f"{case:44} {goal:36} {seconds:8.4f} CPU s   {reached}", flush=True)


def within(found: Significance) -> str:
    """Return p with the relative gap of its bounds."""
    assert found.p_low is not None
    assert found.p_high is not None
    gap = (found.p_high - found.p_low) / found.p_low if found.p_low else math.inf
    return f"p = {found.p_value:.3g}, gap {gap:.1%}, {found.p_method}"


def exact_in_its_own_process() -> tuple[float, float]:
    """Return CPU seconds and peak memory in GB of 25 + 25, counted by meet-in-the-middle."""
    code = (
        "import json, resource, time\n"
        "from benchmarks.significance import scores\n"
        "from weatherglass.stats.permutation import permutation_test\n"
        "small = scores(9, 9, 0.1)\n"
        "permutation_test(*small, method='meet-in-the-middle')\n"
        "x, y = scores(25, 25, 0.1)\n"
        "start = time.process_time()\n"
        "permutation_test(x, y, method='meet-in-the-middle')\n"
        "spent = time.process_time() - start\n"
        "print(json.dumps([spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9]))\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    spent, peak = json.loads(found.stdout)
    return spent, peak


def published_tests() -> list[tuple[Scores, Scores]]:
    """Return s(w) of X and Y of the 46 tests, with the embedded model."""
    import weatherglass as wg

    found = []
    for result in wg.run(significance="normal").results:
        by_set = [[s.score for s in result.scores[: result.num_targ1]]]
        by_set.append([s.score for s in result.scores[result.num_targ1 :]])
        found.append((np.array(by_set[0]), np.array(by_set[1])))
    return found


def main() -> None:
    """Print the table of goals and what was measured."""
    prepare(print)
    print(f"{'case':44} {'goal':36} measured")
    x, y = scores(8, 8, 0.05)
    ours, theirs = cpu(lambda: permutation_test(x, y, method="exact"), 20), cpu(lambda: plain(x, y), 1)
    row("8 + 8, exact", "100 times faster", ours, f"{theirs / ours:.0f} times faster")
    spent, peak = exact_in_its_own_process()
    row(
        "25 + 25, exact (meet-in-the-middle)",
        "1.5 CPU s, 0.8 GB",
        spent,
        f"peak {peak:.2f} GB, all of Python",
    )
    # A normal p of 4e-26 is an exact one of about 1e-28.
    for sizes, p, goal in (((32, 32), 0.01, 0.2), ((300, 300), 0.2, 2.0), ((300, 300), 4e-26, 2.0)):
        x, y = scores(*sizes, p)
        bound = permutation_test(x, y, method="bounds", precision=0.01)
        ours = cpu(partial(permutation_test, x, y, method="bounds", precision=0.01))
        row(f"{sizes[0]} + {sizes[1]}, bounds to 1 %", f"{goal:g} CPU s", ours, within(bound))
    x, y = scores(250, 250, 0.01)
    ours, theirs = cpu(lambda: permutation_test(x, y, method="sampled")), cpu(lambda: plain(x, y), 1)
    row("99 999 samples, n = 500", "0.1 CPU s, 25 times faster", ours, f"{theirs / ours:.0f} times faster")
    tests = published_tests()
    ours = cpu(lambda: [permutation_test(*test) for test in tests], 1)
    theirs = 10 * cpu(lambda: [plain(*test, shuffles=SHUFFLES // 10) for test in tests], 1)
    row("all 46 tests, auto", "less than 99 999 shuffles each", ours, f"{theirs / ours:.0f} times less")
    print("The last ratio takes ten times the CPU of a tenth of the shuffles.")


if __name__ == "__main__":
    main()
