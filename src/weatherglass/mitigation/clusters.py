"""Two clusters of words, and how far they agree with a labelling: what is left of a bias that was taken away."""

from __future__ import annotations

import numpy as np

from weatherglass.arrays import Integers, Matrix

ROUNDS = 100
STARTS = 10


def two_clusters(rows: Matrix, seed: int = 0) -> Integers:
    """The better of several runs of 2-means, each started from two rows far apart (k-means++)."""
    rng = np.random.default_rng(seed)
    best, least = np.zeros(len(rows), dtype=np.int64), np.inf
    squares = (rows**2).sum(axis=1)
    for _ in range(STARTS):
        first = int(rng.integers(len(rows)))
        distances = np.maximum(squares + squares[first] - 2 * rows @ rows[first], 0)
        total = float(distances.sum())
        second = int(rng.choice(len(rows), p=distances / total)) if total > 0 else first
        centres = rows[[first, second]]
        labels = np.full(len(rows), -1)
        for _ in range(ROUNDS):
            to_centres = squares[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)
            nearest = to_centres.argmin(axis=1)
            if (nearest == labels).all():
                break
            labels = nearest
            if labels.min() == labels.max():
                break
            centres = np.array([rows[labels == cluster].mean(axis=0) for cluster in (0, 1)])
        spread = float(np.maximum(to_centres.min(axis=1), 0).sum())
        if spread < least:
            best, least = labels.astype(np.int64), spread
    return best


def purity(clusters: Integers, labels: Integers) -> float:
    """The share of rows whose cluster is their label, whichever cluster stands for which label: from 0.5 to 1."""
    share = float((clusters == labels).mean())
    return max(share, 1 - share)
