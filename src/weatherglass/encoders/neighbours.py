"""Which of some texts a model puts near each other."""

from __future__ import annotations

import numpy as np

from weatherglass.arrays import AnyMatrix, unit_length


def neighbours(vectors: AnyMatrix) -> list[list[tuple[int, float]]]:
    """For each row the other rows with their cosine, the nearest first; rows of NaN or zeros have and are none."""
    unit = unit_length(np.asarray(vectors, dtype=np.float64))
    usable = np.array([bool(np.isfinite(row).all() and row.any()) for row in unit])
    cosines = unit @ unit.T
    found: list[list[tuple[int, float]]] = []
    for row in range(len(unit)):
        others = [other for other in np.flatnonzero(usable) if other != row] if usable[row] else []
        found.append(sorted(((int(o), float(cosines[row, o])) for o in others), key=lambda pair: -pair[1]))
    return found
