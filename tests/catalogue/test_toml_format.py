"""Our own format: sets by name, by words, by sentences; strict about keys, exact about places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import naming

from weatherglass.catalogue import (
    Element,
    ElementSet,
    Test,
    load_test,
    read_toml,
    to_toml,
    write_test,
)
from weatherglass.catalogue.toml_format import read_test_file
from weatherglass.errors import CatalogueError, UnknownNameError

WriteToml = Callable[[str], Path]

GOOD = """\
name = "chores"
source = "our survey"

[X]
category = "Kitchen"
words = ["oven", "pan"]

[Y]
category = "Workshop"
words = ["saw", "drill"]
class = "thing noun"

[A]
set = "male_names"

[B]
set = "female_names"
category = "Women"
"""

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9).filter(
    lambda text: text.strip()
)


def grouped(pairs: list[tuple[str, str]]) -> tuple[Element, ...]:
    """Sentences and their words, those of one word together."""
    return tuple(Element(text, word) for text, word in sorted(pairs, key=lambda pair: pair[1]))


sentence_sets = st.builds(
    ElementSet,
    texts,
    st.lists(st.tuples(texts, texts), min_size=1, max_size=6, unique_by=lambda pair: pair[0]).map(grouped),
)
one_to_four_sets = st.lists(sentence_sets, min_size=1, max_size=4).map(tuple)
tests = st.builds(
    Test,
    st.just("own"),
    one_to_four_sets,
    one_to_four_sets,
    context=st.sampled_from(["word", "sent", "sent-unbleached", "paragraph"]),
    source=texts,
    citation=texts,
    language=st.sampled_from(["en", "de", "pt-BR"]),
    topic=st.just("") | texts,
)


@given(test=tests)
def test_what_is_written_is_read_back_with_the_words(
    test: Test, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "own.toml"
    write_test(test, path)
    read = read_toml(path)
    assert (read.targets, read.attributes) == (test.targets, test.attributes)
    assert read.fingerprint() == test.fingerprint()
    for name in ("name", "context", "source", "citation", "language", "topic"):
        assert getattr(read, name) == getattr(test, name)


@pytest.mark.parametrize("name", ["weat1", "sent-weat6b", "heilman_double_bind_likable_1-"])
def test_a_published_test_survives_the_round_trip_with_its_words(name: str, write_toml: WriteToml) -> None:
    test = load_test(name)
    read = read_toml(write_toml(to_toml(test)))
    assert read.fingerprint() == test.fingerprint()
    assert (read.context, read.source, read.citation) == (test.context, test.source, test.citation)


def test_sets_are_given_by_words_or_by_name(write_toml: WriteToml) -> None:
    test = read_toml(write_toml(GOOD))
    assert (test.name, test.source, test.context) == ("chores", "our survey", "word")
    assert test.targets[0] == ElementSet("Kitchen", (Element("oven", "oven"), Element("pan", "pan")))
    assert test.attributes[0] == load_test("weat6").targets[0]
    assert test.attributes[1].category == "Women"
    assert test.attributes[1].texts == load_test("weat6").targets[1].texts


def test_a_set_can_be_named_on_one_line_and_the_name_left_to_the_file(write_toml: WriteToml) -> None:
    test = read_toml(write_toml('X = "flowers"\nY = "insects"\nA = "pleasant"\nB = "unpleasant"\n'))
    assert test.name == "own"
    assert test.sets == load_test("weat1").sets


def test_sentences_stand_under_their_word_and_make_the_test_sentence_level(write_toml: WriteToml) -> None:
    text = GOOD.replace(
        'words = ["oven", "pan"]', 'sentences = { oven = ["An oven!"], pan = ["A pan.", "Pans."] }'
    )
    test = read_toml(write_toml(text))
    assert test.context == "sent"
    assert test.targets[0].words == ("oven", "pan", "pan")


def test_stated_classes_are_read_the_single_word_over_its_set(write_toml: WriteToml) -> None:
    lexicon = read_test_file(write_toml(GOOD + '\n[words.classes]\nverb = ["saw"]\n')).lexicon
    assert lexicon.classes["saw"] == "verb"
    assert lexicon.classes["drill"] == "thing noun"
    assert lexicon.classes["John"] == "given name"
    assert "oven" not in lexicon.classes


def test_duplicates_and_overlaps_are_warnings(write_toml: WriteToml) -> None:
    text = GOOD.replace('["oven", "pan"]', '["oven", "saw", "oven"]')
    duplicates, overlaps = read_toml(write_toml(text)).warnings
    assert duplicates.values == {"set": "X (Kitchen)", "count": 1, "words": ["oven"]}
    assert overlaps.values == {"first": "X (Kitchen)", "second": "Y (Workshop)", "words": ["saw"]}
    assert (duplicates.kind, overlaps.kind) == ("duplicates", "shared-words")


@pytest.mark.parametrize(
    ("old", "new", "facts"),
    [
        ('words = ["oven", "pan"]', 'words = ["oven" "pan"]', ["own.toml, line 6:", "malformed TOML"]),
        ('category = "Women"', 'category = "Women', ["own.toml, line 18:", "malformed TOML"]),
        ("[X]", "[x]", ["line 4: x", "'X'"]),
        ("[X]", "[Y]", ["line 8:", "malformed TOML", "Cannot declare"]),
        ('[A]\nset = "male_names"', "", ["own.toml: A", "WEAT"]),
        ('[A]\nset = "male_names"', "[[A]]", ["line 13: A", "a list"]),
        ('words = ["oven", "pan"]', "words = []", ["line 6: X.words", "empty"]),
        ('words = ["oven", "pan"]', "words = [1]", ["line 6: X.words (element 1)", "a number"]),
        ('words = ["oven", "pan"]', 'word = ["oven"]', ["line 6: X.word ", "'words'"]),
        ('words = ["oven", "pan"]', "", ["line 4: X", "set", "words", "sentences", "none"]),
        ('words = ["oven", "pan"]', 'words = ["oven"]\nset = "career"', [": X", "set and words"]),
        ('words = ["oven", "pan"]', "sentences = {}", ["line 6: X.sentences", "empty"]),
        ('words = ["oven", "pan"]', "sentences = 1", ["line 6: X.sentences", "a table", "a number"]),
        ('words = ["oven", "pan"]', 'sentences = { "" = ["x"] }', ["X.sentences (a word)", "blank"]),
        ('words = ["oven", "pan"]', "sentences = { oven = [] }", ["X.sentences.oven", "empty"]),
        ('category = "Kitchen"\n', "", ["line 4: X", "category"]),
        ('category = "Kitchen"', "category = 1", ["line 5: X.category", "a number"]),
        ('"thing noun"', '"thing nun"', ["line 11: Y.class", "'thing nun'", "'thing noun'"]),
        ('"our survey"', "2024", ["line 2: source", "a number"]),
        ('"chores"', '"a/b"', ["line 1: name", "'a/b'"]),
        ('"chores"', r'"a\tb"', ["line 1: name", r"'a\tb'"]),
        ('"chores"', '""', ["line 1: name", "blank"]),
        ('"our survey"', '"s"\ncontext = "sents"', ["line 3: context", "'sents'", "'sent'"]),
        ('"our survey"', '"s"\nwords = 1', ["line 3: words", "a table", "a number"]),
        ('category = "Women"\n', "[words]\nclasses = 1", ["words.classes", "a table", "a number"]),
        ('category = "Women"\n', '[words.classes]\nverbs = ["saw"]', ["'verbs'", "'verb'"]),
        ('category = "Women"\n', '[words.classes]\nverb = ["sew"]', ["'sew'", "'saw'"]),
        (
            'category = "Women"\n',
            '[words.classes]\nverb = ["saw"]\nadjective = ["saw"]',
            ["line 18: words.classes", "'saw'", "verb", "adjective"],
        ),
        ('category = "Women"\n', '[words.article]\nsaw = "the"', ["line 19: words.article.saw", "'the'"]),
        ('category = "Women"\n', "[words.plural]\nsaw = 2", ["line 19: words.plural.saw", "a number"]),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_key(
    old: str, new: str, facts: list[str], write_toml: WriteToml
) -> None:
    assert old in GOOD
    path = write_toml(GOOD.replace(old, new))
    with pytest.raises(CatalogueError, match=naming(*facts)) as caught:
        read_toml(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


ANY_NUMBER = """\
topic = "gender and rank"

