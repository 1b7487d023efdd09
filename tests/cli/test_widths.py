"""Captures of the terminal at 80, 100, 120 and 200 columns: no line is wider, and every row of a result has its d.

Names are very long, wide (CJK), or try to move the cursor; there are one to five models and one to three metrics.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.messages import mentions
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.api.studies import StudyResult
from weatherglass.audit.results import Mark, mark_of
from weatherglass.audit.run import Run
from weatherglass.catalogue import load_tests
from weatherglass.cli import app
from weatherglass.cli.console import in_ascii, is_plain, say
from weatherglass.cli.reliability import print_explanations
from weatherglass.cli.run import show
from weatherglass.cli.study import print_warnings
from weatherglass.reliability.study_file import Study
from weatherglass.report.statements import sign_of, topics
from weatherglass.report.study.terminal import answer_lines, claim_lines
from weatherglass.report.terminal import FOUND
from weatherglass.storage.printable import cell_len
from weatherglass.warnings import Warning

WIDTHS = (80, 100, 120, 200)
HOSTILE = (
    "词嵌入模型" * 12,
    "models/" + "very-long-folder/" * 12 + "all-MiniLM-L6-v2",
    "evil\x1b[2J\r\n\t\u202ename \u200f" + "x" * 90,
    "plain",
    "[bold]markup[/bold] {braces} 'quotes' | pipe, comma",
)
METRICS = ("cosine/mean", "euclidean/median", "mac")
EFFECT = r"[ −]\d\.\d\d"
INTERVAL = rf"{EFFECT} … {EFFECT}"
ROW = re.compile(rf"^[●◐○≈·– ] (?P<name>\S.*?) +(?P<d>{EFFECT}) +(?:{INTERVAL} +[\d.e-]+|not tested)")


def capture(
    run: Run, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **how: bool
) -> str:
    """What the command prints of a run, both streams; checked to be no wider than the terminal."""
    monkeypatch.setenv("COLUMNS", str(width))
    show(run, Path("folder"), how.get("table", False), how.get("verbose", False))
    printed = capsys.readouterr()
    for stream in printed:
        too_wide = [line for line in stream.splitlines() if cell_len(line) > width]
        assert not too_wide, too_wide[0]
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u200e\u200f]", stream)
    return printed.out


def rows_of(out: str) -> list[re.Match[str]]:
    """The rows of results; those of the verdicts' chart have an axis."""
    table = [line for line in out.splitlines() if not set(line) & set("│┼")]
    return [match for line in table if (match := ROW.match(line))]


@pytest.fixture(scope="module")
def hostile() -> Run:
    """Five encoders and four tests that have hostile names, by three metrics."""
    encoders = [HashedEncoder(20 + place, name=name) for place, name in enumerate(HOSTILE)]
    tests = [
        replace(test, name=f"{HOSTILE[place]}-{place}", topic=HOSTILE[-1 - place % 2])
        for place, test in enumerate(load_tests(["weat6", "weat7", "weat8", "weat9"]))
    ]
    return wg.run(encoders, tests, list(METRICS))


def part_of(run: Run, models: int, metrics: int, times: int = 1) -> Run:
    """The results of the first models and metrics, each under several names of tests."""
    results = [
        replace(result, test=f"{result.test}{'+' * number}")
        for number in range(times)
        for result in run.results
        if result.model in HOSTILE[:models] and result.metric in METRICS[:metrics]
    ]
    return replace(run, results=results)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """The first command of a new user: one model, 46 tests."""
    folder = tmp_path_factory.mktemp("run")
    return wg.run("wordllama", folder=folder), folder


