"""The same words in two corpora: frequency, reliability, and whether one explains the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from weatherglass.api.studies import run_study
from weatherglass.reliability.agreement.comparisons import (
    compare_corpora,
    corpus_words,
    frequency_classes,
    frequency_curves,
    reliabilities,
)
from weatherglass.reliability.study_file import read_study
from weatherglass.reliability.tables import CorpusPair, read_rows
from weatherglass.report.study.figures import drawings
from weatherglass.report.study.page import corpus_rows


def made(shift: float, slope: float, words: int = 400) -> pl.DataFrame:
    """Two corpora: the second's words are more or less frequent at random, and more reliable by shift and slope."""
    rng = np.random.default_rng(3)
    frequency = 10 ** rng.uniform(0.5, 2.5, words)
    ratio = rng.normal(1, 1.5, words)
    icc = rng.uniform(0.2, 0.5, words)
    parts = [
        ("a", frequency, icc),
        ("b", frequency * 2**ratio, icc + shift + slope * ratio + rng.normal(0, 0.01, words)),
    ]
    return pl.concat(
        pl.DataFrame(
            {
                "corpus": [name] * words,
                "algorithm": ["sgns"] * words,
                "pairs": ["gender"] * words,
                "word": [f"w{n}" for n in range(words)],
                "per_million": per_million,
                "retest": values,
                "rater": values,
            }
        )
        for name, per_million, values in parts
    )


@pytest.mark.parametrize(
    ("shift", "slope", "owed", "alike"),
    [
        (0.1, 0.0, "no", 0.1),
        (0.0, 0.1, "yes", 0.0),
        (0.1, 0.1, "in part", 0.1),
        (0.0, 0.0, "no difference", 0.0),
    ],
)
def test_a_difference_is_owed_to_frequency_or_not(
    shift: float, slope: float, owed: str, alike: float
) -> None:
    (row, other) = (CorpusPair(**row) for row in compare_corpora(corpus_words(made(shift, slope))))
    assert (row.first, row.second, row.measure, other.measure) == ("a", "b", "test–retest", "inter-rater")
    assert row.words == 400
    assert row.difference == pytest.approx(shift + slope, abs=0.02)
    assert row.alike_difference == pytest.approx(alike, abs=0.02)
    assert 20 < row.alike_words < 200
    assert row.owed == owed
    assert (row.correlation > 0.9) == (slope > 0)


def test_words_without_a_frequency_are_compared_all_the_same() -> None:
    rows = made(0.1, 0.0).with_columns(per_million=pl.lit(float("nan")))
    (row, _) = (CorpusPair(**row) for row in compare_corpora(corpus_words(rows)))
    assert row.difference == pytest.approx(0.1, abs=0.02)
    assert np.isnan([row.alike_difference, row.correlation]).all()
    assert row.owed not in ("yes", "no", "in part")
    assert not list(frequency_curves(rows))


def test_curves_are_quartiles_by_class_of_frequency() -> None:
    rows = made(0.1, 0.0)
    curves = list(frequency_curves(rows))
    assert {curve["per_million"] for curve in curves} <= set(frequency_classes())
    (one,) = [
        curve
        for curve in curves
        if (curve["corpus"], curve["measure"], curve["per_million"]) == ("a", "inter-rater", "10–30")
    ]
    own = rows.filter(pl.col("corpus") == "a", pl.col("per_million").is_between(10, 30, closed="left"))
    assert one["words"] == own.height
    assert [one["low"], one["median"], one["high"]] == pytest.approx(
        np.quantile(own["rater"].to_numpy(), [0.25, 0.5, 0.75]).tolist()
    )
    assert not list(frequency_curves(rows.filter(pl.col("corpus") == "a")))


def test_two_corpora_are_compared_on_the_page(study_file: Path, text: Path, tmp_path: Path) -> None:
    lines = text.read_text(encoding="utf-8").splitlines()
    (tmp_path / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "other.txt").write_text("\n".join([*lines[::2], *lines[:300]]), encoding="utf-8")
    content = study_file.read_text(encoding="utf-8").replace("seeds = 4", "seeds = 2")
    content = content.replace("[corpora.text]", '[corpora."<i>other"]\npath = "other.txt"\n\n[corpora.text]')
    (tmp_path / "study.toml").write_text(content.replace('"glove"', '"sgns"'), encoding="utf-8")
    result = run_study(read_study(tmp_path / "study.toml"), tmp_path / "out")
    words, pairs = result.tables["corpus_words"], read_rows(result.tables["corpus_pairs"], CorpusPair)
    assert {(row.first, row.second) for row in pairs} == {("<i>other", "text")}
    assert {row.measure for row in pairs} == {"test–retest", "inter-rater"}
    own = words.filter(pl.col("word") == "salary", pl.col("algorithm") == "glove").row(0, named=True)
    rater = result.tables["inter_rater_words"].filter(
        pl.col("word") == "salary", pl.col("algorithm") == "glove", pl.col("scale") == "raw"
    )
    assert [own["first_rater"], own["second_rater"]] == rater["icc"].to_list()
    tokens = sum(len(line.split()) for line in lines)
    count = sum(line.split().count("salary") for line in lines)
    assert own["second_per_million"] == pytest.approx(1e6 * count / tokens, rel=0.05)
    (rows,) = corpus_rows(result.tables).values()
    apart = dict(words.filter(pl.col("algorithm") == "sgns").select("word", "first_rater").rows())
    assert set(rows[1].better_first) <= set(apart)
    page = result.page.read_text(encoding="utf-8")
    assert 'id="corpora"' in page
    assert "<i>other" not in page
    assert {f"frequency-gender-{algorithm}" for algorithm in ("sgns", "glove")} <= {
        drawing.name for drawing in drawings(result.tables)
    }


def test_reliabilities_have_the_mean_over_the_compared_rules() -> None:
    keys = {"corpus": "a", "algorithm": "sgns", "pairs": "p", "word": "w"}
    retest = pl.DataFrame(
        [{**keys, "rule": rule, "icc": icc} for rule, icc in (("x", 0.2), ("y", 0.4), ("z", 9.0))]
    )
    rater = pl.DataFrame(
        [{**keys, "scale": scale, "icc": icc} for scale, icc in (("raw", 0.5), ("standardised", 1.0))]
    )
    words = pl.DataFrame([{"corpus": "a", "algorithm": "sgns", "word": "w", "per_million": 7.0}])
    tables = {"test_retest_words": retest, "inter_rater_words": rater}
    (row,) = reliabilities(tables, [words], ["x", "y"]).to_dicts()
    assert row == {**keys, "per_million": 7.0, "retest": pytest.approx(0.3), "rater": 0.5}
