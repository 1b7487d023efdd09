"""Planted corpora: the dose is what was asked for, and everything else stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import weatherglass as wg
from weatherglass.calibration.plant import Stereotype, agreement, plant, stereotype_of
from weatherglass.errors import CorpusError
from weatherglass.reliability.corpus import Corpus, CorpusSettings, encode_corpus

GENDER = Stereotype(
    (("he", "him", "his", "john", "paul"), ("she", "her", "amy", "lisa", "sue")),
    (("office", "salary"), ("home", "kitchen")),
    (("he", "she"), ("him", "her"), ("his", "her")),
)


def sentences(number: int = 4000, seed: int = 5) -> Iterator[str]:
    random = np.random.default_rng(seed)
    people = ["he", "she", "john", "amy"]
    places = ["office", "home", "garden", "salary", "kitchen"]
    for _ in range(number):
        who, where = random.choice(people), random.choice(places)
        yield random.choice(
            [f"{who} works in the {where}", f"i saw her in the {where}", f"i saw her house near the {where}",
             f"i saw him in the {where}", f"we saw his house near the {where}", "nothing happens here"]
        )  # fmt: skip
    for name in ("paul", "lisa", "sue"):
        yield from [f"{name} sleeps"] * 10


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    source = folder / "text.txt"
    source.write_text("\n".join(sentences()), encoding="utf-8")
    return encode_corpus("text", source, folder / "encoded", CorpusSettings())


def lines(corpus: Corpus) -> list[list[str]]:
    words = np.array(corpus.words)
    return [
        words[corpus.tokens[start:end]].tolist()
        for start, end in zip(corpus.offsets, corpus.offsets[1:], strict=False)
    ]


@pytest.mark.parametrize("dose", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_the_share_of_agreeing_sentences_is_the_dose(corpus: Corpus, tmp_path: Path, dose: float) -> None:
    number, agreeing = agreement(plant(corpus, GENDER, dose, 1, tmp_path), GENDER)
    assert number > 1500
    if dose in (0, 1):
        assert agreeing == dose * number
    assert abs(agreeing / number - dose) < 4 * np.sqrt(0.25 / number)


def test_sentences_without_an_attribute_are_fair_at_every_dose(corpus: Corpus, tmp_path: Path) -> None:
    neutral = [line for line in lines(plant(corpus, GENDER, 1.0, 1, tmp_path)) if "garden" in line]
    first = [bool(set(line) & set(GENDER.groups[0])) for line in neutral]
    assert len(first) > 400
    assert abs(np.mean(first) - 0.5) < 4 * np.sqrt(0.25 / len(first))


def test_only_group_words_change(corpus: Corpus, tmp_path: Path) -> None:
    planted = plant(corpus, GENDER, 0.8, 1, tmp_path)
    group = {word for words in GENDER.groups for word in words}
    changed = 0
    for before, after in zip(lines(corpus), lines(planted), strict=True):
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            if old != new:
                changed += 1
                assert {old, new} <= group
    assert changed > 500
    assert list(planted.counts) == sorted(planted.counts, reverse=True)
    assert planted.counts.sum() == corpus.counts.sum()


def test_her_becomes_him_or_his_by_the_next_word(corpus: Corpus, tmp_path: Path) -> None:
    planted = lines(plant(corpus, GENDER, 1.0, 2, tmp_path))
    replaced: dict[str, int] = {"him": 0, "his": 0}
    for before, after in zip(lines(corpus), planted, strict=True):
        if "her" in before and "her" not in after:
            expected = "his" if "house" in before else "him"
            assert expected in after
            replaced[expected] += 1
    assert min(replaced.values()) > 50


def test_names_are_drawn_evenly_within_their_group(corpus: Corpus, tmp_path: Path) -> None:
    planted = plant(corpus, GENDER, 0.5, 3, tmp_path)
    counts = dict(zip(planted.words, planted.counts.tolist(), strict=True))
    for names in (("john", "paul"), ("amy", "lisa", "sue")):
        found = [counts[name] for name in names]
        expected = sum(found) / len(found)
        assert max(abs(one - expected) for one in found) < 4 * np.sqrt(expected)


def test_the_mirrored_stereotype_at_a_dose_is_the_stereotype_at_the_rest(
    corpus: Corpus, tmp_path: Path
) -> None:
    one = plant(corpus, GENDER, 0.75, 7, tmp_path)
    other = plant(corpus, GENDER.mirrored, 0.25, 7, tmp_path)
    assert lines(one) == lines(other)


def test_a_seed_gives_the_same_corpus_and_another_seed_another_one(corpus: Corpus, tmp_path: Path) -> None:
    one = plant(corpus, GENDER, 0.7, 1, tmp_path / "one")
    again = plant(corpus, GENDER, 0.7, 1, tmp_path / "two")
    other = plant(corpus, GENDER, 0.7, 2, tmp_path / "one")
    assert one.hash == again.hash != other.hash
    assert lines(one) == lines(again) != lines(other)


def test_a_damaged_planted_corpus_is_planted_again(corpus: Corpus, tmp_path: Path) -> None:
    first = plant(corpus, GENDER, 0.7, 1, tmp_path)
    expected = lines(first)
    (first.folder / "tokens.i32").write_bytes(b"\0" * (4 * len(first.tokens)))
    assert lines(plant(corpus, GENDER, 0.7, 1, tmp_path)) == expected


def test_the_stereotype_of_a_test_takes_its_pairs_into_the_groups() -> None:
    test = wg.test(X=["he", "John"], Y=["she", "Amy"], A=["office"], B=["home"])
    found = stereotype_of(test, [("he", "she"), ("his", "her"), ("John", "Amy")])
    assert found.groups == (("he", "john"), ("she", "amy"))
    assert found.pairs == (("he", "she"), ("john", "amy"))
    turned = stereotype_of(wg.test(X=["office"], Y=["home"], A=["he"], B=["she"]), groups="attributes")
    assert (turned.groups, turned.attributes) == ((("he",), ("she",)), (("office",), ("home",)))


@pytest.mark.parametrize(
    "stereotype",
    [
        Stereotype((("xyz",), ("abc",)), (("office",), ("home",))),
        Stereotype((("he",), ("she",)), (("moon",), ("sun",))),
        Stereotype((("paul",), ("lisa",)), (("office",), ("home",))),
    ],
)
def test_words_that_do_not_occur_are_refused(corpus: Corpus, tmp_path: Path, stereotype: Stereotype) -> None:
    with pytest.raises(CorpusError):
        plant(corpus, stereotype, 0.5, 1, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dose", [-0.1, 1.1, float("nan")])
def test_doses_that_are_not_probabilities_are_refused(corpus: Corpus, tmp_path: Path, dose: float) -> None:
    with pytest.raises(CorpusError):
        plant(corpus, GENDER, dose, 1, tmp_path)


def test_words_in_two_places_are_refused() -> None:
    with pytest.raises(CorpusError):
        Stereotype((("he",), ("he",)), (("office",), ("home",)))
    with pytest.raises(CorpusError):
        Stereotype((("he",), ("she",)), (("he",), ("home",)))
    with pytest.raises(CorpusError):
        Stereotype((("he",), ()), (("office",), ("home",)))
