"""French: gender, elision, partitive and plural; the four forms of adjectives; tokens with elided words."""

from __future__ import annotations

import pytest

from weatherglass.languages import LANGUAGES
from weatherglass.languages.base import NO_WORDS, WordForms, filled
from weatherglass.languages.fr import regular_plural

FRENCH = LANGUAGES.get("fr")


def sentences(word: str, stated: WordForms = NO_WORDS) -> list[str]:
    reading = FRENCH.read_word(word, stated, NO_WORDS)
    made = (filled(template, reading.slots) for template in FRENCH.templates(reading.word_class))
    return [sentence for sentence in made if sentence]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("médecin", ["C'est un médecin.", "Le médecin est venu.", "Les médecins sont ici."]),
        ("infirmière", ["C'est une infirmière.", "L'infirmière est venue.", "Ce sont des infirmières."]),
        ("homme", ["L'homme est ici."]),
        ("héros", ["Le héros est ici.", "Les héros sont ici."]),
        ("hôpital", ["L'hôpital est ici.", "Ce sont des hôpitaux."]),
        ("amour", ["C'est de l'amour."]),
        ("joie", ["C'est de la joie."]),
        ("courage", ["C'est du courage."]),
        ("heureux", ["C'est heureux.", "Elle est heureuse.", "Ils sont heureux.", "Elles sont heureuses."]),
        ("belle", ["Il est beau.", "Elle est belle.", "Ils sont beaux."]),
        ("ils", ["Ils sont ici."]),
        ("les siens", ["Ce sont les siens."]),
        ("Marie", ["C'est Marie."]),
    ],
)
def test_articles_elision_and_plurals_agree(word: str, expected: list[str]) -> None:
    assert set(expected) <= set(sentences(word))


@pytest.mark.parametrize(
    ("word", "expected", "refused"),
    [
        ("poésie", "Le sujet est la poésie.", "La poésie est là."),  # an abstract noun stands nowhere
        ("amour", "Il s'agit de l'amour.", "Voici de l'amour."),  # voici shows what is there to be seen
        ("personne", "Il s'agit d'une personne.", "Une personne est une personne."),
        ("abeille", "Il s'agit d'une abeille.", "Une abeille est une chose."),
        ("mentir", "Elles peuvent mentir.", "Cela peut mentir."),  # a thing does not lie
        ("vacances", "Le sujet, ce sont les vacances.", "Les vacances sont ici."),
        ("Marie", "Le prénom est Marie.", "Le nom est Marie."),
        ("santé", "Le mot est santé.", "C'est de la santé."),  # no partitive
        ("soi", "Le mot est soi.", "C'est sans soi."),  # needs on or chacun before it
    ],
)
def test_sentences_that_no_speaker_would_write_are_mended_or_refused(
    word: str, expected: str, refused: str
) -> None:
    made = sentences(word)
    assert expected in made
    assert refused not in made


def test_a_noun_that_is_stated_to_be_plural_stays_plural_although_its_singular_is_known() -> None:
    made = sentences("nombres", WordForms({"nombres": "plural noun"}))
    assert "Ce sont des nombres." in made
    assert all("nombres" in sentence for sentence in made)


def test_before_h_the_article_has_to_be_known() -> None:
    stated = WordForms({"hangar": "thing noun"}, {"gender": {"hangar": "m"}})
    assert not any(
        sentence.lower().startswith(("le hangar", "l'hangar")) for sentence in sentences("hangar", stated)
    )
    aspirated = WordForms(stated.classes, {**stated.forms, "elision": {"hangar": "no"}})
    assert "Le hangar est ici." in sentences("hangar", aspirated)


def test_the_forms_that_templates_use_are_shown() -> None:
    shown = {
        word: FRENCH.read_word(word, NO_WORDS, NO_WORDS).shown_forms
        for word in ("médecin", "joie", "belle", "agir")
    }
    assert shown == {"médecin": "un médecin, médecins", "joie": "la joie", "belle": "beau, belle", "agir": ""}


def test_a_word_of_which_nothing_is_known_is_only_mentioned() -> None:
    assert sentences("poireau") == ["Le mot est poireau.", "Voici le mot poireau.", "Voilà le mot poireau."]


@pytest.mark.parametrize("word", ["bal", "cheval", "pneu", "bijou", "travail", "arc-en-ciel"])
def test_plurals_with_exceptions_are_never_made_by_rule(word: str) -> None:
    assert regular_plural(word) is None


def test_an_elided_word_is_a_token_of_its_own() -> None:
    assert FRENCH.tokenise("C'est l'homme d’aujourd'hui, qu'il dit.") == [
        "C'", "est", "l'", "homme", "d’", "aujourd'hui", ",", "qu'", "il", "dit", ".",
    ]  # fmt: skip
