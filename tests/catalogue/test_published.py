"""The 46 published tests: the same sets, categories, sentences and order as in the data release of May et al. 2019."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.oracles.checksum import checksum
from tests.oracles.sent_bias import CONTENT, WEAT1_BYTES

from weatherglass.catalogue import export_test, list_sets, list_tests, load_test, load_tests, reference
from weatherglass.catalogue.published import lexicon, table
from weatherglass.languages.en import word_classes
from weatherglass.storage.documents import shipped_toml

CUT_AT_RANDOM = {"sent-weat2", "sent-weat7", "sent-weat7b", "sent-weat8", "sent-weat8b", "sent-weat9"}
VIGNETTES = [name for name in list_tests("heilman*") if not name.endswith("_one_word")]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The content of the 46 files that are exported, by name."""
    folder = tmp_path_factory.mktemp("exported")
    for test in load_tests(["*"]):
        export_test(test, folder / f"{test.name}.jsonl")
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.iterdir()}


def test_there_are_the_46_tests_of_the_data_release(exported: dict[str, Any]) -> None:
    assert len(CONTENT) == 46
    assert set(exported) == set(CONTENT)


@pytest.mark.parametrize("name", CONTENT)
def test_an_exported_test_has_the_content_of_the_published_file(name: str, exported: dict[str, Any]) -> None:
    assert checksum(exported[name]) == CONTENT[name]


def test_exported_files_are_laid_out_as_the_published_ones(tmp_path: Path) -> None:
    export_test(load_test("weat1"), tmp_path / "weat1.jsonl")
    assert hashlib.sha256((tmp_path / "weat1.jsonl").read_bytes()).hexdigest() == WEAT1_BYTES


def test_weat10_comes_after_weat9_and_sentences_after_their_words() -> None:
    assert list_tests("weat*") == [
        f"weat{n}" for n in ["1", "2", "3", "3b", "4", "5", "5b", "6", "6b", "7", "7b", "8", "8b", "9", "10"]
    ]
    assert list_tests()[:4] == ["weat1", "sent-weat1", "weat2", "sent-weat2"]


def test_contexts_are_those_of_the_published_tests() -> None:
    counts = Counter(test.context for test in load_tests(["*"]))
    assert counts == {"word": 19, "sent": 19, "sent-unbleached": 2, "paragraph": 6}


@pytest.mark.parametrize("name", list_tests("sent-*"))
def test_a_sentence_remembers_a_word_of_its_word_level_set(name: str) -> None:
    sentence_level, word_level = load_test(name), load_test(name.removeprefix("sent-"))
    for sentences, words in zip(sentence_level.sets, word_level.sets, strict=True):
        remembered = set(sentences.words)
        assert remembered <= set(words.texts)
        if name not in CUT_AT_RANDOM:
            assert remembered == set(words.texts)


def test_only_the_six_tests_that_were_cut_have_sentences_left_out() -> None:
    assert {f"sent-{name}" for name, entry in table("tests").items() if "left_out" in entry} == CUT_AT_RANDOM


def test_a_sentence_knows_its_template() -> None:
    elements = load_test("sent-weat1").targets[0].elements
    assert (elements[0].text, elements[0].word, elements[0].template) == (
        "This is an aster.",
        "aster",
        "This is {a word}.",
    )
    assert elements[13].template == "{Words} are things."


def test_a_word_given_in_the_plural_is_remembered_as_it_was_given() -> None:
    elements = load_test("sent-weat7").targets[0].elements
    assert next(element.word for element in elements if element.text == "This is an equation.") == "equations"


def test_irregular_published_plurals_are_kept() -> None:
    texts = load_test("sent-weat1").texts + load_test("sent-weat2").texts
    assert {"These are mosquitos.", "These are knifes."} <= set(texts)


@pytest.mark.parametrize("name", VIGNETTES)
def test_a_vignette_remembers_the_name_and_the_adjective(name: str) -> None:
    one_word = load_test(name.rsplit("_one_sentence")[0].rsplit("_1")[0] + "_one_word")
    for vignettes, words in zip(load_test(name).sets, one_word.sets, strict=True):
        assert vignettes.words == words.texts
        assert all(word in text for word, text in zip(vignettes.words, vignettes.texts, strict=True))


def test_a_vignette_about_a_woman_has_her_pronouns() -> None:
    male, female = load_test("heilman_double_bind_likable_1-").targets
    assert "He has" in male.texts[0]
    assert "She has" in female.texts[0]
    assert not any(f" {pronoun} " in text for text in female.texts for pronoun in ("He", "he", "His", "his"))


def test_every_word_set_is_written_once_and_used() -> None:
    sets = table("sets")
    assert len({tuple(entry["words"]) for entry in sets.values()}) == len(sets)
    used = {
        role if isinstance(role, str) else role["set"]
        for entry in table("tests").values()
        for role in (entry[letter] for letter in "XYAB")
    }
    assert used == set(sets)


def test_no_set_and_no_test_has_a_duplicate_or_an_overlap() -> None:
    for test in load_tests(["*"]):
        for element_set in test.sets:
            assert len(set(element_set.texts)) == len(element_set)
        assert not set(test.targets[0].texts) & set(test.targets[1].texts)


def test_every_word_has_one_class_and_every_listed_word_is_in_a_set() -> None:
    words = [word for entry in table("sets").values() for word in entry["words"]]
    assert set(lexicon().classes.values()) <= set(word_classes())
    listed = [
        word
        for members in shipped_toml("weatherglass.languages.en", "words")["classes"].values()
        for word in members
    ]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(words)


def test_every_test_and_set_names_its_source() -> None:
    assert all(reference(test.citation) and test.source for test in load_tests(["*"]))
    assert all(entry.source for entry in list_sets())


def test_a_sentence_level_test_has_the_topic_of_its_word_level_test() -> None:
    topics = {test.name: test.topic for test in load_tests(["*"])}
    assert all(topics[name] == topics[name.removeprefix("sent-")] for name in topics)


def test_topics_are_those_of_the_verdicts() -> None:
    # the ids of docs/methods 12, with how many word-level tests and vignettes each has
    assert Counter(test.topic for test in load_tests(["[!s]*"])) == {
        "control": 2,
        "race and valence": 5,
        "gender and career": 2,
        "gender and science": 4,
        "illness and permanence": 1,
        "age and valence": 1,
        "angry black woman": 2,
        "double bind: competence": 5,
        "double bind: likability": 5,
    }


def test_reading_the_catalogue_changes_nothing_in_it() -> None:
    before = json.dumps(table("vignettes"))
    load_test("heilman_double_bind_likable_1")
    assert json.dumps(table("vignettes")) == before


def test_listing_and_loading_do_not_import_inflect() -> None:
    code = "import sys; from weatherglass import catalogue as c; c.load_tests(['*']); print('inflect' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
