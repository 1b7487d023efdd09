"""A run read back from its folder: the journal judged anew, the record, and in plain words what is lacking of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weatherglass.errors import OutputError, UnknownNameError, WeatherglassError, unreadable
from weatherglass.registry import unknown
from weatherglass.runs.folder import RECORD
from weatherglass.runs.joint import JointP
from weatherglass.runs.journal import JOURNAL, read_journal
from weatherglass.runs.judge import Correction, judge
from weatherglass.runs.results import ElementScore, Result
from weatherglass.runs.verdict import Verdict, recorded_verdicts
from weatherglass.storage.checksum import MISMATCH, State, read_checked_json
from weatherglass.storage.collection import collection_paused
from weatherglass.storage.reading import one_line, require_regular_file

JUDGED = ("complete", "incomplete")
"""The states of a run in which its family is known; before, nothing is corrected."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run as its folder tells it."""

    label: str
    """The folder's name, to tell runs apart."""
    path: Path
    results: list[Result]
    record: Mapping[str, Any]
    """What run.json says."""
    lacking: list[str] = field(default_factory=list)
    """What is missing or could not be read, and what is not known for it."""
    keys: tuple[str, ...] = ()
    """The key of each result, in their order."""

    @property
    def notices(self) -> list[str]:
        """What a reader of the results should be told first."""
        status = self.record.get("status", "complete")
        if status == "complete":
            return self.lacking
        state = "still running, or was killed" if status == "running" else status
        return [*self.lacking, f"The run is {state}; the results are those that were finished."]

    @property
    def alpha(self) -> float:
        """The level of the marks."""
        return float(self.record["settings"]["alpha"])

    def verdicts(self, joint_p: JointP | None = None) -> list[Verdict]:
        """What the tests of each topic show together, by model and metric; none while the run is not finished."""
        if self.record.get("status") not in JUDGED:
            return []
        with reading_run(self.path):
            return recorded_verdicts(self.results, self.record, joint_p)

    def scores(self, position: int) -> Sequence[ElementScore]:
        """s(w, A, B) of each target element of one result."""
        return self.results[position].scores

    def find(self, test: str, model: str | None = None, metric: str | None = None) -> int:
        """The position of the one result of a test.

        Raises:
            UnknownNameError: if there is none; the nearest is named, or why the test could not be run.
            WeatherglassError: if there are several; what tells them apart is listed.
        """
        positions = [n for n, result in enumerate(self.results) if test in (result.test, result.row)]
        if not positions:
            raise self._absent(test)
        for name, wanted in (("model", model), ("metric", metric)):
            if wanted is not None:
                present = self._distinct(name, positions)
                if wanted not in present:
                    raise unknown(f"{name} of {test} in {self.path}", wanted, present)
                positions = [
                    position for position in positions if getattr(self.results[position], name) == wanted
                ]
        if len(positions) > 1:
            raise WeatherglassError(
                f"{test} has {len(positions)} results in {self.path}; {self._choices(positions)}"
            )
        return positions[0]

    def _absent(self, test: str) -> UnknownNameError:
        for failure in self.record.get("failures", []):
            if failure["test"] == test:
                return UnknownNameError(f"{test} could not be run on {failure['model']}: {failure['reason']}")
        return unknown(f"test in {self.path}", test, self._distinct("test", range(len(self.results))))

    def _choices(self, positions: Sequence[int]) -> str:
        """What to add to the command."""
        for name in ("model", "metric"):
            present = self._distinct(name, positions)
            if len(present) > 1:
                return f"choose with --{name}: {', '.join(present)}"
        rows = self._distinct("row", positions)
        if len(rows) > 1:
            return f"choose one of its sets by name: {', '.join(map(repr, rows))}"
        return f"they differ in options: {'; '.join(self._distinct('options', positions))}"

    def _distinct(self, name: str, positions: Iterable[int]) -> list[str]:
        return list(dict.fromkeys(getattr(self.results[position], name) for position in positions))


