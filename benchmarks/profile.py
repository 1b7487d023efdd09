"""Profile the CPU time of a run of all 46 tests, by part: `python -m benchmarks profile`."""

from __future__ import annotations

import cProfile
import pstats
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PARTS: Mapping[str, str] = {
    "stats/permutation/meet_in_the_middle.py": "p: meet in the middle",
    "stats/permutation/exact.py": "p: enumerate, lattice",
    "stats/permutation/": "p: bounds and the rest",
    "stats/": "intervals, leave-one-out",
    "metrics/": "scores",
    "encoders/": "encode",
    "audit/": "journal, table, judging",
    "report/": "page and tables",
    "weatherglass/": "the rest of weatherglass",
    "numba": "numba and LLVM: load and compile",
    "llvmlite": "numba and LLVM: load and compile",
    "importlib": "imports",
    "site-packages/": "other packages",
}
"""A piece of a file's path -> the part that its time counts for; the first that fits."""


def main() -> None:
    """Print CPU seconds and shares; time inside built-ins counts for their callers."""
    from weatherglass import run

    profile = cProfile.Profile(
        time.process_time
    )  # the default is a wall clock, which other processes slow down
    with tempfile.TemporaryDirectory() as folder:
        profile.runcall(run, folder=Path(folder) / "run")
    stats: Any = vars(pstats.Stats(profile))[
        "stats"
    ]  # not typed: (file, line, name) -> counts, times, callers
    spent: dict[str, float] = defaultdict(float)
    for (file, _, _), (_, _, own, _, callers) in stats.items():
        if file != "~":
            spent[part_of(file)] += own
        else:
            for (caller, _, _), (_, _, inside, _) in callers.items():
                spent[part_of(caller)] += inside
    total = sum(spent.values())
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"{name:36} {seconds:6.2f} CPU s {seconds / total:5.0%}")
    print(f"{'all, with the cost of measuring':36} {total:6.2f} CPU s")


def part_of(file: str) -> str:
    """Return the part that a source file belongs to."""
    return next((part for piece, part in PARTS.items() if piece in file), "Python itself")


if __name__ == "__main__":
    main()
