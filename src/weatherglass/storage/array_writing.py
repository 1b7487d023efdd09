"""Writing arrays so that a full disk is noticed.

`ndarray.tofile`, which `numpy.save` uses too, closes a stream of its own without asking whether that worked: on a full
disk a small array is lost without an error. What Python writes is checked.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np


def write_array(file: IO[bytes], array: Any) -> None:
    """Append the bytes of an array to an open file."""
    file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def save_array(file: IO[bytes] | Path, array: Any) -> None:
    """Write an array as a .npy file."""
    if isinstance(file, Path):
        with file.open("wb") as opened:
            save_array(opened, array)
        return
    np.save(_Checked(file), array, allow_pickle=False)


class _Checked:
    """A file that numpy does not recognise as one, so that it calls `write`."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write
