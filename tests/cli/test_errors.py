"""Whatever goes wrong is one line of at most 300 characters and an exit code; a log has the traceback."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from tests.messages import mentions, naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.cli import app
from weatherglass.cli.errors import exit_code_of, without_secrets
from weatherglass.errors import ClusterError, OutputError, WeatherglassError, output_error

KEY = "sk-test-3c1b0f7a9d2e4856"
SECRET = "sk-proj-3c1b0f7a9d2e4856"


class PanicException(BaseException):
    """As pyo3 names what a Rust library throws: no Exception."""


def raising(error: BaseException) -> Callable[..., object]:
    def command(prog_name: str, standalone_mode: bool) -> object:
        assert (prog_name, standalone_mode) == ("weatherglass", False)
        raise error

    return command


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(sys, "argv", ["weatherglass", "run", f"openai:m?token={KEY}"])
    return tmp_path / "cache"


def one_line_of(capsys: pytest.CaptureFixture[str]) -> str:
    printed = capsys.readouterr()
    assert printed.out == ""
    line = printed.err.removesuffix("\n")
    assert line
    assert line.isprintable()
    assert len(line) <= 300
    return line


def test_an_argument_that_no_file_can_be_named_by_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["weatherglass", "verdict", "run", "--multiverse", "m.j\ud800"])
    assert exit_code_of(app) == 2
    assert mentions(one_line_of(capsys), "m.j", "ud800")


@pytest.mark.parametrize(
    "error",
    [
        TypeError("x" * 10_000),
        ValueError(f"two\nlines\x1b[2J of {KEY}"),
        MemoryError(),
        np.exceptions.AxisError("axis"),
        RecursionError("maximum recursion depth exceeded"),
        PanicException("index out of bounds"),
        OSError(errno.EIO, "Input/output error", "/data/\x1b[31mred"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"),
        AssertionError(),
        GeneratorExit(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_nobody_foresaw_is_one_line_with_the_path_of_a_log(
    error: BaseException, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code_of(raising(error)) == 4
    line = one_line_of(capsys)
    assert line.startswith("weatherglass: ")
    assert type(error).__name__ in line
    (log,) = (cache / "logs").iterdir()
    assert line.endswith(str(log))
    content = log.read_text(encoding="utf-8")
    assert "Traceback (most recent call last)" in content
    assert "in command" in content  # down to the line that raised it
    assert "run openai:m" in content.replace("'", "")
    assert KEY not in content + line
    assert len(content) <= 1_000_000


def test_the_log_goes_to_the_temporary_folder_where_the_cache_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    assert exit_code_of(raising(KeyError("x"))) == 4
    (log,) = (tmp_path / "tmp").iterdir()
    assert one_line_of(capsys).endswith(str(log))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    assert exit_code_of(raising(KeyError("x"))) == 4
    line = one_line_of(capsys)
    assert mentions(line, "KeyError", "no log")
    assert str(tmp_path) not in line


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (WeatherglassError("a.txt: is empty"), 2),
        (ClusterError("lost"), 3),
        (OutputError(f"/data/{'very/' * 200}glove.txt: cannot be read; download it again"), 2),
        (WeatherglassError("a\x1b]0;title\x07.txt:\nbad\u2028worse"), 2),
        (OSError(errno.ENOSPC, "No space left on device", "/data/x"), 1),
        (output_error("/data/x", OSError(errno.EDQUOT, "Disk quota exceeded")), 1),
        (output_error("/data/x", OSError(errno.EACCES, "Permission denied")), 2),
        (OSError(errno.ENAMETOOLONG, "File name too long", "x" * 5000), 2),
    ],
)
def test_a_mistake_or_a_full_disk_is_one_line_without_a_log(
    error: Exception, code: int, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code_of(raising(error)) == code
    line = one_line_of(capsys)
    assert not cache.exists()
    if code == 1:
        assert re.search(r"/data/x.*(No space left on device|Disk quota exceeded)", line)
    if "very" in line:
        assert line.startswith("weatherglass: /data/very/")
        assert line.endswith("download it again")


def test_an_interrupt_and_a_closed_pipe_are_as_they_were(capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(raising(KeyboardInterrupt())) == 130
    assert exit_code_of(raising(click.Abort())) == 130
    with pytest.raises(SystemExit):
        exit_code_of(raising(SystemExit(1)))
    assert "Traceback" not in capfd.readouterr().err


def test_a_warning_is_one_line_without_the_code_that_it_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    def command(prog_name: str, standalone_mode: bool) -> None:
        del prog_name, standalone_mode
        warnings.simplefilter("always")
        warnings.warn("the cache\n\x1b[2J " + "x" * 400, stacklevel=1)
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)

    assert exit_code_of(command) == 0
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(r"warning: the cache \x1b[2J xx")
    assert len(first) == 300
    assert second == "warning: RuntimeWarning: overflow"


def test_a_wrong_option_shows_control_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["weatherglass", "verdict", "a", "b\x1b[2J" + "c" * 500])
    assert exit_code_of(app) == 2
    assert r"\x1b[2J" in one_line_of(capsys)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run", "--jobs", "0"], ("--jobs", 0, "weatherglass run --help")),
        (["run", "--jobs", "many"], ("--jobs", "many", "weatherglass run --help")),
        (["run", "--jbos", "2"], ("--jbos", "--jobs", "weatherglass run --help")),
        (["run", "--alternative", "two-side"], ("--alternative", "two-side", "two-sided")),
        (["run", "--jobs"], ("--jobs", "--help")),
        (["report", "x", "-f", "htm"], ("--format", "htm", "html")),
        (["words", "--correction", "homl"], ("--correction", "homl", "holm")),
        (["verdict"], ("RUN", "weatherglass verdict --help")),
        (["rum"], ("rum", "'run'")),
        (["tests", "shows", "weat6"], ("shows", "'show'")),
        (["reliability", "trains"], ("trains", "'train'")),
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_a_wrong_option_command_or_value_is_one_line_that_helps(
    arguments: list[str],
    named: tuple[str | int, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["weatherglass", *arguments])
    assert exit_code_of(app) == 2
    assert mentions(one_line_of(capsys), *named)


def test_a_group_without_a_command_prints_its_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["weatherglass", "tests"])
    assert exit_code_of(app) == 2
    assert mentions(capsys.readouterr().err, "Usage: weatherglass tests", "sentences")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_standard_output_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "weatherglass", "metrics"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert os.strerror(errno.ENOSPC) in done.stderr


def test_a_reader_that_goes_away_leaves_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "weatherglass", "tests", "list"],
        stdout=write, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(write)
    assert done.returncode == 1
    assert done.stderr == ""


def command(
    arguments: Sequence[str | bytes], folder: Path, closed: int | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process, with a stream closed as `>&-` does it."""
    run = "import os, sys; os.close(int(sys.argv.pop(1))); os.execv(sys.argv[1], sys.argv[1:])"
    before = [sys.executable, "-c", run, str(closed)] if closed is not None else []
    return subprocess.run(
        [*before, sys.executable, "-m", "weatherglass", *arguments],
        cwd=folder, capture_output=True, check=False, env=os.environ | environment,
    )  # fmt: skip


