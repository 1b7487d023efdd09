"""The process in which inputs are tried: limited in memory and time, watched for what no reader may do."""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import struct
import sys
import time
import traceback
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from tests.hostile.child_server import ChildServer
from tests.hostile.limits import limit_memory
from tests.hostile.target import Reading, Sample, Target

SECONDS = 10
"""Of processor time that one input may take."""
COUNTS = ("tried", "accepted", "traceback", "hang or memory", "silently wrong", "code run or leak")
FAILURES = COUNTS[2:]
KEPT_OF_A_KIND = 3
"""Inputs that are kept of those which fail in the same way."""
CANARY, SECRET = "canary", "sk-fuzz-7f3a91c2d45e"
FORBIDDEN_EVENTS = (
    "os.system",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "pty.spawn",
    "socket.connect",
)

_Row = struct.Struct("<7q")


class Board:
    """Counts that outlive the process: a row for each class, in a file that parent and child share."""

    def __init__(self, path: Path, rows: int) -> None:
        if not path.exists():
            path.write_bytes(bytes(_Row.size * (rows + 1)))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def read(self, row: int) -> list[int]:
        """The next number and the counts of a class; of row −1, which class is being tried."""
        return list(_Row.unpack_from(self._map, _Row.size * (row + 1)))

    def write(self, row: int, values: list[int]) -> None:
        _Row.pack_into(self._map, _Row.size * (row + 1), *values)

    def count(self, row: int, column: str) -> None:
        """One more."""
        values = self.read(row)
        values[1 + COUNTS.index(column)] += 1
        self.write(row, values)


class HangError(KeyboardInterrupt):
    """An input took too long; a boundary that catches all else must let an interrupt pass."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with one input."""

    column: str
    kind: str
    """The same for inputs that fail in the same way."""
    text: str


class Trial:
    """One class of inputs, ready to be tried in a folder of its own."""

    def __init__(self, target: Target, seed: int, folder: Path) -> None:
        self.target, self.seed, self.folder = target, seed, folder
        folder.mkdir(parents=True, exist_ok=True)
        built = folder / "built"
        built.mkdir(exist_ok=True)
        self.samples: list[tuple[Sample, Path, Reading]] = []
        for number, sample in enumerate(target.samples(built)):
            place = folder / str(number)
            for name in sample.files:
                _write(place / name, sample.files[name])
            self.samples.append((sample, place, target.read(place / sample.read_from)))
        self._seen: dict[str, int] = {}

    def input(self, number: int) -> tuple[int, str, str, bytes]:
        """By its number: which sample, which file of it, what was done, and the bytes."""
        random = Random((self.seed << 64) + (zlib.crc32(self.target.name.encode()) << 32) + number)
        which = int(random.random() * len(self.samples))
        name, kind, changed = self.samples[which][0].hostile(random)
        return which, name, kind, changed

    def attempt(self, number: int) -> tuple[bool, Failure | None]:
        """Whether the input was accepted, and what went wrong."""
        which, name, kind, changed = self.input(number)
        sample, place, before = self.samples[which]
        _write(place / name, changed)
        try:
            return self._read(sample, place, before, kind)
        finally:
            if len(sample.files) > 1:
                _write(place / name, sample.files[name])

    def _read(self, sample: Sample, place: Path, before: Reading, kind: str) -> tuple[bool, Failure | None]:
        from weatherglass.errors import WeatherglassError

        WATCH.begin()
        after: Reading | None = None
        error: BaseException | None = None
        message = ""
        try:
            after = self.target.read(place / sample.read_from)
        except WeatherglassError as refusal:
            error, message = refusal, str(refusal)
        except BaseException as unexpected:  # a panic of Rust is one, too
            error, message = unexpected, f"{type(unexpected).__name__}: {unexpected}"
        finally:
            WATCH.end()
        if harm := WATCH.harm(message):
            return after is not None, Failure("code run or leak", harm, harm)
        if WATCH.hung:
            return False, Failure("hang or memory", "hang", f"over {SECONDS} s of processor time")
        if error is not None and (memory := _memory_error(error)):
            return False, Failure("hang or memory", "memory", memory)
        if error is not None and not isinstance(error, WeatherglassError):
            text = "".join(traceback.format_exception(error))
            return False, Failure("traceback", _where(error), text)
        if after is not None and (wrong := self.target.check(sample, before, after, kind)):
            return True, Failure("silently wrong", wrong, wrong)
        return after is not None, None

    def keep(self, number: int, failure: Failure, failures: Path) -> None:
        """Save the input and what it did, unless enough of the kind are kept."""
        self._seen[failure.kind] = self._seen.get(failure.kind, 0) + 1
        if self._seen[failure.kind] > KEPT_OF_A_KIND:
            return
        which, name, kind, changed = self.input(number)
        folder = failures / f"{self.target.name.replace(' ', '-').replace('/', '-')}-{number}"
        _write(folder / name, changed)
        sample = self.samples[which][0]
        where = f"sample {which}, file {name} of {sample.read_from}, {kind}"
        head = f"{self.target.name}, input {number} of seed {self.seed}: {where}"
        (folder / "why.txt").write_text(
            f"{head}\n{failure.column}: {failure.kind}\n\n{failure.text}\n",
            encoding="utf-8",
            errors="backslashreplace",
        )


