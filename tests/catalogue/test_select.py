"""From names, globs, files and folders to tests: in the order given, each once, and never silently none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.messages import naming

from weatherglass.catalogue import export_test, list_tests, load_test, load_tests
from weatherglass.catalogue.select import natural_key
from weatherglass.errors import CatalogueError, UnknownNameError

WriteJsonl = Callable[..., Path]
SETS = 'X = "flowers"\nY = "insects"\nA = "pleasant"\nB = "unpleasant"\n'


def names(*patterns: str | Path) -> list[str]:
    return [test.name for test in load_tests(patterns)]


def test_a_glob_lists_what_matches() -> None:
    assert list_tests("weat3*") == ["weat3", "weat3b"]
    assert list_tests("nothing*") == []


def test_tests_come_in_the_order_given_and_each_once() -> None:
    assert names("weat9", "weat3*", "weat9", "weat3") == ["weat9", "weat3", "weat3b"]


def test_a_name_with_a_plus_is_a_name() -> None:
    assert names("heilman_double_bind_competent_1+3-") == ["heilman_double_bind_competent_1+3-"]


def test_files_and_folders_are_read_in_natural_order(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    for name in ("own10.jsonl", "own2.jsonl"):
        write_jsonl(name)
    (tmp_path / "own1.toml").write_text(SETS)
    (tmp_path / "notes.txt").write_text("not a test")
    (tmp_path / ".hidden.jsonl").write_text("not a test either")
    assert names(tmp_path) == ["own1", "own2", "own10"]
    assert names(tmp_path / "own10.jsonl", tmp_path) == ["own10", "own1", "own2"]
    assert names(str(tmp_path / "*.jsonl")) == ["own2", "own10"]


def test_a_file_named_in_two_ways_is_read_once(
    tmp_path: Path, write_jsonl: WriteJsonl, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_jsonl()
    monkeypatch.chdir(tmp_path)
    assert names("own.jsonl", path, f"./{path.name}") == ["own"]


def test_a_folder_of_exported_tests_loads_as_the_catalogue_does(tmp_path: Path) -> None:
    for test in load_tests(["weat*"]):
        export_test(test, tmp_path / f"{test.name}.jsonl")
    assert {test.fingerprint() for test in load_tests([tmp_path])} == {
        test.fingerprint() for test in load_tests(["weat*"])
    }


def test_two_tests_of_one_name_are_an_error_that_names_both(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("same.jsonl")
    (tmp_path / "other.toml").write_text('name = "same"\n' + SETS)
    with pytest.raises(CatalogueError, match=naming("'same'", tmp_path / "other.toml", path)):
        load_tests([tmp_path])
    with pytest.raises(CatalogueError, match=naming("'weat1'", "catalogue", tmp_path / "weat1.jsonl")):
        load_tests(["weat1", path.rename(tmp_path / "weat1.jsonl")])


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"'sent-weat66'.*'sent-weat6b?'"):
        load_test("sent-weat66")


def test_a_name_too_long_for_a_file_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="'xxxx"):
        load_test("x" * 5000)


def test_a_glob_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=naming("'weet*'", "weatherglass tests list")):
        load_tests(["weat1", "weet*"])
    with pytest.raises(UnknownNameError, match=naming(f"'{tmp_path / '*.jsonl'}'")):
        load_tests([tmp_path / "*.jsonl"])


def test_a_missing_file_and_an_empty_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=naming(tmp_path / "absent.toml")):
        load_test(tmp_path / "absent.toml")
    with pytest.raises(CatalogueError, match=naming(tmp_path, ".jsonl", ".toml")):
        load_tests([tmp_path])


def test_a_glob_of_several_tests_where_one_is_expected_is_an_error() -> None:
    with pytest.raises(CatalogueError, match=naming("'weat3*'", "2 tests")):
        load_test("weat3*")


def test_a_path_with_brackets_is_a_path(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("own[1].jsonl")
    assert names(path) == ["own[1]"]
    assert path.parent == tmp_path


def test_numbers_within_names_are_sorted_as_numbers() -> None:
    assert sorted(["weat10", "weat2", "b", "weat2b", "10"], key=natural_key) == [
        "10",
        "b",
        "weat2",
        "weat2b",
        "weat10",
    ]
