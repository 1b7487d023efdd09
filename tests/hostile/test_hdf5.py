"""HDF5 and parquet files: nothing from outside the file, and a library that loops or crashes is stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cases import every
from tests.hostile import hdf5
from tests.hostile.limits import NO_MEMORY, outcome_of, refusal
from tests.messages import mentions

from weatherglass.encoders.encodings import read_encodings, write_encodings
from weatherglass.errors import UnsafeFileError, VectorFileError
from weatherglass.storage import child_process
from weatherglass.storage.child_process import read_in_child


@pytest.mark.parametrize("name", every(3, hdf5.FILES))
def test_a_file_that_reads_others_or_holds_itself(name: str, tmp_path: Path) -> None:
    path = tmp_path / "encodings.h5"
    hdf5.FILES[name](path)
    line = refusal(lambda: read_encodings(path))
    assert line.startswith(f"{path}: ")
    if "link" in name or name in ("external storage", "a virtual data set"):
        with pytest.raises(UnsafeFileError):
            read_encodings(path)


@pytest.mark.parametrize(
    ("reader", "fact"),
    [("loops_for_ever", "1 seconds"), ("takes_all_memory", NO_MEMORY), ("crashes", "crashed")],
)
def test_a_child_is_stopped(reader: str, fact: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "encodings.h5"
    path.write_bytes(b"\x89HDF")
    if reader == "loops_for_ever":
        monkeypatch.setattr(child_process, "SECONDS", 1)
    with pytest.raises(VectorFileError) as caught:
        read_in_child(f"tests.hostile.hdf5:{reader}", path, VectorFileError)
    assert mentions(str(caught.value), path, fact)
    assert "\n" not in str(caught.value)


@pytest.mark.large
def test_a_file_on_which_the_library_loops_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "encodings.h5"
    hdf5.free_list_in_a_circle(path)
    monkeypatch.setattr(child_process, "SECONDS", 2)
    # The list grows, so on a fast machine memory may end before the two seconds do.
    with pytest.raises(VectorFileError, match=r"\b2 seconds\b|\bdamaged\b"):
        read_encodings(path)


def test_nothing_is_imported_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "encodings.h5"
    write_encodings(path, ["a"], np.ones((1, 2)), "")
    for name in ("h5py", "json", "weatherglass"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'it-ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    assert read_encodings(path).texts == ["a"]
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.parametrize("times", [2, pytest.param(6, marks=pytest.mark.large)])
@pytest.mark.parametrize("suffix", every(2, [".h5", ".parquet", ".npz", ".safetensors"]))
def test_a_damaged_file_is_read_or_refused(suffix: str, times: int, tmp_path: Path) -> None:
    path = tmp_path / f"encodings{suffix}"
    write_encodings(path, ["a", "b"], np.arange(6.0).reshape(2, 3), "m")
    whole, generator = path.read_bytes(), np.random.default_rng(0)
    for _ in range(times if suffix in (".h5", ".parquet") else 10 * times):
        content = bytearray(whole)
        for place in generator.integers(9, len(whole), size=8):
            content[place] = generator.integers(256)
        path.write_bytes(content)
        outcome = outcome_of(lambda: read_encodings(path))
        assert outcome == "read" or outcome.startswith(f"refused: {path}"), outcome
