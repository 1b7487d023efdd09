"""Our own format: sets by name, by words, by sentences; strict about keys, exact about places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    assert read_toml(write_toml(text)).warnings == (
        "set X (Kitchen): 1 duplicate left out (oven)",
        "X (Kitchen) and Y (Workshop) share 1 element (saw)",
    )


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('words = ["oven", "pan"]', 'words = ["oven" "pan"]', r"own.toml, line 6: malformed TOML \("),
        ('category = "Women"', 'category = "Women', r"own.toml, line 18: malformed TOML \("),
        ("[X]", "[x]", r"line 4: x is not a key of a test; did you mean 'X'\?"),
        ("[X]", "[Y]", r"line 8: malformed TOML \(Cannot declare"),
        (
            '[A]\nset = "male_names"',
            "",
            r"A is missing; a test has the sets X and A, and for WEAT also Y and B",
        ),
        ('[A]\nset = "male_names"', "[[A]]", r"line 13: A should be a table or the name .*, but is a list"),
        ('words = ["oven", "pan"]', "words = []", r"line 6: X.words is empty"),
        (
            'words = ["oven", "pan"]',
            "words = [1]",
            r"line 6: X.words \(element 1\) should be text, but is a number",
        ),
        (
            'words = ["oven", "pan"]',
            'word = ["oven"]',
            r"line 6: X.word is not a key of a test; did you mean 'words'",
        ),
        (
            'words = ["oven", "pan"]',
            "",
            r"line 4: X should have one of set, words or sentences, but has none",
        ),
        ('words = ["oven", "pan"]', 'words = ["oven"]\nset = "career"', r"but has set and words"),
        ('words = ["oven", "pan"]', "sentences = {}", r"line 6: X.sentences is empty"),
        ('words = ["oven", "pan"]', "sentences = 1", r"line 6: X.sentences should be a table of words"),
        ('words = ["oven", "pan"]', 'sentences = { "" = ["x"] }', r"X.sentences \(a word\) is blank"),
        ('words = ["oven", "pan"]', "sentences = { oven = [] }", r"X.sentences.oven is empty"),
        ('category = "Kitchen"\n', "", r"line 4: X has no category"),
        ('category = "Kitchen"', "category = 1", r"line 5: X.category should be text"),
        (
            '"thing noun"',
            '"thing nun"',
            r"line 11: Y.class 'thing nun' is no class of words; did you mean 'thing noun'",
        ),
        ('"our survey"', "2024", r"line 2: source should be text, but is a number"),
        ('"chores"', '"a/b"', r"line 1: name 'a/b' has a slash or a control character"),
        ('"chores"', r'"a\tb"', r"line 1: name 'a\\tb' has a slash or a control character"),
        ('"chores"', '""', r"line 1: name is blank"),
        (
            '"our survey"',
            '"s"\ncontext = "sents"',
            r"line 3: context 'sents' is none of .*; did you mean 'sent'",
        ),
        ('"our survey"', '"s"\nwords = 1', r"line 3: words should be a table"),
        ('category = "Women"\n', "[words]\nclasses = 1", r"words.classes should be a table, but is a number"),
        (
            'category = "Women"\n',
            '[words.classes]\nverbs = ["saw"]',
            r"'verbs' is no class .*; did you mean 'verb'",
        ),
        (
            'category = "Women"\n',
            '[words.classes]\nverb = ["sew"]',
            r"names 'sew', which is in no set; did you mean 'saw'",
        ),
        (
            'category = "Women"\n',
            '[words.classes]\nverb = ["saw"]\nadjective = ["saw"]',
            r"line 18: words.classes puts 'saw' under verb and under adjective",
        ),
        (
            'category = "Women"\n',
            '[words.article]\nsaw = "the"',
            r"line 19: words.article.saw should be a or an",
        ),
        ('category = "Women"\n', "[words.plural]\nsaw = 2", r"line 19: words.plural.saw should be text"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_key(
    old: str, new: str, complaint: str, write_toml: WriteToml
) -> None:
    assert old in GOOD
    path = write_toml(GOOD.replace(old, new))
    with pytest.raises(CatalogueError, match=complaint) as caught:
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
    assert test.warnings == ("set A3 (Middle): 1 duplicate left out (clerk)",)


def test_lists_may_name_catalogue_sets_on_one_line(write_toml: WriteToml) -> None:
    test = read_toml(
        write_toml('targets = ["flowers", "insects"]\nattributes = ["pleasant", "unpleasant"]\n')
    )
    assert test.sets == load_test("weat1").sets


def test_y_and_b_may_be_left_out(write_toml: WriteToml) -> None:
    test = read_toml(write_toml('X = "flowers"\nA = "pleasant"\nB = "unpleasant"\n'))
    assert (test.shape, test.roles) == ((1, 2), ("X", "A", "B"))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "[[targets]]",
            "[X]",
            r"line 6: attributes stands beside X; give the sets as X, Y, A, B or as targets and",
        ),
        (
            "[[targets]]",
            "[targets]",
            r"line 3: targets should be a list of sets \(\[\[targets\]\]\), but is a table",
        ),
        (
            '[[targets]]\nset = "female_terms"',
            "targets = []",
            r"line 3: targets is empty; at least one set is needed",
        ),
        (
            '[[targets]]\nset = "female_terms"',
            "",
            r"own.toml: targets is missing; a test has targets and attributes",
        ),
        (
            '[[targets]]\nset = "female_terms"',
            "targets = [1]",
            r"line 3: targets\[1\] should be a table or the name",
        ),
        (
            '"female_terms"',
            '"female_term"',
            r"line 3: targets\[1\] names the set 'female_term', .* 'female_terms'",
        ),
        ('["clerk", "clerk"]', "[]", r"line 18: attributes\[3\].words is empty"),
        ('category = "Middle"\n', "", r"line 16: attributes\[3\] has no category"),
        ('["A judge spoke."]', "[]", r"line 14: attributes\[2\].sentences.judge is empty"),
        ('category = "High"', "kind = 1", r"line 11: attributes\[2\].kind is not a key of a test"),
        ('"gender and rank"', '" "', r"line 1: topic is blank"),
        (
            'topic = "gender and rank"',
            'language = "German"',
            r"line 1: language should be a code such as en, .* 'German'",
        ),
    ],
)
def test_what_is_wrong_in_a_list_of_sets_is_named_with_file_line_and_key(
    old: str, new: str, complaint: str, write_toml: WriteToml
) -> None:
    assert old in ANY_NUMBER
    path = write_toml(ANY_NUMBER.replace(old, new))
    with pytest.raises((CatalogueError, UnknownNameError), match=complaint) as caught:
        read_toml(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_an_unknown_set_names_the_nearest(write_toml: WriteToml) -> None:
    path = write_toml(GOOD.replace('"male_names"', '"male_name"'))
    complaint = r"own.toml, line 13: A names the set 'male_name', .*; did you mean 'male_names'\?"
    with pytest.raises(UnknownNameError, match=complaint):
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
    in_sentences = read_toml(write_toml(examples[1] + others))
    assert in_sentences.targets[0].words == ("oven", "oven", "pan", "pan")
