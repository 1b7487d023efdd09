"""The commands of studies with `--json`: one JSON document and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from weatherglass.api.studies import StudyResult
from weatherglass.cli import app

Undisturbed = tuple[Path, StudyResult]


def printed(*arguments: object) -> Any:
    done = CliRunner().invoke(
        app, [str(argument) for argument in (*arguments, "--json")], catch_exceptions=False
    )
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))


@pytest.mark.large
@pytest.mark.parametrize("command", ["run", pytest.param("assess", marks=pytest.mark.large)])
def test_a_study_prints_its_claims(command: str, study_file: Path, undisturbed: Undisturbed) -> None:
    folder, study = undisturbed
    content = printed("reliability", command, study_file, "-o", folder)
    assert [row["claim"] for row in content["claims"]] == study.tables["claims"]["claim"].to_list()
    assert Path(content["page"]).exists()


def test_train_score_and_explain(study_file: Path, undisturbed: Undisturbed) -> None:
    folder, _ = undisturbed
    trained = printed("reliability", "train", study_file, "-o", folder)
    assert {group["embeddings"] for group in trained["groups"]} == {4}
    scored = printed("reliability", "score", study_file, "-o", folder)
    assert Path(scored["written"][0]).exists()
    explained = printed("reliability", "explain", study_file, "-o", folder)
    assert "regression" in explained


def test_word_and_audit(undisturbed: Undisturbed) -> None:
    folder, study = undisturbed
    row = study.tables["words"].row(0, named=True)
    said = printed("reliability", "word", folder, row["word"])
    assert row["score"] in [each["score"] for each in said]
    audited = printed("reliability", "audit", folder, "-t", "weat6", "-q")
    assert audited


@pytest.mark.large
def test_du2021(text: Path, tmp_path: Path) -> None:
    content = printed(
        "reproduce", "du2021", text, "--seeds", "2", "--dimensions", "4", "-o", tmp_path / "study"
    )
    assert {"pearson", "verdicts", "page"} <= set(content)