def is_one_line(done: subprocess.CompletedProcess[bytes], *names: str) -> bool:
    text = done.stderr.decode()
    return done.stdout == b"" and text.count("\n") == 1 and len(text) <= 301 and mentions(text, *names)


def test_an_interrupt_while_the_command_is_imported_is_quiet(tmp_path: Path) -> None:
    code = """
import sys
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from weatherglass.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


def test_closed_streams_end_a_command_in_one_line_or_not_at_all(tmp_path: Path) -> None:
    done = command(["tests", "list"], tmp_path, closed=1)
    assert done.returncode == 2
    assert is_one_line(done, "/dev/null")
    assert command(["tests", "list"], tmp_path, closed=2).returncode == 0
    assert command(["tests", "list"], tmp_path, closed=0).returncode == 0


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_an_encoding_without_our_marks_prints_all_the_same(encoding: str, tmp_path: Path) -> None:
    done = command(["run", "-t", "weat6", "--json"], tmp_path, PYTHONIOENCODING=encoding)
    assert done.returncode == 0
    assert json.loads(done.stdout.decode("ascii"))["results"][0]["test"] == "weat6"
    said = command(["tests", "show", "weat6"], tmp_path, PYTHONIOENCODING=encoding)
    assert said.returncode == 0
    assert b"weat6" in said.stdout


@pytest.mark.parametrize("epoch", ["abc", "9" * 30, "-1", ""])
def test_a_source_date_that_is_none_is_one_line(epoch: str, tmp_path: Path) -> None:
    done = command(["run", "-t", "weat6"], tmp_path, SOURCE_DATE_EPOCH=epoch)
    assert done.returncode == 2
    assert is_one_line(done, "SOURCE_DATE_EPOCH")


@pytest.mark.parametrize("arguments", [["run", "-t", "weat6", "-o", b"r\xff"], ["run", b"v\xff.txt"]])
def test_a_name_that_is_not_utf_8_is_one_line(arguments: list[str | bytes], tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"v\xff.txt")).write_text("a 1 2\n")
    done = command(arguments, tmp_path)
    assert done.returncode == 2
    assert is_one_line(done, "UTF-8")


@pytest.mark.parametrize("content", ["{}", "[]", "no JSON", '{"address": 5}'])
def test_another_file_as_scheduler_is_one_line(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.json"
    file.write_text(content)
    arguments = [
        "weatherglass",
        "run",
        "-q",
        "-t",
        "weat6",
        "--scheduler",
        str(file),
        "-o",
        str(tmp_path / "r"),
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    assert exit_code_of(app) == ClusterError.exit_code
    assert mentions(one_line_of(capsys), "s.json")


EVIL = "e\x1b[2J\u202ev"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A run of a model, a test file and a file of vectors whose names would clear the screen."""
    folder = tmp_path_factory.mktemp("hostile")
    test = wg.load_test("weat6")
    words = [element.text for one in (*test.targets, *test.attributes) for element in one.elements]
    rows = zip([*words, EVIL], HashedEncoder().encode([*words, EVIL]).tolist(), strict=True)
    (folder / "v.txt").write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows))
    wg.run({EVIL: HashedEncoder()}, "weat6").save(folder / "run")
    return {"RUN": str(folder / "run"), "VECTORS": str(folder / "v.txt")}


