"""A metric of an audit as a rater of words: beside the rules' formulas, and in a study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.messages import naming

from weatherglass.api.studies import StudyResult, run_study
from weatherglass.arrays import Integers, Matrix
from weatherglass.errors import UnknownNameError, WeatherglassError
from weatherglass.reliability.scoring import RULES, find_rules
from weatherglass.reliability.scoring.scorers import ScoringContext
from weatherglass.reliability.study_file import read_study


@pytest.fixture(scope="module")
def context() -> ScoringContext:
    rng = np.random.default_rng(8)
    return ScoringContext(
        words=[f"w{number}" for number in range(30)],
        vectors=rng.normal(size=(30, 7)).astype(np.float32),
        pairs=[("w0", "w1"), ("w2", "w3"), ("w4", "w1")],
        first=np.array([0, 2, 4]),
        second=np.array([1, 3, 1]),
        targets=np.arange(2, 30, 3),
        k=5,
    )


def distance(context: ScoringContext, ends: Integers) -> Matrix:
    words = context.vectors[context.targets][:, None].astype(float)
    return np.asarray(np.linalg.norm(words - context.vectors[ends], axis=2))


def test_cosine_mean_of_a_word_for_a_pair_is_db_wa(context: ScoringContext) -> None:
    """s(w, {m}, {f}) = cos(w, m) − cos(w, f), the formula of docs/methods 7."""
    (scorer,) = find_rules(["cosine/mean"])
    assert scorer.score(context) == pytest.approx(RULES.get("dbwa").score(context), abs=1e-6)


@pytest.mark.parametrize("name", ["rnd", "euclidean/mean"])
def test_scores_of_distances_lean_to_the_first_word_as_rules_do(context: ScoringContext, name: str) -> None:
    """‖w − f‖ − ‖w − m‖; the metric rnd has the other sign."""
    (scorer,) = find_rules([name])
    expected = distance(context, context.second) - distance(context, context.first)
    assert scorer.score(context) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["rnsb", "mac", "same", "direct-bias", "sc-weat", "ect"])
def test_every_metric_gives_every_word_a_score(context: ScoringContext, name: str) -> None:
    (scorer,) = find_rules([name])
    scores = scorer.score(context)
    assert scores.shape == (len(context.targets), 3)
    assert np.isfinite(scores).all()


def test_what_cannot_rate_words_is_refused() -> None:
    with pytest.raises(WeatherglassError, match=naming("mahalanobis/mean", "covariance")):
        find_rules(["mahalanobis/mean"])
    with pytest.raises(WeatherglassError, match=r"'\*/mean' .*\b\d metrics\b"):
        find_rules(["*/mean"])
    with pytest.raises(UnknownNameError, match=naming("rule", "rippa", suggesting="ripa")):
        find_rules(["rippa"])


@pytest.mark.large
def test_metrics_are_raters_of_a_study(
    undisturbed: tuple[Path, StudyResult], study_file: Path, tmp_path: Path
) -> None:
    folder, _ = undisturbed
    path = study_file.parent / "with-metrics.toml"
    text = study_file.read_text(encoding="utf-8")
    path.write_text('rules = ["dbwa", "weat", "rnd"]\n' + text, encoding="utf-8")
    study = read_study(path)
    assert study.rules == ("dbwa", "cosine/mean", "rnd")
    (tmp_path / "embeddings").symlink_to(folder / "embeddings")
    tables = run_study(replace(study, pairs=("gender",)), tmp_path, train=False).tables
    scores = tables["scores"]
    assert scores["cosine/mean"].to_list() == pytest.approx(scores["dbwa"].to_list(), abs=1e-6)
    # Two raters that are one: their r is 1, and the third one tells the words apart in its own way.
    r = {row["rules"]: row["r"] for row in tables["pearson"].iter_rows(named=True) if row["corpus"] == "text"}
    assert r["dbwa-cosine/mean"] == pytest.approx(1)
    assert r["dbwa-rnd"] < 0.999
    assert tables["inter_rater_words"].filter(pl.col("scale") == "raw")["icc"].is_finite().any()
    assert tables["words"]["rule"].unique(maintain_order=True).to_list() == ["dbwa", "cosine/mean", "rnd"]
