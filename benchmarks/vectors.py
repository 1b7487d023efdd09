"""Time reading files of word vectors against gensim's loader and the plain read of the file: all rows, and some words.

Run with `python -m benchmarks vectors`. All rows: in one process, by turns, the same words and numbers bit for bit.
Some words: each reader in a process of its own; gensim has no such choice and reads all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._rows import Options, Row, cpu, cpu_by_turns

from weatherglass.vectors import read_every_word

NUMBERS = 6_000_000
"""In each file: 60 MB of text, 24 MB of binary content."""
EVERY = 100
"""One word in this many is read, about as many of a large file as the 46 tests need."""

MEASURED = """
import json, sys, time
from pathlib import Path
path, wanted = Path(sys.argv[1]), json.loads(sys.argv[2])
{imports}
start = time.process_time()
{read}
seconds = time.process_time() - start
print(json.dumps({{"seconds": seconds, "sum": total}}))
"""

READERS = {
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
"""Imports and the work of each reader of some words."""


def rows(options: Options) -> Iterator[Row]:
    """Yield all rows of text and of binary files, of two widths; then some words of a text file."""
    from gensim.models import KeyedVectors

    for width in (300, 100):
        names = [f"word{number}" for number in range((NUMBERS // 20 if options.quick else NUMBERS) // width)]
        matrix = np.random.default_rng(0).standard_normal((len(names), width), dtype=np.float32)
        vectors = KeyedVectors(width)
        vectors.add_vectors(names, matrix)
        with tempfile.TemporaryDirectory() as folder:
            text, binary = Path(folder) / "vectors.txt", Path(folder) / "vectors.bin"
            vectors.save_word2vec_format(str(text), binary=False)
            vectors.save_word2vec_format(str(binary), binary=True)
            yield from _all_rows("text", text, width, 1 if options.quick else 3)
            yield from _all_rows("binary", binary, width, 1 if options.quick else 9)
            if width == 300:
                yield _some_words(text, names[::EVERY])


def _all_rows(form: str, path: Path, width: int, repeats: int) -> Iterator[Row]:
    from gensim.models import KeyedVectors

    def gensim() -> KeyedVectors:
        return KeyedVectors.load_word2vec_format(str(path), binary=form == "binary")

    ours, theirs = read_every_word(path), gensim()
    same = list(ours.rows) == theirs.index_to_key and np.array_equal(ours.matrix, theirs.vectors)
    words = list(ours.rows)
    seconds = cpu_by_turns(
        {
            "ours": lambda: read_every_word(path),
            "gensim": gensim,
            "the read": lambda: np.fromfile(path, np.uint8),
        },
        repeats,
    )
    label, note = f"reading all {form} vectors, {width} dimensions, against", f"{len(words)} words"
    yield Row(f"{label} gensim", seconds["ours"], "gensim", seconds["gensim"], same, note)
    if form == "binary":
        index = cpu(lambda: dict(zip(" ".join(words).split(" "), range(len(words)), strict=True)), repeats)
        note += f"; building their dictionary takes {index:.3f}"
        yield Row(
            f"{label} reading the bytes", seconds["ours"], "numpy.fromfile", seconds["the read"], None, note
        )


def _some_words(path: Path, wanted: Collection[str]) -> Row:
    ours, theirs = (_measured_apart(reader, path, wanted) for reader in READERS)
    note = f"{len(wanted)} words"
    same = bool(np.isclose(ours["sum"], theirs["sum"]))
    return Row(
        "reading 1 word in 100 of text vectors",
        *(ours["seconds"], "gensim, reading all", theirs["seconds"], same, note),
    )


def _measured_apart(reader: str, path: Path, wanted: Collection[str]) -> dict[str, Any]:
    """Return CPU seconds and a checksum of one reader, without its imports."""
    imports, read = READERS[reader]
    program = MEASURED.format(imports=imports, read=read)
    command = [sys.executable, "-c", program, str(path), json.dumps(list(wanted))]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result
