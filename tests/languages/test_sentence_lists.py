"""The lists of sentences that were read one by one (docs/languages/) are what the packs make today."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.languages.write_sentences import sentences

from weatherglass.languages import LANGUAGES
from weatherglass.languages.base import NO_WORDS, InflectedLanguage, base_name, slot_names

FOLDER = Path(__file__).parents[2] / "docs" / "languages"
OPEN_CLASSES = ("given name", "adjective", "mass noun", "verb", "person noun", "thing noun")
CODES = ("de", "fr", "es")


@pytest.mark.parametrize("code", CODES)
def test_the_sentences_that_were_read_are_those_that_are_made(code: str) -> None:
    assert (FOLDER / f"sentences-{code}.txt").read_text("utf-8").splitlines() == list(sentences(code))


@pytest.mark.parametrize("code", CODES)
def test_every_open_class_has_50_words_that_go_into_all_of_its_templates(code: str) -> None:
    pack = LANGUAGES.get(code)
    assert isinstance(pack, InflectedLanguage)
    for word_class in OPEN_CLASSES:
        words = [word for word, each in pack.lexicon.classes.items() if each == word_class]
        assert len(words) >= 50, word_class
        slots = {base_name(slot) for template in pack.templates(word_class) for slot in slot_names(template)}
        for word in words:
            assert slots <= set(pack.read_word(word, NO_WORDS, NO_WORDS).slots), word


@pytest.mark.parametrize("code", CODES)
def test_templates_have_known_slots_only_and_the_classes_of_english(code: str) -> None:
    pack = LANGUAGES.get(code)
    assert set(LANGUAGES.get("en").word_classes()) <= set(pack.word_classes())
    for word_class in pack.word_classes():
        for template in pack.templates(word_class):
            assert {base_name(slot) for slot in slot_names(template)} <= set(pack.slots())
            assert template.endswith(".")
