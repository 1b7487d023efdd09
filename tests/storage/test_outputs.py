"""Outputs that are not files: links stay and are followed, streams are written to, folders and devices are refused."""

from __future__ import annotations

import os
import select
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

import weatherglass as wg
from weatherglass.cli import app
from weatherglass.errors import OutputError
from weatherglass.storage.atomic import UNFINISHED, check_output, whole_file, whole_folder, write_whole

WRITE = """
import sys
from pathlib import Path
from weatherglass.storage.atomic import write_whole

print("before")
write_whole(Path(sys.argv[1]), "content\\n")
print("after")
"""


def wait_for_content(descriptor: int) -> None:
    """Return once something can be read from a pipe."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    waiting.poll(60_000)


@contextmanager
def being_read(pipe: Path) -> Iterator[list[bytes]]:
    """Read all that is written to a pipe in the block."""
    received: list[bytes] = []
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # without waiting for a writer

    def read() -> None:
        wait_for_content(descriptor)
        os.set_blocking(descriptor, True)
        with os.fdopen(descriptor, "rb") as file:
            received.append(file.read())

    thread = threading.Thread(target=read)
    thread.start()
    yield received
    thread.join(60)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe.npz"
    os.mkfifo(path)
    return path


@pytest.fixture(params=[stat.S_IFCHR, stat.S_IFBLK], ids=["character", "block"])
def device(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A device of the kind of /dev/null, or of a disk that there is not; nothing is opened."""
    path = tmp_path / "device.npz"
    number = os.makedev(1, 3) if request.param == stat.S_IFCHR else os.makedev(240, 99)
    try:
        os.mknod(path, 0o600 | request.param, number)
    except PermissionError:
        pytest.skip("only root may make a device")
    return path


def links(folder: Path, target: Path | str) -> Path:
    """A link to a link to a file, the second one relative."""
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "second").symlink_to(target)
    (folder / "first").symlink_to(folder / "elsewhere" / "second")
    return folder / "first"


@pytest.mark.parametrize("there", [True, False], ids=["a file", "no file yet"])
def test_a_link_stays_and_the_file_behind_it_is_replaced_in_its_own_folder(
    tmp_path: Path, there: bool
) -> None:
    (tmp_path / "files").mkdir()
    file = tmp_path / "files" / "file.txt"
    if there:
        file.write_text("old")
    link = links(tmp_path, "../files/file.txt")
    with whole_file(link) as unfinished:
        assert unfinished.parent == file.parent
        unfinished.write_text("new")
        assert file.exists() == there
        assert not there or file.read_text() == "old"
    assert link.is_symlink()
    assert (tmp_path / "elsewhere" / "second").is_symlink()
    assert file.read_text() == link.read_text() == "new"
    assert not file.is_symlink()
    assert not list(tmp_path.rglob(f"{UNFINISHED}*"))


def test_a_link_to_a_folder_stays_and_the_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old.txt").write_text("old")
    link = tmp_path / "link"
    link.symlink_to("folder")
    with whole_folder(link) as unfinished:
        (unfinished / "new.txt").write_text("new")
    assert link.is_symlink()
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["new.txt"]


def test_a_link_to_itself_is_an_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        write_whole(tmp_path / "loop", "new")
    assert (tmp_path / "loop").is_symlink()


def test_a_pipe_with_a_reader_is_written_to(tmp_path: Path, pipe: Path) -> None:
    content = bytes(range(256)) * 4096  # more than a pipe holds
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, tmp_path / "link"):
        with being_read(pipe) as received:
            write_whole(path, content)
        assert received == [content]
        assert pipe.is_fifo()
        assert not list(tmp_path.glob(f"{UNFINISHED}*"))


def test_a_pipe_without_a_reader_is_refused_at_once(pipe: Path) -> None:
    with pytest.raises(OutputError, match=r"pipe\.npz: .*\bpipe\b.*\breader\b"):
        write_whole(pipe, "content")
    assert pipe.is_fifo()


def test_a_reader_that_goes_away_is_an_error_with_the_name_of_the_pipe(pipe: Path) -> None:
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    def go_away() -> None:
        wait_for_content(descriptor)
        os.close(descriptor)

    reader = threading.Thread(target=go_away)
    reader.start()
    with pytest.raises(BrokenPipeError) as raised:
        write_whole(pipe, bytes(10**6))  # more than a pipe holds
    reader.join()
    assert raised.value.filename == str(pipe)