@pytest.mark.parametrize("width", WIDTHS)
def test_one_model_and_46_tests_are_46_rows_with_mark_d_interval_and_p(
    everything: tuple[Run, Path],
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, _ = everything
    out = capture(run, width, monkeypatch, capsys, table=True)
    rows = rows_of(out)
    assert {row["name"]: row[0][0] for row in rows} == {
        result.test: mark_of(result).glyph or " " for result in run.results
    }
    head = next(line for line in out.splitlines() if line.startswith("  test"))
    assert ("X+Y" in head, "published" in head) == (width >= 100, width >= 100)
    assert ("direction" in head) == (width >= 120)
    lines = out.splitlines()
    topics = [
        line for line in lines if re.match(r"^(Gender|Race|Age|Illness|“Angry|Likab|Compet|Sanity)", line)
    ]
    assert topics[-1] == "Sanity checks"
    assert lines.index("Sanity checks") > max(lines.index(topic) for topic in topics[:-1])
    assert lines[-1].endswith(" folder/report.html")
    assert all(outcome in out for outcome in {result.outcome for result in run.results if result.outcome})


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_screen_groups_topics_by_outcome(
    everything: tuple[Run, Path],
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, _ = everything
    out = capture(run, width, monkeypatch, capsys)
    assert not rows_of(out)  # only with --table
    lines = out.splitlines()
    charted = [line for line in lines if line[:2] in {f"{mark.glyph} " for mark in Mark if mark.glyph}]
    verdicts = topics(run.verdicts())
    assert [line[0] for line in charted] == [mark_of(one).glyph for one in verdicts]
    for line, one in zip(charted, verdicts, strict=True):
        assert ("│" in line) == (sign_of(one) != 0 or one.effect_size is None)
        assert f"{len(one.marked)} of {len(one.tests)}" in line or not one.tests
    heads = [line for line in lines if re.match(r"[A-Z]{5,}", line)]
    assert len(heads) == len({one.outcome for one in verdicts}) + 1
    checks = [line for line in lines if line[:1] in "✓✗" and line]
    assert [line[0] == "✓" for line in checks] == [one.found for one in run.verdicts() if one.check]
    assert len(lines) < 48


def test_marks_are_one_column_wide() -> None:
    for mark in Mark:
        assert cell_len(mark.glyph) == len(mark.glyph) <= 1
        assert len(mark.ascii) == len(mark.glyph)


@pytest.mark.parametrize("metrics", [1, 2, 3])
@pytest.mark.parametrize("models", [1, 2, 3, 4, 5])
def test_hostile_names_squeeze_nothing(
    hostile: Run,
    models: int,
    metrics: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = part_of(hostile, models, metrics)
    for width in WIDTHS:
        out = capture(run, width, monkeypatch, capsys, table=True)
        effects = [result for result in run.results if result.info.poolable]
        others = [line for line in out.splitlines() if re.search(r" \d\.\d{3} +[ −]\d\.\d{3} … ", line)]
        assert len(rows_of(out)) == len(effects)
        assert len(others) == len(run.results) - len(effects)
        capture(run, width, monkeypatch, capsys, verbose=True)


def test_several_models_are_one_table_by_topic_unless_every_row_is_asked_for(
    hostile: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = part_of(hostile, 3, 3, times=3)
    for width in WIDTHS:
        out = capture(run, width, monkeypatch, capsys)
        assert not rows_of(out)
        assert len(out.splitlines()) < 80
        assert mentions(out, "--table")
        whole = capture(run, width, monkeypatch, capsys, table=True)
        assert len(rows_of(whole)) == sum(result.info.poolable for result in run.results)


def kinds_of(warnings: Iterable[Warning]) -> list[str]:
    """Return the kind of each warning."""
    return [warning.kind for warning in warnings]


def test_warnings_are_one_line_and_whole_with_verbose(
    everything: tuple[Run, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, folder = everything
    given = len(run.warnings)
    assert {kind for result in run.results for kind in kinds_of(result.warnings)} <= set(
        kinds_of(run.warnings)
    )
    monkeypatch.setenv("COLUMNS", "100")
    show(run, folder, False, False)
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert mentions(line, f"{given} warnings", f"{len(set(kinds_of(run.warnings)))} kinds", "--verbose")
    monkeypatch.setenv("COLUMNS", "4000")
    show(run, folder, False, True)
    every = capsys.readouterr().err.strip().splitlines()
    assert len(every) == given
    assert sorted(every) == sorted(f"warning: {warning} [{warning.kind}]" for warning in run.warnings)


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "RUN", "RUN"),
        ("compare", "RUN", "RUN", "--table"),
        ("compare", "MODELS", "--verbose"),
        ("explain", "RUN", "sent-weat6"),
        ("verdict", "RUN"),
        ("verdict", "MODELS"),
        ("metrics",),
        ("reproduce", "may2019"),
        ("models",),
        ("words", "a-long-name-of-a-model" * 4 + "=wordllama"),
        ("tests", "list"),
        ("tests", "list", "fields"),
        ("tests", "sets"),
        ("tests", "show", "sent-weat6"),
        ("multiverse", "-t", "weat6", "--choices", "similarity,statistic", "-o", "OUT"),
        ("multiverse", "-t", "weat[6-9]*", "--choices", "statistic", "-o", "OUT"),
        ("rank", "--groups", "gender", "-o", "OUT"),
        ("rank", "--groups", "race-gender", "--table", "-o", "OUT"),
    ],
    ids=lambda words: " ".join(word[:20] for word in words),
)
def test_every_command_fits(
    command: tuple[str, ...],
    everything: tuple[Run, Path],
    several: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # the paths that are printed are short
    for name, folder in (("RUN", everything[1]), ("MODELS", several)):
        (tmp_path / name).symlink_to(folder)
    for width in WIDTHS:
        done = CliRunner().invoke(app, command, env={"COLUMNS": str(width)})
        assert done.exit_code == 0, done.output
        wide = [line for line in done.output.splitlines() if cell_len(line) > width]
        assert not wide, wide[0]


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of models with long and wide names."""
    folder = tmp_path_factory.mktemp("several")
    names = ("一个很长的模型名字" * 5, "b" * 120)
    wg.run(
        [f"{name}=wordllama?dim={dim}" for name, dim in zip(names, (64, 128), strict=True)],
        "weat*",
        folder=folder,
    )
    return folder


def test_compare_has_both_d_in_every_row(
    everything: tuple[Run, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "RUN").symlink_to(everything[1])
    for width in WIDTHS:
        out = CliRunner().invoke(app, ["compare", "RUN", "RUN"], env={"COLUMNS": str(width)}).output
        row = re.compile(rf"^[≠ ] \S+ +{EFFECT} +{EFFECT} +{EFFECT}", re.MULTILINE)
        assert len(row.findall(out)) == 46


@pytest.mark.large
def test_a_study_fits(
    undisturbed: tuple[Path, StudyResult],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, study = undisturbed
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        for every_row in (False, True):
            print_explanations(study.explanations, every_row)
            print_warnings(study.warnings, study.explanations)
            say(answer_lines(Study("widths"), study.tables, width))
            say(claim_lines(study.tables, width, every_row))
            printed = capsys.readouterr()
            wide = [line for line in (printed.out + printed.err).splitlines() if cell_len(line) > width]
            assert not wide, wide[0]
            medians = re.findall(r"(?:−?\d\.\d\d|–) +(?:−?\d\.\d\d … −?\d\.\d\d|–) ", printed.out)
            assert len(medians) >= (study.tables["claims"].height if every_row else 0)


def test_marks_are_one_column_wide_where_ambiguous_characters_are_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for locale, plain in (("ja_JP.UTF-8", True), ("zh_CN.UTF-8", True), ("de_DE.UTF-8", False)):
        monkeypatch.setenv("LC_ALL", locale)
        is_plain.cache_clear()
        assert is_plain("utf-8") == plain
    is_plain.cache_clear()
    drawn = {*(mark.glyph for mark in Mark if mark.glyph), *FOUND.values(), "│", "─", "┼", "…", "–", "•", "≠"}
    for character in drawn:
        known = in_ascii(character, "utf-8")
        assert len(known) == 1
        assert unicodedata.east_asian_width(known) not in "AWF"


def test_a_terminal_that_lacks_the_glyphs_gets_ascii(everything: tuple[Run, Path]) -> None:
    assert is_plain("ascii")
    assert is_plain("cp1252")
    assert not is_plain("utf-8")
    for mark in Mark:
        assert in_ascii(mark.glyph) == mark.ascii
    assert in_ascii("词 “x” 0.1 … −0.2") == '? "x" 0.1 - -0.2'
    done = subprocess.run(
        [sys.executable, "-m", "weatherglass", "verdict", str(everything[1])],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
    )
    lines = done.stdout.decode("ascii").splitlines()
    assert any(line.startswith("+ Gender and science ") and "--+" in line for line in lines)
    assert max(map(len, lines)) <= 80
