"""Words to sentences: the templates by class, a user's own words, and the guesses about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import naming

from weatherglass.catalogue import export_test, load_test, read_toml, sentence_test, to_toml
from weatherglass.catalogue.published import lexicon
from weatherglass.errors import CatalogueError
from weatherglass.languages.base import WordForms
from weatherglass.languages.en import (
    Forms,
    guess_class,
    read_word,
    regular_article,
    regular_plural,
    sentences,
    word_classes,
    word_forms,
)
from weatherglass.storage.documents import shipped_toml

WriteJsonl = Callable[..., Path]
WriteToml = Callable[[str], Path]

GUESSES = shipped_toml("weatherglass.languages.en", "guesses")
NOTHING_STATED = WordForms()
UNCUT = ["weat1", "weat3b", "weat6", "weat6b", "weat10", "angry_black_woman_stereotype_b"]


def texts_of(word: str, word_class: str) -> list[str]:
    forms = word_forms(word, word_class, NOTHING_STATED, lexicon())
    return [text for text, _ in sentences(forms, word_class)]


def test_there_are_nine_classes_with_the_numbers_of_templates_of_may_2019() -> None:
    assert {word_class: len(texts_of("aster", word_class)) for word_class in word_classes()} == {
        "given name": 8,
        "adjective": 3,
        "mass noun": 4,
        "verb": 8,
        "subject pronoun": 5,
        "object pronoun": 3,
        "possessive pronoun": 7,
        "person noun": 13,
        "thing noun": 14,
    }


def test_a_sentence_begins_with_a_capital_letter_and_ends_with_a_full_stop() -> None:
    for word_class in word_classes():
        for text in texts_of("Aster" if word_class == "given name" else "aster", word_class):
            assert text[0].isupper()
            assert text.endswith(".")


@pytest.mark.parametrize(
    ("noun", "plural", "article"),
    [("aster", "asters", "an"), ("crocus", "crocuses", "a"), ("poppy", "poppies", "a"), ("boy", "boys", "a")],
)
def test_the_rules_for_plurals_and_articles(noun: str, plural: str, article: str) -> None:
    assert (regular_plural(noun), regular_article(noun)) == (plural, article)


def test_braces_in_a_word_are_only_braces() -> None:
    forms = Forms("{word}", singular="{word}", plural="{words}", article="a")
    assert sentences(forms, "thing noun")[0][0] == "This is a {word}."


@pytest.mark.parametrize("name", UNCUT)
def test_sentences_from_an_exported_test_are_the_published_ones(name: str, tmp_path: Path) -> None:
    # except the plural of mosquito, which May et al. spell without an e
    export_test(load_test(name), tmp_path / f"{name}.jsonl")
    made, _ = sentence_test(tmp_path / f"{name}.jsonl")
    published = load_test(f"sent-{name}")
    assert made.name == published.name
    for own, theirs in zip(made.sets, published.sets, strict=True):
        assert own.words == theirs.words
        assert [text.lower().replace("mosquitoes", "mosquitos") for text in own.texts] == [
            text.lower() for text in theirs.texts
        ]


def test_sentences_of_a_user_are_not_cut() -> None:
    made, _ = sentence_test("weat9")
    assert [len(target) for target in made.targets] == [18, 73]


def test_sentences_written_as_toml_still_know_their_words(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    made, _ = sentence_test(write_jsonl())
    path = tmp_path / "sent-own.toml"
    path.write_text(to_toml(made), encoding="utf-8")
    assert read_toml(path).fingerprint() == made.fingerprint()


@pytest.mark.parametrize(
    ("word", "word_class"),
    [
        ("love", "mass noun"),  # the catalogue's
        ("Einstein", "given name"),
        ("Rose", "given name"),  # not the flower
        ("Mexican American", "person noun"),
        ("FIFA", "mass noun"),
        ("physics", "mass noun"),
        ("linguistics", "mass noun"),
        ("feminism", "mass noun"),
        ("kindness", "mass noun"),
        ("swimming", "mass noun"),
        ("hopeful", "adjective"),
        ("careless", "adjective"),
        ("envious", "adjective"),
        ("unreliable", "adjective"),
        ("frustrated", "adjective"),
        ("chemist", "person noun"),
        ("policewoman", "person noun"),
        ("nurses", "person noun"),
        ("tall woman", "person noun"),
        ("women of colour", "person noun"),
        ("theirs", "possessive pronoun"),
        ("table", "thing noun"),
        ("oven", "thing noun"),
        ("ovens", "thing noun"),
    ],
)
def test_the_class_of_a_word_is_guessed(word: str, word_class: str) -> None:
    guessed, reason = guess_class(word, lexicon())
    assert guessed == word_class
    assert reason


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("oven", "an oven, ovens"),
        ("hour", "an hour, hours"),
        ("university", "a university, universities"),
        ("knife", "a knife, knives"),
        ("mosquito", "a mosquito, mosquitoes"),
        ("dishes", "a dish, dishes"),
        ("small children", "a small child, small children"),
        ("virus", "a virus, viruses"),
        ("lens", "a lens, lenses"),
        ("specimen", "a specimen, specimens"),
        ("opera", "an opera, operas"),
        ("men", "a man, men"),
        ("mice", "a mouse, mice"),
        ("series", "a series, series"),
        ("mother-in-law", "a mother-in-law, mothers-in-law"),
        ("women of color", "a woman of color, women of color"),
        ("honor", "an honor, honors"),
        ("parents", "a parent, parents"),
    ],
)
def test_nouns_get_their_article_and_plural(word: str, forms: str) -> None:
    assert read_word(word, NOTHING_STATED, lexicon()).shown_forms == forms


def test_what_the_file_states_goes_before_every_guess(write_toml: WriteToml) -> None:
    path = write_toml(
        """
        [X]
        category = "X"
        words = ["hammer", "octopus", "Hoover"]
        [Y]
        set = "flowers"
        [A]
        set = "career"
        [B]
        set = "family"
        [words.classes]
        verb = ["hammer"]
        "thing noun" = ["Hoover"]
        [words.plural]
        octopus = "octopodes"
        [words.article]
        octopus = "a"
        """
    )
    made, readings = sentence_test(path)
    assert made.context == "sent"
    texts = made.targets[0].texts
    assert {"This will hammer.", "These are octopodes.", "This is a octopus.", "This is a Hoover."} <= set(
        texts
    )
    looked_at = {reading.word for reading in readings if reading.worth_a_look}
    assert looked_at == {"octopus", "Hoover"}


def test_a_singular_that_is_stated_is_used(write_toml: WriteToml) -> None:
    path = write_toml(
        'X = "flowers"\nY = "insects"\nA = "pleasant"\n[B]\ncategory = "B"\nwords = ["opera", "dice"]\n'
        'class = "thing noun"\n[words.singular]\ndice = "die"\n[words.plural]\ndie = "dice"\n'
    )
    texts = sentence_test(path)[0].attributes[1].texts
    assert {"This is a die.", "These are dice.", "These are operas."} <= set(texts)


def test_two_words_with_the_same_sentences_are_counted(write_jsonl: WriteJsonl) -> None:
    made, _ = sentence_test(write_jsonl(targ1={"category": "Kin", "examples": ["nurse", "nurses"]}))
    assert len(made.targets[0]) == 13
    assert (made.warnings[0].values["set"], made.warnings[0].values["count"]) == ("X (Kin)", 13)


def test_a_word_that_no_template_fits_is_an_error(write_jsonl: WriteJsonl) -> None:
    with pytest.raises(CatalogueError, match=naming("'they'", "template", "[words.classes]")):
        sentence_test(write_jsonl(targ1={"category": "P", "examples": ["he", "they"]}))


def test_sentences_are_not_made_from_sentences() -> None:
    with pytest.raises(CatalogueError, match=naming("'sent-weat1'", "context", "sent")):
        sentence_test("sent-weat1")


def test_listed_guesses_are_in_one_class_and_not_in_the_catalogue() -> None:
    listed = [word for words in GUESSES["listed"].values() for word in words]
    assert len(listed) == len(set(listed))
    assert not set(listed) & set(lexicon().classes)
    assert set(GUESSES["listed"]) | set(GUESSES["endings"]) <= set(word_classes())


@given(word=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip()))
def test_any_word_at_all_can_be_read(word: str) -> None:
    if word.strip().split()[-1] in GUESSES["unfit"]["words"]:
        return  # "they" and its like, tested above
    reading = read_word(word, NOTHING_STATED, lexicon())
    assert reading.word == word
    assert reading.slots["word"]
