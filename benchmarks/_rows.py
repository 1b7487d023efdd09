"""Define the rows of a benchmark: our cost, that of the peer, and whether both computed the same.

A part is a module here with a function `rows(options)`; `benchmarks/goals.py` says which ratios the rows must reach.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class Options:
    """How a part is to be run."""

    quick: bool = False
    """Small sizes and one repetition: to see that all runs and agrees, not how fast it is."""
    wefe_python: str | None = None
    """An interpreter that has WEFE, which cannot be installed beside us."""
    before: str | None = None
    """A checkout of an earlier commit, to be measured beside this one by turns."""


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. CPU seconds, unless the name says otherwise."""

    name: str
    ours: float | None
    """None where it was not run; `note` says why."""
    peer: str = ""
    theirs: float | None = None
    equal: bool | None = None
    """Whether the results agree; None where there is nothing to compare."""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Return how many times the peer's cost is ours."""
        if self.ours is None or self.theirs is None:
            return None
        return self.theirs / max(self.ours, 1e-9)


def cpu(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the median CPU time of a few runs in this process, its threads included."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def cpu_by_turns(work: Mapping[str, Callable[[], object]], repeats: int = 5) -> dict[str, float]:
    """Return the median CPU time of each, alternating, so that other work on the machine affects all alike."""
    spent: dict[str, list[float]] = {name: [] for name in work}
    for function in work.values():
        function()
    for _ in range(repeats):
        for name, function in work.items():
            start = time.process_time()
            function()
            spent[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in spent.items()}


def cpu_of_command(
    command: Sequence[str], repeats: int = 3, environment: Mapping[str, str] | None = None
) -> float:
    """Return the median CPU time, user and system, of a command and all its processes, on one thread each."""
    spent = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environ = {**os.environ, **ONE_THREAD, **(environment or {})}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has its byte code
        subprocess.run(command, check=True, capture_output=True, env=environ)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent)


def weatherglass(*arguments: str) -> list[str]:
    """Return the command line, run by this interpreter."""
    return [sys.executable, "-m", "weatherglass", *arguments]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the b of cost = a·size^b, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(costs, 1e-9)), 1)[0])


def from_python(python: str, program: str) -> object:
    """Return what a program prints as JSON, run by another interpreter."""
    done = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def write_between(path: Path, mark: str, lines: Sequence[str]) -> None:
    """Write lines into a document between `<!-- mark -->` and `<!-- /mark -->`, in place of what is there."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    if not found or end not in rest:
        raise ValueError(f"{path}: no {begin} … {end} to write between")
    after = rest.partition(end)[2]
    path.write_text("\n".join([before + begin, "", *lines, "", end + after]), encoding="utf-8")


def write_tsv(path: Path, lines: Sequence[str]) -> None:
    """Write a table in Markdown as TSV, for a table that is too long for a page."""
    rows = ([cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if "|---" not in line)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