def test_a_device_is_refused_and_stays(device: Path, tmp_path: Path) -> None:
    kind = stat.S_IFMT(device.stat().st_mode)
    (tmp_path / "link").symlink_to(device)
    for path in (device, tmp_path / "link"):
        with pytest.raises(OutputError, match=r"\bdevice\b"):
            write_whole(path, "content")
        with pytest.raises(OutputError, match=r"\bdevice\b"):
            check_output(path)
    assert stat.S_IFMT(device.stat().st_mode) == kind
    assert (tmp_path / "link").is_symlink()


def test_a_folder_and_a_socket_are_refused_and_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has to be short
    Path("folder").mkdir()
    with pytest.raises(OutputError, match=r"folder: .*\bfolder\b"):
        write_whole(Path("folder"), "content")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        with pytest.raises(OutputError, match="socket"):
            write_whole(Path("socket"), "content")
    assert Path("folder").is_dir()
    assert Path("socket").is_socket()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_that_is_a_pipe_gets_the_content_in_its_place(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", WRITE, name], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "before\ncontent\nafter\n", "")


def test_standard_error_gets_the_content() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WRITE, "/dev/stderr"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "before\nafter\n", "content\n")


def test_standard_output_that_is_a_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with path.open("w") as out:
        number = path.stat().st_ino
        subprocess.run([sys.executable, "-c", WRITE, "/dev/stdout"], stdout=out, check=True)
    assert path.read_text() == "before\ncontent\nafter\n"
    assert path.stat().st_ino == number
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    wg.run(tests="weat6", folder=folder)
    return folder


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "weatherglass", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "form", ["csv", *(pytest.param(form, marks=pytest.mark.large) for form in ("md", "model-card"))]
)
def test_a_report_to_standard_output_is_what_a_report_prints(run: Path, form: str) -> None:
    printed = command("report", run, "--format", form)
    written = command("report", run, "--format", form, "-o", "/dev/stdout")
    assert written.returncode == 0, written.stderr
    assert written.stdout == printed.stdout


def test_a_page_to_a_pipe_is_the_page(run: Path, pipe: Path, tmp_path: Path) -> None:
    with being_read(pipe) as received:
        done = CliRunner().invoke(app, ["report", str(run), "-o", str(pipe)])
    assert done.exit_code == 0, done.output
    assert done.output == ""
    assert CliRunner().invoke(app, ["report", str(run), "-o", str(tmp_path / "page.html")]).exit_code == 0
    assert received == [(tmp_path / "page.html").read_bytes()]


def test_a_summary_goes_to_standard_output(run: Path, tmp_path: Path) -> None:
    words = ("compare", run, run, "--fail-if", "worse", "--summary")
    done = command(*words, "/dev/stdout")
    plain = command(*words, tmp_path / "summary.md")
    assert done.stdout == plain.stdout + (tmp_path / "summary.md").read_text(encoding="utf-8"), done.stderr


def test_outputs_of_commands_do_not_replace_a_device(run: Path, device: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("word\n")
    for words in (
        ("report", run, "-o", device),
        ("report", run, "--format", "csv", "-o", device),
        ("run", "-t", "weat6", "-o", tmp_path / "other", "--summary", device),
        ("run", "-t", "weat6", "-o", tmp_path / "other", "--junit", device),
        ("encode", "wordllama", "--texts", tmp_path / "texts.txt", "-o", device),
    ):
        done = command(*words)
        assert done.returncode == 2, (words, done.stderr)
        assert done.stderr.count("\n") == 1, done.stderr
        assert "device" in done.stderr
        assert not device.is_file()
    assert not (tmp_path / "other").exists()


def test_encodings_go_to_a_pipe(pipe: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("word\n")
    words = ["encode", "wordllama", "--texts", str(tmp_path / "texts.txt"), "-o"]
    with being_read(pipe) as received:
        done = CliRunner().invoke(app, [*words, str(pipe)])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(app, [*words, str(tmp_path / "file.npz")]).exit_code == 0
    assert received == [(tmp_path / "file.npz").read_bytes()]
