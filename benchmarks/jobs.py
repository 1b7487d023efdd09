"""What two processes cost over one: a run of all measures, and training. Their speed-up on two free cores is 2 × ratio.

CPU time and not the clock: other work on the machine would be taken for a lack of speed-up. What the ratio leaves out
is the part that one process does alone: encoding, judging and the page of a run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks._rows import Options, Row, cpu_of_command, weatherglass

WORDS, SENTENCE = 20_000, 20


def rows(options: Options) -> Iterator[Row]:
    """Both kinds of work, of at least 60 CPU seconds each; nothing where there are three minutes for all parts."""
    if options.quick:
        yield Row("--jobs 2, run of all measures", None, "--jobs 1", note="not run: --quick")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spent = {
            jobs: cpu_of_command(
                weatherglass("run", "-m", "*/*", "--jobs", str(jobs), "-o", str(folder / f"run{jobs}")), 1
            )
            for jobs in (1, 2)
        }
        note = "" if spent[1] >= 60 else f"work of {spent[1]:.0f} CPU s only"
        yield Row("--jobs 2, run of all measures", spent[2], "--jobs 1", spent[1], note=note)
        text = folder / "text.txt"
        write_text(text, 1_500_000)
        spent = {
            jobs: cpu_of_command(
                weatherglass(
                    *("reliability", "train", "--corpus", f"text={text}", "--seeds", "4"),
                    *("--jobs", str(jobs), "-o", str(folder / f"study{jobs}")),
                ),
                1,
            )
            for jobs in (1, 2)
        }
        note = "" if spent[1] >= 60 else f"work of {spent[1]:.0f} CPU s only"
        yield Row("--jobs 2, training", spent[2], "--jobs 1", spent[1], note=note)


def write_text(path: Path, tokens: int) -> None:
    """Sentences of words that are as frequent as in a language (Zipf)."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, WORDS + 1)
    words = rng.choice(WORDS, size=(tokens // SENTENCE, SENTENCE), p=share / share.sum())
    path.write_text("".join(" ".join(f"word{word}" for word in line) + "\n" for line in words.tolist()))
