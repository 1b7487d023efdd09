"""Find the sentences of 500 words in a corpus that is repeated: CPU time, memory, and the exponent of growth.

    python -m benchmarks.context_finder CORPUS [--tokens 200] [--words 500]

Each size is measured in a process of its own, so that its largest memory is known. The words are those of the tests of
single words, then the most frequent words of the corpus that are not among its 1 000 most frequent.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks._rows import exponent

from weatherglass.catalogue import load_tests
from weatherglass.reliability.corpus.contexts import find_contexts
from weatherglass.reliability.corpus.readers import documents, source_files

MILLION = 10**6
HALVINGS = 4


def measured(folder: Path, words: Sequence[str]) -> tuple[float, float, int, int]:
    """Return CPU seconds, the largest memory in MB, the sentences found and those kept."""
    before = time.process_time()
    found = find_contexts(folder, words)
    seconds = time.process_time() - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    every = found.words.values()
    return seconds, memory, sum(each.found for each in every), sum(len(each.sample) for each in every)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--tokens", type=float, default=200, help="millions of tokens")
    parser.add_argument("--words", type=int, default=500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        once, counts = Path(name) / "once.txt", Counter[str]()
        with once.open("w", encoding="utf-8") as file:
            for line in (line for path in source_files(options.corpus) for line in documents(path)):
                file.write(line.rstrip("\n") + "\n")
                counts.update(line.split())
        tests = load_tests(["weat*"])
        words = dict.fromkeys(word for test in tests for word in test.texts if test.context == "word")
        words |= dict.fromkeys(word for word, _ in counts.most_common(5000)[1000:] if word.isalpha())
        wanted = list(words)[: options.words]
        sizes, costs = [], []
        for halving in reversed(range(HALVINGS)):
            copies = max(1, round(options.tokens * MILLION / 2**halving / counts.total()))
            folder = Path(name) / f"copies-{copies}"
            folder.mkdir()
            for copy in range(copies):
                os.link(once, folder / f"{copy:03}.txt")
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, memory, found, kept = pool.apply(measured, (folder, wanted))
            sizes.append(copies * counts.total())
            costs.append(seconds)
            print(
                f"{sizes[-1] / MILLION:6.1f} million tokens, {len(wanted)} words: {seconds:6.1f} s CPU, "
                f"{memory:5.0f} MB, {found} sentences found, {kept} kept",
                flush=True,
            )
        print(f"exponent of growth {exponent(sizes, costs):.3f}")


if __name__ == "__main__":
    main()
