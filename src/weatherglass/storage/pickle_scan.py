"""A look over a pickle before it is read: that none of its counts asks for more than the file has.

Python's unpickler trusts two kinds of numbers: the length of what follows, which it allocates before it reads, and
the place in its memo, up to which it fills memory (nine bytes can ask for 16 GB). Both are compared with the size
of the file here. So is what only grows when it is used: a tuple of twice the same tuple, forty times over, has 2^40
parts when it is hashed. Writers of pickles fetch few tuples from the memo; more than `MOST_TUPLES` are refused.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

MOST_TUPLES = 40
"""e^(40/e), the most parts that so many references can multiply to, is 2.5 million."""

MANY = 500_000
"""Opcodes after which the loop is compiled: Python takes half a second for so many, as does loading numba."""

FINE, CUT_OFF, TOO_LONG, TOO_FAR, TOO_SHARED, DOUBLED, UNFINISHED = range(7)
PROBLEMS = {
    CUT_OFF: "it ends in the middle",
    TOO_LONG: "it promises more bytes than the file has",
    TOO_FAR: "it has a number in its memo that only a larger file could have",
    TOO_SHARED: "its tuples hold one another too often",
    DOUBLED: "it has an instruction that no writer of pickles uses",
}

_ONE_LINE, _TWO_LINES = -1, -2
_NOTHING = 0
_UNKNOWN = -9


def _forms() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every opcode the bytes of its argument (negative: lines), and the bytes of a count before it."""
    fixed, counted = np.full(256, _UNKNOWN), np.zeros(256, dtype=np.int64)
    lines = {"stringnl_noescape_pair": _TWO_LINES}
    for opcode in pickletools.opcodes:
        code = ord(opcode.code)
        size = 0 if opcode.arg is None else opcode.arg.n
        if size >= 0:
            fixed[code] = size
        elif size == pickletools.UP_TO_NEWLINE:
            assert opcode.arg is not None
            fixed[code] = lines.get(opcode.arg.name, _ONE_LINE)
        else:
            sizes = {
                pickletools.TAKEN_FROM_ARGUMENT1: 1,
                pickletools.TAKEN_FROM_ARGUMENT4: 4,
                pickletools.TAKEN_FROM_ARGUMENT4U: 4,
                pickletools.TAKEN_FROM_ARGUMENT8U: 8,
            }
            fixed[code], counted[code] = _NOTHING, sizes[size]
    return fixed, counted


_FIXED, _COUNTED = _forms()

_PUT, _BINPUT, _LONG_BINPUT, _MEMOIZE = (ord(code) for code in "pqr\x94")
_GET, _BINGET, _LONG_BINGET = (ord(code) for code in "ghj")
_FRAME, _STOP, _DUP, _NEWLINE, _DIGIT = (ord(code) for code in "\x95.2\n0")
_ENOUGH = 2**55
_NO_TUPLES = frozenset(
    map(ord, "IJKM\x8a\x8bLFGSTUBC\x8e\x96VX\x8c\x8dN\x88\x89]l}d\x8f\x91)c\x93io\x81\x92Ras")
)
"""Opcodes after which no tuple of others is on top: numbers, texts, constants, containers, objects."""
_MAY_BE_TUPLES = np.array([code not in _NO_TUPLES for code in range(256)])


def check_pickle(content: Bytes, start: int = 0) -> str:
    """What is wrong with the pickle that begins there; empty if its counts fit into `content`."""
    code = _scan_in_python(content, start, MANY)
    if code == UNFINISHED:
        compiled = _compiled()
        if compiled is None:
            code = _scan_in_python(content, start, len(content))
        else:
            code = compiled(content, start, _FIXED, _COUNTED, _MAY_BE_TUPLES, MOST_TUPLES, len(content))
    return PROBLEMS.get(code, "")


def _scan_in_python(content: Bytes, start: int, most_opcodes: int) -> int:
    lists = (_FIXED.tolist(), _COUNTED.tolist(), _MAY_BE_TUPLES.tolist())
    return _scan(content.data, start, *lists, MOST_TUPLES, most_opcodes)


@cache
def _compiled() -> Callable[..., int] | None:
    """The loop in machine code; None where numba finds no folder for it."""
    try:
        from numba import njit

        fast: Callable[..., int] = njit(cache=True, nogil=True)(_scan)
    except RuntimeError:
        return None
    return fast


def _scan(
    content: Sequence[int],
    place: int,
    fixed: Sequence[int],
    counted: Sequence[int],
    may_be_tuples: Sequence[bool],
    most_tuples: int,
    most_opcodes: int,
) -> int:
    """The number of the first problem. Written so that it runs compiled on arrays and by itself on lists."""
    size = len(content)
    zero = place - place  # of 64 bits where this is compiled, so that sums with bytes are, too
    tuples = {zero - 1}
    memorised = fetched = zero
    last_is_tuple = False
    for _ in range(most_opcodes):
        if place >= size:
            return CUT_OFF
        code = content[place]
        place += 1
        if code == _STOP:
            return FINE
        if code == _DUP:
            return DOUBLED
        argument, width = fixed[code], counted[code]
        number, begin = zero, place
        if argument == _UNKNOWN:
            return FINE  # the reader itself says which byte it is
        if argument < 0:
            for _line in range(-argument):
                while place < size and content[place] != _NEWLINE:
                    digit = zero + content[place] - _DIGIT
                    if 0 <= digit <= 9 and number < _ENOUGH:
                        number = number * 10 + digit
                    place += 1
                place += 1
        elif width or argument:
            places = width if width else argument
            if place + places > size:
                return CUT_OFF
            for offset in range(min(places, 7) - 1, -1, -1):
                number = number * 256 + content[place + offset]
            if places == 8 and content[place + 7]:
                number = zero + _ENOUGH
            place += places
        if width or code == _FRAME:
            if number > size - place:
                return TOO_LONG
            if width:
                place += number
        if place > size:
            return CUT_OFF
        if code in (_PUT, _BINPUT, _LONG_BINPUT, _MEMOIZE):
            index = memorised if code == _MEMOIZE else number
            memorised += 1
            if index > begin:
                return TOO_FAR
            if last_is_tuple:
                tuples.add(index)
            elif index in tuples:
                tuples.remove(index)
        elif code in (_GET, _BINGET, _LONG_BINGET):
            last_is_tuple = number in tuples
            fetched += last_is_tuple
            if fetched > most_tuples:
                return TOO_SHARED
        else:
            last_is_tuple = may_be_tuples[code]
    return UNFINISHED
