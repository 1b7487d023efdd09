"""`make fuzz MINUTES=n`: hostile inputs for every reader, counted by class.

Each class of inputs (tests/hostile/targets) starts from good samples. An input is known by seed, class and number, so
that a failure can be replayed:

    python -m tests.hostile.fuzz --minutes 5                      # the table; exit code 1 unless all counts are 0
    python -m tests.hostile.fuzz --minutes 60 --write docs/security.md
    python -m tests.hostile.fuzz --replay "tests, TOML" 1 4711    # one input, with its traceback
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.target import Target
from tests.hostile.targets import TARGETS
from tests.hostile.worker import COUNTS, FAILURES, Board, Trial, quiet

ROOT = Path(__file__).parents[2]
FAILED = Path(".fuzz")
"""Where inputs are kept that failed, below the working directory."""
STUCK = 15
"""Seconds of processor time on one input, after which a process is ended: compiled code that does not come back."""
WAITING = 180
"""Seconds by the clock without a next input, after which it waits for something."""
STARTING = 600
"""The same while samples are made and libraries imported."""
MARKS = ("<!-- begin: fuzz -->", "<!-- end: fuzz -->")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    name: str
    counts: tuple[int, ...]
    """In the order of COUNTS."""

    @property
    def failures(self) -> int:
        """How many inputs did what no input may do."""
        return sum(self.counts[len(COUNTS) - len(FAILURES) :])


def rotten(seed: int) -> list[Row]:
    """Bytes of our own folders change under us: what comes of it when they are used again (`rot.py`)."""
    from tests.hostile.rot import rot

    with tempfile.TemporaryDirectory(prefix="rot-", dir=_memory_folder()) as folder:
        counted = rot(Path(folder), ROTTEN, seed)
    return [
        Row(f"rot, {name}", (one.tried, one.same, one.tracebacks, 0, one.different, 0))
        for name, one in counted.items()
    ]


OTHER_CLASSES: list[Callable[[int], list[Row]]] = [rotten]
"""Classes that are not made by mutation of a file: each takes the seed and gives its rows."""
LONG = 10
"""Minutes from which the other classes are counted, too; they take their own time, and tests have a part of them."""
ROTTEN = 2000
"""Changes of bytes in folders of ours."""


class Group:
    """Classes that are tried in one process at a time; it is started again where an input ends it."""

    def __init__(self, targets: Sequence[tuple[int, Target]], seed: int, home: Path, rows: int) -> None:
        self.targets, self.seed, self.home, self.rows = list(targets), seed, home, rows
        self.name = targets[0][1].group
        self.weight = sum(target.weight for _, target in targets)
        self._board = home / f"board-{self.name}"
        self.board = Board(self._board, rows)
        self._process: subprocess.Popen[bytes] | None = None
        self._ends = 0.0
        self._last: tuple[float, float, list[int]] = (0.0, 0.0, [])
        """When an input was last seen to be begun: by the clock, in processor time, and the state of the board."""

    def start(self, seconds: float) -> None:
        """Begin, or go on after the input that ended the process."""
        self._ends = time.monotonic() + seconds
        current = self.board.read(-1)[0] if self._process else self.targets[0][0]
        left = [(row, target.name) for row, target in self.targets if row >= current]
        order = {
            "targets": left,
            "seed": self.seed,
            "seconds": seconds,
            "rows": self.rows,
            "board": str(self._board),
            "folder": str(self.home / self.name),
            "failures": str(FAILED.resolve()),
        }
        environment = {
            **os.environ,
            "MALLOC_ARENA_MAX": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "POLARS_MAX_THREADS": "1",
            "RAYON_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        }
        command = [sys.executable, "-m", "tests.hostile.worker", json.dumps(order)]
        self._process = subprocess.Popen(command, env=environment, cwd=ROOT)
        self._last = (time.monotonic(), 0.0, [])

    def watch(self) -> bool:
        """Look after the process; whether all is done."""
        assert self._process is not None
        current = self.board.read(-1)[0]
        state = self.board.read(current)
        code = self._process.poll()
        if code == 0:
            return True
        if code is not None and code > 0:
            log = (self.home / self.name / "log.txt").read_text(encoding="utf-8", errors="replace")
            raise SystemExit(f"the process of the group '{self.name}' failed by itself:\n{log[-3000:]}")
        if code is not None:
            self._died(current, f"ended by signal {signal.Signals(-code).name}", "traceback")
        elif state != self._last[2]:
            self._last = (time.monotonic(), processor_seconds(self._process.pid), state)
        elif self._is_stuck(starting=state[1] == 0):
            self._process.kill()
            self._process.wait()
            self._died(current, "no next input", "hang or memory")
        return False

    def _is_stuck(self, starting: bool) -> bool:
        assert self._process is not None
        since, before, _ = self._last
        if time.monotonic() - since > (STARTING if starting else WAITING):
            return True
        return not starting and processor_seconds(self._process.pid) - before > STUCK

    def _died(self, row: int, why: str, column: str) -> None:
        self.board.count(row, column)
        target, number = TARGETS[row], self.board.read(row)[0] - 1
        folder = FAILED / f"{target.name.replace(' ', '-')}-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "why.txt").write_text(
            f"{target.name}, input {number} of seed {self.seed}: {why}\n", encoding="utf-8"
        )
        seconds = self._ends - time.monotonic()
        self.start(max(seconds, 1.0))


def fuzz(minutes: float, seed: int, jobs: int, pattern: str = "") -> list[Row]:
    """Try all classes for so long, `jobs` processes at a time."""
    chosen = [(row, target) for row, target in enumerate(TARGETS) if re.search(pattern, target.name)]
    names = list(dict.fromkeys(target.group for _, target in chosen))
    with tempfile.TemporaryDirectory(
        prefix="fuzz-", dir=_memory_folder(), ignore_cleanup_errors=True
    ) as folder:
        groups = [
            Group([each for each in chosen if each[1].group == name], seed, Path(folder), len(TARGETS))
            for name in names
        ]
        seconds = minutes * 60 * min(jobs, len(groups)) / sum(group.weight for group in groups)
        waiting = sorted(groups, key=lambda group: -group.weight)
        running: list[Group] = []
        done: list[Group] = []
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(waiting.pop(0))
                running[-1].start(seconds * running[-1].weight)
            time.sleep(0.2)
            for group in list(running):
                if group.watch():
                    running.remove(group)
                    done.append(group)
        rows = {row: group.board.read(row) for group in done for row, _ in group.targets}
    return [Row(target.name, tuple(rows[row][1:])) for row, target in chosen]


def processor_seconds(process: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_folder() -> str | None:
    """Files are written a thousand times a second, so not to a disk where that can be helped."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


