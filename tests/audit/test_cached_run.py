"""The same command again: nothing is computed or written, and nothing is loaded that computes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import weatherglass as wg
from weatherglass.audit.folder import JOURNAL, PAGE, RECORD, TABLE

HEAVY = {
    *("scipy", "numba", "llvmlite", "jinja2", "matplotlib", "wordllama", "tokenizers", "sqlite3", "pydantic"),
    *(
        "multiprocessing",
        "weatherglass.audit.audit",
        "weatherglass.audit.evaluate",
        "weatherglass.report.page",
    ),
}
SCRIPT = (
    "import json, sys\nfrom weatherglass.cli import app\n"
    "app(['run', '-t', 'weat6', '-o', sys.argv[1]], standalone_mode=False)\n"
    "print(json.dumps(list(sys.modules)))"
)


def command(folder: Path) -> tuple[str, set[str]]:
    """What a run prints, and which modules it has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True, check=True
    )
    shown, _, modules = done.stdout.rstrip("\n").rpartition("\n")
    return shown + done.stderr, set(json.loads(modules))


def test_the_same_command_again_loads_nothing_that_computes_and_prints_the_same(tmp_path: Path) -> None:
    first, loaded = command(tmp_path)
    assert loaded >= {"scipy", "jinja2", "weatherglass.audit.audit"}
    written = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again, loaded = command(tmp_path)
    assert again == first
    assert not HEAVY & loaded
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A finished run."""
    wg.run(tests="weat6", folder=tmp_path)
    return tmp_path


def is_written_anew(folder: Path, **changes: Any) -> bool:
    """Whether the same call carries out a run once more."""
    before = (folder / RECORD).stat().st_mtime_ns
    wg.run(tests="weat6", folder=folder, **changes)
    return (folder / RECORD).stat().st_mtime_ns != before


def test_verdicts_and_results_are_those_of_the_first_run(folder: Path) -> None:
    held, loaded = wg.run(tests="weat6", folder=folder), wg.load_run(folder)
    assert held.judged is not None
    assert held.verdicts() == loaded.verdicts()
    assert held.results == loaded.results
    assert held.record == loaded.record


@pytest.mark.parametrize("name", [PAGE, TABLE])
@pytest.mark.parametrize("damage", ["removed", "changed", "cut short"])
def test_a_file_that_is_not_as_it_was_written_is_written_anew(folder: Path, name: str, damage: str) -> None:
    path = folder / name
    content = path.read_bytes()
    match damage:
        case "removed":
            path.unlink()
        case "changed":
            path.write_bytes(content.replace(b"weat6", b"weat7", 1))
        case _:
            path.write_bytes(content[: len(content) // 2])
    assert is_written_anew(folder)
    assert not is_written_anew(folder)


def test_other_settings_another_call_and_a_changed_record_are_carried_out(folder: Path) -> None:
    assert not is_written_anew(folder)
    assert is_written_anew(folder, alpha=0.01)
    assert is_written_anew(folder)
    (folder / RECORD).write_text((folder / RECORD).read_text().replace('"complete"', '"interrupted"'))
    assert is_written_anew(folder)


def test_what_the_journal_lacks_is_computed(folder: Path) -> None:
    (folder / JOURNAL).write_bytes(b"")
    assert is_written_anew(folder)
    assert wg.load_run(folder).results
