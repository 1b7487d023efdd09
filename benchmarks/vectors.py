"""Scanning a text file of word vectors, against gensim's loader: CPU time and peak memory.

Run with `python -m benchmarks.vectors [WORDS]`; the full size (400 000 words × 300) needs 1.2 GB of disk, and
gensim minutes of CPU. Each reader runs in a process of its own, and its imports are not counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

WORDS, WIDTH = 400_000, 300
EVERY = 100
"""One word in so many is wanted: 4 000 at full size, about as many as the 46 tests need."""

MEASURED = """
import json, resource, sys, time
from pathlib import Path
path, wanted = Path(sys.argv[1]), json.loads(sys.argv[2])
{imports}
start = time.process_time()
{read}
seconds = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({{"seconds": seconds, "peak": peak, "sum": total}}))
"""

READERS = {
    "reading alone": (
        "",
        "with path.open('rb') as file:\n    while file.read(2**20): pass\ntotal = None",
    ),
    "weatherglass": (
        "from weatherglass.vectors import read_vectors",
        "vectors = read_vectors(path, wanted)\ntotal = float(vectors.matrix.sum(dtype='f8'))",
    ),
    "gensim": (
        "from gensim.models import KeyedVectors",
        "vectors = KeyedVectors.load_word2vec_format(path)\n"
        "total = float(sum(vectors[word].sum(dtype='f8') for word in wanted))",
    ),
}
"""Imports and the work of each reader."""


def write_vectors(path: Path, words: int) -> list[str]:
    """A word2vec text file; returns the words that are to be looked up."""
    rng = np.random.default_rng(0)
    rows = [" ".join(f"{number:.6f}" for number in rng.standard_normal(WIDTH)) for _ in range(997)]
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{words} {WIDTH}\n")
        for number in range(words):
            file.write(f"word{number} {rows[number % len(rows)]}\n")
    return [f"word{number}" for number in range(0, words, EVERY)]


def measure(reader: str, path: Path, wanted: Collection[str]) -> dict[str, Any]:
    """CPU seconds, peak memory in MB and a checksum of one reader."""
    imports, read = READERS[reader]
    program = MEASURED.format(imports=imports, read=read)
    command = [sys.executable, "-c", program, str(path), json.dumps(list(wanted))]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result


def main() -> None:
    """Print one line per reader, then the ratio."""
    words = int(sys.argv[1]) if len(sys.argv) > 1 else WORDS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt"
        wanted = write_vectors(path, words)
        print(
            f"{words} words x {WIDTH}, {path.stat().st_size / 1e6:.0f} MB of text, {len(wanted)} words wanted"
        )
        results = {}
        for reader in READERS:
            results[reader] = measure(reader, path, wanted)
            print(
                f"{reader:>14}: {results[reader]['seconds']:7.2f} CPU s, {results[reader]['peak']:5.0f} MB peak"
            )
    ours, theirs = results["weatherglass"], results["gensim"]
    if not np.isclose(ours["sum"], theirs["sum"]):
        raise SystemExit(f"the readers differ: {ours['sum']} against {theirs['sum']}")
    print(f"gensim takes {theirs['seconds'] / ours['seconds']:.0f} times as much CPU (goal: at least 20)")


if __name__ == "__main__":
    main()
