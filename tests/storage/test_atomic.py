"""Files and folders are written whole or not at all, and leave nothing behind."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from weatherglass.storage.atomic import (
    UNFINISHED,
    remove_unfinished,
    scratch_folder,
    whole_file,
    whole_folder,
    write_whole,
)

KILLED = """
import os, signal, sys
from pathlib import Path
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.atomic import whole_folder

path = Path(sys.argv[1])
with whole_folder(path / "folder"), whole_file(path / "file") as unfinished:
    unfinished.write_text("new")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def stop_after_writing(path: Path, error: BaseException) -> None:
    path.write_text("ne")
    raise error


@pytest.mark.parametrize("content", ["é\r\nline\n", b"\x00\xff\r\n", "", b""], ids=repr)
def test_content_is_written_byte_for_byte(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    write_whole(path, content)
    assert path.read_bytes() == (content.encode("utf-8") if isinstance(content, str) else content)
    assert names(tmp_path) == ["file.txt"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_an_error_in_the_middle_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(type(error)), whole_file(path) as unfinished:
        stop_after_writing(unfinished, error)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file.txt"]


def test_text_that_cannot_be_encoded_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \ud800")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file.txt"]


def test_the_old_file_is_there_until_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with whole_file(path) as unfinished:
        unfinished.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_who_looks_for_files_of_a_kind_finds_no_unfinished_one(tmp_path: Path) -> None:
    with whole_file(tmp_path / "scores.parquet"):
        assert not list(tmp_path.glob("*.parquet"))
    assert names(tmp_path) == ["scores.parquet"]


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_umask_decides_who_may_read(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_whole(tmp_path / "file.txt", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file.txt").stat().st_mode) == mode


def test_a_folder_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "old").touch()
    with whole_folder(folder) as unfinished:
        (unfinished / "new").touch()
        assert names(folder) == ["old"]
    assert names(folder) == ["new"]
    assert names(tmp_path) == ["folder"]


def test_an_error_in_the_middle_leaves_the_old_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "old").touch()
    with pytest.raises(ValueError, match="stop"), whole_folder(folder) as unfinished:
        stop_after_writing(unfinished / "new", ValueError("stop"))
    assert names(folder) == ["old"]
    assert names(tmp_path) == ["folder"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_what_a_kill_leaves_is_removed_and_nothing_else(tmp_path: Path) -> None:
    unrelated = [".hidden", ".lock", "file"]
    for name in unrelated:
        (tmp_path / name).write_text("old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == len(unrelated) + 2
    remove_unfinished(tmp_path)
    assert names(tmp_path) == unrelated
    assert (tmp_path / "file").read_text() == "old"


def test_scratch_goes_away_and_would_be_removed_after_a_kill(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as scratch:
        (scratch / "run-0").touch()
        remove_unfinished(tmp_path)
        assert not scratch.exists()
        scratch.mkdir()
    assert names(tmp_path) == []


def test_what_a_kill_left_of_a_file_is_removed_when_it_is_written_again(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / f"{UNFINISHED}0011aabb-{name}.part").write_text("half")
    write_whole(tmp_path / "a.txt", "whole")
    assert [path.name for path in sorted(tmp_path.iterdir())] == [f"{UNFINISHED}0011aabb-b.txt.part", "a.txt"]


def test_two_that_write_one_file_do_not_remove_each_others(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with whole_file(path) as first:
        first.write_text("first")
        write_whole(path, "second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_kill_left_of_a_folder_is_removed_when_it_is_written_again(tmp_path: Path) -> None:
    code = "import os, sys, pathlib; from weatherglass.storage.atomic import whole_folder\n"
    code += "with whole_folder(pathlib.Path(sys.argv[1])) as f: (f / 'x').touch(); os._exit(9)"
    for name in ("a", "b"):
        assert subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=False).returncode == 9
    assert len(list(tmp_path.iterdir())) == 2
    with whole_folder(tmp_path / "a") as folder, whole_folder(tmp_path / "a") as second:
        assert folder.exists()  # its writer is alive
        (second / "y").touch()
    assert [path.name.partition("-")[2][-6:] for path in tmp_path.iterdir() if path.name != "a"] == ["b.part"]


def test_a_file_is_written_though_what_is_left_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, **_: bool) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(self))

    monkeypatch.setattr(Path, "unlink", refuse)
    write_whole(tmp_path / "file", b"content")
    assert (tmp_path / "file").read_bytes() == b"content"
    assert names(tmp_path) == ["file"]
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)), whole_file(tmp_path / "file") as unfinished:
        stop_after_writing(unfinished, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert (tmp_path / "file").read_bytes() == b"content"
