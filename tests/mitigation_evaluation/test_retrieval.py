"""nDCG against scikit-learn, the table of relevance, and rankings before and after a mitigation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import ndcg_score
from tests.messages import naming

import weatherglass as wg
from weatherglass.api.mitigated_rankings import rankings_before_after, retrieval_before_after
from weatherglass.errors import CatalogueError
from weatherglass.mitigation_evaluation.cost import CUTOFF, ndcg, read_relevance, retrieval_cost
from weatherglass.parallel import backend
from weatherglass.progress import Silent
from weatherglass.ranking.texts import read_materials

TABLE = "query,passage,relevance\nq,a,2\nq,b,0\nr,b,1\nr,c,\ns,c,0\n"
TRANSFORM = "hard-debias?pairs=gender"


def test_ndcg_is_scikit_learns_also_with_ties() -> None:
    rng = np.random.default_rng(0)
    for case in range(200):
        scores, gains = rng.normal(size=30), rng.integers(0, 4, 30).astype(float)
        scores = np.round(scores, 1 if case % 2 else 12)
        assert ndcg(scores, gains) == pytest.approx(ndcg_score([gains], [scores], k=CUTOFF), abs=1e-12)


def write(folder: Path, content: str) -> Path:
    path = folder / "pairs.csv"
    path.write_text(content, encoding="utf-8")
    return path


def test_relevance_is_read_and_a_pair_that_is_not_listed_has_none(tmp_path: Path) -> None:
    found = read_relevance(write(tmp_path, TABLE))
    assert (found.queries, found.passages) == (("q", "r"), ("a", "b", "c"))
    assert found.gains == ({0: 2.0, 1: 0.0}, {1: 1.0, 2: 1.0})
    before = np.eye(3)[[0, 1]], np.eye(3)
    after = np.eye(3)[[1, 1]], np.eye(3)
    cost = retrieval_cost(found, before, after)
    assert cost.before.value == pytest.approx((1 + ndcg(np.array([0, 1.0, 0]), np.array([0, 1.0, 1]))) / 2)
    assert cost.change is not None
    assert cost.change.value == pytest.approx((ndcg(np.array([0, 1.0, 0]), np.array([2.0, 0, 0])) - 1) / 2)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("query,passage,relevance\nq,a,high\n", ("line 2", "high")),
        ("query,passage,relevance\nq,a,-1\n", ("line 2", "-1")),
        ("query,passage\nq,a\nq,a\n", ("line 3",)),
        ("query,passage\nq,a\n", (1, 2)),
        ("query\nq\n", ("passage",)),
        ("", ("pairs.csv",)),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, content: str, parts: tuple[str | int, ...]
) -> None:
    with pytest.raises(CatalogueError, match=naming(*parts)) as caught:
        read_relevance(write(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_rankings_before_and_after_are_those_of_both_models(tmp_path: Path) -> None:
    texts = (
        {"nurse": ["Nurse wanted.", "Nurse for home visits."]},
        {"nurse": ["{name}, nurse.", "CV of {name}."]},
    )
    mitigation = wg.mitigate("wordllama", TRANSFORM)
    materials = read_materials(*texts, "gender")
    (row,) = rankings_before_after(mitigation, materials, 0.05, backend(1), Silent())
    for side, model in (("before", "wordllama"), ("after", f"wordllama | {TRANSFORM}")):
        (alone,) = wg.rank(model, *texts, "gender").overall
        assert row[side]["win_rate"] == alone.win_rate
        assert row[side]["impact_ratio"] == alone.impact_ratio
    assert row["change"] == pytest.approx(row["after"]["win_rate"] - row["before"]["win_rate"])
    assert (row["p"] <= 0.05) is not (row["low"] <= 0 <= row["high"])
    relevant = read_relevance(write(tmp_path, TABLE.replace("q,", "nurse,").replace("r,", "doctor,")))
    cost = retrieval_before_after(mitigation, relevant, backend(1), Silent())
    assert 0 < cost.after.value <= 1
    with pytest.raises(wg.WeatherglassError):
        mitigation.judge(queries=["q"])
