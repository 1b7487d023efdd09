"""Spanish: gender and plural, el before a stressed a, the four forms of adjectives."""

from __future__ import annotations

import pytest

from weatherglass.languages import LANGUAGES
from weatherglass.languages.base import NO_WORDS, Lexicon
from weatherglass.languages.es.pack import begins_with_stressed_a, regular_plural
from weatherglass.languages.slots import filled

SPANISH = LANGUAGES.get("es")


def sentences(word: str, stated: Lexicon = NO_WORDS) -> list[str]:
    reading = SPANISH.read_word(word, stated, NO_WORDS)
    made = (filled(template, reading.slots) for template in SPANISH.templates(reading.word_class))
    return [sentence for sentence in made if sentence]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("médica", ["Esta es una médica.", "La médica está aquí.", "Las médicas son personas."]),
        ("juez", ["Este es un juez.", "Los jueces están aquí."]),
        ("arma", ["Esta es un arma.", "El arma está aquí.", "Las armas están aquí."]),
        ("jardín", ["El jardín está aquí.", "Los jardines son cosas."]),
        ("alegría", ["Esto es alegría.", "La alegría está aquí."]),
        ("feliz", ["Ella parece feliz.", "Ellos parecen felices."]),
        ("trabajadora", ["Él parece trabajador.", "Ellas parecen trabajadoras."]),
        ("ellas", ["Ellas están aquí.", "Ellas son personas."]),
        ("suya", ["Es suya.", "La suya está aquí."]),
        ("gafas", ["Las gafas están aquí."]),
    ],
)
def test_articles_and_plurals_agree(word: str, expected: list[str]) -> None:
    assert set(expected) <= set(sentences(word))


def test_gender_is_asked_for_and_not_guessed_from_the_ending() -> None:
    stated = Lexicon({"foto": "thing noun"})
    assert not any("un foto" in sentence or "el foto" in sentence for sentence in sentences("foto", stated))
    assert "La foto está aquí." in sentences("foto", Lexicon(stated.classes, {"gender": {"foto": "f"}}))


@pytest.mark.parametrize("word", ["agua", "hacha", "aula", "águila", "ave", "hambre", "área"])
def test_the_stressed_a(word: str) -> None:
    assert begins_with_stressed_a(word)


@pytest.mark.parametrize("word", ["abeja", "amiga", "actriz", "alegría", "hamaca", "autora", "avión", "mesa"])
def test_other_words_do_not_begin_with_a_stressed_a(word: str) -> None:
    assert not begins_with_stressed_a(word)


@pytest.mark.parametrize("word", ["crisis", "joven", "francés", "tórax", "esquí", "coche cama"])
def test_plurals_with_exceptions_are_never_made_by_rule(word: str) -> None:
    assert regular_plural(word) is None


def test_tokens() -> None:
    assert SPANISH.tokenise("¿Va al médico?") == ["¿", "Va", "al", "médico", "?"]
