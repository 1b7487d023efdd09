"""A second run in the same folder: added to the first where that is asked for, else said to start anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.messages import mentions, naming
from tests.results import change_record

import weatherglass as wg
from weatherglass.audit.stored import read_run
from weatherglass.cli import app
from weatherglass.errors import WeatherglassError


def test_added_results_are_those_of_one_run_of_both(tmp_path: Path) -> None:
    wg.run("wordllama?dim=64", "weat6", folder=tmp_path / "one")
    added = wg.run(["wordllama?dim=64"], ["weat6", "weat7"], folder=tmp_path / "one", add=True)
    added = wg.run("other=wordllama?dim=128", "weat7", folder=tmp_path / "one", add=True)
    assert [(result.model, result.test) for result in added.results] == [
        ("wordllama?dim=64", "weat6"),
        ("wordllama?dim=64", "weat7"),
        ("other", "weat7"),
    ]
    stored = read_run(tmp_path / "one")
    assert [result.p_adjusted for result in stored.results] == [result.p_adjusted for result in added.results]
    assert stored.record["correction"]["sizes"] == {"cosine/mean, by words": 3}
    assert [model["model"] for model in stored.record["models"]] == ["wordllama?dim=64", "other"]
    assert list(stored.record["tests"]) == ["weat6", "weat7"]
    page = (tmp_path / "one" / "report.html").read_text("utf-8")
    assert "weat6" in page
    assert "weat7" in page

    at_once = wg.run(["wordllama?dim=64", "other=wordllama?dim=128"], ["weat6", "weat7"])
    both = {(result.model, result.test): result for result in at_once.results}
    for result in added.results:
        assert result.p_value == both[result.model, result.test].p_value
        assert result.effect_size == both[result.model, result.test].effect_size


def test_without_add_a_run_has_what_was_asked_for_and_says_that_others_are_gone(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    first = CliRunner().invoke(app, ["run", "wordllama?dim=64", "-t", "weat6", "-o", folder])
    again = CliRunner().invoke(app, ["run", "wordllama?dim=64", "-t", "weat6", "-o", folder])
    assert "--add" not in first.output + again.output
    other = CliRunner().invoke(app, ["run", "wordllama?dim=64", "-t", "weat7", "-o", folder])
    assert mentions(other.output, "1 other result", "--add")
    assert list(json.loads((tmp_path / "run" / "run.json").read_text())["tests"]) == ["weat7"]
    both = CliRunner().invoke(app, ["run", "wordllama?dim=64", "-t", "weat6", "-o", folder, "--add"])
    assert "--add" not in both.output
    assert list(json.loads((tmp_path / "run" / "run.json").read_text())["tests"]) == ["weat7", "weat6"]


def test_what_one_correction_cannot_hold_is_refused(tmp_path: Path) -> None:
    wg.run("m=wordllama?dim=64", "weat6", folder=tmp_path)
    with pytest.raises(WeatherglassError, match=naming("alpha", 0.01, 0.05)):
        wg.run("m=wordllama?dim=64", "weat7", folder=tmp_path, add=True, alpha=0.01)
    (model,) = json.loads((tmp_path / "run.json").read_text())["models"]
    change_record(tmp_path, models=[{**model, "identity": "another"}], tests={"weat7": "another"})
    with pytest.raises(WeatherglassError, match=naming("model", "'m'", "changed")):
        wg.run("m=wordllama?dim=64", "weat8", folder=tmp_path, add=True)
    with pytest.raises(WeatherglassError, match=naming("test", "weat7", "changed")):
        wg.run("n=wordllama?dim=64", "weat7", folder=tmp_path, add=True)


def test_adding_to_an_empty_folder_is_a_run(tmp_path: Path) -> None:
    assert len(wg.run("wordllama?dim=64", "weat6", folder=tmp_path / "new", add=True).results) == 1
