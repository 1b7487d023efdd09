"""A line of a journal is there whole, or not at all, whatever ends its writing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weatherglass.storage.journal import append_whole


@pytest.mark.parametrize(("error", "kept"), [(KeyboardInterrupt(), b"a\nb\n"), (OSError(28, "full"), b"a\n")])
def test_a_whole_line_outlives_an_interrupt_of_its_flush_and_not_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, kept: bytes
) -> None:
    path = tmp_path / "journal"
    with path.open("ab", buffering=0) as file:
        append_whole(file.fileno(), b"a\n")

        def fail(_: int) -> None:
            raise error

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(type(error)):
            append_whole(file.fileno(), b"b\n")
    assert path.read_bytes() == kept


def test_half_a_line_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, write = tmp_path / "journal", os.write
    with path.open("ab", buffering=0) as file:
        append_whole(file.fileno(), b"a\n")

        def write_a_part(descriptor: int, rest: memoryview) -> int:
            if len(rest) < 4:
                raise KeyboardInterrupt
            return write(descriptor, rest[:2])

        monkeypatch.setattr(os, "write", write_a_part)
        with pytest.raises(KeyboardInterrupt):
            append_whole(file.fileno(), b"bcde\n")
    assert path.read_bytes() == b"a\n"
