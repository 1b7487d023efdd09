"""German: gender, case and plural; what is not known is left out; sentences as a speaker of German would write them."""

from __future__ import annotations

import pytest

from weatherglass.languages import LANGUAGES
from weatherglass.languages.base import NO_WORDS, WordForms, filled

GERMAN = LANGUAGES.get("de")


def sentences(word: str, stated: WordForms = NO_WORDS) -> list[str]:
    reading = GERMAN.read_word(word, stated, NO_WORDS)
    made = (filled(template, reading.slots) for template in GERMAN.templates(reading.word_class))
    return [sentence for sentence in made if sentence]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (
            "Arzt",
            ["Das ist ein Arzt.", "Es gibt einen Arzt.", "Die Ärzte sind hier.", "Das kommt von den Ärzten."],
        ),
        ("Student", ["Der Student ist hier.", "Es gibt einen Studenten.", "Das kommt von den Studenten."]),
        ("Frau", ["Das ist eine Frau.", "Die Frau ist hier.", "Es gibt eine Frau."]),
        ("Mädchen", ["Das Mädchen ist hier.", "Das sind Mädchen.", "Das kommt von den Mädchen."]),
        ("Auto", ["Das ist ein Auto.", "Das kommt von den Autos."]),
        ("Ärzte", ["Das ist ein Arzt.", "Das sind Ärzte."]),
        ("Freude", ["Das ist Freude.", "Das Thema ist die Freude."]),
        ("gesund", ["Das ist gesund.", "Sie sind gesund."]),
        ("ihm", ["Das gehört ihm."]),
        ("ihn", ["Das ist für ihn."]),
        ("Eltern", ["Das sind Eltern.", "Das kommt von den Eltern."]),
    ],
)
def test_articles_cases_and_plurals_agree(word: str, expected: list[str]) -> None:
    assert set(expected) <= set(sentences(word))


@pytest.mark.parametrize(
    ("word", "expected", "refused"),
    [
        ("schlank", "Alle sind schlank.", "Alles ist schlank."),  # said of people
        ("Physik", "Das Thema ist die Physik.", "Die Physik ist dort."),  # an abstract noun stands nowhere
        ("Mord", "Es geht um Mord.", "Hier ist ein Mord."),
        ("Person", "Es geht um eine Person.", "Eine Person ist eine Person."),
        ("Biene", "Es geht um eine Biene.", "Eine Biene ist eine Sache."),
        ("Student", "Es geht um einen Studenten.", "Es geht um einen Student."),
        ("lügen", "Sie können lügen.", "Dies kann lügen."),  # a thing does not lie
        ("Kosten", "Das Thema sind die Kosten.", "Die Kosten sind hier."),
    ],
)
def test_sentences_that_no_speaker_would_write_are_mended_or_refused(
    word: str, expected: str, refused: str
) -> None:
    made = sentences(word)
    assert expected in made
    assert refused not in made


def test_a_capitalised_word_is_a_noun_and_any_other_one_an_adjective() -> None:
    classes = {
        word: GERMAN.read_word(word, NO_WORDS, NO_WORDS).word_class
        for word in ("Kranich", "wackelig", "wackeln")
    }
    assert classes == {"Kranich": "noun", "wackelig": "adjective", "wackeln": "any word"}


def test_a_noun_of_unknown_gender_stands_only_in_templates_that_need_none() -> None:
    assert sentences("Kranich") == [
        "Das Wort ist Kranich.",
        "Hier steht das Wort Kranich.",
        "Dort steht das Wort Kranich.",
    ]


def test_a_noun_that_may_be_abstract_is_a_topic_and_stands_nowhere() -> None:
    stated = WordForms({}, {"gender": {"Kranich": "m"}, "plural": {"Kranich": "Kraniche"}})
    made = sentences("Kranich", stated)
    assert {"Das Thema ist der Kranich.", "Das Thema sind die Kraniche."} <= set(made)
    assert not any("ist hier" in sentence or "sind hier" in sentence for sentence in made)


def test_stated_gender_and_plural_open_the_other_templates() -> None:
    stated = WordForms({"Bär": "thing noun"}, {"gender": {"Bär": "m"}, "plural": {"Bär": "Bären"}})
    made = sentences("Bär", stated)
    assert {"Das ist ein Bär.", "Die Bären sind hier.", "Das kommt von den Bären."} <= set(made)
    assert not any(
        sentence.startswith("Es gibt") for sentence in made
    )  # einen Bär or einen Bären? It is not stated.
    weak = WordForms(stated.classes, {**stated.forms, "accusative": {"Bär": "Bären"}})
    assert "Es gibt einen Bären." in sentences("Bär", weak)


def test_tokens_and_small_letters() -> None:
    assert GERMAN.tokenise("Das ist z.B. eine E-Mail für 1.000,50 Euro!") == [
        "Das", "ist", "z.B.", "eine", "E-Mail", "für", "1.000,50", "Euro", "!",
    ]  # fmt: skip
    assert GERMAN.lower("STRAẞE") == "straße"
