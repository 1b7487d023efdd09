"""Import paths that the documentation of version 0.1 showed: they import the same objects, with one warning each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest
from tests.messages import in_order, naming

import weatherglass
from weatherglass import moved

SHOWN = [
    # docs/measures.md
    ("weatherglass.association.measure", "SIMILARITIES", "weatherglass.metrics.weat.measure"),
    ("weatherglass.association.measure", "STATISTICS", "weatherglass.metrics.weat.measure"),
    ("weatherglass.association.measure", "select_measures", "weatherglass.metrics.weat.measure"),
    ("weatherglass.association.similarity", "Similarity", "weatherglass.metrics.weat.similarity"),
    ("weatherglass.association.statistic", "PairStatistic", "weatherglass.metrics.weat.statistic"),
    ("weatherglass.association.statistic", "SetStatistic", "weatherglass.metrics.weat.statistic"),
    ("weatherglass.association.covariance", "estimate_covariance", "weatherglass.metrics.weat.covariance"),
    ("weatherglass.association.score", "associations", "weatherglass.metrics.weat.score"),
    # docs/trust.md
    ("weatherglass.compare", "compare_runs", "weatherglass.runs.compare"),
    # docs/regression.md
    ("weatherglass.reliability.explain", "explain", "weatherglass.reliability.regression.explain"),
    ("weatherglass.reliability.explain_tables", "filled_table", "weatherglass.reliability.regression.tables"),
    (
        "weatherglass.reliability.explain_tables",
        "regression_table",
        "weatherglass.reliability.regression.tables",
    ),
    ("weatherglass.reliability.explain_tables", "to_latex", "weatherglass.reliability.regression.tables"),
    ("weatherglass.reliability.features", "word_features", "weatherglass.reliability.regression.features"),
    ("weatherglass.reliability.lexicon", "find_lexicon", "weatherglass.languages.lexicon.lexicon"),
]
STILL_THERE = [
    ("weatherglass.gate", "gate_of"),  # docs/gate.md
    ("weatherglass.parallel", "backend"),  # docs/reliability.md
    ("weatherglass.reliability.study_file", "read_study"),
]


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning is given when a module is imported for the first time."""
    for name in (*moved.MOVED, *moved.PACKAGES):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.parametrize(("old", "name", "new"), SHOWN, ids=lambda value: str(value).rpartition(".")[2])
def test_an_old_path_gives_the_same_object_and_one_warning(old: str, name: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=in_order(old, moved.MOVED[old])) as given:
        assert getattr(import_module(old), name) is getattr(import_module(new), name)
    assert len(given) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import_module(old)


def test_what_was_conduct_is_study() -> None:
    with pytest.warns(DeprecationWarning, match=in_order("conduct", "study")):
        assert import_module("weatherglass.reliability.conduct").conduct is weatherglass.study


def test_the_table_holds_what_the_documentation_showed() -> None:
    assert {old for old, _, _ in SHOWN} | {"weatherglass.reliability.conduct"} == set(moved.MOVED)


@pytest.mark.parametrize(("module", "name"), STILL_THERE)
def test_paths_that_have_not_moved_give_no_warning(module: str, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert callable(getattr(import_module(module), name))


def test_the_new_places_are_public() -> None:
    for new in moved.MOVED.values():
        assert import_module(new).__all__


def test_a_name_that_never_was_is_an_error() -> None:
    with pytest.warns(DeprecationWarning, match=naming("weatherglass.compare")):
        old = import_module("weatherglass.compare")
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = old.no_such_name
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_module("weatherglass.association.no_such_module")


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def test_the_warning_names_the_users_line(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text("import sys\nfrom weatherglass.association.measure import SIMILARITIES, STATISTICS\n")
    done = python(str(script))
    assert done.stderr.count("DeprecationWarning") == 1
    assert f"{script}:2: DeprecationWarning" in done.stderr


def test_where_warnings_are_errors_an_old_import_is_one_and_ours_are_none() -> None:
    assert (
        python("-W", "error", "-c", "import weatherglass; weatherglass.run; weatherglass.study").returncode
        == 0
    )
    done = python("-W", "error", "-c", "from weatherglass.compare import compare_runs")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert re.search(in_order("DeprecationWarning", "weatherglass.compare"), last)


def test_a_measure_registered_by_old_paths_reaches_spawned_processes(tmp_path: Path) -> None:
    """docs/measures.md as it was: workers import the user's module, and with it the old paths."""
    (tmp_path / "my_measures.py").write_text(
        "from weatherglass.association.measure import STATISTICS\n"
        "from weatherglass.association.statistic import SetStatistic\n"
        "def midrange(rows):\n    return (rows[:, 0] + rows[:, -1]) / 2\n"
        "STATISTICS.register('midrange', SetStatistic(midrange))\n"
    )
    (tmp_path / "main.py").write_text(
        "import my_measures, weatherglass\n"
        "if __name__ == '__main__':\n"
        "    run = weatherglass.run('wordllama', 'weat[67]', 'cosine/midrange', trust='none', jobs=2)\n"
        "    print(len(run.results), len(run.failures))\n"
    )
    paths = os.pathsep.join([str(Path(weatherglass.__file__).parents[1]), str(tmp_path)])
    done = subprocess.run(
        [sys.executable, "main.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "2 0\n", done.stderr
