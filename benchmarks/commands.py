"""Measure what commands cost from the shell: starting, a run of all 46 tests (warm, with nothing compiled, again).

With `--before DIR` the same commands are run from an earlier checkout, by turns, so that both meet the same load.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks._rows import Options, Row, cpu_of_command, weatherglass


def without_seconds(path: Path) -> tuple[str, ...]:
    """Return the rows of a table without its last column, the time that each took."""
    return tuple(line.rpartition("\t")[0] for line in path.read_text(encoding="utf-8").splitlines())


class Sources:
    """This checkout and, where it was asked for, an earlier one; each with kernels and runs of its own."""

    def __init__(self, folder: Path, before: str | None) -> None:
        here = os.environ.get("PYTHONPATH", "")
        paths = {"now": here} | ({"before": str(Path(before) / "src")} if before else {})
        self.environments: Mapping[str, Mapping[str, str]] = {
            name: {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder / name / "kernels")}
            for name, path in paths.items()
        }
        self.folder, self.name = folder, Path(before).name if before else ""

    def empty_kernels(self) -> None:
        """Empty the caches of compiled kernels."""
        for environment in self.environments.values():
            shutil.rmtree(environment["NUMBA_CACHE_DIR"], ignore_errors=True)

    def row(self, what: str, command: Sequence[str], repeats: int, output: str = "") -> Row:
        """Return the least CPU time of each, to which other work on the machine can only add; the note has the medians.

        `output` is the run's folder, with a number where each repetition has its own.
        """
        spent: dict[str, list[float]] = {name: [] for name in self.environments}
        for turn in range(repeats):
            for name, environment in self.environments.items():
                folder = ["-o", str(self.folder / name / output.format(turn))] if output else []
                spent[name].append(cpu_of_command([*command, *folder], 1, environment))
        least = {name: min(times) for name, times in spent.items()}
        medians = " and ".join(f"{statistics.median(times):.3g}" for times in spent.values())
        return Row(what, least["now"], self.name, least.get("before"), note=f"median {medians}")


def rows(options: Options) -> Iterator[Row]:
    """Yield CPU seconds, user and system, of whole processes."""
    repeats = 1 if options.quick else 7
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = Sources(folder, options.before)
        sources.row("byte code", weatherglass("tests", "list"), 1)
        bare = min(cpu_of_command([sys.executable, "-c", "pass"], 1) for _ in range(repeats))
        started = sources.row("import weatherglass", [sys.executable, "-c", "import weatherglass"], repeats)
        yield Row("import weatherglass, over a bare interpreter", (started.ours or 0.0) - bare)
        yield sources.row("--help", weatherglass("--help"), repeats)
        yield sources.row("tests list", weatherglass("tests", "list"), repeats)
        runs = 1 if options.quick else 7
        sources.row("byte code", weatherglass("run"), 1, "first")
        sources.empty_kernels()
        cold = sources.row("run, empty kernel cache", weatherglass("run"), 1, "cold")
        warm = sources.row("run, warm", weatherglass("run"), runs, "warm{}")
        again = sources.row("run, same folder", weatherglass("run"), runs, "warm0")
        tables = {without_seconds(path) for path in (folder / "now").glob("*/results.tsv")}
        yield replace(warm, equal=len(tables) == 1)
        yield cold
        yield again
