"""Sentence templates of one's own: chosen by class and language, crossed with further slots, left out one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.messages import mentions, naming

import weatherglass
from weatherglass.catalogue import read_toml, sentence_test, to_toml
from weatherglass.errors import CatalogueError

WriteToml = Callable[[str], Path]

WORDS = """\
[X]
category = "Men"
words = ["man", "father"]
class = "person"

[Y]
category = "Women"
words = ["woman", "mother"]
class = "person"

[A]
category = "Good"
words = ["love", "peace"]

[B]
category = "Bad"
words = ["war", "hatred"]
"""

OWN = (
    WORDS
    + """
[[template]]
text = "{A word} is at work."
class = "person"

[[template]]
text = "The {words} are at {place}."
class = ["person", "thing"]
slots = { place = ["home", "school"] }

[[template]]
text = "The word is {word}."
"""
)


def test_words_go_into_the_templates_of_their_class(write_toml: WriteToml) -> None:
    test = read_toml(write_toml(OWN))
    assert (test.name, test.context) == ("own", "sent")
    assert test.targets[0].texts[:4] == (
        "A man is at work.",
        "The men are at home.",
        "The men are at school.",
        "The word is man.",
    )
    assert test.targets[0].elements[1].template == "The {words} are at home."
    assert test.attributes[0].texts == ("The word is love.", "The word is peace.")
    assert test.attributes[1].texts[:3] == (
        "The wars are at home.",
        "The wars are at school.",
        "The word is war.",
    )


def test_tests_sentences_shows_the_same_test(write_toml: WriteToml) -> None:
    path = write_toml(OWN)
    shown, readings = sentence_test(path)
    assert shown.fingerprint() == read_toml(path).fingerprint()
    assert {reading.word for reading in readings} >= {"man", "war"}


def test_a_written_test_keeps_its_templates(write_toml: WriteToml) -> None:
    test = read_toml(write_toml(OWN))
    again = read_toml(write_toml(to_toml(test)))
    assert again.sets == test.sets
    assert again.fingerprint() == test.fingerprint()


def test_sentences_with_and_without_stated_templates_have_different_keys(write_toml: WriteToml) -> None:
    with_templates = '[X.sentences.man]\n"A {word}." = "A man."\n[X.sentences.boy]\n"A {word}." = "A boy."\n'
    listed = '[X.sentences]\nman = ["A man."]\nboy = ["A boy."]\n'
    others = 'Y = "flowers"\nA = "pleasant"\nB = "unpleasant"\n[X]\ncategory = "Men"\n'
    one, other = (read_toml(write_toml(others + sets)) for sets in (with_templates, listed))
    assert one.targets[0].texts == other.targets[0].texts
    assert one.fingerprint() != other.fingerprint()


def test_the_run_leaves_out_each_template(write_toml: WriteToml, tmp_path: Path) -> None:
    run = weatherglass.run("wordllama", str(write_toml(OWN)), folder=tmp_path / "run")
    robustness = run.results[0].robustness
    assert robustness is not None
    left_out = {removal.name for removal in robustness.left_out if removal.kind == "template"}
    assert left_out == {"{A word} is at work.", "The {words} are at home.", "The {words} are at school."}


def test_templates_come_from_a_file_of_several_languages_and_from_the_pack(
    write_toml: WriteToml, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(
        '[[template]]\ntext = "Man spricht von {word}."\nlanguage = "de"\n'
        '[[template]]\ntext = "They speak of {word}."\nlanguage = "en"\n',
        encoding="utf-8",
    )
    german = (
        'language = "de"\ntemplates = ["mine.toml", "pack"]\n'
        '[X]\ncategory = "M"\nwords = ["Mann"]\n[Y]\ncategory = "F"\nwords = ["Frau"]\n'
        '[A]\ncategory = "G"\nwords = ["gesund"]\n[B]\ncategory = "S"\nwords = ["krank"]\n'
    )
    texts = read_toml(write_toml(german)).texts
    assert {"Man spricht von Mann.", "Das ist ein Mann.", "Das ist gesund."} <= set(texts)
    assert not any("They" in text for text in texts)


def test_a_language_without_a_pack_has_the_forms_that_its_file_states(write_toml: WriteToml) -> None:
    russian = (
        'language = "ru"\n[X]\ncategory = "M"\nwords = ["врач"]\n[Y]\ncategory = "F"\nwords = ["няня"]\n'
        '[A]\ncategory = "G"\nwords = ["мир"]\n[B]\ncategory = "S"\nwords = ["война"]\n'
        '[[template]]\ntext = "Это {word}."\n[[template]]\ntext = "Я вижу {accusative}."\nclass = "person"\n'
        '[words.classes]\nperson = ["врач"]\n[words.accusative]\n"врач" = "врача"\n'
    )
    assert read_toml(write_toml(russian)).targets[0].texts == ("Это врач.", "Я вижу врача.")
    assert read_toml(write_toml(russian)).attributes[0].texts == ("Это мир.",)


def test_forms_that_are_not_known_are_asked_for_in_one_line_each(write_toml: WriteToml) -> None:
    german = (
        'language = "de"\n[X]\ncategory = "M"\nwords = ["Hebamme"]\nclass = "person"\n'
        '[Y]\ncategory = "F"\nwords = ["Frau"]\n'
        '[A]\ncategory = "G"\nwords = ["gesund"]\n[B]\ncategory = "S"\nwords = ["krank"]\n'
    )
    test, _ = sentence_test(write_toml(german))
    gender, plural = test.warnings
    assert gender.values == {"form": "gender", "words": ["Hebamme"]}
    assert plural.values == {"form": "plural", "words": ["Hebamme"]}
    assert mentions(plural.text, "1 word", "(Hebamme)", "[words.plural]")
    assert test.targets[0].texts == ("Das Wort ist Hebamme.", "Hier steht das Wort Hebamme.")
    stated, _ = sentence_test(
        write_toml(german + '[words.gender]\nf = ["Hebamme"]\n[words.plural]\nHebamme = "Hebammen"\n')
    )
    assert stated.warnings == ()
    assert {"Das ist eine Hebamme.", "Es gibt eine Hebamme.", "Das sind Hebammen."} <= set(stated.texts)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ('[[template]]\ntext = "Here."', ["line 20: template[1].text", "{word}", "'Here.'"]),
        ('[[template]]\ntext = "{wrod}."', ["template[1].text", "{wrod}", "'word'"]),
        ('[[template]]\ntext = "{word."', ["template[1].text", "'{word.'"]),
        ('[[template]]\ntext = "{}."', ["template[1].text", "braces", "{word}", "'{}.'"]),
        ("[[template]]\ntext = 1", ["template[1].text", "a number"]),
        ('[[template]]\nclass = "person"', ["line 19: template[1]", "text"]),
        ('[[template]]\ntxt = "{word}."', ["template[1].txt", "'text'"]),
        ("[template]\ntext = 1", [": template", "[[template]]", "a table"]),
        ('[[template]]\ntext = "{word}."\nslots = 1', ["template[1].slots", "a table", "a number"]),
        ('[[template]]\ntext = "{word}."\nlanguage = "de"', [": template", "language", "'en'"]),
        (
            '[[template]]\ntext = "{word} works."\nclass = "person"',
            ["'love'", "mass noun", "[words.classes]"],
        ),
        ('[words.gender]\nman = "m"', [": words.gender", "plural", "article"]),
    ],
)
def test_a_wrong_template_is_one_clear_line(text: str, facts: list[str], write_toml: WriteToml) -> None:
    with pytest.raises(CatalogueError, match=naming(*facts)) as caught:
        read_toml(write_toml(f"{WORDS}\n{text}\n"))
    assert "\n" not in str(caught.value)


def test_a_file_of_templates_that_is_missing_is_named(write_toml: WriteToml) -> None:
    with pytest.raises(CatalogueError, match=r"absent.toml"):
        read_toml(write_toml('templates = "absent.toml"\n' + WORDS))


def test_the_examples_in_the_documentation_are_tests(write_toml: WriteToml) -> None:
    page = (Path(__file__).parents[2] / "docs" / "languages.md").read_text(encoding="utf-8")
    packs, templates, without_pack = (block.partition("```")[0] for block in page.split("```toml\n")[1:4])
    german, _ = sentence_test(write_toml(packs))
    assert {"Das ist eine Hebamme.", "Es gibt einen Arzt.", "Das kommt von den Ärzten."} <= set(german.texts)
    assert german.warnings == ()
    english = read_toml(
        write_toml(
            WORDS.replace('"person"', '"person noun"') + '\n[[template]]\ntext = "{word}."\n' + templates
        )
    )
    assert {"A man is at work.", "The men are at school."} <= set(english.texts)
    sets = '[X]\ncategory = "M"\nwords = ["врач"]\n[A]\ncategory = "F"\nwords = ["няня"]\n'
    assert read_toml(write_toml(without_pack + sets)).targets[0].texts == ("Я вижу врача.",)


@pytest.mark.parametrize(
    ("language", "singular", "plural"), [("fr", ["il", "elle"], ["ils", "elles"]), ("es", ["él"], ["ellos"])]
)
def test_a_pronoun_lacks_nothing_in_the_other_number(
    write_toml: WriteToml, language: str, singular: list[str], plural: list[str]
) -> None:
    sets = zip("XYAB", (singular, plural, plural, singular), strict=True)
    toml = "".join(f'[{role}]\ncategory = "{role}"\nwords = {words}\n' for role, words in sets)
    test, _ = sentence_test(write_toml(f'language = "{language}"\n{toml}'))
    assert "unknown-forms" not in [warning.kind for warning in test.warnings]
    assert not any(f"{each.capitalize()} son " in text for text in test.targets[0].texts for each in singular)