HEADS = ("class of inputs", "tried", "accepted", *FAILURES)


def table(rows: Sequence[Row], only_failed: bool = False) -> str:
    """The rows, or those with failures, and the sum of all rows as Markdown."""
    lines = [f"| {' | '.join(HEADS)} |", "|---|" + "---:|" * (len(HEADS) - 1)]
    shown = [row for row in rows if row.failures] if only_failed else rows
    for row in (*shown, total(rows)):
        cells = [row.name, *(f"{count:,}".replace(",", " ") for count in row.counts)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def total(rows: Sequence[Row]) -> Row:
    """The sum of the rows."""
    return Row("all", tuple(map(sum, zip(*(row.counts for row in rows), strict=True))))


def grouped(rows: Sequence[Row]) -> list[Row]:
    """Return the rows summed by the part of their name before a comma, as the file beside the page shows them."""
    groups: dict[str, list[tuple[int, ...]]] = {}
    for row in rows:
        groups.setdefault(row.name.partition(",")[0], []).append(row.counts)
    return [Row(name, tuple(map(sum, zip(*counts, strict=True)))) for name, counts in groups.items()]


def replay(name: str, seed: int, number: int) -> int:
    """Try one input here, without limits of memory, and print what it does."""
    target = next(target for target in TARGETS if target.name == name)
    folder = Path(tempfile.mkdtemp(prefix="replay-"))
    quiet(folder / "work", loud=True)
    trial = Trial(target, seed, folder / "work" / "0")
    which, file, kind, content = trial.input(number)
    print(f"sample {which}, file {file}, {kind}, {len(content)} bytes: {content[:300]!r}")  # noqa: T201
    accepted, failure = trial.attempt(number)
    print(failure.text if failure else "accepted" if accepted else "refused, as it should be")  # noqa: T201
    shutil.rmtree(folder)
    return 1 if failure else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile.fuzz", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, help="default: the time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--only", default="", help="a regular expression that the class matches", metavar="CLASS"
    )
    parser.add_argument(
        "--write", type=Path, help="put the table between the marks of this page", metavar="FILE"
    )
    parser.add_argument("--replay", nargs=3, help="one input again", metavar=("CLASS", "SEED", "NUMBER"))
    given = parser.parse_args(arguments)
    if given.replay:
        return replay(given.replay[0], int(given.replay[1]), int(given.replay[2]))
    seed = int(time.time()) if given.seed is None else given.seed
    print(f"seed {seed}; to have the same inputs again: --seed {seed}", flush=True)  # noqa: T201
    shutil.rmtree(FAILED, ignore_errors=True)
    started = time.monotonic()
    rows = fuzz(given.minutes, seed, given.jobs, given.only)
    if given.minutes >= LONG and not given.only:
        rows += [row for other in OTHER_CLASSES for row in other(seed)]
    print(table(rows))  # noqa: T201
    tried = sum(row.counts[0] for row in rows)
    taken = (time.monotonic() - started) / 60
    count = f"{tried:,}".replace(",", " ")
    summary = f"{count} inputs in {taken:.0f} minutes on {given.jobs} processes, seed {seed}."
    print(f"\n{summary}")  # noqa: T201
    if given.write:
        write_between_marks(given.write, f"{summary}\n\n{table(grouped(rows), only_failed=True)}")
        write_rows(given.write.parent / "proofs" / "fuzz.tsv", grouped(rows))
    for why in sorted(FAILED.glob("*/why.txt"))[:40]:
        lines = why.read_text(encoding="utf-8").splitlines()
        print(f"{why.parent}: {' — '.join(lines[:2])}")  # noqa: T201
    failed = sum(row.failures for row in rows)
    if failed:
        print(f'{failed} failed; again with: python -m tests.hostile.fuzz --replay "CLASS" {seed} NUMBER')  # noqa: T201
    return 1 if failed else 0


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write the counts of every class as a table."""
    path.parent.mkdir(exist_ok=True)
    lines = [HEADS, *((row.name, *map(str, row.counts)) for row in rows)]
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")


def write_between_marks(page: Path, text: str) -> None:
    """Replace the text between the marks of a page."""
    content = page.read_text(encoding="utf-8")
    before, rest = content.split(MARKS[0], 1)
    after = rest.split(MARKS[1], 1)[1]
    page.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
