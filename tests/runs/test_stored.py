"""Reading a run's folder: what is missing or older is said, what is there is kept."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.report.made_up import made_up_run
from weatherglass.runs.details import DETAILS

from weatherglass.catalogue import load_tests
from weatherglass.errors import OutputError
from weatherglass.report.page.html import page
from weatherglass.runs.folder import RECORD, TABLE, RunFolder
from weatherglass.runs.results import COLUMNS
from weatherglass.runs.stored import labelled, read_run, read_whole_run


def test_a_whole_folder_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = made_up_run(
        tmp_path, load_tests(["weat1", "sent-weat1"]), ["a", "b"], ["cosine/mean", "dot/mean"]
    )
    run = read_run(tmp_path)
    assert run.notices == []
    assert len(run.details) == len(written) == 8
    for read, result in zip(run.results, written, strict=True):
        assert read.columns() == result.columns()
        assert (read.context, read.categories) == (result.context, result.categories)
        assert read.direction == result.direction


def test_details_that_do_not_say_whether_a_measure_is_signed_leave_it_to_the_registry(tmp_path: Path) -> None:
    """As files were before the column was added."""
    made_up_run(tmp_path, load_tests(["weat1"]), ["a"], ["cosine/mean", "dot/eq2"])
    with closing(sqlite3.connect(tmp_path / DETAILS)) as database, database:
        database.execute("ALTER TABLE result DROP COLUMN signed")
    run = read_whole_run(tmp_path)
    assert [result.signed for result in run.results] == [True, False]


def test_names_with_tabs_and_line_breaks_keep_their_details(tmp_path: Path) -> None:
    (test,) = load_tests(["weat1"])
    made_up_run(tmp_path, [replace(test, name="my\tweat\n1")], ["a\rmodel"])
    run = read_whole_run(tmp_path)
    assert (run.results[0].test, run.results[0].model) == ("my weat 1", "a model")
    assert run.scores(run.find("my weat 1"))[0].text == test.targets[0].texts[0]


def test_a_folder_without_a_table_is_an_error_that_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"no results\.tsv here; give a folder that 'weatherglass run"):
        read_run(tmp_path)


def test_another_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / TABLE).write_text("word\tcount\nthe\t3\n")
    with pytest.raises(OutputError, match="no column model, test, p_value, effect_size"):
        read_run(tmp_path)


def test_the_nine_published_columns_are_enough(tmp_path: Path) -> None:
    rows = [COLUMNS[:9], ("bert", "", "sent-weat1", "1e-05", "0.62", "8", "8", "5", "5")]
    (tmp_path / TABLE).write_text("\n".join("\t".join(row) for row in rows) + "\n")
    run = read_run(tmp_path)
    assert run.results[0].effect_size == 0.62
    assert run.results[0].measure == "cosine/mean"
    assert run.results[0].p_adjusted is None
    said = " ".join(run.notices)
    assert "older version" in said
    assert "ci_low" in said
    assert "run.json is missing" in said
    assert "details.sqlite is missing" in said
    made = page([run])
    assert "0.62" in made
    assert "older version" in made


def test_a_bad_line_is_left_out_by_number(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1", "weat2"]))
    table = tmp_path / TABLE
    lines = table.read_text().split("\n")
    lines[1] = lines[1].replace("\t25\t", "\tmany\t", 1)
    table.write_text("\n".join(lines))
    run = read_run(tmp_path)
    assert [result.test for result in run.results] == ["weat2"]
    assert any("line 2: left out" in notice for notice in run.notices)


def test_a_newer_details_file_is_said_and_left_alone(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    with closing(sqlite3.connect(tmp_path / DETAILS)) as database, database:
        database.execute("UPDATE format SET version = 99")
    run = read_run(tmp_path)
    assert not run.details
    assert any("newer weatherglass" in notice for notice in run.notices)
    assert run.results[0].context == "word"  # from the catalogue
    assert "newer weatherglass" in page([run])


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to look at" * 40])
def test_a_details_file_that_is_none_is_said(tmp_path: Path, content: bytes) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    (tmp_path / DETAILS).write_bytes(content)
    run = read_run(tmp_path)
    assert not run.details
    assert any("could not be read" in notice for notice in run.notices)


@pytest.mark.parametrize("change", [{"permute": "words"}, {"alternative": "less"}, {"ddof": 0}])
def test_details_of_an_earlier_run_are_not_taken_for_those_of_this_one(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    """A second run in the folder, killed before its end, leaves its table beside the details of the first."""
    (earlier,) = made_up_run(tmp_path, load_tests(["weat1"]))
    with RunFolder(tmp_path) as folder:
        folder.write_table([replace(earlier, **change)], at_once=True)
    run = read_run(tmp_path)
    assert not run.details
    assert any("details.sqlite lacks 1 of 1 results" in notice for notice in run.notices)


def test_a_details_file_of_an_older_form_shows_what_it_has(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    with closing(sqlite3.connect(tmp_path / DETAILS)) as database, database:
        database.execute("DROP TABLE power")
        database.execute("DROP TABLE null_quantile")
    run = read_run(tmp_path)
    made = page([run])
    assert 'id="block-shared"' in made
    assert "details.sqlite is of an older version; it lacks null_quantile, power." in run.notices


@pytest.mark.parametrize("content", ["", "[1]", "{"])
def test_a_record_that_cannot_be_read_is_said(tmp_path: Path, content: str) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    (tmp_path / RECORD).write_text(content)
    run = read_run(tmp_path)
    assert any(notice.startswith("run.json could not be read") for notice in run.notices)
    assert "weat1" in page([run])


@pytest.mark.parametrize(
    ("part", "content", "lacking"),
    [
        (DETAILS, None, "details.sqlite is missing"),
        (DETAILS, "", "details.sqlite could not be read"),
        (RECORD, None, r"no run is here \(run.json is missing\)"),
        (RECORD, "{", "run.json could not be read"),
        (TABLE, None, "no results.tsv here"),
        (TABLE, "word\tcount\n", "no column model"),
        (TABLE, "\t".join(COLUMNS[:9]) + "\n", "it lacks measure, permute"),
        (TABLE, "\t".join(COLUMNS) + "\na\tb\n", "line 2: left out"),
    ],
)
def test_who_needs_a_whole_run_is_told_what_it_lacks(
    tmp_path: Path, part: str, content: str | None, lacking: str
) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    (tmp_path / part).unlink()
    if content is not None:
        (tmp_path / part).write_text(content)
    with pytest.raises(OutputError, match=lacking):
        read_whole_run(tmp_path)


def test_an_unfinished_run_is_whole(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]), record={"status": "interrupted"})
    assert read_whole_run(tmp_path).results[0].test == "weat1"


def test_an_unfinished_run_is_called_so(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]), record={"status": "interrupted"})
    assert any("interrupted" in notice for notice in read_run(tmp_path).notices)


def test_a_table_without_results_makes_a_page_that_says_so(tmp_path: Path) -> None:
    made_up_run(tmp_path, [])
    assert "There are no results yet" in page([read_run(tmp_path)])


def test_two_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    folders = [tmp_path / "monday" / "run", tmp_path / "tuesday" / "run"]
    for folder in folders:
        made_up_run(folder, load_tests(["weat1"]))
    assert [run.label for run in labelled(read_run(folder) for folder in folders)] == ["run", "run (2)"]


def test_a_test_that_differs_from_the_published_one_of_its_name_is_not_taken_for_it(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    (tmp_path / DETAILS).unlink()
    record = json.loads((tmp_path / RECORD).read_text())
    record["tests"]["weat1"] = "0" * 64
    (tmp_path / RECORD).write_text(json.dumps(record))
    assert read_run(tmp_path).results[0].categories == ("X", "Y", "A", "B")
