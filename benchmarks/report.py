"""Measure the page of 30 models × 46 tests × 4 metrics, and of 1 500 tests: size, CPU, script time in a browser.

Run with `python -m benchmarks report`. The scores are made up; tests, texts and file formats are the real ones. Script
time is what chromium counts as such until the page is drawn, and what a filter takes until it returns; the note has the
time until all is laid out, too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks._rows import Options, Row, cpu
from tests.report.browser import Browser, chromium
from tests.report.conftest import own_test
from tests.report.made_up import made_up_run

from weatherglass.audit.folder import JOURNAL, read_journal
from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_tests
from weatherglass.report.page import PAGE, write_page

METRICS = ("cosine/mean", "euclidean/mean", "manhattan/mean", "cosine/median")
FILTERS = (("context", "sent"), ("context", "*"), ("metric", "2"), ("marked", "2"), ("topic", "1"))
FILTER = """
const field = document.getElementById("filters").elements[arguments[0]];
field.value = arguments[1];
const started = performance.now();
field.dispatchEvent(new Event("change", { bubbles: true }));
const ran = performance.now();
document.body.offsetHeight;
return [ran - started, performance.now() - started];
"""


def rows(options: Options) -> Iterator[Row]:
    """Yield the rows of the page of many models, then of that of many tests."""
    models, own = (3, 100) if options.quick else (30, 1500)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "models"
        made_up_run(folder, load_tests(["*"]), [f"hf:organisation/model-{n}" for n in range(models)], METRICS)
        turns = 1 if options.quick else 3
        run = read_run(folder)
        seconds = min(cpu(lambda: write_page(run), 1) for _ in range(turns))
        again = min(cpu(lambda: write_page(read_run(folder)), 1) for _ in range(turns))
        size = f"{models} models × 46 tests × 4 metrics"
        reading = min(cpu(lambda: sum(1 for _ in read_journal(folder / JOURNAL)), 1) for _ in range(turns))
        yield Row("page of 5 520 results, MB", (folder / PAGE).stat().st_size / 1e6, note=size)
        note = f"as a run writes it, from memory; lowest of {turns} runs"
        yield Row("page of 5 520 results", seconds, note=note)
        row = "page of 5 520 results, read back from the folder"
        yield Row(row, again, "reading the journal alone", reading, note="as `report` writes it")
        many = Path(name) / "tests"
        made_up_run(many, [own_test(f"own-{n}", ("X", "Y", "A", "B"), "w") for n in range(own)])
        write_page(read_run(many))
        try:
            with chromium(Path(name) / "profile") as browser:
                for label, path in (("5 520 results", folder / PAGE), ("1 500 tests", many / PAGE)):
                    yield from _in_browser(browser, label, path)
        except pytest.skip.Exception as reason:
            yield Row("page of 5 520 results, first paint, script seconds", None, note=str(reason))


def _in_browser(browser: Browser, label: str, path: Path) -> Iterator[Row]:
    browser.driver.execute_cdp_cmd("Performance.enable", {})
    browser.open(path)
    browser.wait("document.getElementById('shown').textContent !== ''")
    counted = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    metrics = {entry["name"]: entry["value"] for entry in counted}
    note = f"with layout and style {metrics['TaskDuration']:.2f}"
    yield Row(f"page of {label}, first paint, script seconds", metrics["ScriptDuration"], note=note)
    taken = []
    for name, value in FILTERS:
        if browser.run(f"document.querySelector('#filters [name={name}]') !== null"):
            script, whole = browser.driver.execute_script(FILTER, name, value)
            taken.append((script / 1000, f"{name} {script:.0f} ms, laid out {whole:.0f}"))
    slowest = max(taken)
    yield Row(f"page of {label}, slowest filter, script seconds", slowest[0], note=slowest[1])
