"""HDF5 files that read from other files, hold themselves, or promise what is not there: each function writes one."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np


def _with_texts(path: Path, fill: Callable[[Any], None]) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("texts", data=["a", "b"], dtype=h5py.string_dtype())
        fill(file)


def secret(folder: Path) -> Path:
    """Another file, with numbers that are nobody's business."""
    path = folder / "secret.h5"
    with h5py.File(path, "w") as file:
        file["vectors"] = np.full((2, 3), 42.0)
    return path


def external_link(path: Path) -> None:
    secret(path.parent)
    _with_texts(path, lambda file: file.__setitem__("vectors", h5py.ExternalLink("secret.h5", "/vectors")))


def soft_link(path: Path) -> None:
    def fill(file: Any) -> None:
        file["away"] = h5py.ExternalLink("secret.h5", "/")
        file["vectors"] = h5py.SoftLink("/away/vectors")

    secret(path.parent)
    _with_texts(path, fill)


def external_storage(path: Path) -> None:
    raw = path.with_name("secret.bin")
    raw.write_bytes(np.full(6, 42.0).tobytes())
    _with_texts(
        path, lambda file: file.create_dataset("vectors", (2, 3), "<f8", external=[(str(raw), 0, 48)])
    )


def virtual_data_set(path: Path) -> None:
    layout = h5py.VirtualLayout((2, 3), "<f8")
    layout[:] = h5py.VirtualSource(secret(path.parent), "vectors", (2, 3))
    _with_texts(path, lambda file: file.create_virtual_dataset("vectors", layout))


def link_in_a_group(path: Path) -> None:
    secret(path.parent)
    with h5py.File(path, "w") as file:
        file.create_group("targ1")["a rose"] = h5py.ExternalLink("secret.h5", "/vectors")


def two_terabytes(path: Path) -> None:
    _with_texts(path, lambda file: file.create_dataset("vectors", (2**19, 2**19), "<f8", chunks=(64, 64)))


def never_written(path: Path) -> None:
    _with_texts(path, lambda file: file.create_dataset("vectors", (2, 3), "<f8", chunks=(2, 3)))


def group_in_itself(path: Path) -> None:
    with h5py.File(path, "w") as file:
        group = file.create_group("targ1")
        group["a"], group["b"] = group, group


def one_text_for_all(path: Path) -> None:
    """Texts are references into a heap: here 60 000 of them to one text of 400 kB, 24 GB together."""
    with h5py.File(path, "w") as file:
        one = file.create_dataset("one", data=["a" * 400_000], dtype=h5py.string_dtype())
        many = file.create_dataset("many", data=["b"] * 60_000, dtype=h5py.string_dtype())
        place, start = one.id.get_offset(), many.id.get_offset()
    content = bytearray(path.read_bytes())
    content[start : start + 16 * 60_000] = content[place : place + 16] * 60_000
    path.write_bytes(content)


FILES = {
    "an external link": external_link,
    "a soft link": soft_link,
    "external storage": external_storage,
    "a virtual data set": virtual_data_set,
    "a link in a group": link_in_a_group,
    "2 TB in 2 kB": two_terabytes,
    "never written": never_written,
    "a group in itself": group_in_itself,
    "one text for all": one_text_for_all,
}


def free_list_in_a_circle(path: Path) -> None:
    """A free block of the heap of names is followed by itself: libhdf5 2.0 lists it for ever.

    It detects a B-tree node that is its own child, and does not follow siblings.
    """
    with h5py.File(path, "w", libver="earliest") as file:
        file["texts"], file["vectors"] = np.ones(2), np.ones((2, 3))
    content = bytearray(path.read_bytes())
    heap = content.index(b"HEAP")
    _size, block, place = struct.unpack_from("<QQQ", content, heap + 8)
    struct.pack_into("<Q", content, place + block, block)
    path.write_bytes(content)


def loops_for_ever(_path: Path) -> None:
    """Stands for the library, which loops on some damaged files."""
    while True:
        pass


def takes_all_memory(_path: Path) -> None:
    """Stands for the library, which allocates what a header says."""
    kept = [bytearray(2**28) for _ in range(40)]
    del kept


def crashes(_path: Path) -> None:
    """Stands for the library, which crashes on some damaged files."""
    import os

    os.abort()


def one_array(_path: Path) -> tuple[Any, dict[str, Any]]:
    """Facts and an array, as a reader hands them over."""
    return {"a": 1}, {"b": np.arange(6.0).reshape(2, 3)}
