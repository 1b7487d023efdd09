"""Small files and models under the names that the pages use: what a command does is tried, not what GloVe says."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.encoders.transformers.tiny_models import build

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.catalogue import load_tests

JOBS = ("nurse", "engineer", "teacher", "plumber", "librarian", "surgeon")


def words_and_vectors() -> tuple[list[str], AnyMatrix]:
    """Every word of the 46 tests and of some others, with vectors of the embedded model."""
    texts = (text for test in load_tests(["*", "religion", "disability"]) for text in test.texts)
    words = sorted({word for text in texts for word in re.findall(r"\w+|[^\w\s]", text)} | {"cook", *JOBS})
    return words, np.asarray(wg.load_encoder("wordllama?dim=64", cache=False).encode(words))


def text_vectors(path: Path) -> None:
    words, vectors = words_and_vectors()
    rows = (f"{word} {' '.join(f'{x:.5f}' for x in row)}" for word, row in zip(words, vectors, strict=True))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def binary_vectors(path: Path) -> None:
    words, vectors = words_and_vectors()
    head = f"{len(words)} {vectors.shape[1]}\n".encode()
    rows = (
        f"{word} ".encode() + row.astype("<f4").tobytes() for word, row in zip(words, vectors, strict=True)
    )
    content = head + b"".join(rows)
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)


def finished_run(path: Path) -> None:
    model = "wordllama?dim=64" if path.name == "NEW" else "wordllama"
    wg.run(model, tests=["weat6", "weat7"], folder=path)


def published_test(path: Path) -> None:
    sets = {
        "targ1": ["aster", "rose"],
        "targ2": ["ant", "flea"],
        "attr1": ["love", "joy"],
        "attr2": ["filth", "grief"],
    }
    test = {key: {"category": key, "examples": words} for key, words in sets.items()}
    path.write_text(json.dumps(test), encoding="utf-8")


def folder_of_tests(path: Path) -> None:
    path.mkdir()
    published_test(path / "mine.jsonl")


def jobs(path: Path) -> None:
    head = ["word\tshare_of_women"] if path.suffix == ".tsv" else []
    rows = [f"{job}\t{share}" if head else job for share, job in enumerate(JOBS)]
    path.write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")


def tiny_bert(path: Path) -> None:
    build("bert", path)


def sentences(path: Path) -> None:
    texts = [f"The {word} number {number} is here." for word in words_and_vectors()[0] for number in range(6)]
    path.write_text("\n".join(texts), encoding="utf-8")


STAND_INS: dict[str, Callable[[Path], None]] = {
    "glove.txt": text_vectors,
    "glove.840B.300d.txt": text_vectors,
    "GoogleNews.bin.gz": binary_vectors,
    "bert-base-cased": tiny_bert,
    "all-MiniLM-L6-v2": tiny_bert,
    "MODEL": text_vectors,
    "FOLDER": tiny_bert,
    "DIR": finished_run,
    "DIR…": finished_run,
    "OLD": finished_run,
    "NEW": finished_run,
    "test.jsonl": published_test,
    "my-tests": folder_of_tests,
    "occupations.txt": jobs,
    "corpus.txt": sentences,
    "occupations.tsv": jobs,
}
"""Name on a page, of a file or in capitals for what is left to the reader -> what makes it."""