[[targets]]
set = "female_terms"

[[attributes]]
category = "Low"
words = ["servant", "maid"]

[[attributes]]
category = "High"

[attributes.sentences]
judge = ["A judge spoke."]

[[attributes]]
category = "Middle"
words = ["clerk", "clerk"]
"""


def test_any_number_of_sets_is_given_as_lists(write_toml: WriteToml) -> None:
    test = read_toml(write_toml(ANY_NUMBER))
    assert test.shape == (1, 3)
    assert test.categories == ("FemaleTerms", "Low", "High", "Middle")
    assert (test.topic, test.language, test.context) == ("gender and rank", "en", "sent")
    (warning,) = test.warnings
    assert (warning.kind, warning.values) == (
        "duplicates",
        {"set": "A3 (Middle)", "count": 1, "words": ["clerk"]},
    )


def test_lists_may_name_catalogue_sets_on_one_line(write_toml: WriteToml) -> None:
    test = read_toml(
        write_toml('targets = ["flowers", "insects"]\nattributes = ["pleasant", "unpleasant"]\n')
    )
    assert test.sets == load_test("weat1").sets


def test_y_and_b_may_be_left_out(write_toml: WriteToml) -> None:
    test = read_toml(write_toml('X = "flowers"\nA = "pleasant"\nB = "unpleasant"\n'))
    assert (test.shape, test.roles) == ((1, 2), ("X", "A", "B"))


@pytest.mark.parametrize(
    ("old", "new", "facts"),
    [
        ("[[targets]]", "[X]", ["line 6: attributes", "X", "X, Y, A, B"]),
        ("[[targets]]", "[targets]", ["line 3: targets", "[[targets]]", "a table"]),
        ('[[targets]]\nset = "female_terms"', "targets = []", ["line 3: targets", "empty"]),
        ('[[targets]]\nset = "female_terms"', "", ["own.toml: targets", "missing"]),
        ('[[targets]]\nset = "female_terms"', "targets = [1]", ["line 3: targets[1]", "a number"]),
        ('"female_terms"', '"female_term"', ["line 3: targets[1]", "'female_term'", "'female_terms'"]),
        ('["clerk", "clerk"]', "[]", ["line 18: attributes[3].words", "empty"]),
        ('category = "Middle"\n', "", ["line 16: attributes[3]", "category"]),
        ('["A judge spoke."]', "[]", ["line 14: attributes[2].sentences.judge", "empty"]),
        ('category = "High"', "kind = 1", ["line 11: attributes[2].kind", "category"]),
        ('"gender and rank"', '" "', ["line 1: topic", "blank"]),
        ('topic = "gender and rank"', 'language = "German"', ["line 1: language", "en", "'German'"]),
    ],
)
def test_what_is_wrong_in_a_list_of_sets_is_named_with_file_line_and_key(
    old: str, new: str, facts: list[str], write_toml: WriteToml
) -> None:
    assert old in ANY_NUMBER
    path = write_toml(ANY_NUMBER.replace(old, new))
    with pytest.raises((CatalogueError, UnknownNameError), match=naming(*facts)) as caught:
        read_toml(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_an_unknown_set_names_the_nearest(write_toml: WriteToml) -> None:
    path = write_toml(GOOD.replace('"male_names"', '"male_name"'))
    with pytest.raises(
        UnknownNameError, match=naming("own.toml, line 13: A", "'male_name'", suggesting="male_names")
    ):
        read_toml(path)


def test_the_example_in_the_documentation_is_a_test(write_toml: WriteToml) -> None:
    page = (Path(__file__).parents[2] / "docs" / "tests.md").read_text(encoding="utf-8")
    examples = [block.partition("```")[0] for block in page.split("```toml\n")[1:]]
    test_file = read_test_file(write_toml(examples[0] + examples[3]))
    assert test_file.test.name == "chores"
    assert test_file.test.targets[0].texts == ("oven", "pan", "dishes", "housework")
    assert test_file.lexicon.classes["saw"] == "verb"
    others = "".join(
        f'[{role}]\nset = "{name}"\n' for role, name in zip("YAB", ["arts", "career", "family"], strict=True)
    )
    assert read_toml(write_toml(examples[2])).categories == ("FemaleTerms", "Low", "Middle", "High")
    assert read_toml(write_toml(examples[-1])).context == "pair"
    in_sentences = read_toml(write_toml(examples[1] + others))
    assert in_sentences.targets[0].words == ("oven", "oven", "pan", "pan")
