"""Names for the arrays that everything else passes around."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
"""One number per element."""

Matrix = NDArray[np.float64]
"""One row per element."""

AnyMatrix = NDArray[np.floating[Any]]
"""What an encoder may return; scoring converts it to float64."""

Integers = NDArray[np.int64]
