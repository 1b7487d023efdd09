"""Words as ELMo sees them: the bytes of their UTF-8 form between marks for the word's beginning and end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weatherglass.arrays import Integers

BEGIN_SENTENCE: Final = 256
END_SENTENCE: Final = 257
BEGIN_WORD: Final = 258
END_WORD: Final = 259
PADDING: Final = 260
CHARACTERS: Final = 261
"""256 bytes and the five marks. Implementations that pad whole sentences add a 262nd, which no word can hold."""


def character_ids(words: Sequence[str], width: int) -> Integers:
    """One row of `width` numbers per word; bytes beyond width - 2 are cut off, as in training."""
    rows = np.full((len(words), width), PADDING, dtype=np.int64)
    for row, word in zip(rows, words, strict=True):
        _write(row, word.encode("utf-8", "ignore")[: width - 2])
    return rows


def boundary_ids(width: int) -> Integers:
    """The two "words" that stand before and after every sentence, as rows like those of `character_ids`."""
    rows = np.full((2, width), PADDING, dtype=np.int64)
    _write(rows[0], [BEGIN_SENTENCE])
    _write(rows[1], [END_SENTENCE])
    return rows


def _write(row: Integers, codes: Sequence[int]) -> None:
    row[0] = BEGIN_WORD
    row[1 : 1 + len(codes)] = list(codes)
    row[1 + len(codes)] = END_WORD
