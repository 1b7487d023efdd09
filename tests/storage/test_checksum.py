"""Checksums: whatever byte changes is noticed, and what is set aside can be looked at."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.messages import mentions, naming

from weatherglass.errors import DamageWarning, VectorFileError
from weatherglass.storage.array_file import require_whole, safetensors_state, write_safetensors
from weatherglass.storage.checksum import (
    LENGTH,
    SUMS,
    State,
    checked_json,
    damaged_files,
    is_whole,
    read_checked_json,
    seal,
    set_aside,
    write_checked_json,
    write_sums,
)

RECORD = {"name": 'ß "quoted"', "value": 0.1, "sets": [["X", 1], []], "empty": ""}


def flipped(content: bytes, place: int, bit: int = 1) -> bytes:
    return content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]


def test_a_record_comes_back_without_its_checksum() -> None:
    content = checked_json(RECORD)
    assert read_checked_json(content) == (RECORD, State.WHOLE)
    assert next(iter(json.loads(content))) == "sha256"


def test_the_checksum_of_a_record_is_that_of_all_its_other_bytes() -> None:
    content = checked_json(RECORD)
    held = json.loads(content)["sha256"]
    assert hashlib.sha256(content.replace(held.encode(), b"")).hexdigest() == held


@pytest.mark.parametrize("bit", [1, 32, 128])
def test_no_changed_bit_of_a_record_changes_what_it_says(bit: int) -> None:
    """It is damaged, no JSON, or, where the word sha256 itself is hit, of unknown state with the same content."""
    content = checked_json(RECORD)
    start = content.index(b'",')
    unknown = 0
    for place in range(len(content)):
        try:
            record, state = read_checked_json(flipped(content, place, bit))
        except ValueError:
            assert place < start
            continue
        if state is State.UNKNOWN:
            unknown += 1
            assert {name: record[name] for name in RECORD} == RECORD
        else:
            assert (record, state) == (None, State.DAMAGED), place
    assert unknown <= start


def test_json_of_others_is_read_as_it_is() -> None:
    assert read_checked_json(b'{"a": 1}') == ({"a": 1}, State.UNKNOWN)
    assert read_checked_json(b"[1]") == ([1], State.UNKNOWN)
    for content in (b"", b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(ValueError):  # noqa: PT011 - whichever the reader gives
            read_checked_json(content)


def test_a_damaged_record_is_set_aside_when_it_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_checked_json(path, RECORD)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"0.1", b"0.2"))
    with pytest.warns(DamageWarning, match=naming(path, "checksum", " record.json.damaged")):
        write_checked_json(path, RECORD)
    assert path.read_bytes() == whole
    assert b"0.2" in (tmp_path / "record.json.damaged").read_bytes()


@pytest.mark.parametrize("place", [0, 5, -LENGTH])
def test_a_file_holds_its_own_checksum_anywhere(tmp_path: Path, place: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345" + b" " * LENGTH if place else b" " * LENGTH + b"12345")
    seal(path, place)
    whole = path.read_bytes()
    assert is_whole(path, place)
    for number in range(len(whole)):
        path.write_bytes(flipped(whole, number))
        assert not is_whole(path, place)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert not is_whole(path, place)


def tensors(path: Path) -> None:
    vectors = np.arange(6, dtype="<f4").reshape(3, 2)
    write_safetensors(
        path, {"words": '["a", "b", "ß"]'}, {"vectors": ("F32", (3, 2))}, [vectors[:1], vectors[1:]]
    )


def test_safetensors_are_those_that_the_library_reads(tmp_path: Path) -> None:
    from safetensors import safe_open

    path = tmp_path / "v.safetensors"
    tensors(path)
    with safe_open(path, framework="numpy") as file:
        np.testing.assert_array_equal(file.get_tensor("vectors"), np.arange(6).reshape(3, 2))
        metadata = file.metadata()
    assert metadata["words"] == '["a", "b", "ß"]'
    whole = path.read_bytes()
    assert hashlib.sha256(whole.replace(metadata["sha256"].encode(), b"")).hexdigest() == metadata["sha256"]


def test_a_changed_byte_of_safetensors_is_damage_and_a_file_of_others_is_let_through(tmp_path: Path) -> None:
    from safetensors.numpy import save

    path = tmp_path / "v.safetensors"
    tensors(path)
    whole = path.read_bytes()
    start = whole.index(b'"sha256": "') + len(b'"sha256": "')
    for place in (*range(8), *range(start, len(whole))):
        path.write_bytes(flipped(whole, place))
        assert safetensors_state(path) is State.DAMAGED, place
    with pytest.raises(VectorFileError, match=naming(path, "damaged", "checksum")):
        require_whole(path)
    path.write_bytes(save({"vectors": np.zeros((1, 1))}, metadata={"sha256": "0" * LENGTH}))
    assert safetensors_state(path) is State.UNKNOWN
    require_whole(path)


def test_a_list_of_checksums_is_one_that_sha256sum_reads(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b c").write_bytes(b"")
    write_sums(tmp_path, ["a", "b c"])
    done = subprocess.run(["sha256sum", "-c", SUMS], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "a: OK\nb c: OK\n")


def test_files_that_changed_or_left_are_listed_and_others_keep_their_entry(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(name)
        write_sums(tmp_path, [name])
    assert damaged_files(tmp_path, ["a", "b", "c"]) == []
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").unlink()
    assert damaged_files(tmp_path, ["a", "b", "c", "d"]) == ["a", "b", "d"]
    write_sums(tmp_path, ["a"])
    assert damaged_files(tmp_path, ["a", "c"]) == []
    assert "  b\n" not in (tmp_path / SUMS).read_text()


def test_no_changed_bit_of_the_list_makes_a_damaged_file_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    write_sums(tmp_path, ["a"])
    whole = (tmp_path / SUMS).read_bytes()
    (tmp_path / "a").write_text("b")
    for place in range(len(whole)):
        (tmp_path / SUMS).write_bytes(flipped(whole, place))
        assert damaged_files(tmp_path, ["a"]) == ["a"]


def test_several_are_set_aside_in_one_line_and_an_earlier_one_makes_room(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for content in ("first", "second"):
        one.mkdir()
        (one / "file").write_text(content)
        two.write_text(content)
        with pytest.warns(DamageWarning) as said:
            set_aside([one, two], "and made again")
        (warning,) = said
        assert mentions(str(warning.message), one, "1 more", "checksum", "*.damaged", "and made again")
    assert (tmp_path / "one.damaged" / "file").read_text() == "second"
    assert (tmp_path / "two.damaged").read_text() == "second"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.damaged", "two.damaged"]
