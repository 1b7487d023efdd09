"""The fuzzer itself: a reader that does what no reader may is counted, in its own column, and can be replayed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from tests.hostile import fuzz, mutations, worker
from tests.hostile.child_server import ChildServer
from tests.hostile.target import Read, Reading, Sample, Target, same_after
from tests.hostile.targets import TARGETS

from weatherglass.errors import VectorFileError, WeatherglassError
from weatherglass.storage import child_process

ROOT = Path(__file__).parents[2]


def good(path: Path) -> Reading:
    if path.read_bytes() != b"a good file, 12 of them\n" * 3:
        raise WeatherglassError("refused")
    return Reading("good")


def traceback(path: Path) -> Reading:
    good_or_raise(path, KeyError("x"))
    return Reading("good")


def good_or_raise(path: Path, error: BaseException) -> None:
    if path.read_bytes() != b"a good file, 12 of them\n" * 3:
        raise error


def panic(path: Path) -> Reading:
    good_or_raise(path, BaseException("a panic of Rust"))
    return Reading("good")


def memory(path: Path) -> Reading:
    try:
        good_or_raise(path, MemoryError())
    except MemoryError:
        raise WeatherglassError("a line, but only after memory ran out") from None
    return Reading("good")


def hang(path: Path) -> Reading:
    while path.read_bytes() != b"a good file, 12 of them\n" * 3:
        pass
    return Reading("good")


def silent(path: Path) -> Reading:
    return Reading(len(path.read_bytes()))


def code(path: Path) -> Reading:
    if path.read_bytes() != b"a good file, 12 of them\n" * 3:
        Path(worker.CANARY).touch()
    return Reading("good")


def shell(path: Path) -> Reading:
    if path.read_bytes() != b"a good file, 12 of them\n" * 3:
        os.system("true")
    return Reading("good")


def leak(path: Path) -> Reading:
    good_or_raise(path, WeatherglassError(f"the key is {os.environ['OPENAI_API_KEY']}"))
    return Reading("good")


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", worker.SECRET)
    monkeypatch.setattr(worker, "SECONDS", 0.05)
    worker.WATCH.install()


@pytest.mark.parametrize(
    ("read", "column"),
    [
        (good, None),
        (traceback, "traceback"),
        (panic, "traceback"),
        (memory, "hang or memory"),
        (hang, "hang or memory"),
        (silent, "silently wrong"),
        (code, "code run or leak"),
        (shell, "code run or leak"),
        (leak, "code run or leak"),
    ],
)
@pytest.mark.usefixtures("watched")
def test_each_harm_is_counted_in_its_column(read: Read, column: str | None, tmp_path: Path) -> None:
    sample = Sample({"file": b"a good file, 12 of them\n" * 3})
    check = same_after(mutations.CUT, mutations.DAMAGE)
    trial = worker.Trial(Target("planted", lambda _: [sample], read, check), 1, tmp_path / "trial")
    found = {failure.column if (failure := trial.attempt(number)[1]) else None for number in range(5)}
    assert column in found
    assert found <= {column, None}


def test_an_input_is_known_by_its_number() -> None:
    samples = [sample for target in TARGETS[:3] for sample in target.samples(Path())]
    for sample in samples:
        inputs = [sample.hostile(Random(number)) for number in range(200)]
        assert inputs == [sample.hostile(Random(number)) for number in range(200)]
        assert len(set(inputs)) > 150


def test_the_table_has_every_reader_once() -> None:
    names = [target.name for target in TARGETS]
    assert len(set(names)) == len(names)


@pytest.mark.large
def test_the_command_prints_the_table_and_writes_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{fuzz.MARKS[0]}\nold\n{fuzz.MARKS[1]}\nafter\n", encoding="utf-8")
    command = [sys.executable, "-m", "tests.hostile.fuzz", "--minutes", "0.03", "--seed", "1", "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    finished = subprocess.run(
        [*command, "--only", "^(lists|tables)", "--write", str(page)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "seed 1" in finished.stdout
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    counted = (tmp_path / "proofs" / "fuzz.tsv").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("tables of words\t") for line in counted)
    tried = int(text.split("| all | ")[1].split(" | ")[0].replace(" ", ""))
    assert tried > 100


def test_a_process_that_dies_or_stands_still_is_counted_and_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent's half, with a process that only sleeps."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fuzz, "STARTING", 0.2)
    started = []
    target = (0, TARGETS[0])
    group = fuzz.Group([target], 1, tmp_path, 1)

    def start(seconds: float) -> None:
        started.append(seconds)
        group._process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        group._last = (time.monotonic(), 0.0, [])
        group._ends = time.monotonic() + 5

    monkeypatch.setattr(group, "start", start)
    group.start(5)
    while len(started) < 2:
        assert not group.watch()
    assert group.board.read(0)[1 + worker.COUNTS.index("hang or memory")] == 1
    assert group._process is not None
    group._process.terminate()
    group._process.wait()
    while len(started) < 3:
        assert not group.watch()
    assert group.board.read(0)[1 + worker.COUNTS.index("traceback")] == 1
    group._process.kill()
    group._process.wait()


@pytest.mark.large
def test_forked_children_answer_as_those_that_are_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "e.h5"
    path.write_bytes(b"no HDF5")
    monkeypatch.setattr(child_process, "SECONDS", 2)
    readers = ["tests.hostile.hdf5:crashes", "tests.hostile.hdf5:loops_for_ever"]
    readers += ["weatherglass.storage.array_file:read_here", "tests.hostile.hdf5:one_array"]

    def answers() -> list[str]:
        return [_answer(reader, path) for reader in readers]

    started = answers()
    server = ChildServer(["h5py", "tests.hostile.hdf5"])
    monkeypatch.setattr(child_process, "run_child", server.run)
    try:
        assert answers() == started
    finally:
        server.close()


def _answer(reader: str, path: Path) -> str:
    try:
        return repr(child_process.read_in_child(reader, path, VectorFileError))
    except VectorFileError as refusal:
        return str(refusal)
