"""Words that do not belong to a test's language are named in one warning; the published tests have none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.messages import mentions

from weatherglass.catalogue import export_test, load_test, load_tests, read_jsonl, read_toml

WriteToml = Callable[[str], Path]


def words(language: str, *groups: list[str]) -> str:
    tables = (
        f'[{role}]\ncategory = "{role}"\nwords = {group!r}\n'
        for role, group in zip("XYAB", groups, strict=True)
    )
    return (f'language = "{language}"\n' if language else "") + "".join(tables)


GERMAN = (["Arzt", "Chirurg"], ["Schwester", "Lehrer"], ["gesund", "Freude"], ["krank", "Hass"])


def test_german_words_without_a_language_are_a_warning(write_toml: WriteToml) -> None:
    (warning,) = read_toml(write_toml(words("", *GERMAN))).warnings
    assert (warning.kind, len(warning.values["words"])) == ("not-in-lexicon", 8)
    assert warning.values["words"][:5] == ["Arzt", "Chirurg", "Schwester", "Lehrer", "gesund"]
    assert mentions(warning.text, "Arzt, Chirurg, Schwester, Lehrer, gesund and 3 more", '"de"')
    assert (warning.values["language"], warning.values["other"]) == ("English", "German")
    assert read_toml(write_toml(words("de", *GERMAN))).warnings == ()


@pytest.mark.parametrize("language", ["fr", "es"])
def test_words_of_a_wrong_language_are_named(language: str, write_toml: WriteToml) -> None:
    (warning,) = read_toml(write_toml(words(language, *GERMAN))).warnings
    assert warning.values["other_code"] == "de"
    assert "gesund" in warning.values["words"]


def test_a_single_unknown_word_is_named_without_a_guess(write_toml: WriteToml) -> None:
    sets = (["oven", "frobnicator"], ["saw"], ["love"], ["war"])
    (warning,) = read_toml(write_toml(words("", *sets))).warnings
    assert (warning.kind, warning.values["words"]) == ("not-in-lexicon", ["frobnicator"])
    assert warning.values["other"] == ""  # no other language is suggested


def test_letters_of_two_scripts_in_one_word_are_named(write_toml: WriteToml) -> None:
    sets = (["m\u0430n", "boy"], ["woman"], ["love"], ["война"])
    mixed, foreign = read_toml(write_toml(words("", *sets))).warnings
    assert (mixed.kind, mixed.values["word"]) == ("mixed-script", "m\u0430n")
    assert mixed.values["scripts"] == "Cyrillic and Latin"
    assert (foreign.kind, foreign.values) == ("other-script", {"words": ["война"], "language": "English"})


def test_scripts_are_compared_within_a_test_of_any_language(write_toml: WriteToml) -> None:
    (warning,) = read_toml(write_toml(words("ru", ["врач"], ["няня"], ["peace"], ["война"]))).warnings
    assert warning.kind == "several-scripts"
    assert warning.values == {"scripts": ["Cyrillic (врач)", "Latin (peace)"]}
    assert read_toml(write_toml(words("ja", ["医者"], ["お母さん"], ["ハンマー"], ["戦争"]))).warnings == ()


@pytest.mark.parametrize("name", ["weat1", "weat3", "weat8", "angry_black_woman_stereotype"])
def test_published_words_belong_to_english(name: str, tmp_path: Path) -> None:
    export_test(load_test(name), tmp_path / f"{name}.jsonl")
    assert read_jsonl(tmp_path / f"{name}.jsonl").warnings == load_test(name).warnings


def test_published_tests_have_no_such_warning() -> None:
    kinds = {warning.kind for test in load_tests(["*"]) for warning in test.warnings}
    assert not kinds & {"not-in-lexicon", "other-script", "mixed-script", "several-scripts"}
