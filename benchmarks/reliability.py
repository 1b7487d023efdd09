"""Time scores, agreement and training of the reliability part against plain loops, faiss and the machine's limits.

    python -m benchmarks.reliability [--full] [--corpus FILE]

CPU time throughout, so that other work on the machine hardly matters. --full scores all 200 000 words by NBM (minutes);
--corpus takes real text for the throughput of gensim, else generated text serves. faiss is compared where installed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._rows import cpu

from weatherglass.reliability.agreement.icc import retest
from weatherglass.reliability.corpus import Corpus, CorpusSettings, encode_corpus
from weatherglass.reliability.scoring.scorers import projections
from weatherglass.reliability.training.glove import CONTEXT, PAIR, WORD, descend, initial_parameters

WORDS, WIDTH, PAIRS, K = 200_000, 300, 23, 100


def row(label: str, value: str, beside: str = "") -> None:
    print(f"{label:58} {value:>14}   {beside}", flush=True)


def some_vectors(words: int = WORDS, width: int = WIDTH) -> Any:
    return np.random.default_rng(0).standard_normal((words, width), dtype=np.float32)


def direct_scores() -> None:
    """Time DB/WA and RIPA of all words; baseline: one word after another."""
    vectors = some_vectors()
    first, second = np.arange(0, 2 * PAIRS, 2), np.arange(1, 2 * PAIRS, 2)
    fast = cpu(lambda: projections(vectors, first, second))

    def loop(words: int = 2000) -> None:
        for word in vectors[:words]:
            for m, f in zip(vectors[first], vectors[second], strict=True):
                norm = np.linalg.norm(word)
                word @ m / (norm * np.linalg.norm(m)) - word @ f / (norm * np.linalg.norm(f))
                word @ (m - f) / (norm * np.linalg.norm(m - f))

    slow = cpu(loop, repeats=1) * WORDS / 2000
    row(
        f"dbwa + ripa, {WORDS} words × {PAIRS} pairs",
        f"{fast:.3f} CPU s",
        f"plain loop (2 000 words, scaled): {slow / fast:.0f} ×",
    )


NBM = """
import resource, sys, time
import numpy as np
from benchmarks.reliability import K, PAIRS, some_vectors
vectors = some_vectors(int(sys.argv[2]))
rows = np.arange(int(sys.argv[3]))
if sys.argv[1] == "ours":
    from weatherglass.reliability.scoring.scorers import ScoringContext
    from weatherglass.reliability.scoring.scorers import nbm
    def context(vectors, rows):
        first, second = np.arange(0, 2 * PAIRS, 2), np.arange(1, 2 * PAIRS, 2)
        return ScoringContext(range(len(vectors)), vectors, [None] * PAIRS, first, second, rows, K)
    nbm(context(vectors[:500], np.arange(10)))
    start = time.process_time()
    nbm(context(vectors, rows))
else:
    import faiss
    start = time.process_time()
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    index = faiss.IndexFlatIP(units.shape[1])
    index.add(units)
    _, found = index.search(units[rows], K + 1)
    near = units[found[:, 1:]]
    differences = units[0 : 2 * PAIRS : 2] - units[1 : 2 * PAIRS : 2]
    scores = np.stack([np.sign(near @ difference).mean(axis=1) for difference in differences])
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


