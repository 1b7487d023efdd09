"""A word's score with its uncertainty: the table `words` beside R's mixed model, and the command's line."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks import study_words
from benchmarks.study_words import most_by_chance, shares, table
from click.testing import CliRunner
from scipy.stats import false_discovery_control, rankdata
from scipy.stats import t as student
from tests.messages import naming

from weatherglass.api.studies import StudyResult
from weatherglass.cli import app
from weatherglass.errors import CorpusError, UnknownNameError
from weatherglass.reliability.agreement.assess import word_scores
from weatherglass.reliability.agreement.icc import retest
from weatherglass.reliability.lists import StudyWordList
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.reliability.tables import (
    CANNOT_TELL,
    SHOWN,
    THESE_SEEDS,
    StudyCondition,
    WordScore,
    build_table,
    read_rows,
)

ORACLE = Path(__file__).parents[2] / "oracles" / "lme4"


def words_of(
    scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    names: list[str],
    lists: Sequence[StudyWordList] = (),
) -> list[WordScore]:
    """The table of made-up scores, word × pair × seed."""
    _, pairs, seeds = scores.shape
    parts = [{"dbwa": scores[:, :, seed].astype(np.float32)} for seed in range(seeds)]
    tensor = ScoreTensor(names, [(f"he{n}", f"she{n}") for n in range(pairs)], range(seeds), parts)
    columns = word_scores(
        StudyCondition("c", "sgns", "gender"),
        tensor,
        "dbwa",
        retest(tensor.block("dbwa", slice(None))),
        lists,
    )
    return read_rows(build_table("words", [columns], ["dbwa"]), WordScore)


def test_scores_and_their_errors_are_those_of_a_mixed_model_in_r() -> None:
    """tests/oracles/lme4/words.R: lmer(score ~ 1 + (1 | pair) + (1 | seed)), R 4.2.2, lme4 1.1-31.

    In a balanced layout REML's variance of the mean is V_P + V_S − V_I, and on the edge, where the variance of pairs or
    seeds is 0, that of the other alone: the maximum of docs/methods 7.2. These words do not reach the corner where
    both are 0; tests/stats/test_crossed_mean.py compares it with REML by dense matrices.
    """
    data = pl.read_csv(ORACLE / "words.tsv", separator="\t")
    expected = pl.read_csv(ORACLE / "expected_words.tsv", separator="\t", comment_prefix="#")
    names = expected["word"].to_list()
    scores = np.stack(
        [data.filter(pl.col("word") == name)["score"].to_numpy().reshape(9, 6) for name in names]
    )
    rows = words_of(scores, names)
    assert [row.score for row in rows] == pytest.approx(expected["mean"].to_list(), abs=1e-8)
    errors = expected["error"].to_numpy()
    reach = np.array([(row.high - row.low) / 2 for row in rows])
    assert reach == pytest.approx(student.ppf(0.975, 5) * errors, rel=1e-5)  # 9 pairs, 6 seeds
    t = np.abs(expected["mean"].to_numpy()) / errors
    assert [row.p_value for row in rows] == pytest.approx(2 * student.sf(t, 5), rel=1e-4)


def test_columns_that_come_from_the_others() -> None:
    rng = np.random.default_rng(5)
    effects = {(60, 1, 1): 6, (60, 8, 1): 1, (60, 1, 4): 1}  # 4 seeds show strong leanings only
    scores = np.zeros((60, 8, 4)) + sum(sd * rng.normal(size=shape) for shape, sd in effects.items())
    rows = words_of(scores, [f"w{n}" for n in range(60)])
    assert [row.rank for row in rows] == rankdata([-row.score for row in rows]).tolist()
    assert {row.of for row in rows} == {60}
    for row in rows:
        assert row.toward == ("he0" if row.score > 0 else "she0")
        if row.p_adjusted <= 0.05:
            expected = SHOWN
        else:
            expected = THESE_SEEDS if row.p_these_seeds_adjusted <= 0.05 else CANNOT_TELL
        assert row.verdict == expected
    assert len({row.verdict for row in rows}) == 3
    for p, adjusted in (("p_value", "p_adjusted"), ("p_these_seeds", "p_these_seeds_adjusted")):
        control = false_discovery_control([getattr(row, p) for row in rows])  # Benjamini–Hochberg of scipy
        assert [getattr(row, adjusted) for row in rows] == pytest.approx(control.tolist())


def test_a_list_that_the_study_names_is_a_family_of_its_own_and_corrected_by_holm() -> None:
    rng = np.random.default_rng(7)
    names = [f"w{n}" for n in range(40)]
    scores = 2 * rng.normal(size=(40, 1, 1)) + rng.normal(size=(40, 9, 1)) + rng.normal(size=(40, 9, 6))
    lists = [
        StudyWordList("jobs", ("w3", "w1", "absent", "w5")),
        StudyWordList("traits", ("w5", "w8", "w9")),  # w5 is in the first list already
        StudyWordList("frequent", tuple(names[:20])),
        StudyWordList("vocabulary", tuple(names)),
    ]
    rows = words_of(scores, names, lists)
    families = {family: [row for row in rows if row.family == family] for family in (w.name for w in lists)}
    assert {family: len(own) for family, own in families.items()} == {
        **{"jobs": 3, "traits": 2},
        **{"frequent": 15, "vocabulary": 20},
    }
    assert {row.word for row in families["jobs"]} == {"w1", "w3", "w5"}
    for name, own in families.items():
        assert {row.family_size for row in own} == {len(own)}
        for p, adjusted in (("p_value", "p_adjusted"), ("p_these_seeds", "p_these_seeds_adjusted")):
            given = np.array([getattr(row, p) for row in own])
            if name in ("jobs", "traits"):
                order = np.argsort(given)
                steps = np.maximum.accumulate(given[order] * np.arange(len(own), 0, -1))
                expected = np.minimum(steps, 1)[np.argsort(order)]
            else:
                expected = false_discovery_control(given)
            assert [getattr(row, adjusted) for row in own] == pytest.approx(expected.tolist())


def test_a_table_of_another_version_is_an_error_that_names_the_command() -> None:
    with pytest.raises(CorpusError, match=naming("'corpus'", "weatherglass reliability assess")):
        read_rows(pl.DataFrame({"word": ["nurse"]}), WordScore)


def test_studies_without_leaning_words_show_none_and_strong_leanings_are_found() -> None:
    """A few studies of `python -m benchmarks.study_words`, which prints all shares."""
    few = shares("3", 4, 20)
    assert (
        few.false_satterthwaite >= 0.9
    )  # what Satterthwaite's degrees of freedom do with 4 seeds that move scores
    assert max(few.false_listed, few.false_others) <= most_by_chance(20)
    many = shares("0.3", 32, 4)
    assert many.power[-1] == 1
    assert list(many.power) == sorted(many.power)


def test_the_benchmark_fails_where_words_are_shown_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    outside: list[str] = []
    list(table(4, outside, seeds=(4,)))
    assert outside == []
    monkeypatch.setattr(study_words, "adjust_families", lambda p, _: p)
    list(table(4, outside, seeds=(4,)))
    assert len(outside) >= len(study_words.WORLDS)


@pytest.mark.parametrize("seeds", [1, 2])
def test_fewer_than_three_seeds_show_nothing_of_other_seeds(seeds: int) -> None:
    rows = words_of(np.full((4, 12, seeds), 0.3) + np.arange(12)[None, :, None] / 100, list("abcd"))
    assert {row.verdict for row in rows} == {THESE_SEEDS}


def test_a_word_of_a_study_in_one_line(undisturbed: tuple[Path, StudyResult]) -> None:
    folder, result = undisturbed
    done = CliRunner().invoke(app, ["reliability", "word", str(folder), "salary"])
    assert done.exit_code == 0, done.output
    (line,) = done.output.splitlines()
    first = result.tables["words"].filter(pl.col("word") == "salary").row(0, named=True)
    assert line.startswith("salary: ")
    assert f"score {first['score']:+.3f}, 95 % CI {first['low']:+.3f} to {first['high']:+.3f}" in line
    assert f"(text, {first['algorithm']}, gender, {first['rule']})" in line
    assert re.search(r"\b\d of 8\b.*\bgender\b", line)
    chosen = ["--rule", "nbm", "--algorithm", "glove"]
    one = CliRunner().invoke(app, ["reliability", "word", str(folder), "salary", *chosen])
    assert not re.search(r"\b\d of \d\b", one.output)


def test_a_word_of_a_study_as_json_and_in_all_conditions(undisturbed: tuple[Path, StudyResult]) -> None:
    folder, result = undisturbed
    own = result.tables["words"].filter(pl.col("word") == "salary").to_dicts()
    done = CliRunner().invoke(app, ["reliability", "word", str(folder), "salary", "--json"])
    assert json.loads(done.output) == own
    lines = (
        CliRunner().invoke(app, ["reliability", "word", str(folder), "salary", "--all"]).output.splitlines()
    )
    assert len(lines) == len(own) == 8


def test_a_word_that_the_study_lacks_is_an_error_with_the_nearest_one(
    undisturbed: tuple[Path, StudyResult], tmp_path: Path
) -> None:
    arguments = ["reliability", "word", str(undisturbed[0])]
    with pytest.raises(CorpusError, match=naming("salari", suggesting="salary")):
        CliRunner().invoke(app, [*arguments, "salari"], catch_exceptions=False)
    with pytest.raises(UnknownNameError, match=naming("rule", "rippa", suggesting="ripa")):
        CliRunner().invoke(app, [*arguments, "salary", "--rule", "rippa"], catch_exceptions=False)
    with pytest.raises(CorpusError, match=naming(str(tmp_path), "weatherglass reliability assess")):
        CliRunner().invoke(app, ["reliability", "word", str(tmp_path), "salary"], catch_exceptions=False)
