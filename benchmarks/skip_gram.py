"""Time training skip-gram embeddings: our `sgns-window` against `sgns`, which is gensim.

Run with `python -m benchmarks skip_gram`. Both have the same settings; the results are not the same numbers, since they
draw other words. That both learn the same is shown by the topics that the text has: words of a topic are nearer to each
other than to words of the other one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks._rows import Options, Row, cpu_by_turns
from numpy.typing import NDArray

from weatherglass.reliability.corpus import CorpusSettings, encode_corpus
from weatherglass.reliability.training.train import WordToVecSettings, train

LINES, LENGTH, WORDS = 20_000, 20, 20_000


def rows(options: Options) -> Iterator[Row]:
    """Yield the rows of two numbers of dimensions, on one epoch of generated text with Zipf's frequencies."""
    lines = LINES // 10 if options.quick else LINES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "text.txt"
        source.write_text(_text(lines), encoding="utf-8")
        corpus = encode_corpus("text", source, folder, CorpusSettings())
        topics = np.array([word.startswith("a") for word in corpus.words])
        for dimensions in (100, 300):
            settings = WordToVecSettings(dimensions=dimensions, epochs=1)
            vectors: dict[str, NDArray[np.float32]] = {}

            def ours() -> None:
                vectors["ours"] = train(corpus, "sgns-window", 1, settings, folder).vectors  # noqa: B023

            def theirs() -> None:
                vectors["gensim"] = train(corpus, "sgns", 1, settings, folder).vectors  # noqa: B023

            seconds = cpu_by_turns({"ours": ours, "gensim": theirs}, 1 if options.quick else 5)
            apart = {one: _topics_apart(matrix, topics) for one, matrix in vectors.items()}
            speed = {one: len(corpus.tokens) / spent / 1e3 for one, spent in seconds.items()}
            note = f"{speed['ours']:.0f} and {speed['gensim']:.0f} thousand words per second; "
            note += f"{len(corpus.words)} words; "
            note += f"distance between topics, in cosines: {apart['ours']:.2f} and {apart['gensim']:.2f}"
            row_name = f"sgns-window, d {dimensions}, against gensim"
            yield Row(row_name, seconds["ours"], "gensim", seconds["gensim"], None, note)


def _text(lines: int) -> str:
    """Return lines of one of two topics each, which share no word."""
    rng = np.random.default_rng(0)
    words = np.minimum(WORDS - 1, np.exp(rng.uniform(0, np.log(WORDS), (lines, LENGTH)))).astype(int)
    return "\n".join(
        " ".join(f"{'ab'[number % 2]}{word}" for word in line) for number, line in enumerate(words)
    )


def _topics_apart(vectors: NDArray[np.float32], topics: NDArray[np.bool_]) -> float:
    """Return the mean cosine within topics minus that between topics, of the 1 000 most frequent words."""
    units = vectors[:1000] / np.linalg.norm(vectors[:1000], axis=1, keepdims=True)
    same = topics[:1000, None] == topics[None, :1000]
    cosines = units @ units.T
    return float(cosines[same].mean() - cosines[~same].mean())
