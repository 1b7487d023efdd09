"""Writers of word-vector files, block by block: memory is that of a block, and a kill leaves no partial file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import OutputError, VectorFileError, output_error
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.safetensors_file import write_safetensors

Blocks = Iterable[NDArray[np.float32]]
"""Rows in the order of the words."""


def write_vectors(path: Path, words: Sequence[str], width: int, blocks: Blocks) -> str:
    """Write words and their vectors in the format that the name's ending asks for.

    `.safetensors` has a tensor `vectors` and the words as JSON in its metadata; `.txt` and `.vec` are word2vec's text,
    with nine digits, which are all that float32 has; `.bin` is word2vec's binary.

    Returns:
        The format in words.

    Raises:
        OutputError: if the ending is another, or the file cannot be written.
        VectorFileError: if a word cannot be written in this format.
    """
    if path.suffix.lower() not in FORMATS:
        raise OutputError(f"{path}: the name should end in {', '.join(FORMATS)}, which says the format")
    format, write = FORMATS[path.suffix.lower()]
    try:
        with whole_file(path) as unfinished:
            write(unfinished, path, words, width, blocks)
    except OSError as error:
        raise output_error(path, error) from None
    return format


def _write_safetensors(
    unfinished: Path, path: Path, words: Sequence[str], width: int, blocks: Blocks
) -> None:
    del path
    metadata = {"words": json.dumps(list(words), ensure_ascii=False)}
    tensors = {"vectors": ("F32", (len(words), width))}
    write_safetensors(unfinished, metadata, tensors, (block.astype("<f4", copy=False) for block in blocks))


def _write_text(unfinished: Path, path: Path, words: Sequence[str], width: int, blocks: Blocks) -> None:
    _check_words(path, words)
    line = " %.9g" * width + "\n"
    start = 0
    with unfinished.open("wb") as file:
        file.write(f"{len(words)} {width}\n".encode())
        for block in blocks:
            rows = zip(words[start : start + len(block)], block.tolist(), strict=True)
            file.write("".join(word + line % tuple(row) for word, row in rows).encode())
            start += len(block)


def _write_binary(unfinished: Path, path: Path, words: Sequence[str], width: int, blocks: Blocks) -> None:
    _check_words(path, words)
    start = 0
    with unfinished.open("wb") as file:
        file.write(f"{len(words)} {width}\n".encode())
        for block in blocks:
            rows = np.ascontiguousarray(block, dtype="<f4")
            for word, row in zip(words[start : start + len(rows)], rows, strict=True):
                file.write(word.encode() + b" " + row.tobytes() + b"\n")
            start += len(rows)


def _check_words(path: Path, words: Sequence[str]) -> None:
    """Refuse words that a reader of word2vec's formats would take for two."""
    for word in words:
        if not word or len(word.split()) != 1 or word != word.strip():
            raise VectorFileError(
                f"{path}: the word {word!r} has a space in it, which word2vec's formats cannot hold; "
                "write .safetensors"
            )


FORMATS: dict[str, tuple[str, Callable[[Path, Path, Sequence[str], int, Blocks], None]]] = {
    ".safetensors": ("safetensors", _write_safetensors),
    ".txt": ("word2vec text", _write_text),
    ".vec": ("word2vec text", _write_text),
    ".bin": ("word2vec binary", _write_binary),
}
