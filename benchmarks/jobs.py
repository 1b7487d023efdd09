"""What two processes cost over one: a run of many measures, and training. The speed-up on two free cores is 2 × ratio.

CPU time and not the clock: other work on the machine would be taken for a lack of speed-up. What the ratio leaves out
is the part that one process does alone: encoding, judging and the page of a run. The note has the clock.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks._rows import Options, Row, cpu_of_command, weatherglass

WORDS, SENTENCE = 20_000, 20
MEASURES = ("cosine/*", "dot/*", "euclidean/*", "manhattan/*")
"""Without the distance of Mahalanobis: each covariance takes ten seconds, and all of them ten minutes."""
LEAST = 60
"""CPU seconds of work: with less, starting processes would be what is measured."""


def rows(options: Options) -> Iterator[Row]:
    """Both kinds of work; nothing where there are three minutes for all parts."""
    if options.quick:
        yield Row("--jobs 2, run of four similarities", None, "--jobs 1", note="not run: --quick")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measures = [part for measure in MEASURES for part in ("-m", measure)]
        yield _compared(
            "--jobs 2, run of four similarities",
            ["run", "wordllama", "wordllama?dim=128", *measures],
            folder / "run",
        )
        text = folder / "text.txt"
        write_text(text, 400_000)
        training = ["reliability", "train", "--corpus", f"text={text}", "--seeds", "4"]
        yield _compared("--jobs 2, training", training, folder / "study")


def _compared(name: str, arguments: list[str], folder: Path) -> Row:
    spent, clock = {}, {}
    for jobs in (1, 2):
        start = time.perf_counter()
        command = weatherglass(*arguments, "--jobs", str(jobs), "-o", f"{folder}{jobs}")
        spent[jobs] = cpu_of_command(command, 1)
        clock[jobs] = time.perf_counter() - start
    note = f"by the clock {clock[1]:.0f} and {clock[2]:.0f} s, {clock[1] / clock[2]:.2f} times as fast"
    if spent[1] < LEAST:
        note += f"; work of {spent[1]:.0f} CPU s only"
    return Row(name, spent[2], "--jobs 1", spent[1], note=note)


def write_text(path: Path, tokens: int) -> None:
    """Sentences of words that are as frequent as in a language (Zipf)."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, WORDS + 1)
    words = rng.choice(WORDS, size=(tokens // SENTENCE, SENTENCE), p=share / share.sum())
    path.write_text("".join(" ".join(f"word{word}" for word in line) + "\n" for line in words.tolist()))
