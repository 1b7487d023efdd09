"""Fingerprints: the content decides, and a remembered hash never outlives the file it was taken from."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.messages import naming

from weatherglass.errors import WeatherglassError
from weatherglass.storage import checksum
from weatherglass.storage.checksum import cache_folder, file_hash, folder_hash


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large and was last changed a minute ago, so its hash is remembered."""
    monkeypatch.setattr(checksum, "CACHED_FROM", 1)
    path = tmp_path / "old.txt"
    path.write_bytes(b"abc")
    os.utime(path, (time.time() - 60, time.time() - 60))
    return path


def test_the_hash_is_sha256(tmp_path: Path) -> None:
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    # FIPS 180-4, example "abc"
    assert file_hash(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_large_file_is_read_once(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = file_hash(old_file)
    monkeypatch.setattr(checksum, "_hash_around", lambda _: pytest.fail("the file was read again"))
    assert file_hash(old_file) == first


def test_a_changed_file_is_hashed_again_even_if_its_size_and_time_are_the_same(old_file: Path) -> None:
    before, times = file_hash(old_file), old_file.stat()
    while old_file.stat().st_ctime_ns == times.st_ctime_ns:  # until the clock of the file system has ticked
        old_file.write_bytes(b"xyz")
        os.utime(old_file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file_hash(old_file) != before


def test_a_damaged_memory_is_no_obstacle(old_file: Path, own_cache: Path) -> None:
    first = file_hash(old_file)
    (memory,) = (own_cache / "hashes").iterdir()
    memory.write_text('{"stamp": 3')
    assert file_hash(old_file) == first


def test_a_cache_that_cannot_be_written_is_no_obstacle(
    old_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "old.txt" / "below-a-file"))
    assert file_hash(old_file).startswith("ba7816bf")


def test_a_folder_is_known_by_names_and_contents(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        (folder / "sub").mkdir(parents=True)
        (folder / "sub" / "a.bin").write_bytes(b"a")
        (folder / "b.json").write_bytes(b"b")
    assert folder_hash(one) == folder_hash(two)
    only_json = folder_hash(one, "*.json")
    (two / "sub" / "a.bin").rename(two / "sub" / "c.bin")
    assert folder_hash(one) != folder_hash(two)
    assert folder_hash(two, "*.json") == only_json


def test_a_missing_file_and_an_empty_folder_are_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(WeatherglassError, match=naming(tmp_path / "nowhere", "No such file")):
        file_hash(tmp_path / "nowhere")
    with pytest.raises(WeatherglassError, match=naming(tmp_path, "'*.safetensors'")):
        folder_hash(tmp_path, "*.safetensors")


def test_the_cache_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("WEATHERGLASS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "weatherglass"
    monkeypatch.setenv(
        "XDG_CACHE_HOME", "relative"
    )  # The XDG specification: ignore it if it is not absolute.
    assert cache_folder() == Path.home() / ".cache" / "weatherglass"
    monkeypatch.setenv("WEATHERGLASS_CACHE", "~no-such-user/cache")
    with pytest.raises(WeatherglassError, match=naming("~no-such-user/cache", "WEATHERGLASS_CACHE")):
        cache_folder()
