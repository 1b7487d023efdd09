"""Writers of word-vector files, block by block: memory is that of a block, and a kill leaves no partial file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import OutputError, VectorFileError, output_error
from weatherglass.storage.atomic import whole_file

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
        with whole_file(path) as unfinished, unfinished.open("wb") as file:
            write(file, path, words, width, blocks)
    except OSError as error:
        raise output_error(path, error) from None
    return format


def _write_safetensors(file: BinaryIO, path: Path, words: Sequence[str], width: int, blocks: Blocks) -> None:
    del path
    header = json.dumps(
        {
            "__metadata__": {"words": json.dumps(list(words), ensure_ascii=False)},
            "vectors": {
                "dtype": "F32",
                "shape": [len(words), width],
                "data_offsets": [0, 4 * len(words) * width],
            },
        },
        ensure_ascii=False,
    ).encode()
    header += b" " * (-len(header) % 8)
    file.write(len(header).to_bytes(8, "little") + header)
    del header
    for block in blocks:
        file.write(np.ascontiguousarray(block, dtype="<f4").data)


def _write_text(file: BinaryIO, path: Path, words: Sequence[str], width: int, blocks: Blocks) -> None:
    _check_words(path, words)
    file.write(f"{len(words)} {width}\n".encode())
    line = " %.9g" * width + "\n"
    start = 0
    for block in blocks:
        rows = zip(words[start : start + len(block)], block.tolist(), strict=True)
        file.write("".join(word + line % tuple(row) for word, row in rows).encode())
        start += len(block)


def _write_binary(file: BinaryIO, path: Path, words: Sequence[str], width: int, blocks: Blocks) -> None:
    _check_words(path, words)
    file.write(f"{len(words)} {width}\n".encode())
    start = 0
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


FORMATS: dict[str, tuple[str, Callable[[BinaryIO, Path, Sequence[str], int, Blocks], None]]] = {
    ".safetensors": ("safetensors", _write_safetensors),
    ".txt": ("word2vec text", _write_text),
    ".vec": ("word2vec text", _write_text),
    ".bin": ("word2vec binary", _write_binary),
}
