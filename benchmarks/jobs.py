"""Compare two processes with one, in cost and in time: a run of many associations, and training.

The rows by the clock are what a user waits for, with the part that one process does alone: encoding, judging, the page.
They need two free cores; the rows of CPU time do not, and 2 × their ratio is the speed-up if nothing were done alone.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks._rows import Options, Row, cpu_of_command, weatherglass

WORDS, SENTENCE = 20_000, 20
JOBS = 2
MEASURES = ("cosine/*", "dot/*", "euclidean/*", "manhattan/*")
"""Without the distance of Mahalanobis: each covariance takes ten seconds, and all of them ten minutes."""
TURNS = 3
"""The least of this many runs counts: other work on the machine would look like a lack of speed-up."""
LEAST = 60
"""CPU seconds of work: with less, starting processes would be what is measured."""


def rows(options: Options) -> Iterator[Row]:
    """Yield both kinds of work; nothing where there are three minutes for all parts."""
    if options.quick:
        yield Row("--jobs 2, run of four similarities", None, "--jobs 1", note="not run: --quick")
        return
    cores = os.cpu_count() or 1
    if cores < JOBS:
        yield Row("--jobs 2", None, "--jobs 1", note=f"not run: {cores} core")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measures = [part for measure in MEASURES for part in ("-m", measure)]
        yield from _compared(
            "--jobs 2, run of four similarities",
            ["run", "wordllama", "wordllama?dim=128", *measures],
            folder / "run",
        )
        text = folder / "text.txt"
        write_text(text, 400_000)
        training = ["reliability", "train", "--corpus", f"text={text}", "--seeds", "4"]
        yield from _compared("--jobs 2, training", training, folder / "study")


def _compared(name: str, arguments: list[str], folder: Path) -> Iterator[Row]:
    spent: dict[int, list[float]] = {1: [], JOBS: []}
    clock: dict[int, list[float]] = {1: [], JOBS: []}
    for turn in range(TURNS):
        for jobs in (1, JOBS):
            start = time.perf_counter()
            command = weatherglass(*arguments, "--jobs", str(jobs), "-o", f"{folder}-{turn}-{jobs}")
            spent[jobs].append(cpu_of_command(command, 1))
            clock[jobs].append(time.perf_counter() - start)
    note = f"lowest of {TURNS} runs"
    if min(spent[1]) < LEAST:
        note += f"; work of {min(spent[1]):.0f} CPU s only"
    yield Row(name, min(spent[JOBS]), "--jobs 1", min(spent[1]), note=note)
    yield Row(f"{name}, by the clock", min(clock[JOBS]), "--jobs 1", min(clock[1]), note=note)


def write_text(path: Path, tokens: int) -> None:
    """Return sentences of words that are as frequent as in a language (Zipf)."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, WORDS + 1)
    words = rng.choice(WORDS, size=(tokens // SENTENCE, SENTENCE), p=share / share.sum())
    path.write_text("".join(" ".join(f"word{word}" for word in line) + "\n" for line in words.tolist()))
