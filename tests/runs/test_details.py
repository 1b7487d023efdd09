"""details.sqlite: what is written can be read, and nothing is half-written."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.errors import OutputError
from weatherglass.inference.trust import NULL_LEVELS
from weatherglass.runs.details import DETAILS, IDENTITY, Details, write_details
from weatherglass.runs.results import Run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    folder = tmp_path_factory.mktemp("run")
    return folder, wg.run(HashedEncoder(), tests=["weat7", "sent-weat6"], folder=folder, resamples=100)


def test_scores_and_trust_are_read_back_as_they_were(finished: tuple[Path, Run]) -> None:
    folder, run = finished
    details = Details(folder / DETAILS)
    for row, result in zip(details.every("result"), run.results, strict=True):
        number = row["id"]
        told_by = tuple(row[name] for name in IDENTITY)
        assert told_by == (result.model, result.options, result.test, "cosine/mean", "elements", "greater", 1)
        assert tuple(details.scores(number)) == result.scores
        (bca, percentile) = details.rows("confidence_interval", number)
        assert (bca["low"], bca["high"], bca["method"]) == (result.ci_low, result.ci_high, "bca")
        assert percentile["resamples"] == result.details["interval"]["resamples"]
        left_out = [tuple(row)[1:] for row in details.rows("left_out", number)]
        assert left_out == [tuple(each.values()) for each in result.details["left_out"]]
        null = details.rows("null_quantile", number)
        assert [row["level"] for row in null] == list(NULL_LEVELS)
        assert [row["effect_size"] for row in null] == result.details["null"]
        chances = {f"{row['effect_size']:g}": row["probability"] for row in details.rows("power", number)}
        assert chances == result.details["power"]
        (noise,) = details.rows("attribute_noise", number)
        assert noise["share"] == result.details["attribute_noise"]
        words = details.rows("word_score", number)
        for row in words[:3]:
            of_word = [s.score for s in result.scores if (s.role, s.word) == (row["role"], row["word"])]
            assert row["score"] == pytest.approx(math.fsum(of_word) / len(of_word))
            assert row["elements"] == len(of_word)
    details.close()


def test_a_text_that_tests_share_is_stored_once(tmp_path: Path) -> None:
    wg.run([HashedEncoder(), HashedEncoder(9, name="b")], tests="weat7", folder=tmp_path, ci="none")
    with closing(sqlite3.connect(tmp_path / DETAILS)) as database:
        assert database.execute("SELECT count(*) FROM element").fetchone() == (16,)
        assert database.execute("SELECT count(*) FROM element_score").fetchone() == (32,)


def test_a_newer_file_is_refused(finished: tuple[Path, Run], tmp_path: Path) -> None:
    path = tmp_path / DETAILS
    write_details(path, finished[1].results)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE format SET version = 99")
    with pytest.raises(OutputError, match=r"newer weatherglass \(format 99\)"):
        Details(path)


def test_a_file_that_cannot_be_written_leaves_the_old_one(finished: tuple[Path, Run], tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        write_details(tmp_path / "missing" / DETAILS, finished[1].results)
    write_details(tmp_path / DETAILS, finished[1].results)
    assert [path.name for path in tmp_path.iterdir()] == [DETAILS]
