"""Sentence pairs of CrowS-Pairs, StereoSet, BEC-Pro and tables of your own; the sentences are made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.messages import mentions, naming
from tests.reproduce import stereoset

from weatherglass.catalogue import import_tests, load_tests, read_toml, write_import
from weatherglass.catalogue.imports.pairs import shared_template
from weatherglass.catalogue.pairs import Pair, pairs_of
from weatherglass.catalogue.select import read_tests
from weatherglass.errors import CatalogueError

CROWS = """,sent_more,sent_less,stereo_antistereo,bias_type,annotations
0,"The old, slow man.","The young, slow man.",stereo,age,[]
1,Women cook.,Men cook.,stereo,gender,[]
2,Men fight.,Women fight.,antistereo,gender,[]
3,Men fight.,Women fight.,antistereo,gender,[]
4,The same.,The same.,stereo,gender,[]
"""
PROFESSIONS = "\tSentence\tSent_TM\tSent_AM\tSent_TAM\tTemplate\tPerson\tGender\tProfession\tProf_Gender\n"


def test_crows_pairs_is_a_test_for_each_type_of_bias(tmp_path: Path) -> None:
    path = tmp_path / "crows_pairs_anonymized.csv"
    path.write_text(CROWS, encoding="utf-8")
    imported = import_tests(path)
    age, gender = (each.test for each in imported.tests)
    assert (age.name, gender.name) == ("crows-pairs-age", "crows-pairs-gender")
    assert list(pairs_of(age)) == [Pair("The old, slow man.", "The young, slow man.")]
    assert [pair.more for pair in pairs_of(gender)] == ["Women cook.", "Men fight."]
    for each in imported.tests:
        assert any("CC BY-SA" in note for note in each.notes)
        assert any(
            mentions(note, "2 pairs") for note in each.notes
        )  # a repeated pair, and one of equal sentences
    written = write_import(imported, tmp_path / "imported")
    assert [read_toml(file).fingerprint() for file in written] == [age.fingerprint(), gender.fingerprint()]


def test_stereoset_has_templates_within_sentences_and_contexts_between_them(tmp_path: Path) -> None:
    content = stereoset.sentences(terms=2, per_term=1)
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    tests = {each.test.name: each.test for each in import_tests(path).tests}
    assert len(tests) == 4
    (within,) = pairs_of(tests["stereoset-intrasentence-gender"])
    assert within.term == "term 0"
    given = content["data"]["intrasentence"][0]["sentences"]
    by_label = {each["gold_label"]: each["sentence"] for each in given}
    assert (within.more, within.unrelated) == (by_label["stereotype"], by_label["unrelated"])
    assert within.template.count("{}") == 1
    (between,) = pairs_of(tests["stereoset-intersentence-race"])
    assert between.more.startswith("The term 1 was BLANK on day 0. ")
    assert between.template == ""


def test_bec_pro_pairs_men_and_women_in_one_template(tmp_path: Path) -> None:
    rows = [
        ("He is a taper.", "he is", "He", "male", "taper", "male"),
        ("She is a taper.", "he is", "She", "female", "taper", "male"),
        ("He is a nurse.", "he is", "He", "male", "nurse", "female"),
        ("She is a nurse.", "he is", "She", "female", "nurse", "female"),
        ("He is a baker.", "he is", "He", "male", "baker", "balanced"),
        ("She is a baker.", "he is", "She", "female", "baker", "balanced"),
        ("My uncle is a nurse.", "he is", "uncle", "male", "nurse", "female"),
    ]
    lines = [
        "\t".join([str(n), text, "-", "-", "-", template, *rest])
        for n, (text, template, *rest) in enumerate(rows)
    ]
    path = tmp_path / "BEC-Pro_EN.tsv"
    path.write_text(PROFESSIONS + "\n".join(lines) + "\n", encoding="utf-8")
    ((test,),) = ([each.test for each in import_tests(path).tests],)
    assert list(pairs_of(test)) == [
        Pair("He is a taper.", "She is a taper.", "taper"),
        Pair("She is a nurse.", "He is a nurse.", "nurse"),
    ]


def test_a_table_of_ones_own_has_topics_and_terms(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("more,less,term,topic\na b,a c,t,x\nd e,d f,u,y\n", encoding="utf-8")
    tests = [each.test for each in import_tests(path).tests]
    assert [test.name for test in tests] == ["mine-x", "mine-y"]
    assert next(pairs_of(tests[0])).term == "t"


def test_pairs_of_a_group_are_one_unit_and_each_direction_is_a_test(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        "more,less,group,topic,direction\na b,a c,g,x,stereo\nd e,d f,g,x,\nd h,d i,,x,antistereo\n",
        encoding="utf-8",
    )
    tests = {each.test.name: list(pairs_of(each.test)) for each in import_tests(path).tests}
    assert tests == {
        "mine-x": [Pair("a b", "a c", "g"), Pair("d e", "d f", "g")],
        "mine-x-antistereo": [Pair("d h", "d i")],
    }


def test_a_table_of_pairs_is_a_test_without_an_import(tmp_path: Path) -> None:
    rows = [{"more": "a b", "less": "a c", "template": "a {}"}, {"more": "d b", "less": "d c"}]
    written = {
        "own.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "own.csv": "more,less,template\na b,a c,a {}\nd b,d c,\na b,a c,a {}\n",
        "crows.csv": CROWS,
    }
    for name, content in written.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    first, second = (load_tests([tmp_path / name])[0] for name in ("own.jsonl", "own.csv"))
    assert list(pairs_of(first)) == list(pairs_of(second)) == [Pair(**row) for row in rows]
    assert not first.warnings
    assert mentions(str(second.warnings[0]), "own.csv", "1 pair")
    assert {test.name for test in load_tests([tmp_path / "crows.csv"])} == {
        "crows-pairs-age",
        "crows-pairs-gender",
    }


def test_words_that_sentences_share_are_a_template() -> None:
    assert shared_template(["It was, red.", "It was, dark blue.", "It was, sky."]) == "It was, {}."
    assert shared_template(["He ran.", "She ran."]) == "{} ran."
    assert shared_template(["He ran.", "He ran fast."]) == ""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pairs.csv", "more,less\na b,a c\nthe same,the same\n"),
        ("pairs.csv", "more,less,template\na b,a c,a {}\nthe one,the two,a {}\n"),
        ("pairs.csv", "more,less\nthe one,\n"),
        ("pairs.csv", "more,less,direction\na b,a c,up\n"),
        ("crows.csv", "sent_more,sent_less\na,b\n"),
        ("samples.jsonl", '{"doc": {"sent_more": "a"}}\n'),
        ("samples.jsonl", '{"doc": {"sent_more": "a", "sent_less": 3.5}}\n'),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    for read in (import_tests, read_tests):
        with pytest.raises(CatalogueError, match=naming(name)) as raised:
            read(path)
        assert "\n" not in str(raised.value)
        assert name != "pairs.csv" or mentions(str(raised.value), f"line {len(content.splitlines())}")
