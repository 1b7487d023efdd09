"""Simulate worlds without any association, and count how often p of CEAT and p by words are below 0.05.

    python -m benchmarks.contexts [--worlds 400] [--draws 1000] [--write]

A word has a random vector, and each of its contexts adds noise to it. CEAT (Guo and Caliskan 2021) draws one context
per word N times and combines the N values of d by DerSimonian and Laird. Four seconds on one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import weatherglass as wg
from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.contexts import random_effects

WORDS, CONTEXTS, WIDTH = 8, 50, 50
PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "contexts.md"
BEGIN, END = "<!-- written: python -m benchmarks.contexts --write -->", "<!-- end -->"


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
    parser.add_argument("--write", action="store_true", help=f"write the table to {PAGE.name}")
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
    print("\n".join(lines))
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(
            "\n".join([f"{before}{BEGIN}", *lines, END]) + rest.partition(END)[2], encoding="utf-8"
        )


def _label(size: int) -> str:
    return f"CEAT, N = {str(size) if size < 1000 else f'{size // 1000} 000'}"


if __name__ == "__main__":
    main()
