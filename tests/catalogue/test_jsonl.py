"""The published format: what is written is read back, and what is wrong is named with file, line and key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import naming

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
    ("changes", "facts"),
    [
        ({"targ2": None}, [": targ2", "targ1, targ2, attr1, attr2"]),
        ({"targ2": ["ant"]}, ["line 9: targ2", "category", "examples", "a list"]),
        ({"attr1": {"examples": ["love"]}}, ["line 16: attr1", "'category'"]),
        ({"attr1": {"category": "Pleasant"}}, ["line 16: attr1", "'examples'"]),
        ({"attr1": {"category": 3, "examples": ["love"]}}, ["line 17: attr1.category", "a number"]),
        ({"attr2": {"category": "U", "examples": []}}, ["line 25: attr2.examples", "empty"]),
        ({"attr2": {"category": "U", "examples": "filth"}}, ["line 25: attr2.examples", "a list", "text"]),
        (
            {"targ1": {"category": "Flowers", "examples": ["aster", 5]}},
            ["line 4: targ1.examples (element 2)", "a number"],
        ),
        ({"targ1": {"category": "F", "examples": ["aster", None]}}, ["targ1.examples (element 2)", "null"]),
        ({"targ1": {"category": "F", "examples": ["aster", " "]}}, ["targ1.examples (element 2)", "blank"]),
        (
            {"targ1": {"category": "F", "examples": ["\ud83d"]}},
            ["targ1.examples (element 1)", "character"],
        ),
    ],
)
def test_a_malformed_set_is_named_with_file_line_and_key(
    changes: dict[str, Any], facts: list[str], write_jsonl: WriteJsonl
) -> None:
    path = write_jsonl(**changes)
    with pytest.raises(CatalogueError, match=naming(*facts)) as caught:
        read_jsonl(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b'{"targ1": {\n"category": }}', ["own.jsonl, line 2, column 13:", "malformed JSON"]),
        (b"", ["own.jsonl, line 1, column 1:", "malformed JSON"]),
        (b"{}\n{}", ["line 2, column 1:", "malformed JSON", "(Extra data)"]),
        (b"[1, 2]", ["line 1:", "targ1, targ2, attr1, attr2", "a list"]),
        (b'{"targ1": 1,\n"targ1": 2}', ["targ1", "twice"]),
        (b'{\n"targ1": "\xff"}', ["own.jsonl, line 2:", "UTF-8"]),
        (b"[" * 100_000, ["nested"]),
    ],
)
def test_malformed_json_is_named_with_file_and_line(content: bytes, facts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(content)
    with pytest.raises(CatalogueError, match=naming(*facts)):
        read_jsonl(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=naming("absent.jsonl", "No such file")):
        read_jsonl(tmp_path / "absent.jsonl")


def test_of_duplicates_the_first_is_kept_and_the_others_are_counted(write_jsonl: WriteJsonl) -> None:
    test = read_jsonl(
        write_jsonl(targ1={"category": "F", "examples": ["rose", "aster", "rose", "rose", "aster"]})
    )
    assert test.targets[0].texts == ("rose", "aster")
    (warning,) = test.warnings
    assert (warning.kind, warning.values) == (
        "duplicates",
        {"set": "X (F)", "count": 3, "words": ["rose", "aster"]},
    )


def test_targets_that_share_elements_are_a_warning(write_jsonl: WriteJsonl) -> None:
    test = read_jsonl(write_jsonl(targ2={"category": "Insects", "examples": ["ant", "rose"]}))
    (warning,) = test.warnings
    assert warning.kind == "shared-words"
    assert warning.values == {"first": "X (Flowers)", "second": "Y (Insects)", "words": ["rose"]}


def test_sets_that_are_the_same_are_a_warning_whatever_their_order(write_jsonl: WriteJsonl) -> None:
    same = {"category": "Insects", "examples": ["rose", "aster"]}
    warning = read_jsonl(write_jsonl(targ2=same)).warnings[0]
    assert warning.kind == "same-sets"
    assert warning.values == {"first": "X (Flowers)", "second": "Y (Insects)", "effect_is_zero": True}
    same = {"category": "Bad", "examples": ["love", "peace"]}
    other = read_jsonl(write_jsonl(attr2=same)).warnings[0]
    assert (other.kind, other.values["first"], other.values["second"]) == (
        "same-sets",
        "A (Pleasant)",
        "B (Bad)",
    )


def test_an_export_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match=naming(tmp_path / "file" / "weat1.jsonl", "File exists")):
        export_test(load_test("weat1"), tmp_path / "file" / "weat1.jsonl")
    (tmp_path / "weat1.jsonl").mkdir()
    with pytest.raises(OutputError, match=naming(tmp_path / "weat1.jsonl", "folder")):
        export_test(load_test("weat1"), tmp_path / "weat1.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "weat1.jsonl"]


def test_an_export_replaces_an_older_one(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("weat1.jsonl")
    export_test(load_test("weat1"), path)
    assert len(json.loads(path.read_text())["targ1"]["examples"]) == 25
    assert [file.name for file in tmp_path.iterdir()] == ["weat1.jsonl"]
