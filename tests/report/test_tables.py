"""Tables for other programs: every program's special characters stay characters."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.report.made_up import made_up_run

from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_tests
from weatherglass.report.tables import comma_separated, latex, markdown


def test_markdown_has_a_row_per_test_and_a_column_per_model(tmp_path: Path) -> None:
    results = made_up_run(tmp_path, load_tests(["weat1", "weat2"]), ["a", "b"])
    rows = [line for line in markdown([read_run(tmp_path)]).splitlines() if line.startswith("|")]
    assert rows[0] == "| Test | a | b |"
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| weat1", "| weat2"]
    shown = float(re.sub(r"[|\\*]", "", rows[2].split(" | ")[1]).replace("−", "-"))
    assert shown == pytest.approx(results[0].effect_size, abs=0.005)


def test_hostile_names_break_no_markdown_table(hostile: Path) -> None:
    text = markdown([read_run(hostile)])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}  # five models, a name, both edges
    assert re.search(r"(?<!\\)<script", text) is None


def test_csv_gives_every_column_in_full(tmp_path: Path) -> None:
    results = made_up_run(tmp_path, load_tests(["weat1", "sent-weat1"]), ["a,b"])
    rows = list(csv.DictReader(io.StringIO(comma_separated([read_run(tmp_path)]))))
    assert [float(row["effect_size"]) for row in rows] == [result.effect_size for result in results]
    assert rows[0]["model"] == "a,b"
    assert (rows[1]["context"], rows[1]["X"], rows[1]["B"]) == ("sent", "Flowers", "Unpleasant")
    assert (rows[0]["p_elements"], rows[1]["p_elements"] == "") == ("", False)


def test_latex_escapes_what_tex_would_obey(hostile: Path) -> None:
    text = latex([read_run(hostile)])
    assert r"\textbackslash{}end\{table\}" in text
    assert r"\$x\_1\$" in text
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == 2


def test_special_characters_break_no_latex_table(tmp_path: Path) -> None:
    """What pdflatex would stop at; `test_latex_compiles` runs it where it is installed."""
    made_up_run(tmp_path, load_tests(["weat*"]), ["a_b", "c & d", "100 %", "#5", "{x"])
    lines = latex([read_run(tmp_path)]).splitlines()[1:]
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == 1 + 15
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {6}  # a name, its context and five models
    for line in lines:
        assert len(re.findall(r"(?<!\\)\{", line)) == len(re.findall(r"(?<!\\)\}", line)), line
        assert re.search(r"(?<!\\)[%#]", line) is None, line


def test_latex_hangs_marks_beside_aligned_numbers(tmp_path: Path) -> None:
    results = made_up_run(tmp_path, load_tests(["*"]))
    text = latex([read_run(tmp_path)])
    assert text.count(r"\rlap{$^{**}$}") == sum(result.outcome == "robust" for result in results)
    assert text.count(r"$-") == sum(f"{result.effect_size:.2f}" < "0" for result in results)
    assert text.count(r"\\") == 47


@pytest.mark.large
def test_latex_compiles(tmp_path: Path) -> None:
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
    made_up_run(tmp_path, load_tests(["weat*"]), ["a_b", "c & d", "100 %", "x" * 50])
    document = "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}\n"
    source = document + latex([read_run(tmp_path)]) + "\\end{document}\n"
    (tmp_path / "table.tex").write_text(source, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
