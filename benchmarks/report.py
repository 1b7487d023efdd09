"""The page of a large run: 30 models × 46 tests × 4 measures; the time to make it and its size.

Run with `python -m benchmarks.report [MODELS]`. The baseline is reading every row of the same details.sqlite and doing
nothing with it: no report can be quicker. The scores are made up; tests, texts and file formats are the real ones.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.report.made_up import made_up_run

from weatherglass.catalogue import load_tests
from weatherglass.details import DETAILS, Details
from weatherglass.report.html import PAGE, write_page

MODELS = 30
MEASURES = ("cosine/mean", "euclidean/mean", "manhattan/mean", "cosine/median")
TABLES = ("element_score", "word_score", "left_out", "confidence_interval", "null_quantile", "power")


def main() -> None:
    """Print size, CPU time and the ratio to the baseline."""
    models = int(sys.argv[1]) if len(sys.argv) > 1 else MODELS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tests = load_tests(["*"])
        results = made_up_run(folder, tests, [f"hf:organisation/model-{n}" for n in range(models)], MEASURES)
        baseline = _cpu(lambda: _read_all(folder / DETAILS))
        seconds = _cpu(lambda: write_page([folder], folder / PAGE))
        print(f"{len(results)} results, {sum(len(result.scores) for result in results)} scores")
        print(f"{'page':20} {(folder / PAGE).stat().st_size / 1e6:8.2f} MB")
        print(f"{'making the page':20} {seconds:8.2f} CPU s")
        print(f"{'reading alone':20} {baseline:8.2f} CPU s   ratio {seconds / baseline:.2f}")


def _read_all(path: Path) -> None:
    details = Details(path)
    for table in TABLES:
        for _ in details.every(table):
            pass
    details.close()


def _cpu(work: object) -> float:
    assert callable(work)
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
