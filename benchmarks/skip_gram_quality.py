"""Compare the quality of `sgns-window` vectors with gensim's: similarity, analogies and agreement between seeds.

    python -m benchmarks.skip_gram_quality CORPUS… [--seeds 3] [--write docs/proofs/skip_gram_quality.tsv]

WordSim-353 (Finkelstein et al. 2002) and the analogies of Mikolov et al. 2013 come with gensim. Agreement is the mean
over pairs of seeds, of the frequent words: Pearson's r of the cosines of arbitrary words, Pearson's r of DB/WA for he
and she, and how many of a word's ten neighbours both seeds have.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from benchmarks._rows import write_tsv
from gensim.test.utils import datapath
from numpy.typing import NDArray
from scipy.stats import spearmanr

from weatherglass.reliability.corpus import Corpus, CorpusSettings, encode_corpus
from weatherglass.reliability.training.train import Algorithm, WordToVecSettings, train

ALGORITHMS: tuple[Algorithm, ...] = ("sgns-window", "sgns")
FREQUENT, COMPARED, NEAREST, ANALOGOUS = 3000, 500, 10, 20_000
EVERY = 7
"""One row in this many is compared, of the pairs of frequent words."""
HEAD = ("corpus", "algorithm", "WordSim-353", "analogies", "cosines", "DB/WA of he–she", "neighbours")

Vectors = NDArray[np.float32]


def unit_rows(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def word_similarity(words: Sequence[str], vectors: Vectors) -> float:
    """Return Spearman's rho of cosines and judgements, of the pairs that the corpus has."""
    places = {word: place for place, word in enumerate(words)}
    lines = Path(datapath("wordsim353.tsv")).read_text(encoding="utf-8").lower().splitlines()
    cells = [line.split("\t") for line in lines if not line.startswith("#")]
    known = [(places[a], places[b], float(score)) for a, b, score, *_ in cells if a in places and b in places]
    first, second, scores = zip(*known, strict=True)
    cosines = (vectors[list(first)] * vectors[list(second)]).sum(axis=1)
    return float(spearmanr(cosines, scores).statistic)


def analogies(words: Sequence[str], vectors: Vectors) -> float:
    """Return the share of analogies whose fourth word is nearest to b - a + c, among the frequent words."""
    places = {word: place for place, word in enumerate(words[:ANALOGOUS])}
    lines = Path(datapath("questions-words.txt")).read_text(encoding="utf-8").lower().splitlines()
    asked = [line.split() for line in lines if not line.startswith(":")]
    known = np.array([[places[w] for w in line] for line in asked if all(w in places for w in line)])
    right = 0
    for part in np.array_split(known, max(1, len(known) // COMPARED)):
        wanted = vectors[part[:, 1]] - vectors[part[:, 0]] + vectors[part[:, 2]]
        cosines = wanted @ vectors[:ANALOGOUS].T
        np.put_along_axis(cosines, part[:, :3], -np.inf, axis=1)
        right += int((cosines.argmax(axis=1) == part[:, 3]).sum())
    return right / len(known)


def agreement(words: Sequence[str], first: Vectors, second: Vectors) -> tuple[float, float, float]:
    """Compare two seeds: cosines, DB/WA and neighbours."""
    a, b = first[:FREQUENT], second[:FREQUENT]
    upper = np.triu_indices(len(a), 1)
    kept = upper[0] % EVERY == 0
    cosines = [(own @ own.T)[upper][kept] for own in (a, b)]
    he, she = words.index("he"), words.index("she")
    biases = [own @ (own[he] - own[she]) for own in (a, b)]
    nearest = [np.argsort(-(own[:COMPARED] @ own.T), axis=1)[:, 1 : NEAREST + 1] for own in (a, b)]
    shared = np.mean([len({*x} & {*y}) / NEAREST for x, y in zip(*nearest, strict=True)])
    return float(np.corrcoef(*cosines)[0, 1]), float(np.corrcoef(*biases)[0, 1]), float(shared)


def measured_rows(corpus: Corpus, seeds: int, dimensions: int, folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield a line of the table for each algorithm: means over seeds, with the lowest and highest."""
    settings = WordToVecSettings(dimensions=dimensions)
    for algorithm in ALGORITHMS:
        trained = [unit_rows(train(corpus, algorithm, s + 1, settings, folder).vectors) for s in range(seeds)]
        single = [(word_similarity(corpus.words, one), analogies(corpus.words, one)) for one in trained]
        pairs = [agreement(corpus.words, *two) for two in combinations(trained, 2)]
        columns = [*zip(*single, strict=True), *zip(*pairs, strict=True)]
        yield corpus.name, algorithm, *(f"{np.mean(c):.3f} ({min(c):.3f} to {max(c):.3f})" for c in columns)


def main() -> None:
    """Train, print the table, and write it as TSV."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="+", type=Path, metavar="CORPUS")
    parser.add_argument("--share", type=float, default=0.12)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    lines = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    with tempfile.TemporaryDirectory() as name:
        for source in options.sources:
            settings = CorpusSettings(share=options.share)
            corpus = encode_corpus(source.name.partition(".")[0], source, Path(name), settings)
            for row in measured_rows(corpus, options.seeds, options.dimensions, Path(name)):
                lines.append("| " + " | ".join(row) + " |")
                print(lines[-1], flush=True)
    if options.write:
        write_tsv(options.write, lines)


if __name__ == "__main__":
    main()
