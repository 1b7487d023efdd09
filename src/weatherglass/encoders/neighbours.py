"""The nearest neighbours of each text, by cosine."""

from __future__ import annotations

import numpy as np

from weatherglass.arrays import AnyMatrix, unit_length


def neighbours(vectors: AnyMatrix) -> list[list[tuple[int, float]]]:
    """For each row the other rows with their cosine, nearest first; rows of NaN or zeros are not compared."""
    unit = unit_length(np.asarray(vectors, dtype=np.float64))
    usable = np.array([bool(np.isfinite(row).all() and row.any()) for row in unit])
    cosines = unit @ unit.T
    ranked: list[list[tuple[int, float]]] = []
    for row in range(len(unit)):
        others = [other for other in np.flatnonzero(usable) if other != row] if usable[row] else []
        pairs = ((int(other), float(cosines[row, other])) for other in others)
        ranked.append(sorted(pairs, key=lambda pair: -pair[1]))
    return ranked
