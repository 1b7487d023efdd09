"""Files of word vectors whose first bytes promise what the others do not hold."""

from __future__ import annotations

import gzip
import struct

FASTTEXT = struct.pack("<ii", 793712314, 12)


def fasttext(
    entries: int,
    words: int,
    labels: int = 0,
    width: int = 2,
    buckets: int = 0,
    more: bytes = b"",
    longest: int = 6,
) -> bytes:
    """A binary model of fastText with these numbers in its header."""
    arguments = struct.pack("<12id", width, *(5,) * 7, buckets, 3, longest, 100, 0.0001)
    return FASTTEXT + arguments + struct.pack("<iiiqq", entries, words, labels, 10, -1) + more


def fasttext_word(word: bytes, longest: int, width: int = 2) -> bytes:
    """A whole model of fastText: one word of ones, one bucket of zeros, n-grams of up to `longest` characters."""
    dictionary = word + b"\0" + struct.pack("<qb", 1, 0) + b"\0"
    rows = struct.pack("<f", 1) * width + bytes(4 * width)
    matrices = struct.pack("<qq", 2, width) + rows + b"\0" + struct.pack("<qq", 0, width)
    return fasttext(1, 1, width=width, buckets=1, more=dictionary + matrices, longest=longest)


_ONE_WORD = b"a\0" + struct.pack("<qb", 1, 0) + b"\0"

FILES = {
    "binary, 10^12 words": b"999999999999 3\na " + bytes(12),
    "binary, 10^7 dimensions": b"2 9999999\na " + bytes(12),
    "binary, no dimensions": b"999999999999 0\na \x00\x01b \xff",
    "text, 10^12 words": b"999999999999 3\na 1 2 3\n",
    "text, 10^7 dimensions": b"2 9999999\na 1 2 3\n",
    "text, no dimensions": b"2 0\na\nb\n",
    "text, a number of 5 000 digits": b"a " + b"9" * 5000 + b"\nb 1\n",
    "text, a header of 40 digits": b"9" * 40 + b" 3\na 1 2 3\n",
    "one line of 400 000 numbers": b"a" + b" 1" * 400_000,
    "text with zeros": b"a 1 2\nb 1 \0\n",
    "no text": b"\xff\xfe\xfd" * 100,
    "fastText, 2^31 - 1 words": fasttext(2**31 - 1, 2**31 - 1),
    "fastText, negative": fasttext(-1, -1),
    "fastText, 2^31 - 1 dimensions": fasttext(
        1, 1, width=2**31 - 1, more=_ONE_WORD + struct.pack("<qq", 1, 2**31 - 1)
    ),
    "fastText, 2^31 - 1 buckets": fasttext(
        1, 1, buckets=2**31 - 1, more=_ONE_WORD + struct.pack("<qq", 2**31, 2)
    ),
    "fastText, rows below zero": fasttext(1, 1, more=_ONE_WORD + struct.pack("<qq", -1, -2)),
    "fastText, n-grams of 2^31 - 1 characters": fasttext_word(b"x" * 10_000, 2**31 - 1),
    "fastText, cut off": fasttext(1, 1)[:20],
    "gzip, cut off": gzip.compress(b"a 1 2\n" * 1000)[:-9],
    "gzip of nothing": gzip.compress(b""),
    "gzip, its check wrong": gzip.compress(b"a 1 2\n")[:-8] + bytes(8),
    "gzip, no method": b"\x1f\x8b\x09" + bytes(20),
    "zip, empty": b"PK\x05\x06" + bytes(18),
    "zip, cut off": b"PK\x03\x04" + bytes(30),
    "xz": b"\xfd7zXZ" + bytes(20),
    "bzip2": b"BZh9" + bytes(20),
}


def gzip_of_lines(size: int) -> bytes:
    """A text of so many bytes, all of them the same line, in a thousandth of them."""
    return gzip.compress(b"a 1 2\n" * (size // 6))
