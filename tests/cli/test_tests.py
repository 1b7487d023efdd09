"""`weatherglass tests`: what it prints, for people and for machines."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.messages import mentions, naming

from weatherglass.catalogue import list_tests, load_test, load_tests
from weatherglass.cli.tests import app
from weatherglass.errors import CatalogueError, OutputError, UnknownNameError

WORDS = """
name = "chores"
[X]
category = "Kitchen"
words = ["oven", "Hoover"]
[Y]
set = "weapons"
[A]
set = "male_names"
[B]
set = "female_names"
"""


def invoke(*arguments: str | Path, columns: int | None = None) -> Result:
    """Run a command; a user's mistake is raised, for `main` to print."""
    env = {"COLUMNS": str(columns), "FORCE_COLOR": "1"} if columns else {}
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env=env)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_list_has_a_line_for_each_test_and_cuts_nothing_in_a_pipe() -> None:
    lines = invoke("list").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list_tests()
    row = next(line for line in lines if line.startswith("heilman_double_bind_competent_one_word "))
    assert "CompetentAchievementOriented : IncompetentNotAchievementOriented" in row
    assert " 8+8 : 10+10 " in row
    assert "…" not in "".join(lines)


def test_list_on_a_narrow_screen_keeps_names_whole() -> None:
    output = invoke("list", "heilman*", columns=80).stdout
    assert all(name in output for name in list_tests("heilman*"))
    assert "double bind: likability  8+8 : 8+8" in output


def test_list_takes_a_glob_and_speaks_json() -> None:
    tests = json.loads(invoke("list", "weat3*", "--json").stdout)
    assert [test["name"] for test in tests] == ["weat3", "weat3b"]
    assert tests[0]["X"] == {"category": "EuropeanAmericanNames", "size": 32}
    assert tests[0]["topic"] == "race and valence"
    assert tests[0]["source"] == "Caliskan et al. 2017, Table 1, row 3"
    assert tests[1]["citation"] == "may2019"


def test_list_and_show_take_a_test_of_another_shape(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'topic = "ranks"\ntargets = ["flowers"]\nattributes = ["pleasant", "unpleasant", "career"]\n'
    )
    assert "own   ranks  25 : 25+25+8" in invoke("list", path, columns=60).stdout
    assert invoke("list", path).stdout.splitlines()[1].split()[:2] == ["own", "ranks"]
    assert "A3: Career (8)" in invoke("show", path).stdout


def test_sets_lists_what_a_test_can_name() -> None:
    assert "flowers" in invoke("sets").stdout
    entries = json.loads(invoke("sets", "--json").stdout)
    assert {"name": "male_names", "category": "MaleNames", "size": 8}.items() <= entries[15].items()


def test_show_puts_the_elements_side_by_side() -> None:
    lines = invoke("show", "weat7").stdout.splitlines()
    assert lines[1].split("  ")[0] == "X: Math (8)"
    assert lines[2].split() == ["math", "poetry", "male", "female"]
    assert lines[9].split() == ["addition", "sculpture", "son", "daughter"]
    assert "Caliskan" in lines[10]


def test_show_prints_brackets_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(WORDS.replace('"oven"', '"[bold]oven[/bold] :smile:"'))
    assert "[bold]oven[/bold] :smile:" in invoke("show", path).stdout


def test_show_speaks_json_with_word_and_template() -> None:
    shown = json.loads(invoke("show", "sent-weat1", "--json").stdout)
    assert shown["X"]["elements"][0] == {
        "text": "This is an aster.",
        "word": "aster",
        "template": "This is {a word}.",
    }
    assert (shown["X"]["size"], shown["context"], shown["warnings"]) == (350, "sent", [])


