"""A language pack of another package makes sentences and splits texts; English stays what it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.messages import mentions, naming

from weatherglass.catalogue import sentence_test
from weatherglass.encoders import load_encoder
from weatherglass.errors import CatalogueError, SpecError
from weatherglass.languages import LANGUAGES
from weatherglass.languages.base import WordForms, WordReading
from weatherglass.languages.tokenise import treebank


@dataclass(frozen=True)
class Esperanto:
    """One class of words, whose plural is regular."""

    name: str = "Esperanto"
    templates_source: str = "Zamenhof 1887"
    templates_citation: str = ""

    def word_classes(self) -> list[str]:
        return ["noun"]

    def read_word(self, word: str, file_lexicon: WordForms, catalogue_lexicon: WordForms) -> WordReading:
        del file_lexicon
        assert not catalogue_lexicon.classes  # the words of the catalogue are English
        slots = {"word": word, "words": word + "j"}
        return WordReading(word, "noun", "all words are nouns", slots, ", ".join(slots.values()), False)

    def form_names(self) -> list[str]:
        return []

    def form_values(self, form: str) -> Sequence[str]:
        raise AssertionError(form)

    def slots(self) -> Mapping[str, str]:
        return {"word": "", "words": ""}

    def templates(self, word_class: str) -> Sequence[str]:
        assert word_class == "noun"
        return ["Jen {word}.", "Jen {words}."]

    def lower(self, text: str) -> str:
        return text.lower()

    def tokenise(self, text: str) -> list[str]:
        return text.removesuffix(".").split()


@pytest.fixture(autouse=True)
def _esperanto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LANGUAGES._registered, "eo", Esperanto())


@pytest.fixture
def word_test(tmp_path: Path) -> Path:
    sets = {
        "X": ("Floroj", "rozo"),
        "Y": ("Insektoj", "muso"),
        "A": ("Bono", "amo"),
        "B": ("Malbono", "malamo"),
    }
    lines = [f'[{role}]\ncategory = "{name}"\nwords = ["{word}"]\n' for role, (name, word) in sets.items()]
    path = tmp_path / "floroj.toml"
    path.write_text("\n".join(['language = "eo"', *lines]), encoding="utf-8")
    return path


def test_sentences_are_made_by_the_pack(word_test: Path) -> None:
    test, readings = sentence_test(word_test)
    assert test.targets[0].texts == ("Jen rozo.", "Jen rozoj.")
    assert test.targets[0].elements[1].template == "Jen {words}."
    assert mentions(test.source, "floroj", "Zamenhof 1887")
    assert (readings[0].shown_forms, readings[0].worth_a_look) == ("rozo, rozoj", True)


def test_word_vectors_are_looked_up_by_the_tokens_of_the_pack(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text("jen 1 0\nrozo 0 1\n. 9 9\n", encoding="utf-8")
    in_esperanto = load_encoder(f"vectors:{file}?language=eo")
    assert np.array_equal(in_esperanto.encode(["Jen rozo."]), [[0.5, 0.5]])
    assert in_esperanto.options["language"] == "eo"
    in_english = load_encoder(f"vectors:{file}")
    assert [list(read.tokens) for read in in_english.coverage(["Jen rozo."])] == [treebank("Jen rozo.")]
    assert "language" not in in_english.options
    assert in_english.identity() != in_esperanto.identity()


def test_an_unknown_language_is_named(word_test: Path, tmp_path: Path) -> None:
    word_test.write_text(word_test.read_text("utf-8").replace('"eo"', '"xx"'), encoding="utf-8")
    with pytest.raises(CatalogueError, match=naming("'xx'", "en, de, fr, es, eo", "[[template]]")):
        sentence_test(word_test)
    (tmp_path / "vectors.txt").write_text("a 1 0\nb 0 1\n", encoding="utf-8")
    with pytest.raises(SpecError, match=naming("language=xx", "en, de, fr, es, eo")):
        load_encoder(f"vectors:{tmp_path / 'vectors.txt'}?language=xx")
