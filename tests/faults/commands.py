"""The commands that are disturbed, each with tiny data, and the numbers that it must end with."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.calibration.test_calibrate import write_calibration
from tests.models import HashedEncoder
from tests.stored import biased_lines

import weatherglass as wg
from weatherglass.audit.folder import CONTEXTS
from weatherglass.catalogue import export_test
from weatherglass.catalogue.toml_format import to_toml
from weatherglass.mitigation.lists import neutral_words, pair_list
from weatherglass.storage.atomic import UNFINISHED
from weatherglass.storage.checksum import DAMAGED
from weatherglass.storage.journal import LOCK

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
NOT_NUMBERS = ("started", "finished", "seconds", "command", "host", "sha256")
TIME = re.compile(
    rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+]00:00|\d+ [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC|<!-- run.json .*-->"
    rb'| time="[0-9.]+"'
)
"""When something was, how long it took (in JUnit files), and the hashes at the end of the page, which depend on it."""
LEFT_OVER = (f"{UNFINISHED}*", f"*{DAMAGED}")
"""Files that a command may not leave behind at its end: half-written ones, and those that seemed to be damaged."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended, and what it said."""

    code: int
    killed: bool
    cpu_seconds: float
    orphans: bool
    """Whether processes that it had started outlived it."""
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
        return Ended(**answer, out=printed[0], err=printed[1])

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
    finished: Callable[[Path], Mapping[str, object]]
    """What is finished when it is stopped, and may neither be lost nor computed again: name -> content."""

    def of(self, data: Path, folder: Path) -> list[str]:
        return [part.replace("DATA", str(data)).replace("FOLDER", str(folder)) for part in self.arguments]

    def numbers(self, folder: Path) -> Mapping[str, object]:
        """What must be the same however often the work was stopped: every file in the folder, but for times."""
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != LOCK]
        return {str(path.relative_to(folder)): without_times(path, folder) for path in paths}


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
    draw = Random(0)
    sentences = (" ".join(draw.choices([*tests, "the", "of", "here"], k=12)) for _ in range(4000))
    (folder / "contexts.txt").write_text(".\n".join(sentences) + ".\n", encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    pairs = "".join(
        f"{one}\t{other}\t{n % 7}\n" for n, (one, other) in enumerate(zip(words, words[9:], strict=False))
    )
    (folder / "similar.tsv").write_text(pairs, encoding="utf-8")
    (folder / "small.toml").write_text(to_toml(first_words(wg.load_test("weat7"), 4)), encoding="utf-8")
    wg.run(str(folder / "v.txt"), str(folder / "small.toml"), folder=folder / "run")
    for name in ("weat7", "weat8"):
        export_test(wg.load_test(name), folder / "published" / f"{name}.jsonl")
    (folder / "calibration").mkdir()
    write_calibration(folder / "calibration")


def first_words(test: wg.Test, count: int) -> wg.Test:
    """A test with so few words that every metric has few exchanges to count."""
    targets, attributes = (
        tuple(replace(one, elements=one.elements[:count]) for one in sets)
        for sets in (test.targets, test.attributes)
    )
    return replace(test, name="small", targets=targets, attributes=attributes)


def without_times(path: Path, folder: Path) -> object:
    """What is in a file, without what differs from one run to the next."""
    content = TIME.sub(b"", path.read_bytes())
    for name, stands in ((str(folder), "FOLDER"), (f'"label":"{folder.name}"', '"label":"FOLDER"')):
        content = content.replace(name.encode(), stands.encode())
    if path.suffix == ".json":
        return _timeless(json.loads(content))
    if path.suffix == ".jsonl":
        return sorted(
            json.dumps(_timeless(json.loads(line)), sort_keys=True) for line in content.splitlines()
        )
    if path.name == "results.tsv":
        with io.StringIO(content.decode(), newline="") as file:
            return [_timeless(row) for row in csv.DictReader(file, delimiter="\t")]
    return content


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(item) for name, item in value.items() if name not in NOT_NUMBERS}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def lines(name: str) -> Callable[[Path], Mapping[str, object]]:
    """The whole lines of a journal by their key: two where a piece of work was done twice."""

    def of(folder: Path) -> Mapping[str, object]:
        path = folder / name
        content = path.read_bytes() if path.exists() else b""
        by_key: dict[str, list[bytes]] = {}
        for line in content[: content.rfind(b"\n") + 1].splitlines():
            by_key.setdefault(json.loads(line)["key"], []).append(line)
        return by_key

    return of


def sentences_and_results(folder: Path) -> Mapping[str, object]:
    """The sentences in which words are encoded, which each run writes before its first result, and the results."""
    path = folder / CONTEXTS
    sentences = {CONTEXTS: path.read_bytes()} if path.exists() else {}
    return {**sentences, **lines("journal.jsonl")(folder)}


