"""What commands cost from the shell: starting, a run of all 46 tests (warm, with nothing compiled, again)."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks._rows import Options, Row, cpu_of_command, weatherglass


def without_seconds(path: Path) -> tuple[str, ...]:
    """The rows of a table without its last column, the time that each took."""
    return tuple(line.rpartition("\t")[0] for line in path.read_text(encoding="utf-8").splitlines())


def rows(options: Options) -> Iterator[Row]:
    """CPU seconds, user and system, of whole processes."""
    repeats = 1 if options.quick else 5
    bare = cpu_of_command([sys.executable, "-c", "pass"], repeats)
    started = cpu_of_command([sys.executable, "-c", "import weatherglass"], repeats)
    yield Row("import weatherglass, over a bare interpreter", started - bare)
    yield Row("--help", cpu_of_command(weatherglass("--help"), repeats))
    yield Row("tests list", cpu_of_command(weatherglass("tests", "list"), repeats))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def run(output: str) -> list[str]:
            return weatherglass("run", "-o", str(folder / output))

        empty = {"NUMBA_CACHE_DIR": str(folder / "kernels")}
        cold = cpu_of_command(run("cold"), 1, empty)
        warm = [cpu_of_command(run(f"warm{i}"), 1, empty) for i in range(1 if options.quick else 3)]
        again = cpu_of_command(run("warm0"), 1 if options.quick else 3, empty)
        tables = {without_seconds(path) for path in folder.glob("*/results.tsv")}
    yield Row("run, warm", sorted(warm)[len(warm) // 2], equal=len(tables) == 1)
    yield Row("run, empty kernel cache", cold)
    yield Row("run, same folder", again)
