"""Measure how cost grows with elements, vocabulary, seeds, results and the page; each with its fitted exponent."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks._rows import Options, Row, cpu, exponent

from weatherglass.audit.folder import RunFolder
from weatherglass.audit.judge import judge
from weatherglass.audit.results import Result
from weatherglass.audit.settings import Settings
from weatherglass.stats.permutation import permutation_test


def elements(n: int) -> float:
    """Time p of n elements, by bounds."""
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=n // 2) + 0.05, rng.normal(size=n - n // 2)
    return cpu(lambda: permutation_test(x, y), 1)


def vocabulary(words: int) -> float:
    """Time reading all rows of a text file of 50-dimensional vectors."""
    from weatherglass.vectors import read_vectors

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "vectors.txt"
        row = " ".join(f"{number:.5f}" for number in np.random.default_rng(0).normal(size=50))
        path.write_text("".join(f"word{i} {row}\n" for i in range(words)))
        wanted = [f"word{i}" for i in range(words)]
        return cpu(lambda: read_vectors(path, wanted), 1)


def seeds(number: int) -> float:
    """Time ICC over seeds of 2 000 words and 20 base pairs."""
    from weatherglass.reliability.agreement.icc import retest

    scores = np.random.default_rng(0).normal(size=(2_000, 20, number))
    return cpu(lambda: retest(scores), 1)


def results(number: int) -> float:
    """Write results one by one into a folder, as a run does; then judge and write all.

    One metric, so that all of them are one family: the correction sees them together, too.
    """
    from weatherglass.audit.evaluate import associate

    rng = np.random.default_rng(0)
    x, y, a, b = rng.normal(size=(4, 8, 20))
    one = associate(x, y, a, b)
    p_values = rng.uniform(size=number)

    def made(i: int) -> Result:
        return replace(one, model=f"model{i // 46}", test=f"test{i % 46}", p_value=float(p_values[i]))

    def keep() -> None:
        with tempfile.TemporaryDirectory() as name, RunFolder(Path(name)) as folder:
            for i in range(number):
                folder.add(str(i), made(i))
                if folder.table_is_due():
                    folder.write_table(list(folder.finished.values()))
            folder.write_table(judge(list(folder.finished.values()), Settings()))

    return cpu(keep, 1)


def page(models: int) -> float:
    """Time writing the page of this many models × 46 tests × 4 metrics."""
    from tests.report.made_up import made_up_run

    from weatherglass.audit.stored import read_run
    from weatherglass.catalogue import load_tests
    from weatherglass.report.page import PAGE, write_page

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = [f"hf:organisation/model-{n}" for n in range(models)]
        metrics = ("cosine/mean", "euclidean/mean", "manhattan/mean", "cosine/median")
        made_up_run(folder, load_tests(["*"]), names, metrics)
        write_page(read_run(folder))
        return (folder / PAGE).stat().st_size / 1e6


def table(
    what: str, measure: Callable[[int], float], sizes: Sequence[int], named: str = "growth with {}, exponent"
) -> Row:
    """Return a row with the exponent, and the costs that it was fitted to."""
    measure(sizes[0])
    costs = [measure(size) for size in sizes]
    listed = ", ".join(f"{size}: {cost:.3g}" for size, cost in zip(sizes, costs, strict=True))
    return Row(named.format(what), exponent(sizes, costs), note=listed)


def rows(options: Options) -> Iterator[Row]:
    """Yield the rows, of small sizes if quick."""
    quick = options.quick
    yield table("elements", elements, (100, 300) if quick else (100, 300, 1_000, 3_000, 10_000))
    yield table("vocabulary", vocabulary, (1_000, 4_000) if quick else (10_000, 40_000, 160_000))
    yield table("seeds", seeds, (8, 16) if quick else (8, 16, 32, 64, 128))
    yield table("results", results, (100, 400) if quick else (1_380, 5_520, 13_800, 27_600))
    of_page = "growth of the page with results, exponent"
    yield table("models (MB)", page, (1, 2) if quick else (2, 8, 30), of_page)
