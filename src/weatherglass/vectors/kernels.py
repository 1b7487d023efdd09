"""Read plain entries of vector files in compiled loops; the callers read all other entries.

Both loops stop at the first entry that is not plain, such as a word with a space, "nan", a ragged line or the end of
the buffer. The caller reads this entry, so that the rules and the error messages are in one place.

On one thread, polars took twice and pyarrow four times as long as these loops. Neither is part of the base install, and
a table reader does not support words with spaces and does not report the line and word of an error.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

SPACE, TAB, NEWLINE, RETURN, POINT, PLUS, MINUS = (ord(character) for character in " \t\n\r.+-")
DELETE = 0x7F
"""The printable bytes of ASCII are between the space and this byte."""
ZERO, SMALL_E, CAPITAL_E = ord("0"), ord("e"), ord("E")

LONGEST_WORD = 2**14
"""The number of bytes without a space from which binary content is known not to be words."""

NOT_FINITE = np.uint32(0x7F800000)
"""The bits of the exponent; all of them are set in nan and inf."""

LARGEST_POWER = 280
"""Within 10^±280 nothing overflows or loses digits in double precision; Python parses other numbers."""
POWERS = np.array([float(f"1e{exponent}") for exponent in range(LARGEST_POWER + 1)])
DIGITS = np.uint64(10**18)
"""A smaller mantissa fits into 64 bits with a further digit; later digits are below `MARGIN`."""
MARGIN = 2.0**-50
"""An upper bound of the relative error of mantissa × 10^exponent, from four roundings of 2^-53 and the omitted
digits.
"""


@njit(inline="always")
def _copy_word(
    source: Bytes, start: int, stop: int, words: Bytes, used: int, separator: int
) -> tuple[int, bool]:
    """Append a word and a separator; return the number of bytes used, and whether the word is printable ASCII."""
    printable = True
    for place in range(start, stop):
        words[used + place - start] = source[place]
        printable = printable and SPACE < source[place] < DELETE
    used += stop - start
    words[used] = separator
    return used + 1, printable


@njit(cache=True, nogil=True, error_model="numpy")
def read_lines(
    text: Bytes, position: int, matrix: NDArray[np.float32], words: Bytes, printable: NDArray[np.bool_]
) -> tuple[int, int, int]:
    """Read plain lines: a word without spaces, and one number for each column of `matrix`, each after one space.

    A number is exactly float32(float(text)). Both ends of an interval that contains float(text) are rounded to
    float32; if they differ, which is the case for one number in millions, the line is not plain.

    Args:
        text: whole lines, each with a newline at the end.
        position: the start of the first line.
        matrix: the array for the numbers, one row for each line.
        words: the array for the words, each with a newline; at least as long as `text`.
        printable: the array for flags that mark printable ASCII words; as long as `matrix`.

    Returns:
        The number of lines, the position of the next one, and the number of bytes used in `words`.
    """
    rows, width = matrix.shape
    used = 0
    for row in range(rows):
        start = place = position
        if start >= text.shape[0]:
            return row, position, used
        while text[place] != SPACE and text[place] != NEWLINE:
            place += 1
        stop = place
        if stop == start:
            return row, position, used
        for column in range(width):
            if text[place] != SPACE:
                return row, position, used
            place += 1
            negative = text[place] == MINUS
            if negative or text[place] == PLUS:
                place += 1
            mantissa, exponent, digits = np.uint64(0), 0, 0
            digit = np.uint8(text[place] - ZERO)  # characters before "0" wrap around to large values
            while digit <= np.uint8(9):
                if mantissa < DIGITS:
                    mantissa = mantissa * np.uint64(10) + np.uint64(digit)
                else:
                    exponent += 1
                digits += 1
                place += 1
                digit = np.uint8(text[place] - ZERO)
            if text[place] == POINT:
                place += 1
                digit = np.uint8(text[place] - ZERO)
                while digit <= np.uint8(9):
                    if mantissa < DIGITS:
                        mantissa = mantissa * np.uint64(10) + np.uint64(digit)
                        exponent -= 1
                    digits += 1
                    place += 1
                    digit = np.uint8(text[place] - ZERO)
            if digits == 0:
                return row, position, used
            if text[place] == SMALL_E or text[place] == CAPITAL_E:
                place += 1
                downwards = text[place] == MINUS
                if downwards or text[place] == PLUS:
                    place += 1
                power, digits = 0, 0
                digit = np.uint8(text[place] - ZERO)
                while digit <= np.uint8(9) and digits < 5:
                    power = power * 10 + int(digit)
                    digits += 1
                    place += 1
                    digit = np.uint8(text[place] - ZERO)
                if digits == 0:
                    return row, position, used
                exponent += -power if downwards else power
            if exponent > LARGEST_POWER or exponent < -LARGEST_POWER:
                return row, position, used
            value = np.float64(mantissa)
            value = value / POWERS[-exponent] if exponent < 0 else value * POWERS[exponent]
            number = np.float32(value * (1 - MARGIN))
            if number != np.float32(value * (1 + MARGIN)) or np.isinf(number):
                return row, position, used
            matrix[row, column] = -number if negative else number
        while text[place] == SPACE or text[place] == RETURN:
            place += 1
        if text[place] != NEWLINE:
            return row, position, used
        used, printable[row] = _copy_word(text, start, stop, words, used, NEWLINE)
        position = place + 1
    return rows, position, used


@njit(cache=True, nogil=True)
def read_entries(
    content: Bytes, position: int, matrix: NDArray[np.float32], words: Bytes, printable: NDArray[np.bool_]
) -> tuple[int, int, int]:
    """Read plain entries of a word2vec binary file: optional newlines, a word, a space, finite numbers.

    Args:
        content: bytes from the file.
        position: the start of the first entry.
        matrix: the array for the numbers, one row for each entry.
        words: the array for the words, each with a space; at least as long as `content`.
        printable: the array for flags that mark printable ASCII words; as long as `matrix`.

    Returns:
        The number of entries, the position of the next one, and the number of bytes used in `words`.
    """
    rows, size = matrix.shape[0], 4 * matrix.shape[1]
    raw = matrix.view(np.uint8)
    patterns = matrix.view(np.uint32)
    used = 0
    for row in range(rows):
        start = position
        while start < content.shape[0] and content[start] == NEWLINE:
            start += 1
        stop = start
        while stop < content.shape[0] and content[stop] != SPACE:
            if content[stop] < SPACE and content[stop] not in (TAB, NEWLINE, RETURN):
                return row, position, used  # the word is not text
            stop += 1
        if stop == start or stop + 1 + size > content.shape[0] or stop - position >= LONGEST_WORD:
            return row, position, used
        source, target, pattern = content[stop + 1 : stop + 1 + size], raw[row], patterns[row]
        for byte in range(size):
            target[byte] = source[byte]
        largest = np.uint32(0)
        for column in range(pattern.shape[0]):
            largest = max(largest, pattern[column] & NOT_FINITE)
        if largest == NOT_FINITE:
            return row, position, used
        used, printable[row] = _copy_word(content, start, stop, words, used, SPACE)
        position = stop + 1 + size
    return rows, position, used
