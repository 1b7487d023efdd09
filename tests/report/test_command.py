"""`weatherglass report`, and the page that every run leaves behind."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.messages import mentions, naming
from tests.models import HashedEncoder
from tests.report.made_up import made_up_run

from weatherglass import run
from weatherglass.catalogue import load_tests
from weatherglass.cli import app
from weatherglass.errors import OutputError, WeatherglassError
from weatherglass.report import page as page_module

runner = CliRunner()


def test_a_page_goes_into_the_folder_of_its_run(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    done = runner.invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(tmp_path / "report.html")
    assert "<!doctype html>" in (tmp_path / "report.html").read_text("utf-8")


def test_several_runs_make_one_page(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        made_up_run(tmp_path / name, load_tests(["weat1"]), [f"model-of-{name}"])
    folders = [str(tmp_path / name) for name in ("first", "second", "third")]
    done = runner.invoke(app, ["report", *folders, "-o", str(tmp_path / "all.html")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "all.html").read_text("utf-8")
    assert all(f"model-of-{name}" in page for name in ("first", "second", "third"))


@pytest.mark.parametrize(
    ("form", "start"), [("md", "### Effect"), ("latex", "% needs"), ("csv", "run,model")]
)
def test_tables_are_printed_or_written(tmp_path: Path, form: str, start: str) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    printed = runner.invoke(app, ["report", str(tmp_path), "--format", form])
    assert printed.stdout.startswith(start)
    written = runner.invoke(app, ["report", str(tmp_path), "-f", form, "-o", str(tmp_path / "table")])
    assert written.exit_code == 0
    assert (tmp_path / "table").read_text("utf-8") == printed.stdout


def test_figures_go_where_they_are_sent(tmp_path: Path) -> None:
    made_up_run(tmp_path / "run", load_tests(["weat1"]))
    out = tmp_path / "figures"
    done = runner.invoke(app, ["report", str(tmp_path / "run"), "-f", "svg", "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert {path.name for path in out.iterdir()} == {"topics.svg", "matrix.svg", "forest.svg"}


def test_what_is_missing_is_refused_since_a_correction_over_the_rest_would_give_other_numbers(
    tmp_path: Path,
) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    (tmp_path / "journal.jsonl").unlink()
    done = runner.invoke(app, ["report", str(tmp_path)])
    assert isinstance(done.exception, WeatherglassError)
    assert mentions(str(done.exception), "journal.jsonl", "1 of 1", "same command")


def test_a_folder_that_is_no_run_is_the_users_mistake(tmp_path: Path) -> None:
    done = runner.invoke(app, ["report", str(tmp_path)])
    assert isinstance(done.exception, WeatherglassError)
    assert done.exception.exit_code == 2


def test_every_run_leaves_a_page(tmp_path: Path) -> None:
    finished = run(HashedEncoder(), "weat[12]", folder=tmp_path)
    assert "page-not-written" not in [warning.kind for warning in finished.warnings]
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "hashed" in page
    assert 'id="block-0"' in page


def test_a_page_that_cannot_be_made_is_a_warning_and_the_results_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise RuntimeError("the page is broken")

    monkeypatch.setattr(page_module, "page", broken)
    finished = run(HashedEncoder(), "weat1", folder=tmp_path)
    (warning,) = (warning for warning in finished.warnings if warning.kind == "page-not-written")
    assert warning.values == {"page": "report.html", "reason": "the page is broken"}
    assert len(finished.results) == 1
    assert (tmp_path / "results.tsv").exists()


def test_a_page_that_cannot_be_written_is_an_error_and_the_results_are_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warning would not be seen with --quiet, and the exit code would be 0 without a page."""

    def unwritable(path: Path, _: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    monkeypatch.setattr(page_module, "write_whole", unwritable)
    with pytest.raises(OutputError, match=naming(tmp_path, "1")):
        run(HashedEncoder(), "weat1", folder=tmp_path)
    monkeypatch.undo()
    assert len(run(HashedEncoder(), "weat1", folder=tmp_path).results) == 1
    assert (tmp_path / "report.html").exists()


def test_what_compare_found_stands_in_the_page_of_two_runs(tmp_path: Path) -> None:
    for name in ("before", "after"):
        made_up_run(tmp_path / name, load_tests(["weat1"]))
    change = {"test": "weat1", "metric": "cosine/mean", "models": ["model", "model"], "change": -0.125}
    comparison = {"differences": [{**change, "low": -0.25, "high": -0.0625, "changed": True}]}
    (tmp_path / "comparison.json").write_text(json.dumps(comparison))
    folders = [str(tmp_path / "before"), str(tmp_path / "after")]
    command = [
        "report",
        *folders,
        "--comparison",
        str(tmp_path / "comparison.json"),
        "-o",
        str(tmp_path / "page"),
    ]
    assert runner.invoke(app, command).exit_code == 0
    assert '[0,0,"model","model",-0.125,-0.25,-0.0625,true]' in (tmp_path / "page").read_text("utf-8")


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"differences": [{"test": "weat1", "measure": "cosine/mean"}]}']
)
def test_a_comparison_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    (tmp_path / "comparison.json").write_text(content)
    done = runner.invoke(app, ["report", str(tmp_path), "--comparison", str(tmp_path / "comparison.json")])
    assert isinstance(done.exception, WeatherglassError)
    assert "comparison.json" in str(done.exception)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"topics": [{"topic": "age"}]}'])
def test_a_multiverse_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    (tmp_path / "multiverse.json").write_text(content)
    done = runner.invoke(app, ["report", str(tmp_path), "--multiverse", str(tmp_path / "multiverse.json")])
    assert isinstance(done.exception, WeatherglassError)
    assert "multiverse.json" in str(done.exception)


def test_the_joint_p_of_a_multiverse_goes_into_the_verdicts_of_the_page(tmp_path: Path) -> None:
    run(HashedEncoder(), "weat6", folder=tmp_path / "run")
    command = [
        "multiverse",
        "wordllama",
        "-t",
        "weat6",
        "--choices",
        "similarity",
        "-o",
        str(tmp_path / "many"),
        "-q",
    ]
    assert runner.invoke(app, command).exit_code == 0
    done = runner.invoke(
        app, ["report", str(tmp_path / "run"), "--multiverse", str(tmp_path / "many/multiverse.json")]
    )
    assert done.exit_code == 0, done.output
    written = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert re.search(r"<li><h3>[^<]*\bmultiverse\b[^<]*</h3>", written)
