"""Arrays of numpy and tensors whose headers promise something else than what follows."""

from __future__ import annotations

import io
import json
import struct
import zipfile

import numpy as np


def npy(header: str, data: bytes = b"") -> bytes:
    """An .npy file with this text for its header."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1") + data


def shaped(descr: str, shape: str, data: bytes = b"") -> bytes:
    """An .npy file of this type and shape."""
    return npy(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n", data)


def npz(compression: int = zipfile.ZIP_STORED, **members: bytes) -> bytes:
    """An archive of .npy files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def texts(*words: str) -> bytes:
    """An .npy file of texts."""
    file = io.BytesIO()
    np.save(file, np.array(words))
    return file.getvalue()


HEADERS = {
    "entries of no bytes": shaped("|S0", "(1000000000000,)"),
    "texts of no characters": shaped("<U0", "(1000000000000,)"),
    "8 TB": shaped("<f8", "(1000000000000, 1)"),
    "more numbers than there are": shaped("<f4", "(2, 3)", bytes(8)),
    "fewer numbers than there are": shaped("<f4", "(1, 1)", bytes(80)),
    "a negative length": shaped("<f4", "(-1, -2)", bytes(8)),
    "a length of 5 000 digits": shaped("<f4", f"({'9' * 5000},)"),
    "an open bracket": npy("{'descr': '<f4', 'fortran_order': False, 'shape': ((((("),
    "an open quote": npy("{'descr': '''<f4"),
    "deep brackets": npy("(" * 5000),
    "no dict": npy("[1, 2]"),
    "an unknown type": shaped("<x9", "(1,)"),
    "version 9": b"\x93NUMPY\x09\x00" + bytes(20),
    "cut in its header": shaped("<f4", "(1,)")[:20],
    "a header of zeros": b"\x93NUMPY\x01\x00" + bytes(40),
}


def safetensors(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    """A .safetensors file with this header, whose length may be told otherwise."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def _tensor(dtype: str, shape: list[int], size: int, name: str = "vectors", **metadata: str) -> bytes:
    return safetensors(
        {name: {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}, "__metadata__": metadata},
        bytes(size),
    )


WORDS = {"words": '["a"]', "texts": '["a"]'}
SAFETENSORS = {
    "a type that numpy lacks": _tensor("F8_E4M3", [1, 4], 4, **WORDS),
    "bfloat16": _tensor("BF16", [1, 2], 4, **WORDS),
    "an unknown type": _tensor("X9", [1, 1], 4, **WORDS),
    "more rows than there are": _tensor("F32", [10**12, 1], 4, **WORDS),
    "rows of no numbers": _tensor("F32", [10**12, 0], 0, **WORDS),
    "words of 5 000 digits": _tensor("F32", [1, 1], 4, words=f"[{'9' * 5000}]", texts=f"[{'9' * 5000}]"),
    "deep words": _tensor("F32", [1, 1], 4, words="[" * 100_000, texts="[" * 100_000),
    "words that are no texts": _tensor("F32", [1, 1], 4, words='[["a"]]', texts='[["a"]]'),
    "half a character": _tensor("F32", [1, 1], 4, words='["a', texts='["a'),
    "a long header": safetensors({}, length=2**62),
    "a header past the end": safetensors({}, length=1000),
    "a deep header": safetensors(b'{"a":' * 50_000),
    "no header": safetensors(b"{"),
    "a header that is no UTF-8": safetensors(b'{"\xff": 1}'),
}
