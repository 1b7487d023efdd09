"""Lists of words and facts: from text, tables and Excel."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.messages import naming
from tests.sheets import workbook

from weatherglass.catalogue.words import read_words
from weatherglass.errors import CatalogueError, CorpusError

JOBS = {"nurse": 90.5, "clerk": 60.0, "smith": None}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "word,share\nnurse,90.5\nclerk,60\nsmith,\n"),
        ("a.csv", "occupation;share\nnurse;90,5\nclerk;60\nsmith;\n"),
        ("a.tsv", "share\tWord\n90,5\tnurse\n60\tclerk\n\tsmith\n"),
        ("a.csv", "id,word,share\n1,nurse,90.5\n2,clerk,60\n3,smith,\n"),
        ("a.txt", "word|share\nnurse|90.5\nclerk|60\nsmith|\n"),
        ("a.jsonl", '{"word": "nurse", "share": 90.5}\n{"word": "clerk", "share": 60}\n{"word": "smith"}\n'),
        ("a.xlsx", workbook({"Jobs": [["job", "share"], ["nurse", 90.5], ["clerk", 60], ["smith", None]]})),
        ("a.csv", "word,share\nnurse,90.5\nclerk,60\nsmith,\n".encode("utf-16")),
    ],
)
def test_words_and_facts(tmp_path: Path, name: str, content: str | bytes) -> None:
    path = write(tmp_path, name, content)
    assert read_words(path, "share").words == JOBS
    plain = read_words(path)
    assert plain.words == dict.fromkeys(JOBS)
    assert "share" in plain.other_numbers
    assert name in plain.described


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("nurse\nclerk\n", ["nurse", "clerk"]),
        ("word\nnurse\n", ["nurse"]),
        ("nurse,90\nclerk,60\n", ["nurse", "clerk"]),  # not "nurse,90"
        ("Terms\nnew york\n", ["new york"]),
        ("1990\n1991\n", ["1990", "1991"]),
    ],
)
def test_words_with_and_without_a_header(tmp_path: Path, content: str, words: list[str]) -> None:
    assert list(read_words(write(tmp_path, "a.csv", content)).words) == words


def test_the_only_column_of_numbers_is_the_facts(tmp_path: Path) -> None:
    assert read_words(write(tmp_path, "a.csv", "job,n\nnurse,1\n"), "").words == {"nurse": 1.0}
    assert read_words(write(tmp_path, "a.csv", "nurse,1\nclerk,2\n"), "").words == {
        "nurse": 1.0,
        "clerk": 2.0,
    }


def test_the_column_of_the_words_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "job,sector,n\nnurse,health,1\nclerk,office,2\n")
    assert list(read_words(path, column="job").words) == ["nurse", "clerk"]
    assert list(read_words(path, column="2").words) == ["health", "office"]
    with pytest.raises(CatalogueError, match=naming("--column", "job, sector")):
        read_words(path)


@pytest.mark.parametrize(
    ("content", "facts", "named"),
    [
        ("nurse, 90\nclerk, 60\n", None, ["line 1", "'nurse, 90'", ".csv"]),
        ("word\tshare\nnurse\t1\n\t2\n", None, ["line 3"]),
        ("word\ta\tb\nnurse\t1\t2\n", "", ["2 columns", "a, b"]),
        ("word\tnote\nnurse\tx\n", "", ["no column"]),
        ("nurse\t1\nclerk\t2\n", "share", ["line 1", "word,share"]),
        ("word\n", None, ["a.txt"]),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path, content: str, facts: str | None, named: list[object]
) -> None:
    with pytest.raises(CatalogueError, match=naming("a.txt", *named)):
        read_words(write(tmp_path, "a.txt", content), facts)


def test_repeated_words_are_refused_or_kept_once(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "nurse\nnurse\n")
    with pytest.raises(CorpusError, match=naming("line 2", "'nurse'")):
        read_words(path, error=CorpusError)
    assert list(read_words(path, repeats=True).words) == ["nurse"]
