"""Simulate the level of p of CEAT and of p by words, and the coverage of d for random attributes in contexts.

    python -m benchmarks.contexts [--worlds 400] [--draws 1000] [--repetitions 500] [--write]

A word has a random vector, and each of its contexts adds noise to it. CEAT (Guo and Caliskan 2021) draws one context
per word N times and combines the N values of d by DerSimonian and Laird. The second table plants an effect that an
infinite number of attributes and contexts would show, and counts how often the interval contains it. A minute on one
core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import weatherglass as wg
from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.attributes import random_attributes
from weatherglass.stats.contexts import random_effects
from weatherglass.stats.scale import Scale

WORDS, CONTEXTS, WIDTH = 8, 50, 50
DOCS = Path(__file__).parents[1] / "docs"
PAGE, METHODS = DOCS / "how-to" / "contexts.md", DOCS / "methods" / "sentences.md"
BEGIN, END = "<!-- written: python -m benchmarks.contexts --write -->", "<!-- end -->"
EFFECTS = (0.0, 0.7, 1.4)
CELLS = (
    (8, 8, (5, 5)),
    (8, 8, (20, 20)),
    (8, 8, (2, 40)),
    (25, 8, (5, 5)),
    (25, 25, (5, 5)),
    (25, 25, (2, 40)),
)
"""Words per target set, words per attribute set, and the least and largest number of sentences of a word."""
OTHER_DIMENSIONS = 20
NOISE_OF_ATTRIBUTES = 0.3
"""Share of the variance of scores within X and Y that comes from the choice of attribute words, without contexts."""
SPREAD_OF_CONTEXTS = 2.0
"""The sd of a word's score over its contexts, in sds over words."""


def in_contexts(
    words: int, attributes: int, contexts: tuple[int, int], d: float, random: np.random.Generator
) -> tuple[Matrix, Matrix, Vector]:
    """Return dot products of the mean vectors of words with A and with B, and the noise of contexts of each word.

    The first dimension carries the association, in sds over words. The others carry what words and attribute words
    have in common besides it, which is the noise of the choice of attributes.
    """
    width = 1 + OTHER_DIMENSIONS
    targets = random.normal(size=(2 * words, width))
    targets[:words, 0] += d / np.sqrt(1 - d**2 / 4)
    share = NOISE_OF_ATTRIBUTES / (1 - NOISE_OF_ATTRIBUTES)
    spread = np.sqrt(share * attributes / (2 * OTHER_DIMENSIONS))
    a, b = spread * random.normal(size=(2, attributes, width))
    a[:, 0] += 0.5
    b[:, 0] -= 0.5
    lean = a.mean(axis=0) - b.mean(axis=0)
    noise = np.empty(2 * words)
    for word, sentences in enumerate(random.integers(contexts[0], contexts[1] + 1, 2 * words)):
        vectors = targets[word] + SPREAD_OF_CONTEXTS * random.normal(size=(sentences, width))
        targets[word] = vectors.mean(axis=0)
        noise[word] = (vectors @ lean).var(ddof=1) / sentences  # the jackknife variance of a mean
    return targets @ a.T, targets @ b.T, noise


def coverage(repetitions: int) -> list[str]:
    """Return a table of the level and of the coverage of d for random attributes, with and without the correction."""
    head = "".join(f" d = {d:g}: corrected | not corrected |" for d in EFFECTS[1:])
    lines = [
        f"| words | attributes | sentences | p ≤ 0.05 without effect |{head} no interval |",
        "|---|---|---|---|" + "---|" * (2 * len(EFFECTS[1:]) + 1),
    ]
    random = np.random.default_rng(0)
    for words, attributes, contexts in CELLS:
        cells, none = [], 0
        for d in EFFECTS:
            truth = float(Scale(words, words).effect_size(np.asarray(d / np.sqrt(1 - d**2 / 4))))
            covers: dict[bool, list[bool]] = {True: [], False: []}
            below = []
            for _ in range(repetitions):
                to_a, to_b, noise = in_contexts(words, attributes, contexts, d, random)
                for corrected, covered in covers.items():
                    found = random_attributes(to_a, to_b, words, of_contexts=noise if corrected else None)
                    if found.interval:
                        covered.append(bool(found.interval.low <= truth <= found.interval.high))
                    none += corrected and found.interval is None
                below.append(found.p is not None and found.p <= 0.05)
            cells += [covers[True], covers[False]] if d else [below]
        shares = " | ".join(f"{100 * sum(hits) / len(hits):.1f} %" for hits in cells)
        sentences = f"{contexts[0]}" if contexts[0] == contexts[1] else f"{contexts[0]} to {contexts[1]}"
        missing = 100 * none / (repetitions * len(EFFECTS))
        lines.append(f"| {words} | {attributes} | {sentences} | {shares} | {missing:.1f} % |")
    return lines


def drawn(vectors: Matrix, draws: int, random: np.random.Generator) -> tuple[Vector, Vector]:
    """Return d, and the variance of the word scores, of each draw of one context per word."""
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    chosen = random.integers(CONTEXTS, size=(draws, 4 * WORDS))
    one = unit[np.arange(4 * WORDS), chosen]
    targets, attributes = one[:, : 2 * WORDS], one[:, 2 * WORDS :]
    lean = attributes[:, :WORDS].mean(axis=1) - attributes[:, WORDS:].mean(axis=1)
    scores = np.einsum("iwd,id->iw", targets, lean)
    variances = scores.var(axis=1, ddof=1)
    effects = (scores[:, :WORDS].mean(axis=1) - scores[:, WORDS:].mean(axis=1)) / np.sqrt(variances)
    return effects, variances


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument(
        "--write", action="store_true", help=f"write the tables to {PAGE.name}, {METHODS.name}"
    )
    options = parser.parse_args()
    random = np.random.default_rng(0)
    sizes = [size for size in (10, 100, 1000, 10_000) if size <= options.draws]
    words = "by words"
    found: dict[str, list[float]] = {words: [], **{_label(size): [] for size in sizes}}
    for _ in range(options.worlds):
        centres = random.normal(size=(4 * WORDS, 1, WIDTH))
        vectors = centres + random.normal(size=(4 * WORDS, CONTEXTS, WIDTH))
        means = vectors.mean(axis=1).reshape(4, WORDS, WIDTH)
        found[words].append(wg.associate(*means, trust="none").p_value)
        effects, variances = drawn(vectors, options.draws, random)
        for size in sizes:
            found[_label(size)].append(random_effects(effects[:size], variances[:size]).p)
    lines = ["| p | p ≤ 0.05 | p in the first model |", "|---|---|---|"]
    for name, values in found.items():
        share = sum(p <= 0.05 for p in values) / len(values)
        lines.append(f"| {name} | {100 * share:.1f} % | {values[0]:.2g} |")
    for page, table in ((PAGE, lines), (METHODS, coverage(options.repetitions))):
        print("\n".join([*table, ""]))
        if options.write:
            before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
            page.write_text(
                "\n".join([f"{before}{BEGIN}", *table, END]) + rest.partition(END)[2], encoding="utf-8"
            )


def _label(size: int) -> str:
    return f"CEAT, N = {str(size) if size < 1000 else f'{size // 1000} 000'}"


if __name__ == "__main__":
    main()