def files(*patterns: str) -> Callable[[Path], Mapping[str, object]]:
    """Files with the time at which they were written, which is another one where that was done twice."""

    def of(folder: Path) -> Mapping[str, object]:
        return {
            str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
            for pattern in patterns
            for path in folder.glob(pattern)
            if path.is_file()
        }

    return of


def left_over(folder: Path) -> list[str]:
    return [path.name for pattern in LEFT_OVER for path in folder.rglob(pattern)]


COMMANDS = {
    "run": Command(("run", "DATA/v.txt", "-t", "weat[678]", "-o", "FOLDER", "-q"), lines("journal.jsonl")),
    "run in contexts": Command(
        (
            *("run", "DATA/v.txt", "-t", "weat[678]", "--contexts", "DATA/contexts.txt"),
            *("--per-word", "5", "-o", "FOLDER", "-q"),
        ),
        sentences_and_results,
    ),
    "reliability run": Command(
        ("reliability", "run", "DATA/study.toml", "-o", "FOLDER", "-q"),
        files("embeddings/[!.]*", "scores/[!.]*.npy", "corpora/[!.]*/[!.]*"),
    ),
    "multiverse": Command(
        (
            *("multiverse", "DATA/v.txt", "-t", "weat[678]", "--choices", "similarity,statistic"),
            *("-o", "FOLDER", "-q"),
        ),
        lines("multiverse.jsonl"),
    ),
    "rank": Command(
        ("rank", "wordllama", "--groups", "gender", "-o", "FOLDER", "-q"), lines("ranking.jsonl")
    ),
    "report": Command(("report", "DATA/run", "-o", "FOLDER/page.html"), lambda _: {}),
    "calibrate": Command(
        (
            *("calibrate", "DATA/calibration/study.toml", "-t", "DATA/calibration/roles.toml"),
            *(
                "--pairs",
                "DATA/calibration/pairs.txt",
                "--doses",
                "0,0.5,1",
                "-m",
                "mac",
                "-o",
                "FOLDER",
                "-q",
            ),
        ),
        files("embeddings/[!.]*"),
    ),
    "mitigate": Command(
        (
            *("mitigate", "DATA/v.txt", "--with", "hard-debias?equalise=none", "-o", "FOLDER/cured.txt"),
            *("--judge", "--folder", "FOLDER/judged", "-t", "DATA/small.toml"),
            *("--similarity", "DATA/similar.tsv", "-q"),
        ),
        lines("judged/run/journal.jsonl"),
    ),
}


def writer(*arguments: str) -> Command:
    """Return a command that writes its files at its end, and so finishes nothing before."""
    return Command(arguments, lambda _: {})


WRITERS = {
    "run, summaries": Command(
        (
            *(
                "run",
                "DATA/v.txt",
                "-t",
                "DATA/small.toml",
                "-o",
                "FOLDER/run",
                "-q",
                "--fail-if",
                "p_value < 0",
            ),
            *("--junit", "FOLDER/junit.xml", "--summary", "FOLDER/summary.md"),
        ),
        lines("run/journal.jsonl"),
    ),
    "report, figures": writer("report", "DATA/run", "-f", "svg", "-o", "FOLDER/figures"),
    "report, table": writer("report", "DATA/run", "-f", "csv", "-o", "FOLDER/results.csv"),
    "compare": writer(
        *("compare", "DATA/run", "DATA/run", "--junit", "FOLDER/junit.xml", "--summary", "FOLDER/summary.md")
    ),
    "words": writer(
        *("words", "DATA/v.txt", "-t", "weat6", "-o", "FOLDER/words.tsv", "--figure", "FOLDER/words.svg")
    ),
    "mitigate, transform": writer(
        "mitigate", "DATA/v.txt", "--with", "hard-debias?equalise=none", "-o", "FOLDER/hard.transform"
    ),
    **{
        f"encode, {kind}": writer("encode", "DATA/v.txt", "-t", "weat6", "-o", f"FOLDER/e.{kind}", "-q")
        for kind in ("npz", "safetensors", "parquet", "h5")
    },
    "tests import": writer("tests", "import", "DATA/published", "-o", "FOLDER/tests"),
    "tests sentences": writer("tests", "sentences", "weat6", "-o", "FOLDER/sentences.toml"),
    "tests init": writer("tests", "init", "FOLDER/test.toml"),
    "reliability init": writer("reliability", "init", "FOLDER/study.toml"),
}
"""Commands that write their outputs at their end; those of COMMANDS write results one by one.

Two are not among them: `explore --export`, because its page contains how long the answers took, and `tests export`.
"""
ALL_COMMANDS = COMMANDS | WRITERS
QUICK = "run"
NAMES = [name if name == QUICK else pytest.param(name, marks=pytest.mark.large) for name in COMMANDS]
"""Each command once for a test; all but one take minutes together and are left to `make test-all`."""
CHEAP = [
    name if name in ("run", "run in contexts", "multiverse") else pytest.param(name, marks=pytest.mark.large)
    for name in COMMANDS
]
"""The same for tests that run a command a few times: what takes less than 5 s of processor time is always run."""
