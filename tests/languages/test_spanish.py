"""Spanish: gender and plural, el before a stressed a, the four forms of adjectives."""

from __future__ import annotations

import pytest

from weatherglass.languages import LANGUAGES
from weatherglass.languages.base import NO_WORDS, WordForms, filled
from weatherglass.languages.es import begins_with_stressed_a, regular_plural

SPANISH = LANGUAGES.get("es")


def sentences(word: str, stated: WordForms = NO_WORDS) -> list[str]:
    reading = SPANISH.read_word(word, stated, NO_WORDS)
    made = (filled(template, reading.slots) for template in SPANISH.templates(reading.word_class))
    return [sentence for sentence in made if sentence]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("médica", ["Esta es una médica.", "La médica está aquí.", "Se trata de las médicas."]),
        ("juez", ["Este es un juez.", "Los jueces están aquí."]),
        ("arma", ["Esta es un arma.", "El arma está aquí.", "Las armas están aquí."]),
        ("jardín", ["El jardín está aquí.", "Se trata de los jardines."]),
        ("alegría", ["Esto es alegría.", "El tema es la alegría."]),
        ("feliz", ["Ella parece feliz.", "Ellos parecen felices."]),
        ("trabajadora", ["Él parece trabajador.", "Ellas parecen trabajadoras."]),
        ("ellas", ["Ellas están aquí.", "Ellas son personas."]),
        ("suya", ["Es suya.", "La suya está aquí."]),
        ("gafas", ["El tema son las gafas."]),
    ],
)
def test_articles_and_plurals_agree(word: str, expected: list[str]) -> None:
    assert set(expected) <= set(sentences(word))


@pytest.mark.parametrize(
    ("word", "expected", "refused"),
    [
        ("contento", "Esta parece contenta.", "Esto parece contento."),  # esto is no person
        ("física", "El tema es la física.", "La física está aquí."),  # an abstract noun stands nowhere
        ("persona", "Se trata de una persona.", "Una persona es una persona."),
        ("abeja", "Se trata de una abeja.", "Una abeja es una cosa."),
        ("llorar", "Suele llorar.", "Esto suele llorar."),
        ("matemáticas", "El tema son las matemáticas.", "Las matemáticas están aquí."),
        ("carrera", "La palabra es carrera.", "La carrera está aquí."),  # events take ser
    ],
)
def test_sentences_that_no_speaker_would_write_are_mended_or_refused(
    word: str, expected: str, refused: str
) -> None:
    made = sentences(word)
    assert expected in made
    assert refused not in made


@pytest.mark.parametrize("word", ["boda", "accidente", "carrera", "crimen", "catástrofe", "desastre"])
def test_events_are_no_thing_nouns_because_they_take_ser(word: str) -> None:
    assert not any("está aquí" in each for each in sentences(word) if "palabra" not in each)


def test_gender_is_asked_for_and_not_guessed_from_the_ending() -> None:
    stated = WordForms({"foto": "thing noun"})
    assert not any("un foto" in sentence or "el foto" in sentence for sentence in sentences("foto", stated))
    assert "La foto está aquí." in sentences("foto", WordForms(stated.classes, {"gender": {"foto": "f"}}))


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
