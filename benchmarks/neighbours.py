"""Time NBM's neighbours, the 100 nearest words by cosine, against faiss's exact search of unit vectors.

Run with `python -m benchmarks neighbours`; faiss is compared where it is installed (pip install faiss-cpu).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from benchmarks._rows import Options, Row, cpu_by_turns

from weatherglass.reliability.scoring.neighbours import neighbours

K = 100
SIZES = ((1000, 500), (5000, 100), (5000, 2000), (20_000, 100), (20_000, 500), (20_000, 2000))
"""Words, and how many of them are queries."""


def rows(options: Options) -> Iterator[Row]:
    """Yield a row for each size and width."""
    for width in (100, 300):
        for words, queries in SIZES[:1] if options.quick else SIZES:
            name = f"neighbours of {queries} among {words} words, {width} dimensions, against faiss"
            if find_spec("faiss") is None:
                yield Row(name, None, note="faiss is not installed: pip install faiss-cpu")
            else:
                yield _compared(name, words, queries, width, 1 if options.quick else 5)


def _compared(name: str, words: int, queries: int, width: int, repeats: int) -> Row:
    import faiss  # type: ignore[import-not-found, unused-ignore]

    faiss.omp_set_num_threads(1)
    vectors = np.random.default_rng(0).standard_normal((words, width), dtype=np.float32)
    chosen = np.arange(queries)

    def ours() -> np.ndarray:
        return np.concatenate([lines for _, lines in neighbours(vectors, chosen, K)])

    def theirs() -> np.ndarray:
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        index = faiss.IndexFlatIP(width)
        index.add(units)
        return np.asarray(index.search(units[chosen], K + 1)[1])

    found = [set(line) - {number} for number, line in enumerate(theirs().tolist())]
    same = sum(set(one) == other for one, other in zip(ours().tolist(), found, strict=True))
    seconds = cpu_by_turns({"ours": ours, "faiss": theirs}, repeats)
    # faiss decides close calls in single precision, ours in double.
    note = "" if same == queries else f"the same neighbours of {same} of {queries} words"
    return Row(name, seconds["ours"], "faiss", seconds["faiss"], same >= 0.99 * queries, note)
