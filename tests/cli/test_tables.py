"""Commands that read tables: what they take, ask for and show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.messages import mentions, naming
from tests.sheets import workbook

from weatherglass.catalogue import load_test
from weatherglass.cli import app
from weatherglass.errors import CatalogueError, OutputError, WeatherglassError

WIDE = "maths,arts,men,women\nalgebra,poetry,he,she\ngeometry,dance,man,woman\ncalculus,novel,boy,girl\n"
LONG = "set,word\nwomen,she\nwomen,her\nmen,he\nmen,him\nmaths,sum\narts,art\n"
SHOWN = ("X maths (3 words)", "Y arts (3)", "A men (3)", "B women (3)", "CSV, comma, UTF-8, wide")


def invoke(*arguments: str | Path, answers: str | None = None) -> Result:
    given = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, given, input=answers, catch_exceptions=False)


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text(WIDE)
    return path


def test_a_run_takes_a_table_and_shows_what_was_read(wide: Path, tmp_path: Path) -> None:
    result = invoke("run", "-t", wide, "-o", tmp_path / "run")
    assert result.exit_code == 0
    assert mentions(result.stderr, *SHOWN)
    record = json.loads(invoke("run", "-t", wide, "-o", tmp_path / "run", "--json").stdout)
    assert [row["test"] for row in record["results"]] == ["jobs"]


@pytest.mark.parametrize("command", ["check", "show", "list"])
def test_commands_of_tests_take_a_table(wide: Path, command: str) -> None:
    assert mentions(invoke("tests", command, wide).stdout, "jobs")
    assert mentions(invoke("tests", "check", wide).stderr, *SHOWN)


def test_init_writes_a_test_from_a_table(wide: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    result = invoke("tests", "init", file, "--from", wide, "--columns", "X=arts,Y=maths,A=men,B=women")
    assert result.exit_code == 0
    assert load_test(file).categories == ("arts", "maths", "men", "women")
    assert load_test(file).name == "own"
    assert mentions(result.stderr, "X arts (3 words)", "jobs.csv")
    with pytest.raises(OutputError, match=naming("jobs.csv", "--from")):
        invoke("tests", "init", wide)


def test_init_asks_for_roles_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, file = tmp_path / "long.csv", tmp_path / "own.toml"
    path.write_text(LONG)
    with pytest.raises(CatalogueError, match=naming("4 sets", "--columns")):
        invoke("tests", "init", file, "--from", path)

    monkeypatch.setattr("weatherglass.cli.tables.on_terminal", lambda: True)
    result = invoke("tests", "init", file, "--from", path, answers="maths\nno such set\narts\nmen\nwomen\n")
    assert result.exit_code == 0
    assert load_test(file).categories == ("maths", "arts", "men", "women")


def test_init_takes_sheets_and_tables_without_a_header(tmp_path: Path) -> None:
    rows = [["algebra", "poetry", "he", "she"], ["geometry", "dance", "man", "woman"]]
    path, file = tmp_path / "a.xlsx", tmp_path / "own.toml"
    path.write_bytes(workbook({"notes": [["x"]], "words": rows}))
    with pytest.raises(CatalogueError, match=naming("'notes'", "'words'", "--sheet")):
        invoke("tests", "init", file, "--from", path)
    invoke("tests", "init", file, "--from", path, "--sheet", "words", "--no-header")
    assert load_test(file).targets[0].words == ("algebra", "geometry")


@pytest.mark.parametrize("columns", ["X", "X=", "=maths"])
def test_columns_are_pairs(wide: Path, tmp_path: Path, columns: str) -> None:
    with pytest.raises(WeatherglassError, match=naming("--columns")):
        invoke("tests", "init", tmp_path / "own.toml", "--from", wide, "--columns", columns)


def words_of(result: Result) -> dict[str, float | None]:
    assert result.exit_code == 0
    return {each["word"]: each["fact"] for each in json.loads(result.stdout)["words"]}


def test_words_takes_words_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text("job;share\nclerk;60,5\nsmith;5\n")
    assert words_of(invoke("words", "-w", "nurse", "-w", "doctor", "--json")).keys() == {"nurse", "doctor"}
    both = invoke("words", "-w", "nurse", "-w", "jobs.csv", "--facts", "share", "--json")
    assert words_of(both) == {"nurse": None, "clerk": 60.5, "smith": 5}
    result = invoke("words", "-w", "jobs.csv")
    assert mentions(result.stderr, "2 words", "jobs.csv", "CSV, semicolon, UTF-8", "--facts share")
    (tmp_path / "nurse").write_text("clerk\n")  # a word that is also the name of a file
    assert words_of(invoke("words", "-w", "nurse", "--json")).keys() == {"clerk"}
    assert mentions(invoke("words", "-w", "nurse").stderr, "nurse (text, UTF-8)")


def test_facts_can_be_a_file_of_their_own(tmp_path: Path) -> None:
    facts = tmp_path / "facts.xlsx"
    facts.write_bytes(workbook({"A": [["job", "share"], ["nurse", 90.5], ["clerk", 60]]}))
    assert words_of(invoke("words", "--facts", facts, "--json")) == {"nurse": 90.5, "clerk": 60}
    some = invoke("words", "-w", "nurse", "-w", "smith", "--facts", facts, "--json")
    assert words_of(some) == {"nurse": 90.5, "smith": None}
    assert mentions(invoke("words", "-w", "nurse", "-w", "smith", "--facts", facts).stderr, "1 of 2 words")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["-w", "jobs.csv"], ["jobs.csv"]),
        (["-w", "lists/jobs"], ["lists/jobs"]),
        (["-w", " "], ["blank"]),
        (["-w", "nurse", "--facts", "share"], ["--facts share", "--words FILE"]),
        (["--facts", "facts.csv"], ["facts.csv"]),
    ],
)
def test_files_that_are_not_there(arguments: list[str], named: list[object]) -> None:
    with pytest.raises(WeatherglassError, match=naming(*named)):
        invoke("words", *arguments)


def test_test_files_in_the_place_of_models_are_recognised(wide: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(WIDE)
    with pytest.raises(WeatherglassError, match=naming("other.csv", "-t 'weat*'")):
        invoke("run", "-t", wide, other, "-o", tmp_path / "run")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    with pytest.raises(CatalogueError, match=naming(str(tmp_path / "run"), "quotes")):
        invoke("run", "-t", tmp_path / "run")
