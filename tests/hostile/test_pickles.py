"""Pickles and checkpoints that ask for more than they hold are refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.hostile import pickles
from tests.hostile.limits import outcome_of, refusal
from tests.messages import mentions

from weatherglass.encoders.papers.infersent import PICKLED_MODEL
from weatherglass.storage.torch_file import read_torch, state_dict
from weatherglass.storage.unpickle import MANY, check_pickle, read_pickle
from weatherglass.vectors import read_vectors


@pytest.mark.parametrize("name", pickles.BOMBS)
def test_a_small_pickle_that_asks_for_much(name: str, tmp_path: Path) -> None:
    path = tmp_path / "vocab.pkl"
    path.write_bytes(pickles.BOMBS[name])
    line = refusal(lambda: read_pickle(path))
    assert line.startswith(f"{path}: ")
    assert mentions(line, "pickle", "damaged")


@pytest.mark.parametrize("name", pickles.KEYED_VECTORS)
def test_keyed_vectors_whose_parts_are_something_else(name: str, tmp_path: Path) -> None:
    path = tmp_path / "v.kv"
    path.write_bytes(pickles.KEYED_VECTORS[name])
    assert refusal(lambda: read_vectors(path, ["a"])).startswith(f"{path}: ")


def test_counts_that_are_lists_of_lists_are_none(tmp_path: Path) -> None:
    path = tmp_path / "v.kv"
    path.write_bytes(pickles.LISTS_FOR_COUNTS)
    assert outcome_of(lambda: read_vectors(path, ["a"])) == "read"
    assert read_vectors(path, ["a"]).counts is None


@pytest.mark.parametrize("name", pickles.CHECKPOINTS)
def test_checkpoints_that_would_grow(name: str, tmp_path: Path) -> None:
    path = tmp_path / "infersent1.pkl"
    path.write_bytes(pickles.CHECKPOINTS[name])
    line = refusal(lambda: state_dict(read_torch(path, PICKLED_MODEL), str(path)))
    assert line.startswith(f"{path}: ")
    assert len(line) < 300 + len(str(path))


def test_a_storage_that_unpacks_to_more_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "infersent1.pkl"
    path.write_bytes(pickles.compressed_storage(2**21))
    monkeypatch.setenv("WEATHERGLASS_MAX_UNPACKED", "1M")
    line = refusal(lambda: read_torch(path))
    assert mentions(line, "1 MB", "WEATHERGLASS_MAX_UNPACKED")
    monkeypatch.setenv("WEATHERGLASS_MAX_UNPACKED", "3M")
    assert state_dict(read_torch(path), "x")["a"].shape == (2**19,)


def test_a_long_pickle_is_looked_over_to_its_end() -> None:
    """The loop is another one, compiled, after so many opcodes."""
    numbers = b"K\1" * (MANY + 1)
    good, bad = (b"\x80\x02](" + numbers + end for end in (b"e.", b"e" + pickles.MEMO_OF_16_GB[2:]))
    assert check_pickle(np.frombuffer(good, np.uint8)) == ""
    assert "memo" in check_pickle(np.frombuffer(bad, np.uint8))
