"""Reading all rows of vector files against gensim, and neighbours against faiss: equal work, by turns, on one thread.

Run with `python -m benchmarks.peers [WORDS]`. Prints the median CPU time of each and the ratio to the goal; exits
with 1 where results differ. faiss is compared where it is installed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from weatherglass.reliability.scoring.neighbours import neighbours
from weatherglass.vectors import read_every_word

ROUNDS, K = 5, 100


def medians(work: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The median CPU seconds of each, by turns, so that other work on the machine weighs on all alike."""
    spent: dict[str, list[float]] = {name: [] for name in work}
    for function in work.values():
        function()
    for _ in range(ROUNDS):
        for name, function in work.items():
            start = time.process_time()
            function()
            spent[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in spent.items()}


def row(label: str, ours: float, peer: str, theirs: float, goal: str) -> None:
    ratio = theirs / ours
    print(
        f"{label:36} {ours * 1e3:8.1f} ms   {peer} {theirs * 1e3:8.1f} ms   {ratio:6.2f} × ({goal})",
        flush=True,
    )


def vector_files(words: int) -> None:
    """All rows of text and binary files; the read puts the same bytes into memory and looks at none."""
    from gensim.models import KeyedVectors

    for width in (300, 100):
        names = [f"word{number}" for number in range(words * 300 // width)]
        matrix = np.random.default_rng(0).standard_normal((len(names), width), dtype=np.float32)
        vectors = KeyedVectors(width)
        vectors.add_vectors(names, matrix)
        for binary in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "vectors"
                vectors.save_word2vec_format(str(path), binary=binary)
                _compare_readers(path, width, binary)


def _compare_readers(path: Path, width: int, binary: bool) -> None:
    from gensim.models import KeyedVectors

    ours, theirs = read_every_word(path), KeyedVectors.load_word2vec_format(str(path), binary=binary)
    if list(ours.rows) != theirs.index_to_key or not np.array_equal(ours.matrix, theirs.vectors):
        raise SystemExit(f"{path}: the readers differ")
    seconds = medians(
        {
            "ours": lambda: read_every_word(path),
            "gensim": lambda: KeyedVectors.load_word2vec_format(str(path), binary=binary),
            "the read": lambda: np.fromfile(path, np.uint8),
        }
    )
    label = f"{'binary' if binary else 'text'}, {len(ours.rows)} × {width}, all rows"
    row(label, seconds["ours"], "gensim", seconds["gensim"], f"goal: {2 if binary else 10}")
    if binary:
        row(label, seconds["ours"], "the read", seconds["the read"], "goal: 0.33")


def nearest_neighbours() -> None:
    """The 100 nearest words by cosine, exact; faiss's flat index of unit vectors."""
    if find_spec("faiss") is None:
        print("faiss is not installed: pip install faiss-cpu")
        return
    import faiss  # type: ignore[import-not-found, unused-ignore]

    faiss.omp_set_num_threads(1)
    for width in (100, 300):
        for words in (1000, 5000, 20_000):
            for queries in (100, 500, 2000):
                if queries <= words:
                    _compare_searches(faiss, words, queries, width)


def _compare_searches(faiss: object, words: int, queries: int, width: int) -> None:
    vectors = np.random.default_rng(0).standard_normal((words, width), dtype=np.float32)
    rows = np.arange(queries)

    def ours() -> list[set[int]]:
        return [set(line) for _, lines in neighbours(vectors, rows, K) for line in lines.tolist()]

    def ours_alone() -> None:
        for _ in neighbours(vectors, rows, K):
            pass

    def theirs() -> np.ndarray:
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        index = faiss.IndexFlatIP(width)  # type: ignore[attr-defined]
        index.add(units)
        return np.asarray(index.search(units[rows], K + 1)[1])

    found = [set(line) - {number} for number, line in enumerate(theirs().tolist())]
    same = sum(one == other for one, other in zip(ours(), found, strict=True))
    if same < 0.99 * queries:  # Single precision alone decides close calls otherwise.
        raise SystemExit(f"{words} × {queries}: only {same} words have the same neighbours")
    seconds = medians({"ours": ours_alone, "faiss": theirs})
    row(f"NBM search, {words} × {queries}, d {width}", seconds["ours"], "faiss", seconds["faiss"], "goal: 1")


def main() -> None:
    """Print the table."""
    with threadpool_limits(1):
        vector_files(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
        nearest_neighbours()


if __name__ == "__main__":
    main()
