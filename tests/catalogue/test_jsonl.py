"""The published format: what is written is read back, and what is wrong is named with file, line and key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weatherglass.catalogue import Element, ElementSet, Test, export_test, load_test, read_jsonl
from weatherglass.errors import CatalogueError, OutputError

WriteJsonl = Callable[..., Path]

# any character that UTF-8 can hold: quotes, backslashes, line breaks, control characters, emoji
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9).filter(
    lambda text: text.strip()
)
sets = st.builds(
    lambda category, words: ElementSet(category, tuple(Element(word, word) for word in words)),
    texts,
    st.lists(texts, min_size=1, max_size=6, unique=True),
)
tests = st.builds(Test, st.just("own"), st.tuples(sets, sets), st.tuples(sets, sets))


@given(test=tests)
def test_what_is_exported_is_read_back(test: Test, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "own.jsonl"
    export_test(test, path)
    read = read_jsonl(path)
    assert (read.name, read.sets) == (test.name, test.sets)


def test_a_published_word_level_test_survives_the_round_trip_whole(tmp_path: Path) -> None:
    test = load_test("weat1")
    export_test(test, tmp_path / "weat1.jsonl")
    read = read_jsonl(tmp_path / "weat1.jsonl")
    assert read.fingerprint() == test.fingerprint()
    assert read.context == "word"
    assert read.warnings == ()


def test_a_sentence_read_from_the_published_form_is_its_own_word(tmp_path: Path) -> None:
    export_test(load_test("sent-weat6"), tmp_path / "own.jsonl")
    read = read_jsonl(tmp_path / "own.jsonl")
    assert read.context == "sent"
    assert all(element.word == element.text for element_set in read.sets for element in element_set.elements)


def test_other_keys_and_a_byte_order_mark_do_no_harm(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    path = write_jsonl(comment="made for a seminar", year=2024)
    marked = tmp_path / "marked.jsonl"
    marked.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_jsonl(marked).sets == read_jsonl(path).sets


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"targ2": None}, r"targ2 is missing; a test has targ1, targ2, attr1, attr2"),
        ({"targ2": ["ant"]}, r"line 9: targ2 should be an object with category and examples, but is a list"),
        ({"attr1": {"examples": ["love"]}}, r"line 16: attr1 has no 'category'"),
        ({"attr1": {"category": "Pleasant"}}, r"line 16: attr1 has no 'examples'"),
        (
            {"attr1": {"category": 3, "examples": ["love"]}},
            r"line 17: attr1.category should be text, but is a number",
        ),
        ({"attr2": {"category": "U", "examples": []}}, r"line 25: attr2.examples is empty"),
        (
            {"attr2": {"category": "U", "examples": "filth"}},
            r"line 25: attr2.examples should be a list .* is text",
        ),
        (
            {"targ1": {"category": "Flowers", "examples": ["aster", 5]}},
            r"line 4: targ1.examples \(element 2\) should be text, but is a number",
        ),
        (
            {"targ1": {"category": "F", "examples": ["aster", None]}},
            r"\(element 2\) should be text, but is null",
        ),
        ({"targ1": {"category": "F", "examples": ["aster", " "]}}, r"\(element 2\) is blank"),
        ({"targ1": {"category": "F", "examples": ["\ud83d"]}}, r"\(element 1\) holds half of a character"),
    ],
)
def test_a_malformed_set_is_named_with_file_line_and_key(
    changes: dict[str, Any], complaint: str, write_jsonl: WriteJsonl
) -> None:
    path = write_jsonl(**changes)
    with pytest.raises(CatalogueError, match=complaint) as caught:
        read_jsonl(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"targ1": {\n"category": }}', r"own.jsonl, line 2: malformed JSON"),
        (b"", r"own.jsonl, line 1: malformed JSON"),
        (b"{}\n{}", r"line 2: malformed JSON \(Extra data\); one file holds one test"),
        (b"[1, 2]", r"line 1: should be an object with targ1, targ2, attr1, attr2, but is a list"),
        (b'{"targ1": 1,\n"targ1": 2}', r"targ1 is given twice"),
        (b'{\n"targ1": "\xff"}', r"own.jsonl, line 2: not UTF-8 text"),
        (b"[" * 100_000, r"nested too deeply"),
    ],
)
def test_malformed_json_is_named_with_file_and_line(content: bytes, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(content)
    with pytest.raises(CatalogueError, match=complaint):
        read_jsonl(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"absent\.jsonl: cannot be read \(No such file"):
        read_jsonl(tmp_path / "absent.jsonl")


def test_of_duplicates_the_first_is_kept_and_the_others_are_counted(write_jsonl: WriteJsonl) -> None:
    test = read_jsonl(
        write_jsonl(targ1={"category": "F", "examples": ["rose", "aster", "rose", "rose", "aster"]})
    )
    assert test.targets[0].texts == ("rose", "aster")
    assert test.warnings == ("set X (F): 3 duplicates left out (rose, aster)",)


def test_targets_that_share_elements_are_a_warning(write_jsonl: WriteJsonl) -> None:
    test = read_jsonl(write_jsonl(targ2={"category": "Insects", "examples": ["ant", "rose"]}))
    assert test.warnings == ("X (Flowers) and Y (Insects) share 1 element (rose)",)


def test_sets_that_are_the_same_are_a_warning_whatever_their_order(write_jsonl: WriteJsonl) -> None:
    same = {"category": "Insects", "examples": ["rose", "aster"]}
    warning = read_jsonl(write_jsonl(targ2=same)).warnings[0]
    assert warning.startswith("X (Flowers) and Y (Insects) hold the same elements")
    same = {"category": "Bad", "examples": ["love", "peace"]}
    assert (
        read_jsonl(write_jsonl(attr2=same)).warnings[0].startswith("A (Pleasant) and B (Bad) hold the same")
    )


def test_an_export_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="cannot be written"):
        export_test(load_test("weat1"), tmp_path / "file" / "weat1.jsonl")
    (tmp_path / "weat1.jsonl").mkdir()
    with pytest.raises(OutputError, match="cannot be written"):
        export_test(load_test("weat1"), tmp_path / "weat1.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "weat1.jsonl"]


def test_an_export_replaces_an_older_one(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("weat1.jsonl")
    export_test(load_test("weat1"), path)
    assert len(json.loads(path.read_text())["targ1"]["examples"]) == 25
    assert [file.name for file in tmp_path.iterdir()] == ["weat1.jsonl"]
