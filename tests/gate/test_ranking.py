"""Gates on ranking audits: which comparisons a condition is asked of, and what cannot be decided."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from tests.messages import mentions, naming

import weatherglass as wg
from weatherglass.cli import app
from weatherglass.errors import GateError, WeatherglassError
from weatherglass.gate.junit import write_ranking_junit
from weatherglass.gate.ranking import judge_changes, judge_ranking, ranking_conditions
from weatherglass.ranking.compare import OVERALL, REST

TEXTS = {"a": ["first"], "b": ["second"]}
GROUPS = {"X": ["Ann", "Eve", "Amy"], "Y": ["Ben", "Tom", "Max"], "Z": ["Kim", "Jo", "Sam"]}


@pytest.fixture(scope="module")
def found() -> wg.Ranking:
    return wg.rank(
        "wordllama",
        queries=TEXTS,
        passages={topic: ["{name} here", "there {name}"] for topic in TEXTS},
        groups=GROUPS,
    )


def breaches(found: wg.Ranking, condition: str) -> list[str]:
    return [str(breach) for breach in judge_ranking(ranking_conditions([condition]), found)]


def test_a_condition_is_asked_over_all_contexts_unless_it_names_the_topic(found: wg.Ranking) -> None:
    assert len(breaches(found, "win_rate >= 0")) == len(found.overall) == 6
    assert len(breaches(found, "win_rate >= 0 and topic != 'b'")) == 12
    assert breaches(found, "win_rate > 1") == []


def test_a_ratio_is_asked_of_pairs_and_a_missing_one_has_not_passed(found: wg.Ranking) -> None:
    lines = breaches(found, "impact_ratio <= 1")
    assert len(lines) == 3
    assert not any(REST in line for line in lines)
    rows = [replace(one, impact_ratio_high=None) for one in found.comparisons]
    (line, *_) = breaches(replace(found, comparisons=rows), "impact_ratio_high < 0.8")
    assert mentions(line, "impact_ratio_high", "missing", "X", "Y")


def test_junit_has_a_case_per_comparison_and_fails_those_of_the_gate(
    found: wg.Ranking, tmp_path: Path
) -> None:
    path = tmp_path / "rank.xml"
    breaches = judge_ranking(ranking_conditions(["win_rate >= 0"]), found)
    failed = replace(found, failures=[{"model": "b<r>oken\x1b", "reason": "no vector"}])
    write_ranking_junit(path, failed, breaches)
    suite = ElementTree.parse(path).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("19", "6", "1")
    assert len(suite.findall("testcase/failure")) == 6
    assert len(suite.findall("testcase")) == 19


def test_the_command_exits_with_1_and_says_why(tmp_path: Path) -> None:
    words = [
        "rank",
        "--groups",
        "gender",
        "-o",
        str(tmp_path / "r"),
        "-q",
        "--junit",
        str(tmp_path / "j.xml"),
    ]
    done = CliRunner().invoke(app, [*words, "--fail-if", "impact_ratio < 1"])
    assert done.exit_code == 1
    assert mentions(done.stderr, "impact_ratio", "men", "women")
    assert (tmp_path / "j.xml").exists()
    assert CliRunner().invoke(app, [*words, "--fail-if", "impact_ratio > 1"]).exit_code == 0


def test_a_baseline_fails_the_gate_only_where_a_difference_grew(found: wg.Ranking, tmp_path: Path) -> None:
    assert judge_changes(found.compare(found), found) == []
    names = [
        replace(one, mean_rank=0.9 + number / 100 if one.group == "X" else 0.1 + number / 100)
        for number, one in enumerate(found.names)
    ]
    strict = replace(found, names=names, record={**found.record, "settings": {"alpha": 0.5}})
    breaches = judge_changes(found.compare(strict, alpha=0.5), strict)
    assert any(mentions(str(breach), "X", "Y") for breach in breaches)
    assert {id(breach.comparison) for breach in breaches} <= {id(one) for one in strict.overall}
    done = CliRunner().invoke(app, ["rank", "--baseline", str(tmp_path), "-o", str(tmp_path / "new")])
    assert mentions(str(done.exception), "ranking.json")


def test_unknown_columns_and_outcomes_are_refused() -> None:
    with pytest.raises(GateError, match=naming("impact_rati", suggesting="impact_ratio")):
        ranking_conditions(["impact_rati < 0.8"])
    with pytest.raises(GateError, match=naming("robst", suggesting="robust")):
        ranking_conditions(["outcome == 'robst'"])


def test_two_stored_audits_are_compared_by_command(tmp_path: Path) -> None:
    """Test `weatherglass compare` and `report` on folders of ranking audits."""
    words = ["rank", "wordllama", "--groups", "gender", "-q", "-o"]
    before, after = str(tmp_path / "before"), str(tmp_path / "after")
    assert CliRunner().invoke(app, [*words, before]).exit_code == 0
    words[1] = "wordllama?dim=64"
    assert CliRunner().invoke(app, [*words, after]).exit_code == 0
    done = CliRunner().invoke(app, ["compare", before, after, "--json", "--fail-if", "worse"])
    found = json.loads(done.stdout)
    assert done.exit_code == bool(found["gate"])
    assert next(one["topic"] for one in found["changes"]) == OVERALL
    assert len(found["changes"]) == 13
    files = [str(tmp_path / name) for name in ("j.xml", "s.md")]
    done = CliRunner().invoke(app, ["compare", before, after, "--junit", files[0], "--summary", files[1]])
    assert mentions(done.stdout, "nurse", "men", "women")
    assert all(Path(file).stat().st_size for file in files)
    card = tmp_path / "card.md"
    card.write_text("# A model\n", encoding="utf-8")
    for folder in (before, after):  # the second block replaces the first
        assert CliRunner().invoke(app, ["report", folder, "-f", "model-card", "-o", str(card)]).exit_code == 0
    text = card.read_text("utf-8")
    assert text.startswith("# A model")
    assert text.count("```json weatherglass-ranking") == 1
    content = json.loads(text.partition("```json weatherglass-ranking\n")[2].partition("\n```")[0])
    stored = json.loads((tmp_path / "after" / "ranking.json").read_text("utf-8"))
    assert content["comparisons"][0]["win_rate"] == stored["comparisons"][0]["win_rate"]
    for form, parts in (
        ("md", 14),
        ("csv", 14),
        ("methods", 1),
        ("sentences", 3),
    ):
        lines = CliRunner().invoke(app, ["report", before, "-f", form]).stdout.splitlines()
        assert len(lines) == parts + (form == "md")
    assert isinstance(CliRunner().invoke(app, ["report", before, "-f", "latex"]).exception, WeatherglassError)
    assert isinstance(
        CliRunner().invoke(app, ["compare", before, str(tmp_path)]).exception, WeatherglassError
    )