def read_run(path: Path) -> StoredRun:
    """The run that a folder holds.

    Raises:
        OutputError: if there is none, or one that this version cannot read.
    """
    with reading_run(path), collection_paused():
        return _read_run(path, read_record(path))


@contextmanager
def reading_run(path: Path) -> Iterator[None]:
    """Work with what the files of a run say: whatever is raised within becomes one line with its folder.

    A record that somebody edited and sealed again may have anything in any place.

    Raises:
        OutputError: those of ours that are raised within pass through as they are.
    """
    with one_line(str(path), f"{RECORD} does not fit {JOURNAL}", "run the same command again", OutputError):
        yield


def _read_run(path: Path, record: Mapping[str, Any]) -> StoredRun:
    journal = path / JOURNAL
    by_key: dict[str, Result] = {}
    damaged = 0
    for entry in read_journal(journal) if journal.exists() else ():
        if entry.result is None:
            damaged += 1
        else:
            by_key[entry.key] = entry.result
    keys = tuple(key for key in record["keys"] if key in by_key)
    results = [by_key[key] for key in keys]
    if record.get("status") in JUDGED:
        settings = record["settings"]
        correction = Correction(
            settings["correction"], settings["alpha"], settings["family"], settings.get("smallest")
        )
        results = judge(results, correction)
    lacking = []
    missing = len(record["keys"]) - len(results)
    if (
        damaged
        or len(results) < record.get("result_count", 0)
        or (record.get("status") == "complete" and missing)
    ):
        lacking.append(
            f"{JOURNAL} lacks {missing} of {len(record['keys'])} result{'s' if len(record['keys']) != 1 else ''} "
            f"({damaged} damaged line{'s' if damaged != 1 else ''}); "
            "running the same command again computes them."
        )
    return StoredRun(path.resolve().name, path, results, record, lacking, keys)


def read_whole_run(path: Path) -> StoredRun:
    """Read a run of which nothing may be lacking.

    Raises:
        OutputError: if the folder holds no run, or one of which a part is missing or cannot be read.
    """
    run = read_run(path)
    if run.lacking:
        raise OutputError(f"{path}: this run cannot be read in full: {run.lacking[0]}")
    return run


def labelled(runs: Iterable[StoredRun]) -> list[StoredRun]:
    """The runs with labels that differ: two folders of one name are numbered."""
    seen: dict[str, int] = {}
    named = []
    for run in runs:
        seen[run.label] = seen.get(run.label, 0) + 1
        times = seen[run.label]
        named.append(run if times == 1 else replace(run, label=f"{run.label} ({times})"))
    return named


def held_record(folder: Path) -> dict[str, Any] | None:
    """The record of the run that a folder holds; None where it holds none that this version can read."""
    try:
        return read_record(folder)
    except OutputError:
        return None


def read_record(folder: Path) -> dict[str, Any]:
    """Return what run.json says.

    Raises:
        OutputError: if it is missing, damaged, without a checksum, or not the record of a run.
    """
    path = folder / RECORD
    try:
        if path.exists():
            require_regular_file(path, OutputError)
        record, state = read_checked_json(path.read_bytes())
    except FileNotFoundError:
        raise OutputError(
            f"{path.parent}: no run is here ({RECORD} is missing); "
            "give a folder that 'weatherglass run -o DIR' left behind"
        ) from None
    except (OSError, ValueError) as error:
        raise OutputError(unreadable(path, error)) from error
    again = f"running the same command again rewrites it from {JOURNAL}"
    if state is State.DAMAGED:
        raise OutputError(f"{path}: {MISMATCH}; {again}")
    if not isinstance(record, dict) or not isinstance(record.get("settings"), dict) or "keys" not in record:
        raise OutputError(f"{path}: this is not the record of a run")
    if state is State.UNKNOWN:
        raise OutputError(f"{path}: it has no checksum, so that damage would not be noticed; {again}")
    return record
