"""Scores against their definitions, word by word, with duplicates, ties and entries that are no words."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.messages import in_order, naming

from weatherglass.arrays import Integers
from weatherglass.errors import UnknownNameError, WeatherglassError
from weatherglass.reliability.scoring import DEFAULT_RULES, RULES, find_rules, raters
from weatherglass.reliability.scoring import neighbours as neighbours_module
from weatherglass.reliability.scoring.neighbours import neighbours
from weatherglass.reliability.scoring.scorers import Scores, ScoringRule, projections, signs
from weatherglass.reliability.scoring.scores import ScoreTensor, scorable, scoring_context
from weatherglass.reliability.training.embedding import Embedding, Vectors

PAIRS = [("w0", "w1"), ("w2", "w3"), ("w4", "w5")]


def whole_vectors(seed: int = 0, number: int = 120, width: int = 4) -> Vectors:
    """Vectors of small whole numbers, so that cosines can be compared exactly; many ties, some duplicates."""
    vectors = np.random.default_rng(seed).integers(-2, 3, (number, width)).astype(np.float32)
    vectors[~vectors.any(axis=1)] = 1
    vectors[40] = vectors[7]
    vectors[90] = vectors[7]
    return vectors


def embedding_of(vectors: Vectors, words: list[str] | None = None) -> Embedding:
    words = words or [f"w{number}" for number in range(len(vectors))]
    return Embedding(words, np.full(len(words), 5), vectors, "sgns", 1, "c")


def scores_by_rule(
    embedding: Embedding, pairs: list[tuple[str, str]], targets: Integers, k: int
) -> dict[str, Scores]:
    context = scoring_context(embedding, pairs, targets, k)
    return {rule.name: rule.score(context) for rule in find_rules(DEFAULT_RULES)}


def nearest_by_definition(vectors: Vectors, row: int, k: int) -> list[int]:
    """By exact arithmetic: cos · |cos| of whole numbers is a fraction, and orders like cos."""

    def key(other: int) -> Fraction:
        product = int(vectors[row] @ vectors[other])
        return Fraction(product * abs(product), int(vectors[other] @ vectors[other]))

    return sorted((other for other in range(len(vectors)) if other != row), key=lambda o: (-key(o), o))[:k]


def sign_by_definition(vectors: Vectors, row: int, first: int, second: int) -> int:
    """1 if DB/WA ≥ 0, otherwise −1, by exact arithmetic: a number in single precision is a fraction."""
    w, m, f = ([Fraction(float(x)) for x in vectors[place]] for place in (row, first, second))

    def signed_square(end: list[Fraction]) -> Fraction:
        product = sum((x * y for x, y in zip(w, end, strict=True)), Fraction())
        return product * abs(product) / sum((x * x for x in end), Fraction())

    return 1 if signed_square(m) >= signed_square(f) else -1


def assert_exact_signs(vectors: Vectors, pairs: int) -> int:
    """Compare the signs of all rows with exact ones; rows 0 and 1 are the first pair, 2 and 3 the next.

    Returns:
        How many signs single precision alone gets wrong.
    """
    first, second = np.arange(0, 2 * pairs, 2), np.arange(1, 2 * pairs, 2)
    dbwa = projections(vectors, first, second).dbwa
    expected = np.array(
        [
            [
                sign_by_definition(vectors, row, one, other)
                for one, other in zip(first.tolist(), second.tolist(), strict=True)
            ]
            for row in range(len(vectors))
        ]
    )
    np.testing.assert_array_equal(signs(vectors, first, second, dbwa), expected)
    return int((np.where(dbwa >= 0, 1, -1) != expected).sum())


@pytest.mark.parametrize(("largest", "width"), [(2, 4), (3, 50), (1000, 12)])
def test_signs_of_whole_vectors_are_exact_with_ties_on_the_side_of_the_first_word(
    largest: int, width: int
) -> None:
    rng = np.random.default_rng(width)
    vectors = rng.integers(-largest, largest + 1, (150, width)).astype(np.float32)
    vectors[~vectors.any(axis=1)] = 1
    vectors[1] = vectors[0][::-1]  # of one length
    vectors[3] = 3 * vectors[2]  # parallel: every word ties
    wrong_in_single = assert_exact_signs(vectors, 4)
    assert wrong_in_single > 0


def test_signs_are_exact_where_the_words_of_a_pair_are_almost_parallel() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(150, 40)).astype(np.float32)
    for place in (1, 3, 5):
        vectors[place] = vectors[place - 1] * np.float32(1 + place) + rng.normal(0, 1e-6, 40).astype(
            np.float32
        )
    vectors[7] = vectors[6]
    wrong_in_single = assert_exact_signs(vectors, 4)
    assert wrong_in_single > 0


@pytest.mark.parametrize("k", [1, 7, 30, 119])
def test_neighbours_are_exact_with_ties_by_lower_index(monkeypatch: pytest.MonkeyPatch, k: int) -> None:
    monkeypatch.setattr(neighbours_module, "BLOCK", 120 * 50)  # Several blocks, the last one smaller.
    vectors = whole_vectors()
    rows = np.arange(len(vectors))
    for part, nearest in neighbours(vectors, rows, k):
        for row, line in zip(rows[part], nearest, strict=True):
            assert set(line.tolist()) == set(nearest_by_definition(vectors, int(row), k))


def test_a_word_is_never_its_own_neighbour_even_among_duplicates() -> None:
    vectors = np.ones((12, 3), dtype=np.float32)
    for _, nearest in neighbours(vectors, np.arange(12), 5):
        for row, line in enumerate(nearest.tolist()):
            assert sorted(line) == [other for other in range(12) if other != row][:5]


def test_more_neighbours_than_words_are_refused() -> None:
    with pytest.raises(ValueError, match=in_order("k = 5", "6 words", 5)):
        list(neighbours(np.eye(5, dtype=np.float32), np.arange(5), 5))


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.large)])
def test_scores_equal_their_definitions_word_by_word(every: int) -> None:
    vectors = whole_vectors(1)
    k = 10
    scores = scores_by_rule(embedding_of(vectors), PAIRS, np.arange(len(vectors)), k)

    def cosine(one: Vectors, other: Vectors) -> float:
        return float(one @ other) / float(
            np.linalg.norm(one.astype(float)) * np.linalg.norm(other.astype(float))
        )

    def dbwa(row: int, pair: tuple[str, str]) -> float:
        first, second = (vectors[int(word[1:])] for word in pair)
        return cosine(vectors[row], first) - cosine(vectors[row], second)

    for row in range(0, len(vectors), every):
        for number, pair in enumerate(PAIRS):
            between = (vectors[int(pair[0][1:])] - vectors[int(pair[1][1:])]).astype(float)
            raw = float(vectors[row] @ between) / float(np.linalg.norm(between))
            near = nearest_by_definition(vectors, row, k)
            ends = tuple(int(word[1:]) for word in pair)
            expected = sum(sign_by_definition(vectors, other, *ends) for other in near) / k
            assert scores["nbm"][row, number] == pytest.approx(expected)
            assert scores["dbwa"][row, number] == pytest.approx(dbwa(row, pair), abs=1e-6)
            assert scores["ripa"][row, number] == pytest.approx(raw / np.linalg.norm(vectors[row]), abs=1e-6)
            assert scores["ripa-raw"][row, number] == pytest.approx(raw, abs=1e-5)


def test_what_is_no_word_is_neither_target_nor_neighbour() -> None:
    vectors = np.random.default_rng(2).normal(size=(30, 5)).astype(np.float32)
    words = [f"w{number}" for number in range(30)]
    plain = embedding_of(vectors, words)
    extra = np.concatenate([vectors[:1] * 2, vectors, np.zeros((1, 5), np.float32)])
    with_extra = embedding_of(extra, ["<unk>", *words, "zero"])
    assert scorable(with_extra).tolist() == list(range(1, 31))
    expected = scores_by_rule(plain, PAIRS, np.arange(30), 6)
    scores = scores_by_rule(with_extra, PAIRS, scorable(with_extra), 6)
    assert all((scores[rule] == expected[rule]).all() for rule in DEFAULT_RULES)


def test_rare_words_are_no_targets_but_stay_neighbours() -> None:
    vectors = np.random.default_rng(2).normal(size=(30, 5)).astype(np.float32)
    counts = np.arange(30, 0, -1)
    embedding = Embedding([f"w{number}" for number in range(30)], counts, vectors, "sgns", 1, "c")
    targets = scorable(embedding, min_frequency=21)
    assert targets.tolist() == list(range(10))
    expected = scores_by_rule(embedding, PAIRS, np.arange(30), 6)
    scores = scores_by_rule(embedding, PAIRS, targets, 6)
    assert all((scores[rule] == expected[rule][:10]).all() for rule in DEFAULT_RULES)


def test_swapping_a_pair_negates_dbwa_and_ripa() -> None:
    embedding = embedding_of(np.random.default_rng(4).normal(size=(40, 6)).astype(np.float32))
    one = scores_by_rule(embedding, [("w0", "w1")], np.arange(40), 5)
    other = scores_by_rule(embedding, [("w1", "w0")], np.arange(40), 5)
    for rule in ("dbwa", "ripa", "ripa-raw"):
        assert one[rule] == pytest.approx(-other[rule], abs=1e-6)


def test_a_tensor_averages_over_seeds() -> None:
    rng = np.random.default_rng(0)
    parts = [{rule: rng.normal(size=(4, 3)).astype(np.float32) for rule in DEFAULT_RULES} for _ in range(5)]
    tensor = ScoreTensor(list("abcd"), PAIRS, range(5), parts)
    block = tensor.block("ripa", slice(1, 3))
    assert block.shape == (2, 3, 5)
    assert block == pytest.approx(np.stack([part["ripa"][1:3] for part in parts], axis=-1))
    assert tensor.mean("nbm") == pytest.approx(np.mean([part["nbm"] for part in parts], axis=0), abs=1e-6)
    some = tensor.select_pairs([2, 0])
    assert some.parts is tensor.parts  # Nothing is copied out of the memory-mapped arrays.
    assert (
        some.block("dbwa", np.array([1, 3])) == tensor.block("dbwa", slice(None))[[1, 3]][:, [2, 0]]
    ).all()
    assert (some.select_pairs([1]).mean("nbm") == tensor.mean("nbm")[:, [0]]).all()


def test_a_rule_is_found_by_its_own_name_and_an_unknown_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UnknownNameError, match=naming("rule", "dbw", suggesting="dbwa")):
        find_rules(["dbw"])
    monkeypatch.setattr(RULES, "_registered", {"alias": RULES.get("dbwa")})
    with pytest.raises(WeatherglassError, match=naming("rule", "alias", "dbwa")):
        find_rules(["alias"])
    with pytest.raises(WeatherglassError, match=naming("Mine.1", "name")):
        ScoringRule("Mine.1", "mine", 1, RULES.get("dbwa").scores)


def test_a_variant_is_compared_with_others_only_without_the_rule_it_varies() -> None:
    assert raters(DEFAULT_RULES) == ("dbwa", "ripa", "nbm")
    assert raters(["dbwa", "ripa-raw"]) == ("dbwa", "ripa-raw")
    assert raters(["not-installed", "ripa"]) == ("not-installed", "ripa")


def test_a_rule_with_scores_of_another_shape_is_named() -> None:
    context = scoring_context(embedding_of(whole_vectors()), PAIRS, np.arange(7), 3)
    rule = ScoringRule("all-words", "all words", 1, lambda context: context.projections.dbwa)
    with pytest.raises(WeatherglassError, match=in_order("all-words", "(120, 3)", "(7, 3)")):
        rule.score(context)


def test_neighbours_are_searched_for_once_and_only_by_rules_that_use_them() -> None:
    context = scoring_context(embedding_of(whole_vectors()), PAIRS, np.arange(7), 3)
    RULES.get("ripa").score(context)
    assert "neighbours" not in vars(context)
    RULES.get("nbm").score(context)
    nearest = context.neighbours
    RULES.get("nbm").score(context)
    assert context.neighbours is nearest
