"""How long work takes, in CPU time, so that what else the machine does hardly matters."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu(work: Callable[[], object], repeats: int = 3) -> float:
    """The least CPU time of a few runs."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)
