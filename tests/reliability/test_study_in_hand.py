"""A study in hand, as in a notebook: each of its methods."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import polars as pl
import pytest
from tests.messages import naming

import weatherglass
from weatherglass.api.studies import StudyResult
from weatherglass.errors import CorpusError, OutputError, UnknownNameError

Undisturbed = tuple[Path, StudyResult]


def test_repr_and_the_view_of_a_notebook_are_short(undisturbed: Undisturbed) -> None:
    _, study = undisturbed
    assert repr(study).startswith("<StudyResult: ")
    assert re.findall(r"\b\d+ (?=corp|algo|set)", repr(study)) == ["1 ", "2 ", "1 "]
    html = study._repr_html_()
    assert len(html.encode()) < 50_000
    assert "test–retest" in html
    assert "<script" not in html


def test_tables_are_frames_of_either_library(undisturbed: Undisturbed) -> None:
    _, study = undisturbed
    summary = study.to_frame()
    assert summary.equals(study.tables["summary"])
    other = study.to_frame("claims", "pandas")
    assert list(other["claim"]) == study.tables["claims"]["claim"].to_list()
    with pytest.raises(UnknownNameError, match=naming("summaries", suggesting="summary")):
        study.to_frame("summaries")


@pytest.mark.large
def test_plot_draws_a_figure_of_the_study(undisturbed: Undisturbed) -> None:
    folder, study = undisturbed
    with mpl.rc_context({"backend": "Agg"}):
        import matplotlib.pyplot as plt

        axes = study.plot()
        names = sorted(path.stem for path in (folder / "figures").glob("test-retest-*.png"))
        assert study.plot(names[-1]).figure is plt.gcf()
        assert axes.get_ylabel() == "ICC(2,1)"
        plt.close("all")
    with pytest.raises(UnknownNameError, match=naming("figure", "nothing")):
        study.plot("nothing")


def test_latex_has_intervals_and_a_label(undisturbed: Undisturbed) -> None:
    _, study = undisturbed
    text = study.to_latex(label="tab:mine")
    assert r"\label{tab:mine}" in text
    assert "median low & median high" in text
    row = next(row for row in study.tables["summary"].iter_rows(named=True) if row["median"] == row["median"])
    numbers = [f"{row[name]:.2f}" for name in ("median", "median_low", "median_high")]
    shown = [f"${number}$" if number.startswith("-") else number for number in numbers]  # TeX's minus
    assert " & ".join(shown) in text


def test_saved_and_loaded_it_is_the_same(undisturbed: Undisturbed, tmp_path: Path) -> None:
    _, study = undisturbed
    saved = study.save(tmp_path / "copy")
    loaded = weatherglass.load_study(tmp_path / "copy")
    assert saved.report() == loaded.report() == tmp_path / "copy" / "study.html"
    for name, table in study.tables.items():
        assert loaded.tables[name].equals(table, null_equal=True)
    with pytest.raises(OutputError, match=naming(str(tmp_path / "copy"), "already")):
        study.save(tmp_path / "copy")
    with pytest.raises(CorpusError, match=naming(str(tmp_path), "tables")):
        weatherglass.load_study(tmp_path)
    assert study.report(tmp_path / "page.html").read_bytes() == study.page.read_bytes()


def test_a_study_compared_with_itself_has_no_change_and_with_another_it_has(undisturbed: Undisturbed) -> None:
    _, study = undisturbed
    same = study.compare(study, "polars")
    assert same["change"].drop_nulls().abs().max() == 0
    assert not same["apart"].drop_nulls().any()
    lower = study.tables["summary"].with_columns(pl.col("median", "median_low", "median_high") - 3)
    other = StudyResult({**study.tables, "summary": lower}, study.page)
    changed = study.compare(other, "polars")
    assert changed["change"].drop_nulls().to_list() == pytest.approx(
        [-3.0] * changed["change"].drop_nulls().len()
    )
    assert changed["apart"].drop_nulls().all()


@pytest.mark.large
def test_a_file_is_as_good_as_a_study(study_file: Path, undisturbed: Undisturbed) -> None:
    folder, study = undisturbed
    again = weatherglass.study(str(study_file), str(folder), train=False)
    assert again.to_frame().equals(study.to_frame(), null_equal=True)
