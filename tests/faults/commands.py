"""The commands that are disturbed, each with tiny data, and the numbers that it must end with."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models import HashedEncoder
from tests.reliability.conftest import biased_lines

import weatherglass as wg
from weatherglass.mitigation.lists import neutral_words, pair_list

STUDY = """
name = "tiny"
seeds = 2
algorithms = ["sgns"]
pairs = ["gender"]
targets = ["occupations"]
rules = ["dbwa", "ripa"]
frequent = 20
neighbours = 3

[corpora.text]
path = "text.txt"

[training]
dimensions = 4

[training.sgns]
epochs = 1
"""
NOT_NUMBERS = ("started", "finished", "seconds", "command", "record", "host", "sha256")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended, and what it said."""

    code: int
    killed: bool
    cpu_seconds: float
    out: str
    err: str


class Server:
    """The process from which commands are forked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ready = folder / "ready"
        environment = {**os.environ, "WEATHERGLASS_CACHE": str(folder / "cache"), "MPLBACKEND": "agg"}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        environment.pop("COLUMNS", None)
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("server.py")), str(ready)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def run(self, *arguments: str | Path, cwd: Path, **request: Any) -> Ended:
        """Run a command to its end, or to its kill."""
        assert self._process.stdin
        assert self._process.stdout
        files = {"out": str(self.folder / "out"), "err": str(self.folder / "err")}
        asked = {"arguments": [str(argument) for argument in arguments], "cwd": str(cwd), **files, **request}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        printed = [Path(file).read_text(encoding="utf-8") for file in files.values()]
        return Ended(answer["code"], answer["killed"], answer["cpu_seconds"], *printed)

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        server.stop()


@dataclass(frozen=True, slots=True)
class Command:
    """A command that works in a folder, and what it leaves there."""

    arguments: tuple[str, ...]
    """DATA and FOLDER stand for the folder of its inputs and the one that it writes to."""
    numbers: Callable[[Path], object]
    """What must be the same however often the work was stopped."""
    finished: Callable[[Path], Mapping[str, bytes]]
    """What was finished when it was stopped, and may not be lost: name -> content."""

    def of(self, data: Path, folder: Path) -> list[str]:
        return [part.replace("DATA", str(data)).replace("FOLDER", str(folder)) for part in self.arguments]


def make_data(folder: Path) -> None:
    """The inputs of all commands."""
    gender = pair_list("gender")
    people = [word for pair in (*gender.pairs, *gender.equalise, *gender.held_out) for word in pair]
    tests = [text for name in ("weat6", "weat7", "weat8") for text in wg.load_test(name).texts]
    words = list(dict.fromkeys([*people, *neutral_words()[:130], *tests]))
    rows = HashedEncoder(width=8).encode(words)
    rows[:, 0] += [3.0 if word in people[::2] else -3.0 if word in people[1::2] else 0.0 for word in words]
    lines = [
        f"{w} {' '.join(f'{x:.6f}' for x in row)}\n"
        for w, row in zip(words, np.asarray(rows).tolist(), strict=True)
    ]
    (folder / "v.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "text.txt").write_text("\n".join(biased_lines(300)) + "\n", encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    pairs = "".join(
        f"{one}\t{other}\t{n % 7}\n" for n, (one, other) in enumerate(zip(words, words[9:], strict=False))
    )
    (folder / "similar.tsv").write_text(pairs, encoding="utf-8")


def without_times(value: Any) -> Any:
    """A record without what differs from one run to the next."""
    if isinstance(value, dict):
        return {name: without_times(item) for name, item in value.items() if name not in NOT_NUMBERS}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def results(folder: Path) -> object:
    with io.StringIO((folder / "results.tsv").read_text(encoding="utf-8"), newline="") as file:
        return [without_times(dict(row)) for row in csv.DictReader(file, delimiter="\t")]


def record(name: str) -> Callable[[Path], object]:
    return lambda folder: without_times(json.loads((folder / name).read_text(encoding="utf-8")))


def tables(folder: Path) -> object:
    return {path.name: path.read_bytes() for path in sorted((folder / "tables").glob("*.tsv"))}


def cured(folder: Path) -> object:
    return record("judgement.json")(folder), (folder / "cured.txt").read_bytes()


def lines(name: str) -> Callable[[Path], Mapping[str, bytes]]:
    """The whole lines of a journal, by their content."""

    def of(folder: Path) -> Mapping[str, bytes]:
        path = folder / name
        content = path.read_bytes() if path.exists() else b""
        return {line.decode()[:90]: line for line in content[: content.rfind(b"\n") + 1].splitlines()}

    return of


def files(*patterns: str) -> Callable[[Path], Mapping[str, bytes]]:
    def of(folder: Path) -> Mapping[str, bytes]:
        return {
            str(path): path.read_bytes()
            for pattern in patterns
            for path in folder.glob(pattern)
            if path.is_file()
        }

    return of


COMMANDS = {
    "run": Command(
        ("run", "DATA/v.txt", "-t", "weat[678]", "-o", "FOLDER", "-q"), results, lines("journal.jsonl")
    ),
    "reliability run": Command(
        ("reliability", "run", "DATA/study.toml", "-o", "FOLDER", "-q"),
        tables,
        files("embeddings/[!.]*", "scores/[!.]*.npy", "corpora/[!.]*/[!.]*"),
    ),
    "multiverse": Command(
        (
            "multiverse",
            "DATA/v.txt",
            "-t",
            "weat[67]",
            "--knobs",
            "similarity,statistic",
            "-o",
            "FOLDER",
            "-q",
        ),
        record("multiverse.json"),
        lines("multiverse.jsonl"),
    ),
    "mitigate": Command(
        (
            *("mitigate", "DATA/v.txt", "--with", "hard-debias?equalise=none", "-o", "FOLDER/cured.txt"),
            *("--judge", "--folder", "FOLDER", "-t", "weat7", "--similarity", "DATA/similar.tsv", "-q"),
        ),
        cured,
        lines("run/journal.jsonl"),
    ),
}
QUICK = "run"
NAMES = [name if name == QUICK else pytest.param(name, marks=pytest.mark.large) for name in COMMANDS]
"""Each command once for a test; all but one take minutes together and are left to `make test-all`."""
