"""A rule from another package takes part in everything by its name; nothing else has to know it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.messages import in_order
from tests.reliability.conftest import installed

from weatherglass.api.studies import StudyResult, run_study
from weatherglass.parallel import backend
from weatherglass.reliability.lists import base_pairs
from weatherglass.reliability.scoring import RULES
from weatherglass.reliability.study_file import read_study
from weatherglass.reliability.training.embedding import load_embedding
from weatherglass.report.study.page import pearson_matrix

pytestmark = pytest.mark.large  # its fixture takes longer than all that is asked of it


@pytest.fixture(scope="module")
def own_study(
    study_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, StudyResult]]:
    """A study by two of our rules and one that an installed package brings, in two processes."""
    folder = tmp_path_factory.mktemp("own")
    path = study_file.with_name("own-rule.toml")
    text = study_file.read_text(encoding="utf-8").replace("seeds = 4", "seeds = 3")
    path.write_text(f'rules = ["nearer-end", "ripa", "ripa-raw"]\n{text}', encoding="utf-8")
    with installed(RULES, "nearer-end", "tests.reliability.own_rule:RULE"):
        yield folder, run_study(read_study(path), folder, backend(2, None))


def test_its_scores_are_on_the_disk_with_its_version_and_are_those_of_its_function(
    own_study: tuple[Path, StudyResult],
) -> None:
    folder, result = own_study
    assert len(list((folder / "scores").glob("*.nearer-end-v3.npy"))) == 2 * 3
    assert not list((folder / "scores").glob("*.nbm-*"))
    embeddings = [load_embedding(path) for path in sorted((folder / "embeddings").glob("text-glove-*"))]
    sides = []
    for embedding in embeddings:
        vector = {word: embedding.vectors[row].astype(float) for word, row in embedding.index.items()}
        for first, second in base_pairs("gender").present(set(embedding.words)):
            one, other = (np.linalg.norm(vector["salary"] - vector[end]) for end in (first, second))
            sides.append(np.sign(other - one))
    row = result.tables["scores"].filter((pl.col("word") == "salary") & (pl.col("algorithm") == "glove"))
    assert row.columns == ["corpus", "algorithm", "pairs", "word", "nearer-end", "ripa", "ripa-raw"]
    assert row["nearer-end"].to_list() == pytest.approx([np.mean(sides)])


def test_tables_claims_and_regression_have_it(own_study: tuple[Path, StudyResult]) -> None:
    tables = own_study[1].tables
    assert set(tables["test_retest_words"]["rule"]) == {"nearer-end", "ripa", "ripa-raw"}
    assert set(tables["pearson"]["rules"]) == {"nearer-end-ripa"}
    claims = tables["claims"].filter((pl.col("claim") == "high test–retest") & (pl.col("pairs") == "gender"))
    assert set(claims["by"]) == {"nearer-end", "ripa"}
    names = {
        coefficient.name
        for part in own_study[1].explanations["gender"].parts
        for model in part.models.values()
        for coefficient in model.fit.coefficients
    }
    assert "rule:nearer-end" in names
    assert "rule:ripa-raw" not in names


def test_the_page_calls_it_by_its_label(own_study: tuple[Path, StudyResult]) -> None:
    page = own_study[1].page.read_text(encoding="utf-8")
    assert ">nearer end<" in page
    ((names, _), *_) = pearson_matrix(own_study[1].tables).groups["gender"]
    assert re.fullmatch(in_order("nearer end", "RIPA"), names[1])
    svg = (own_study[0] / "figures" / "test-retest-gender-glove.svg").read_text(encoding="utf-8")
    assert "nearer end" in svg


def test_one_rule_alone_has_no_inter_rater_consistency(
    study_file: Path, own_study: tuple[Path, StudyResult]
) -> None:
    path = study_file.with_name("one-rule.toml")
    path.write_text(
        f'rules = ["ripa"]\n{study_file.read_text(encoding="utf-8")}'.replace("seeds = 4", "seeds = 3")
    )
    tables = run_study(read_study(path), own_study[0]).tables
    raw = tables["claims"].filter((pl.col("by") == "raw") & (pl.col("pairs") == "gender"))
    (size,) = set(raw["size"])
    assert re.search(in_order("one rule", 2), size)
    assert tables["pearson"].is_empty()
