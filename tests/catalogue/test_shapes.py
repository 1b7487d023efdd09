"""Tests of any shape: roles, what makes one invalid, and fingerprints that tell shapes apart."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import mentions, naming

import weatherglass as wg
from weatherglass.catalogue import (
    Element,
    ElementSet,
    Test,
    export_test,
    load_tests,
    read_toml,
    sentence_test,
    to_toml,
)
from weatherglass.catalogue.test import overlaps
from weatherglass.errors import CatalogueError
from weatherglass.metrics.base import AT_LEAST_ONE, Context, Estimate, MetricInfo, Shape
from weatherglass.metrics.sets import VectorSet

# SHA-256 over the lines "NAME FINGERPRINT" of the 46 tests, computed with the code before tests could have another
# shape (commit 7347870289); stored results are found by fingerprint.
FINGERPRINTS = "2aff3113e3687525eabbf1df7004e0e3177b1d157c6594f6a76ee2b8d20c9dd9"


def words(category: str, *texts: str) -> ElementSet:
    return ElementSet(category, tuple(Element(text, text) for text in texts))


def shaped(targets: int, attributes: int, **fields: str) -> Test:
    """A test with these numbers of sets, of two words each; the sets do not depend on which of them are targets."""
    sets = tuple(words(f"Set{n}", f"w{n}", f"v{n}") for n in range(targets + attributes))
    return Test("own", sets[:targets], sets[targets:], **fields)  # type: ignore[arg-type]


shapes = st.tuples(st.integers(1, 5), st.integers(1, 5))


def test_the_fingerprints_of_the_46_tests_are_those_of_version_0_1() -> None:
    lines = (f"{test.name} {test.fingerprint()}" for test in load_tests(["*"]))
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == FINGERPRINTS


def test_shapes_with_the_same_sets_have_different_fingerprints() -> None:
    tests = [shaped(1, 3), shaped(2, 2), shaped(3, 1)]
    assert len({test.sets for test in tests}) == 1
    assert len({test.fingerprint() for test in tests}) == 3


def test_the_language_is_part_of_the_content_and_the_topic_is_not() -> None:
    assert shaped(2, 2, language="de").fingerprint() != shaped(2, 2).fingerprint()
    assert shaped(2, 2, topic="control").fingerprint() == shaped(2, 2).fingerprint()


def test_the_first_two_sets_have_the_letters_of_the_papers_and_the_others_numbers() -> None:
    assert shaped(2, 2).roles == ("X", "Y", "A", "B")
    assert shaped(1, 2).roles == ("X", "A", "B")
    assert shaped(4, 3).roles == ("X", "Y", "X3", "X4", "A", "B", "A3")


@given(shape=shapes)
def test_every_set_has_a_role_and_a_category_of_its_own(shape: tuple[int, int]) -> None:
    test = shaped(*shape)
    assert test.shape == shape
    assert len(set(test.roles)) == len(test.sets) == sum(shape)
    assert test.categories == tuple(f"Set{n}" for n in range(sum(shape)))
    assert [role[0] in "XY" for role in test.roles] == [True] * shape[0] + [False] * shape[1]


@pytest.mark.parametrize(
    ("targets", "attributes", "facts"),
    [
        ((), (words("A", "a"),), ["target"]),
        ((words("X", "x"),), (), ["attribute"]),
        ((words("X", "x"),) * 2 + (words("Third"),), (words("A", "a"),), ["X3 (Third)", "empty"]),
    ],
)
def test_a_test_without_targets_attributes_or_elements_cannot_be_built(
    targets: tuple[ElementSet, ...], attributes: tuple[ElementSet, ...], facts: list[str]
) -> None:
    with pytest.raises(CatalogueError, match=naming("test 'own'", *facts)):
        Test("own", targets, attributes)


def test_one_word_is_enough_for_a_set() -> None:
    assert Test("own", (words("X", "x"),), (words("A", "a"),)).texts == ("x", "a")


def test_every_pair_of_targets_and_of_attributes_is_compared_for_overlaps() -> None:
    targets = words("P", "p", "q"), words("Q", "r"), words("R", "q")
    attributes = words("S", "p"), words("T", "t"), words("U", "t")
    shared, same = overlaps(targets, attributes)
    assert shared.values == {"first": "X (P)", "second": "X3 (R)", "words": ["q"]}
    assert same.values == {"first": "B (T)", "second": "A3 (U)", "effect_is_zero": False}
    assert (shared.kind, same.kind) == ("shared-words", "same-sets")


def test_the_published_format_has_one_shape(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=naming("test 'own'", "1 and 3", ".toml")):
        export_test(shaped(1, 3), tmp_path / "own.jsonl")
    assert not (tmp_path / "own.jsonl").exists()


def test_sentences_are_made_for_a_test_of_any_shape_in_a_language_that_has_a_pack(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(to_toml(shaped(3, 1, topic="letters")), encoding="utf-8")
    made, _ = sentence_test(path)
    assert (made.shape, made.topic, made.targets[2].category) == ((3, 1), "letters", "Set2")
    path.write_text(to_toml(shaped(3, 1, language="pt-BR")), encoding="utf-8")
    assert read_toml(path).language == "pt-BR"
    with pytest.raises(CatalogueError, match=naming("'pt-BR'", "en, de, fr, es")):
        sentence_test(path)


def test_weat_on_another_shape_is_a_failure_that_names_both_shapes() -> None:
    pleasant, unpleasant = words("Pleasant", "love"), words("Unpleasant", "hate")
    flowers = words("Flowers", "rose", "tulip")
    insects = words("Insects", "ant", "flea")
    narrow = Test("narrow", (flowers,), (pleasant, unpleasant))
    classical = Test("classical", (flowers, insects), (pleasant, unpleasant))
    run = wg.run("wordllama", tests=[narrow, classical], trust="none")
    assert [result.test for result in run.results] == ["classical"]
    (failure,) = run.failures
    assert failure.test == "narrow"
    assert mentions(failure.reason, "cosine/mean", "2 target", "2 attribute", "1 and 2")


def test_weat_refuses_a_target_set_of_one_word() -> None:
    flower, insects = words("Flowers", "rose"), words("Insects", "ant", "flea")
    test = Test("own", (flower, insects), (words("Pleasant", "love"), words("Unpleasant", "hate")))
    run = wg.run("wordllama", tests=test, trust="none")
    (failure,) = run.failures
    assert mentions(failure.reason, "set X", 1, 2)


@pytest.mark.parametrize("role", ["X", "A"])
def test_weat_refuses_a_set_of_which_one_word_is_known(role: str, tmp_path: Path) -> None:
    vectors = tmp_path / "six.txt"
    vectors.write_text("rose 1 0\ntulip 0.9 0.1\nant 0 1\nflea 0.1 1\nlove 1 0.2\nhate 0.2 1\n")
    sets = {
        "X": words("Flowers", "rose", "tulip"),
        "Y": words("Insects", "ant", "flea"),
        "A": words("Pleasant", "love"),
        "B": words("Unpleasant", "hate"),
    }
    sets[role] = words("Mostly unknown", sets[role].texts[0], "qwx", "wxq")
    test = Test("own", (sets["X"], sets["Y"]), (sets["A"], sets["B"]))
    run = wg.run(f"vectors:{vectors}", tests=test, trust="none")
    (failure,) = run.failures
    assert mentions(failure.reason, 1, 3, 2, "Mostly unknown", "'qwx', 'wxq'")


class MeanDot:
    """A metric of any shape: the mean dot product of targets and attributes."""

    name = "mean-dot"
    info = MetricInfo(shape=Shape(AT_LEAST_ONE, AT_LEAST_ONE), signed=False, cheap_to_resample=False)

    def texts(self, test: Test) -> tuple[str, ...]:
        del test
        return ()

    def evaluate(self, sets: Sequence[VectorSet], context: Context) -> Estimate:
        del context
        target_sets = [each for each in sets if each.role[0] in "XY"]
        attribute_sets = [each for each in sets if each.role[0] in "AB"]
        targets, attributes = (
            np.concatenate([each.vectors for each in kind]) for kind in (target_sets, attribute_sets)
        )
        return Estimate(
            value=float((targets @ attributes.T).mean()),
            info=self.info,
            test_statistic=math.nan,
            target_sizes=tuple(map(len, target_sets)),
            attribute_sizes=tuple(map(len, attribute_sets)),
        )


def test_a_metric_that_can_use_a_test_does_so_where_weat_cannot(tmp_path: Path) -> None:
    vectors = tmp_path / "four.txt"
    vectors.write_text("rose 1 0\nant 0 1\nlove 1 2\nhate 3 4\n")
    pleasant, unpleasant = words("Pleasant", "love"), words("Unpleasant", "hate")
    one_word = Test("one-word", (words("P", "rose"), words("Q", "ant")), (pleasant, unpleasant))
    narrow = Test("narrow", (words("P", "rose"),), (pleasant, unpleasant))
    run = wg.run(f"vectors:{vectors}", tests=[one_word, narrow], metrics=["cosine/mean", MeanDot()])
    # by hand: (1 + 3 + 2 + 4) / 4 and (1 + 3) / 2
    assert [(result.test, result.value) for result in run.results] == [("one-word", 2.5), ("narrow", 2.0)]
    assert (run.results[1].roles, run.results[1].categories) == (
        ("X", "A", "B"),
        ("P", "Pleasant", "Unpleasant"),
    )
    assert sorted(failure.test for failure in run.failures) == ["narrow", "one-word"]