def test_warnings_go_to_stderr(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(WORDS.replace('"Hoover"', '"oven"'))
    result = invoke("list", path)
    assert result.stderr.startswith("warning: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("[duplicates]\n")
    assert mentions(result.stderr, "chores", "X", "Kitchen", "1 duplicate", "oven")
    (warning,) = json.loads(invoke("list", path, "--json").stdout)[0]["warnings"]
    assert warning["values"] == {"set": "X (Kitchen)", "count": 1, "words": ["oven"]}
    assert "duplicate" not in result.stdout


def test_export_writes_all_46_or_those_asked_for(tmp_path: Path) -> None:
    invoke("export", tmp_path / "all")
    assert {path.name for path in (tmp_path / "all").iterdir()} == {f"{name}.jsonl" for name in list_tests()}
    result = invoke("export", tmp_path / "some", "-t", "weat3*", "-t", "weat1")
    assert {path.stem for path in (tmp_path / "some").iterdir()} == {"weat1", "weat3", "weat3b"}
    assert mentions(result.stderr, "3 tests", str(tmp_path / "some"))
    assert result.stderr.count("\n") == 1


def test_export_into_a_file_is_a_plain_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=naming(str(tmp_path / "file"), os.strerror(errno.EEXIST))):
        invoke("export", tmp_path / "file")


def test_texts_prints_each_text_once() -> None:
    lines = invoke("texts").stdout.splitlines()
    assert len(lines) == len(set(lines))
    assert set(lines) == {text for test in load_tests(["*"]) for text in test.texts}
    assert json.loads(invoke("texts", "-t", "weat6", "--json").stdout) == list(load_test("weat6").texts)


def test_sentences_prints_toml_and_says_what_was_guessed(tmp_path: Path) -> None:
    path = tmp_path / "chores.toml"
    path.write_text(WORDS)
    result = invoke("sentences", path)
    (tmp_path / "test.toml").write_text(result.stdout)
    test = load_test(tmp_path / "test.toml")
    assert test.name == "sent-chores"
    assert test.targets[0].texts[0] == "This is an oven."
    guesses = [line.split() for line in result.stderr.splitlines()]
    assert ["oven", "thing", "noun", "an", "oven,", "ovens"] in [line[:6] for line in guesses]
    assert ["Hoover", "given", "name"] in [line[:3] for line in guesses]
    assert not any(line[:1] == ["sword"] for line in guesses)  # a set of the catalogue is no guess


def test_sentences_go_to_a_file_in_the_form_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "chores.toml"
    path.write_text(WORDS)
    for name in ("sent-chores.toml", "sent-chores.jsonl"):
        assert invoke("sentences", path, "-o", tmp_path / name).stdout == ""
    from_toml, from_jsonl = (
        load_test(tmp_path / "sent-chores.toml"),
        load_test(tmp_path / "sent-chores.jsonl"),
    )
    assert [elements.texts for elements in from_toml.sets] == [elements.texts for elements in from_jsonl.sets]
    assert from_toml.targets[0].words[:2] == ("oven", "oven")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["show", "weat77"], UnknownNameError),
        (["list", "nothing*"], UnknownNameError),
        (["texts", "-t", "absent.toml"], CatalogueError),
        (["sentences", "sent-weat1"], CatalogueError),
    ],
)
def test_mistakes_are_errors_for_the_user(arguments: list[str], error: type[Exception]) -> None:
    with pytest.raises(error):
        invoke(*arguments)


def test_german_words_never_go_into_english_templates(tmp_path: Path) -> None:
    path = tmp_path / "gesund.toml"
    words = {"X": "Arzt", "Y": "Kranich", "A": "gesund", "B": "krank"}
    sets = "".join(f'[{role}]\ncategory = "{role}"\nwords = ["{word}"]\n' for role, word in words.items())
    path.write_text('language = "de"\n' + sets, encoding="utf-8")
    result = invoke("sentences", path)
    assert "Das ist gesund." in result.stdout
    assert "This is" not in result.stdout
    (guess,) = (line for line in result.stderr.splitlines() if mentions(line, "gender", "1 word", "Kranich"))
    assert guess.endswith("[unknown-forms]")
    path.write_text(sets, encoding="utf-8")  # without the language the words are named
    unknown = [line for line in invoke("sentences", path).stderr.splitlines() if mentions(line, "English")]
    assert any(line.endswith("[not-in-lexicon]") for line in unknown)
