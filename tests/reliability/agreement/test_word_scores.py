"""A word's score with its uncertainty: the table `words` beside R's mixed model, and the command's line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control, rankdata
from scipy.stats import t as student
from tests.messages import naming
from typer.testing import CliRunner

from weatherglass.api.studies import StudyResult
from weatherglass.cli import app
from weatherglass.errors import CorpusError, UnknownNameError
from weatherglass.reliability.agreement.icc import retest
from weatherglass.reliability.agreement.word_scores import word_scores
from weatherglass.reliability.rows import CANNOT_TELL, SHOWN, THESE_SEEDS, Condition, WordScore
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.reliability.tables import build_table, read_rows

ORACLE = Path(__file__).parents[2] / "oracles" / "lme4"


def words_of(scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]], names: list[str]) -> list[WordScore]:
    """The table of made-up scores, word × pair × seed."""
    _, pairs, seeds = scores.shape
    parts = [{"dbwa": scores[:, :, seed].astype(np.float32)} for seed in range(seeds)]
    tensor = ScoreTensor(names, [(f"he{n}", f"she{n}") for n in range(pairs)], range(seeds), parts)
    columns = word_scores(
        Condition("c", "sgns", "gender"), tensor, "dbwa", retest(tensor.block("dbwa", slice(None)))
    )
    return read_rows(build_table("words", [columns], ["dbwa"]), WordScore)


def test_scores_and_their_errors_are_those_of_a_mixed_model_in_r() -> None:
    """tests/oracles/lme4/words.R: lmer(score ~ 1 + (1 | pair) + (1 | seed)), R 4.2.2, lme4 1.1-31.

    In a balanced layout REML's variance of the mean is V_P + V_S − V_I, and on the edge, where the variance of pairs or
    seeds is 0, that of the other alone: the maximum of docs/methods 10.5.
    """
    data = pl.read_csv(ORACLE / "words.tsv", separator="\t")
    expected = pl.read_csv(ORACLE / "expected_words.tsv", separator="\t", comment_prefix="#")
    names = expected["word"].to_list()
    scores = np.stack(
        [data.filter(pl.col("word") == name)["score"].to_numpy().reshape(9, 6) for name in names]
    )
    rows = words_of(scores, names)
    assert [row.score for row in rows] == pytest.approx(expected["mean"].to_list(), abs=1e-8)
    half_widths = np.array([(row.high - row.low) / 2 for row in rows])
    errors = expected["error"].to_numpy()
    # The interval is error × t(df), and p is of score / error: both give back R's standard error, one df for both.
    for row, half_width, error in zip(rows, half_widths, errors, strict=True):
        low, high = 5.0, 13.0  # t's df lie between those of the smaller factor and of both together
        for _ in range(60):
            df = (low + high) / 2
            low, high = (df, high) if student.ppf(0.975, df) > half_width / error else (low, df)
        assert half_width / student.ppf(0.975, df) == pytest.approx(error, rel=1e-5)
        assert row.p_value == pytest.approx(2 * student.sf(abs(row.score) / error, df), rel=1e-4)


def test_columns_that_come_from_the_others() -> None:
    rng = np.random.default_rng(5)
    effects = [(60, 1, 1), (60, 8, 1), (60, 1, 4)]
    scores = np.zeros((60, 8, 4)) + sum(rng.normal(size=shape) for shape in effects)
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
    assert f"score {first['score']:+.3f}, 95 % {first['low']:+.3f} to {first['high']:+.3f}" in line
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
