"""Embedding stability: the cosine of a word's vectors between seeds, after orthogonal Procrustes alignment.

Two embeddings of one corpus differ by an arbitrary rotation. Orthogonal Procrustes computes it from the d×d cross
product of the two matrices. For all pairs of S seeds, one pass over the vocabulary collects every cross product as one
Gram matrix (S·d)², and a second pass computes the cosines. Only one block of words is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector

Floats = NDArray[np.float32]
BLOCK = 2048
"""Words at a time: 79 MB at 32 seeds of 300 dimensions."""


class Rows(Protocol):
    """Vectors that give a block of rows at a time: an array, or a file that is read on demand."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, rows: slice, /) -> NDArray[Any]: ...


def embedding_stability(seeds: Sequence[Rows], rows: Integers | None = None) -> Vector:
    """The mean cosine of each word with itself over all pairs of seeds, after orthogonal Procrustes alignment.

    The alignment minimises the squared distance between the vectors as they are, over the whole vocabulary, as in
    the released code of Du et al. (2021); it is one rotation (or reflection) per pair, without scaling or centring.

    Args:
        seeds: one matrix per seed; row w is the same word in all of them.
        rows: the words to compute it for; all by default.

    Returns:
        One number for each of `rows`; NaN for a zero vector, or with fewer than two seeds.
    """
    words, width = seeds[0].shape
    selected = np.arange(words) if rows is None else np.asarray(rows)
    if len(seeds) < 2:
        return np.full(len(selected), np.nan)
    rotations = _rotations(_cross_products(seeds), len(seeds), width)
    pairs = len(seeds) * (len(seeds) - 1) // 2
    stability = np.empty(len(selected))
    order = np.argsort(selected, kind="stable")
    for start in range(0, words, BLOCK):
        inside = order[np.searchsorted(selected, start, sorter=order) :]
        inside = inside[: np.searchsorted(selected[inside], start + BLOCK)]
        if not len(inside):
            continue
        block = _side_by_side(seeds, start)[selected[inside] - start]
        stability[inside] = _sums_of_cosines(block, rotations, width) / pairs
    return stability


def _cross_products(seeds: Sequence[Rows]) -> Floats:
    """EᵀE of the seeds side by side: its d×d blocks are the cross products of the pairs."""
    words, width = seeds[0].shape
    gram = np.zeros((len(seeds) * width, len(seeds) * width), np.float32)
    for start in range(0, words, BLOCK):
        block = _side_by_side(seeds, start)
        gram += block.T @ block
    return gram


def _side_by_side(seeds: Sequence[Rows], start: int) -> Floats:
    blocks = [np.asarray(seed[start : start + BLOCK], np.float32) for seed in seeds]
    return np.concatenate(blocks, axis=1)


def _rotations(gram: Floats, seeds: int, width: int) -> Floats:
    """The rotation of seed i onto seed j, in place of their cross product, for every i < j."""
    for i, j in combinations(range(seeds), 2):
        block = (slice(i * width, (i + 1) * width), slice(j * width, (j + 1) * width))
        left, _, right = np.linalg.svd(gram[block])
        gram[block] = left @ right
    return gram


def _sums_of_cosines(block: Floats, rotations: Floats, width: int) -> Vector:
    """For each row of the block, the sum over all pairs i < j of the cosine of i, rotated, with j."""
    vectors = block.reshape(len(block), -1, width)
    lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
    units = np.divide(vectors, lengths, out=np.full_like(vectors, np.nan), where=lengths > 0)
    units = units.reshape(len(block), -1)
    total = np.zeros(len(block))
    for first in range(0, units.shape[1] - width, width):
        later = slice(first + width, None)
        rotated = units[:, first : first + width] @ rotations[first : first + width, later]
        total += np.einsum("wk,wk->w", rotated, units[:, later])
    return total
