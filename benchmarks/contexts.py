"""Simulate worlds without any association, and count how often p of CEAT and p by words are below 0.05.

    python -m benchmarks.contexts [--worlds 400] [--draws 1000]

A word has a random vector, and each of its contexts adds noise to it. CEAT (Guo and Caliskan 2021) draws one context
per word N times and combines the N values of d by DerSimonian and Laird. Four seconds on one core.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import weatherglass as wg
from weatherglass.arrays import Matrix, Vector

WORDS, CONTEXTS, WIDTH = 8, 50, 50


def published_p(effects: Vector, variances: Vector) -> float:
    """Return the two-sided p of the combined effect size, as published."""
    weights = 1 / variances
    q = (weights * effects**2).sum() - (weights * effects).sum() ** 2 / weights.sum()
    scale = weights.sum() - (weights**2).sum() / weights.sum()
    between = max(0.0, (q - (len(effects) - 1)) / scale)
    combined = 1 / (variances + between)
    z = (combined * effects).sum() / math.sqrt(combined.sum())
    return math.erfc(abs(z) / math.sqrt(2))


def drawn(vectors: Matrix, draws: int, random: np.random.Generator) -> tuple[Vector, Vector]:
    """Return d, and the variance of the word scores, of each draw of one context per word."""
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    chosen = random.integers(CONTEXTS, size=(draws, 4 * WORDS))
    one = unit[np.arange(4 * WORDS), chosen]
    targets, attributes = one[:, : 2 * WORDS], one[:, 2 * WORDS :]
    lean = attributes[:, :WORDS].mean(axis=1) - attributes[:, WORDS:].mean(axis=1)
    scores = np.einsum("nwd,nd->nw", targets, lean)
    variances = scores.var(axis=1, ddof=1)
    effects = (scores[:, :WORDS].mean(axis=1) - scores[:, WORDS:].mean(axis=1)) / np.sqrt(variances)
    return effects, variances


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    sizes = [size for size in (10, 100, 1000, 10_000) if size <= options.draws]
    rejected = dict.fromkeys(["by words", *sizes], 0)
    for _ in range(options.worlds):
        words = random.normal(size=(4 * WORDS, 1, WIDTH))
        vectors = words + random.normal(size=(4 * WORDS, CONTEXTS, WIDTH))
        means = vectors.mean(axis=1).reshape(4, WORDS, WIDTH)
        rejected["by words"] += wg.associate(*means, trust="none").p_value <= 0.05
        effects, variances = drawn(vectors, options.draws, random)
        for size in sizes:
            rejected[size] += published_p(effects[:size], variances[:size]) <= 0.05
    print(f"p <= 0.05 in {options.worlds} worlds without association")
    for name, number in rejected.items():
        label = name if isinstance(name, str) else f"CEAT, N = {name}"
        print(f"{label:16} {number / options.worlds:6.1%}")


if __name__ == "__main__":
    main()
