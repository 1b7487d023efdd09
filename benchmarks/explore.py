"""Measure the explorer in a browser: from a keystroke to the new numbers on the page, and the memory of its server.

Run alone with `python -m benchmarks explore`. The times are those of the clock, from the `input` event to the changed
page, so the machine must be idle; CPU seconds per keystroke are measured beside them. All words are known.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from benchmarks._rows import Options, Row
from tests.report.browser import Browser, chromium

KEYSTROKES = 200
WORDS, WIDTH = 400_000, 300
FILE_MEGABYTES = WORDS * WIDTH * 4 / 1e6
TYPED = """
const [role, texts, done] = arguments;
const area = document.getElementById('words-' + role), answers = document.getElementById('answers');
const spent = [];
(async () => {
  for (const text of texts) {
    const before = Number(answers.dataset.sequence), started = performance.now();
    area.value = text;
    area.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((next) => {
      const seen = new MutationObserver(() => {
        if (Number(answers.dataset.sequence) > before) { seen.disconnect(); next(); }
      });
      seen.observe(answers, { attributes: true, attributeFilter: ['data-sequence'] });
    });
    spent.push(performance.now() - started);
    await new Promise((next) => setTimeout(next, 20));
  }
  done(spent);
})();
"""
"""Type one text after the other, and take the time until the page shows the answer to each."""


def rows(options: Options) -> Iterator[Row]:
    """Yield the 95th percentile of keystrokes at 8 + 8 and 25 + 25 words, and the memory of the server."""
    keystrokes = 20 if options.quick else KEYSTROKES
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder, "profile")) as browser:
        yield from _of_model(browser, "wordllama", "wordllama", keystrokes)
        words, width = (20_000, 50) if options.quick else (WORDS, WIDTH)
        path = Path(folder, "large.bin")
        write_vectors(path, words, width)
        yield from _of_model(browser, f"{words} × {width} float32", f"vectors:{path}", keystrokes)


def _of_model(browser: Browser, name: str, spec: str, keystrokes: int) -> Iterator[Row]:
    with _served(spec) as (process, address):
        for test, size in (("weat6", "8 + 8"), ("weat1", "25 + 25")):
            browser.driver.get("about:blank")
            browser.driver.get(address)
            browser.wait("document.querySelector('#answers[data-final=true]') !== null")
            if test != "weat6":
                browser.run(
                    "(t => (t.value = arguments[0], t.dispatchEvent(new Event('change', {bubbles: true}))))"
                    "(document.getElementById('test'))",
                    test,
                )
                browser.wait("document.getElementById('words-X').value.startsWith('aster')")
                browser.wait("document.querySelector('#answers[data-final=true]') !== null")
            texts = _typed(browser.run("document.getElementById('words-X').value"), keystrokes)
            browser.driver.set_script_timeout(600)
            browser.driver.execute_cdp_cmd("Performance.enable", {})
            browser.driver.execute_async_script(TYPED, "X", texts[:5])
            before, drawing = _cpu(process.pid), _drawing(browser)
            spent = np.array(browser.driver.execute_async_script(TYPED, "X", texts))
            cpu = (_cpu(process.pid) - before) / len(texts)
            drawn = (_drawing(browser) - drawing) / len(texts)
            p95 = float(np.percentile(spent, 95))
            note = (
                f"median {np.median(spent):.0f} ms; CPU per keystroke: server {1000 * cpu:.0f} ms, "
                f"page {1000 * drawn:.0f} ms"
            )
            yield Row(f"keystroke at {size}, {name}, 95 %, ms", p95, note=note)
            peak = _peak_megabytes(process.pid)
            yield Row(f"memory of the server after {size}, {name}, MB", peak, note="largest resident size")
        browser.run("document.getElementById('place').focus()")
        browser.press("nur")
        browser.wait("document.querySelectorAll('#place-hints button').length > 0")
        yield Row(
            f"memory of the server, {name}, MB", _peak_megabytes(process.pid), note="largest resident size"
        )


def _typed(words: str, keystrokes: int) -> list[str]:
    """Return what is in the box after each keystroke: its words without one, all words, without the next, …."""
    listed = words.split(", ")
    texts = []
    for n in range(keystrokes):
        gone = (n // 2) % len(listed)
        texts.append(", ".join(w for place, w in enumerate(listed) if n % 2 or place != gone))
    return texts


def write_vectors(path: Path, words: int, width: int) -> None:
    """Write random vectors in word2vec's binary format: the words of the two tests, then made-up ones."""
    from weatherglass.catalogue import load_tests

    known = dict.fromkeys(
        word for test in load_tests(["weat1", "weat6"]) for one in test.sets for word in one.words
    )
    names = [*known, "nurse", *(f"word{n}" for n in range(words - len(known) - 1))]
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        file.write(f"{words} {width}\n".encode())
        for start in range(0, words, 10_000):
            some: Sequence[str] = names[start : start + 10_000]
            numbers = rng.normal(size=(len(some), width)).astype(np.float32)
            for word, row in zip(some, numbers, strict=True):
                file.write(word.encode() + b" " + row.tobytes())


@contextmanager
def _served(spec: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "weatherglass", "explore", "--no-browser", spec]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        yield process, next(line.split()[-1] for line in process.stdout if "http://" in line)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def _drawing(browser: Browser) -> float:
    """Return the CPU seconds of the page's main thread."""
    found = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(float(one["value"]) for one in found if one["name"] == "ThreadTime")


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_megabytes(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmHWM" in line)
    return int(line.split()[1]) * 1024 / 1e6