def _write(path: Path, content: bytes) -> None:
    try:
        with open(path, "wb", buffering=0) as file:  # noqa: PTH123 - the fastest way
            file.write(content)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _where(error: BaseException) -> str:
    """The error's type and the last of our lines that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "weatherglass" in frame.filename] or list(frames)
    place = f"{Path(ours[-1].filename).name}, {ours[-1].name}" if ours else "?"
    return f"{type(error).__name__} in {place}"


def _memory_error(error: BaseException) -> str:
    """The error that says that memory was refused, also where it stands behind one of ours."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        # One that we raise ourselves says why, and nothing was allocated.
        frames = traceback.extract_tb(cause.__traceback__)
        if frames and (Path(frames[-1].filename).name, frames[-1].name) == ("ast.py", "parse"):
            return ""  # the parser's own stack, which it calls memory
        refused = isinstance(cause, MemoryError) and (not str(cause) or "Unable to allocate" in str(cause))
        if refused or "Cannot allocate memory" in str(cause):
            return "".join(traceback.format_exception(cause))[-1500:]
        cause = cause.__cause__ or cause.__context__
    return ""


class Watch:
    """Time, and what no reader may do: events of the interpreter, a file that a payload would make, a secret."""

    def __init__(self) -> None:
        self.hung = False
        self.on = False
        self.events: list[str] = []
        self._installed = False

    def install(self) -> None:
        """Once in a process: nothing takes such a hook off again."""
        if not self._installed:
            sys.addaudithook(self._audit)
        self._installed = True
        signal.signal(signal.SIGVTALRM, self._alarm)

    def begin(self) -> None:
        self.hung, self.on = False, True
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self.on = False

    def harm(self, message: str) -> str:
        """What was done that may not be done; empty if nothing was."""
        events, self.events = self.events, []
        if os.path.lexists(CANARY):
            Path(CANARY).unlink() if not Path(CANARY).is_dir() else Path(CANARY).rmdir()
            return "the payload of a file ran"
        if SECRET in message:
            return "a secret stands in a message"
        return events[0] if events else ""

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in FORBIDDEN_EVENTS or (event == "subprocess.Popen" and arguments[0] != sys.executable):
            self.events.append(f"{event}{arguments!r}"[:300])
        elif event == "ctypes.dlopen" and str(arguments[0]).startswith(os.getcwd()):  # noqa: PTH109 - a text
            self.events.append("a library beside the input was loaded")
        elif event == "open" and isinstance(arguments[0], str) and arguments[0].endswith("secret.npy"):
            self.events.append("a file opened another one")

    def _alarm(self, _signal: int, _frame: FrameType | None) -> None:
        self.hung = True
        signal.setitimer(signal.ITIMER_VIRTUAL, 1)  # again, should something swallow this one
        raise HangError


WATCH = Watch()


def _free_memory_limit() -> None:
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def run(
    targets: list[tuple[int, Target]], board: Board, seed: int, seconds: float, folder: Path, failures: Path
) -> None:
    """Try the classes one after another, each for its part of the time that is left; rows name them on the board."""
    ends = time.monotonic() + seconds
    WATCH.install()
    with _served_children([target for _, target in targets]):
        for position, (row, target) in enumerate(targets):
            weights = [each.weight for _, each in targets[position:]]
            share = (ends - time.monotonic()) * target.weight / sum(weights)
            board.write(-1, [row, 0, 0, 0, 0, 0, 0])
            _free_memory_limit()
            trial = Trial(target, seed, folder / str(row))
            _try_until(time.monotonic() + max(share, 0.2), trial, row, board, failures)


@contextmanager
def _served_children(targets: Sequence[Target]) -> Iterator[None]:
    """Within, children that read files are forked from one that has imported what they need."""
    modules = list(dict.fromkeys(name for target in targets for name in target.child_imports))
    if not modules:
        yield
        return
    from weatherglass.storage import child_process

    server, before = ChildServer(modules), child_process.run_child
    child_process.run_child = server.run
    try:
        yield
    finally:
        child_process.run_child = before
        server.close()


def _try_until(end: float, trial: Trial, row: int, board: Board, failures: Path) -> None:
    tried = 0
    while time.monotonic() < end:
        if tried % 2000 == 0:
            limit_memory()
        values = board.read(row)
        number = values[0]
        values[0] += 1
        values[1] += 1
        board.write(row, values)
        tried += 1
        accepted, failure = trial.attempt(number)
        if accepted:
            board.count(row, "accepted")
        if failure is not None:
            board.count(row, failure.column)
            trial.keep(number, failure, failures)


def main() -> None:
    """Started by `fuzz.py` with its order as JSON."""
    from tests.hostile.targets import TARGETS

    order = json.loads(sys.argv[1])
    named = {target.name: target for target in TARGETS}
    folder, failures = Path(order["folder"]).resolve(), Path(order["failures"]).resolve()
    board = Board(Path(order["board"]).resolve(), order["rows"])
    quiet(folder)
    run(
        [(row, named[name]) for row, name in order["targets"]],
        board,
        order["seed"],
        order["seconds"],
        folder,
        failures,
    )


def quiet(folder: Path, loud: bool = False) -> None:
    """Work in the folder, with a secret in the environment; what libraries print goes to a file unless `loud`."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    Path("secret.npy").write_bytes(SECRET.encode())
    os.environ.update(
        OPENAI_API_KEY=SECRET, WEATHERGLASS_CACHE=str(folder / "cache"), HF_HUB_OFFLINE="1", NO_COLOR="1"
    )
    warnings.simplefilter("ignore")
    if not loud:
        log = os.open("log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)


if __name__ == "__main__":
    main()