def measured_apart(*arguments: str) -> tuple[float, float] | None:
    """Return CPU seconds and peak GB of NBM in a process of its own; nothing if it cannot run."""
    done = subprocess.run(
        [sys.executable, "-c", NBM, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return None
    seconds, memory = done.stdout.split()
    return float(seconds), float(memory)


def neighbour_scores(full: bool) -> None:
    """Time NBM; baseline: faiss's exact search, then gathering all neighbours' vectors."""
    ours = measured_apart("ours", "10000", "10000")
    theirs = measured_apart("faiss", "10000", "10000")
    assert ours is not None
    beside = f"{ours[1]:.2f} GB; "
    beside += (
        f"faiss + gather: {theirs[0]:.1f} CPU s, {theirs[1]:.1f} GB, {theirs[0] / ours[0]:.1f} ×"
        if theirs
        else "faiss is not installed"
    )
    row(f"nbm, 10 000 words × {WIDTH}, {K} neighbours", f"{ours[0]:.2f} CPU s", beside)
    number = WORDS if full else 4000
    large = measured_apart("ours", str(WORDS), str(number))
    assert large is not None
    scaled = "" if full else f"{number} words scaled up, "
    row(
        f"nbm, {WORDS} words × {WIDTH}",
        f"{large[0] * WORDS / number:.0f} CPU s",
        f"{scaled}peak {large[1]:.2f} GB",
    )


def word_agreement() -> None:
    """Time ICC(2,1) of 10 000 words; baseline: the layout and its interval word by word with numpy and scipy."""
    from scipy.stats import f

    tables = np.random.default_rng(0).normal(size=(10_000, PAIRS, 8))
    fast = cpu(lambda: retest(tables))

    def loop() -> None:
        for table in tables[:200]:
            n, k = table.shape
            msr, msc = k * table.mean(1).var(ddof=1), n * table.mean(0).var(ddof=1)
            total = ((table - table.mean()) ** 2).sum()
            mse = (total - (n - 1) * msr - (k - 1) * msc) / ((n - 1) * (k - 1))
            icc = (msr - mse) / (msr + (k - 1) * mse + k / n * (msc - mse))
            a, b = k * icc / (n * (1 - icc)), 1 + k * icc * (n - 1) / (n * (1 - icc))
            v = (a * msc + b * mse) ** 2 / ((a * msc) ** 2 / (k - 1) + (b * mse) ** 2 / ((n - 1) * (k - 1)))
            f.ppf(0.975, n - 1, v), f.ppf(0.975, v, n - 1)

    slow = cpu(loop, repeats=1) * 50
    row(
        "ICC(2,1) with intervals, 10 000 words",
        f"{fast:.3f} CPU s",
        f"loop (200 words, scaled): {slow / fast:.0f} ×",
    )


def bandwidth() -> float:
    """Return the bytes per CPU second of adding two large float32 arrays into a third: 2 reads and 1 write."""
    a, b = np.ones(2**26, np.float32), np.ones(2**26, np.float32)
    out = np.empty_like(a)
    np.add(a, b, out=out)
    return 3 * a.nbytes / cpu(lambda: np.add(a, b, out=out), repeats=5)


def glove_epoch(pairs_number: int = 1_000_000, words: int = 50_000) -> None:
    """Time a pass of GloVe; the floor is the time to read and write the four rows of each pair."""
    rng = np.random.default_rng(0)
    pairs = np.empty(pairs_number, dtype=PAIR)
    # Zipf-like, as in text: a few words are in most pairs.
    for name in ("word", "context"):
        pairs[name] = np.minimum(words - 1, np.exp(rng.uniform(0, np.log(words), pairs_number))).astype(
            np.int32
        )
    pairs["log"], pairs["weight"] = rng.normal(size=pairs_number), rng.uniform(size=pairs_number)
    eta = np.float32(0.05)
    ours_words, ours_contexts = (initial_parameters(rng, words, WIDTH, side) for side in (WORD, CONTEXT))
    descend(pairs[:10], ours_words, ours_contexts, eta)
    ours = cpu(lambda: descend(pairs, ours_words, ours_contexts, eta)) / pairs_number
    floor = 8 * 4 * (WIDTH + 1) / bandwidth()
    w, c = (rng.random((words, WIDTH), dtype=np.float32) / WIDTH for _ in range(2))
    b, d = (rng.random(words, dtype=np.float32) / WIDTH for _ in range(2))
    w_squares, c_squares, b_squares, d_squares = (np.ones_like(parameters) for parameters in (w, c, b, d))

    def loop() -> None:
        """Update the paper's four parameters w, w̃, b, b̃, pair by pair."""
        for i, j, log, weight in pairs[:5000]:
            step = eta * weight * (w[i] @ c[j] + b[i] + d[j] - log)
            of_word, of_context = step * c[j], step * w[i]
            w[i] -= of_word / np.sqrt(w_squares[i])
            c[j] -= of_context / np.sqrt(c_squares[j])
            b[i] -= step / np.sqrt(b_squares[i])
            d[j] -= step / np.sqrt(d_squares[j])
            w_squares[i] += of_word * of_word
            c_squares[j] += of_context * of_context
            b_squares[i] += step * step
            d_squares[j] += step * step

    plain = cpu(loop) / 5000
    row(
        f"glove, one pair at d = {WIDTH}",
        f"{ours * 1e9:.0f} CPU ns",
        f"floor {floor * 1e9:.0f} ns: {ours / floor:.1f} × it; numpy loop {plain * 1e9:.0f} ns: {plain / ours:.0f} ×",
    )


def small_corpus(path: str | None, folder: Path) -> Corpus:
    if path is not None:
        return encode_corpus("text", Path(path), folder, CorpusSettings(share=0.05))
    rng = np.random.default_rng(0)
    words = np.minimum(19_999, np.exp(rng.uniform(0, np.log(20_000), (40_000, 20)))).astype(int)
    source = folder / "text.txt"
    source.write_text("\n".join(" ".join(f"w{word}" for word in line) for line in words), encoding="utf-8")
    return encode_corpus("text", source, folder, CorpusSettings())


TRAIN = """
import sys, time
from pathlib import Path
from weatherglass.reliability.corpus import open_corpus
from weatherglass.reliability.training.train import WordToVecSettings
from weatherglass.reliability.training.train import _Lines
from gensim.models import Word2Vec
corpus = open_corpus(Path(sys.argv[1]))
model = Word2Vec(vector_size=100, sg=1, workers=int(sys.argv[2]), seed=1, min_count=0, sorted_vocab=0)
model.build_vocab_from_freq(dict(enumerate(corpus.counts.tolist())), corpus_count=corpus.lines)
start, cpu = time.perf_counter(), time.process_time()
model.train(_Lines(corpus), total_words=len(corpus.tokens), epochs=2)
print(2 * len(corpus.tokens), time.perf_counter() - start, time.process_time() - cpu)
"""


def side_by_side(path: str | None) -> None:
    """Time skip-gram through gensim: two models with a thread each at once; baseline: one model with two threads."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = small_corpus(path, Path(folder))

        def together(*threads: int) -> tuple[float, float]:
            """Return tokens per second of the clock and per CPU second, of models that run at the same time."""
            command = [sys.executable, "-c", TRAIN, str(corpus.folder)]
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            started = [
                subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True, env=environment)
                for number in threads
            ]
            results = [tuple(map(float, process.communicate()[0].split())) for process in started]
            tokens = sum(result[0] for result in results)
            return tokens / max(result[1] for result in results), tokens / sum(
                result[2] for result in results
            )

        # By turns, and the best of each: what else the machine does then weighs on both alike.
        tries = [(together(1, 1), together(2)) for _ in range(3)]
        two, one = max(first for first, _ in tries), max(second for _, second in tries)
    row(
        "sgns, two models with one thread each",
        f"{two[1] / 1e3:.0f} k/CPU s",
        f"{two[0] / 1e3:.0f} k tokens/s; one model on two threads: {one[0] / 1e3:.0f} k/s, {one[1] / 1e3:.0f} k/CPU s: "
        f"{two[0] / one[0]:.2f} ×",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--corpus")
    options = parser.parse_args()
    direct_scores()
    neighbour_scores(options.full)
    word_agreement()
    glove_epoch()
    side_by_side(options.corpus)
    row("peak memory of this process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
