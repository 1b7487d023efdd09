"""Findings in files that lost a part: what was read as a smaller file without a word is refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.errors import CorpusError, VectorFileError
from weatherglass.reliability.corpus.readers import documents
from weatherglass.vectors import read_every_word


def test_an_npz_whose_directory_lost_a_member_is_refused(tmp_path: Path) -> None:
    """One array for each word: a shorter directory is a valid archive with fewer words."""
    np.savez(tmp_path / "v.npz", one=np.arange(3.0), two=np.arange(3.0), three=np.arange(3.0))
    content = bytearray((tmp_path / "v.npz").read_bytes())
    end = content.rfind(b"PK\x05\x06")
    last = content.rfind(b"PK\x01\x02")
    size = int.from_bytes(content[end + 12 : end + 16], "little") - (end - last)
    content[end + 12 : end + 16] = size.to_bytes(4, "little")
    (tmp_path / "v.npz").write_bytes(content[:last] + content[end:])
    with pytest.raises(VectorFileError, match=naming(tmp_path / "v.npz", "3 members", 2)):
        read_every_word(tmp_path / "v.npz")


@pytest.mark.parametrize("length", range(len("6 5\nthe 0."), len("6 5\nthe 0.125730")))
def test_a_text_file_cut_in_its_first_vector_is_no_file_of_one_dimension(length: int, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("6 5\nthe 0.125730"[: length + 1], encoding="utf-8")
    with pytest.raises(VectorFileError):
        read_every_word(tmp_path / "v.txt")


@pytest.mark.parametrize("ending", ["gz", "xz", "zst"])
@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_packed_corpus_that_is_almost_empty_is_refused(ending: str, length: int, tmp_path: Path) -> None:
    start = {"gz": b"\x1f\x8b\x08", "xz": b"\xfd7z", "zst": b"\x28\xb5\x2f"}[ending]
    (tmp_path / f"c.txt.{ending}").write_bytes(start[:length])
    with pytest.raises(CorpusError, match=naming(tmp_path / f"c.txt.{ending}", "damaged")):
        list(documents(tmp_path / f"c.txt.{ending}"))


def test_an_arrow_stream_without_its_end_is_refused(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="the reliability extra is not installed")
    stream = io.BytesIO()
    polars.DataFrame({"text": ["The cat", "The dog"]}).write_ipc_stream(stream)
    (tmp_path / "c.arrow").write_bytes(stream.getvalue())
    assert list(documents(tmp_path / "c.arrow")) == ["The cat", "The dog"]
    (tmp_path / "c.arrow").write_bytes(stream.getvalue()[:-8])
    with pytest.raises(CorpusError, match=naming(tmp_path / "c.arrow", "Arrow stream", "end")):
        list(documents(tmp_path / "c.arrow"))
