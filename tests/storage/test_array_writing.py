"""Arrays as files: the same bytes as numpy writes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from weatherglass.storage.array_file import save_array, write_array

PAIR = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(7, dtype=np.int32),
        np.empty(0, np.int64),
        np.arange(12.0).reshape(3, 4).T,
        np.zeros(5, PAIR),
        np.empty(0, PAIR),
        np.arange(10, dtype=np.float32)[::2],
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_the_bytes_are_those_of_numpy(array: np.ndarray, tmp_path: Path) -> None:
    file = io.BytesIO()
    write_array(file, array)
    assert file.getvalue() == array.tobytes()
    expected = io.BytesIO()
    np.save(expected, array)
    save_array(tmp_path / "a.npy", array)
    assert (tmp_path / "a.npy").read_bytes() == expected.getvalue()
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), array)
