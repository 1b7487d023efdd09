"""The page of a large run, 30 models × 46 tests × 4 measures: its size, the time to make it and to filter it.

Run with `python -m benchmarks.report [MODELS]`. The baseline is reading every line of the same journal and doing
nothing with it: no report can be quicker. Filters are timed in chromium, where there is one, until all is laid out.
The scores are made up; tests, texts and file formats are the real ones.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.report.browser import chromium
from tests.report.made_up import made_up_run

from weatherglass.catalogue import load_tests
from weatherglass.report.page.html import PAGE, write_page
from weatherglass.runs.journal import JOURNAL, read_journal

MODELS = 30
MEASURES = ("cosine/mean", "euclidean/mean", "manhattan/mean", "cosine/median")

FILTERS = (
    ("context", "sent"),
    ("context", "*"),
    ("metric", "2"),
    ("marked", "2"),
    ("group", "Young and old"),
)
FILTER = """
const field = document.getElementById("filters").elements[arguments[0]];
field.value = arguments[1];
const started = performance.now();
field.dispatchEvent(new Event("change", { bubbles: true }));
document.body.offsetHeight;
return performance.now() - started;
"""


def main() -> None:
    """Print size, CPU time and the ratio to the baseline."""
    models = int(sys.argv[1]) if len(sys.argv) > 1 else MODELS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tests = load_tests(["*"])
        results = made_up_run(folder, tests, [f"hf:organisation/model-{n}" for n in range(models)], MEASURES)
        baseline = _cpu(lambda: _read_all(folder / JOURNAL))
        seconds = _cpu(lambda: write_page([folder], folder / PAGE))
        print(f"{len(results)} results, {sum(len(result.scores) for result in results)} scores")
        print(f"{'page':20} {(folder / PAGE).stat().st_size / 1e6:8.2f} MB")
        print(f"{'making the page':20} {seconds:8.2f} CPU s")
        print(f"{'reading alone':20} {baseline:8.2f} CPU s   ratio {seconds / baseline:.2f}")
        for name, milliseconds in _filter_times(folder):
            print(f"{name:20} {milliseconds:8.0f} ms")


def _read_all(path: Path) -> None:
    for _ in read_journal(path):
        pass


def _filter_times(folder: Path) -> Iterator[tuple[str, float]]:
    try:
        with chromium(folder / "profile") as browser:
            browser.open(folder / PAGE)
            for name, value in FILTERS:
                took = browser.driver.execute_script(FILTER, name, value)
                yield f"filter: {name}", float(took)
    except pytest.skip.Exception as reason:
        print(reason)


def _cpu(work: Callable[[], None]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