@pytest.mark.parametrize(
    "command",
    [
        ("verdict", "RUN"),
        ("explain", "RUN", "weat6"),
        *(("report", "RUN", "-f", form) for form in ("md", "latex", "sentences", "methods", "bibtex")),
        ("report", "RUN", "-f", "model-card"),
        ("compare", "RUN", "RUN"),
        ("run", f"{EVIL}=vectors:VECTORS", "-t", "weat6", "-o", EVIL),
        ("words", f"{EVIL}=vectors:VECTORS", "-t", "weat6", "-w", EVIL),
        ("try", "vectors:VECTORS", EVIL, "John"),
        ("try", "wordllama", EVIL),
        ("mitigate", "vectors:VECTORS", "--with", "centre", "-o", f"{EVIL}.txt"),
        ("tests", "show", "weat6"),
    ],
    ids=lambda command: " ".join(command[:2]).replace(EVIL, "evil"),
)
def test_no_command_sends_a_control_character_of_a_name(
    command: tuple[str, ...], hostile: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = list(command)
    for placeholder, path in hostile.items():
        arguments = [argument.replace(placeholder, path) for argument in arguments]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0 or isinstance(done.exception, WeatherglassError), done.output
    sent = {c for c in done.output if not c.isprintable()} - {"\n"}
    assert not sent


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_table_goes_to_a_program_as_it_is_and_safely_to_a_terminal(
    hostile: dict[str, str], tmp_path: Path
) -> None:
    import pty

    table = ["report", hostile["RUN"], "-f", "csv"]
    ours, its = pty.openpty()
    arguments = [sys.executable, "-m", "weatherglass", *table]
    with subprocess.Popen(arguments, stdout=its, stderr=subprocess.DEVNULL, cwd=tmp_path) as process:
        os.close(its)
        shown = b""
        with contextlib.suppress(OSError):  # the terminal is closed
            while part := os.read(ours, 1 << 16):
                shown += part
    os.close(ours)
    assert process.returncode == 0
    assert b"\\x1b[2J" in shown
    assert b"\x1b" not in shown
    assert EVIL.encode() in command(table, tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        ([], {"OPENAI_API_SECRET": SECRET}),
        ([], {"HF_TOKEN": SECRET}),
        ([], {"MY_PASSWORD": f" {SECRET}\n"}),
        (["run", "openai:m?key_env=MINE"], {"MINE": SECRET}),
        (["run", f"openai:m?api_key={SECRET}&retries=1"], {}),
        (["run", f"--token={SECRET}"], {}),
    ],
)
def test_a_key_of_the_environment_or_of_an_option_is_hidden(
    arguments: list[str], environment: dict[str, str]
) -> None:
    text = f"weatherglass {' '.join(arguments)}\nTypeError: '{SECRET}' is no number\nAuthorization: Bearer {SECRET}"
    hidden = without_secrets(text, arguments, environment)
    assert SECRET not in hidden
    assert "TypeError" in hidden


def test_keys_that_nobody_named_are_hidden_where_their_form_tells_them() -> None:
    text = "https://anna:hunter2@host/v1 Bearer abc.def"
    assert without_secrets(text, [], {}) == "https://***@host/v1 Bearer ***"


def test_switches_and_names_are_left() -> None:
    environment = {"TOKENIZERS_PARALLELISM": "false", "HOME": "/home/anna"}
    text = "if false: /home/anna/x.py key_env=MINE"
    assert without_secrets(text, ["key_env=MINE"], environment) == text


@pytest.mark.parametrize(
    ("arguments", "named", "suggested"),
    [
        (["run", "vector:x.txt"], ["'vector:x.txt'"], "vectors"),
        (["run", "all-MiniLM-L6-v2"], ["'all-MiniLM-L6-v2'"], "st:all-MiniLM-L6-v2"),
        (["run", "sentence-transformers/all-mpnet"], [], "st:sentence-transformers/all-mpnet"),
        (["run", "intfloat/e5-base"], ["'st:intfloat/e5-base'"], "hf:intfloat/e5-base"),
        (["tests", "list", "--topic", "regions"], [], "religion"),
        (["tests", "list", "--language", "it"], ["'it'", "en, fr, ja, ru"], None),
        (["tests", "list", "--language", "fr", "--topic", "religion"], ["'religion'", "'fr'", "en"], None),
        (["report", "run/report.html"], ["run/report.html", "folder: run"], None),
    ],
)
def test_what_was_probably_meant_is_named(
    arguments: list[str], named: list[object], suggested: str | None
) -> None:
    with pytest.raises(WeatherglassError, match=naming(*named, suggesting=suggested)):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
