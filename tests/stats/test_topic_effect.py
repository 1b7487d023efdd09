"""p, interval and adjusted p of a topic against full enumeration and against the rows (docs/methods 12)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.stats.topic_cases import enumerated, mean_of_labelled, random_topic, topic_test

from weatherglass.stats import topic_effect
from weatherglass.stats.attributes import fixed_attributes
from weatherglass.stats.power import minimum_detectable_effect_size
from weatherglass.stats.topic import TopicTest, topic_of
from weatherglass.stats.topic_effect import adjusted_p_of_tests, lifting_words, topic_interval, topic_p
from weatherglass.stats.verdict import judge_topics, measure_topic, minimum_detectable_mean


def exchangeable_topics(
    count: int, tests: int, sizes: tuple[int, int], sharing: str
) -> list[list[TopicTest]]:
    found: list[list[TopicTest]] = []
    seed = 0
    while len(found) < count:
        topic = random_topic(np.random.default_rng(seed), tests, sizes, sharing)
        seed += 1
        if topic_of(topic).layout.exchangeable and topic_of(topic).layout.labellings <= 3000:
            found.append(topic)
    return found


@pytest.mark.parametrize(
    ("tests", "sizes", "sharing"),
    [(2, (3, 3), "none"), (3, (2, 2), "none"), (2, (4, 5), "all"), (2, (3, 4), "some")],
)
def test_p_and_max_t_count_every_exchange_within_strata(
    tests: int, sizes: tuple[int, int], sharing: str
) -> None:
    strata = set()
    for topic in exchangeable_topics(6, tests, sizes, sharing):
        layout = topic_of(topic).layout
        p, p_of_tests, labellings = enumerated(topic)
        strata.add(len(layout.strata))
        assert layout.labellings == labellings
        assert topic_p(layout).p_value == p
        adjusted = adjusted_p_of_tests(layout, [test.p_value for test in topic])
        assert adjusted.method == "all labellings"
        np.testing.assert_allclose(adjusted.p, p_of_tests, rtol=1e-12)
    assert max(strata) > 1 or sharing == "all"


def test_ties_count_however_the_scores_are_rounded() -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        topic = []
        for number in range(2):
            ranks = rng.permutation([1, 1, 2, 2, 3, 3]) * 0.1
            to_a = np.repeat(ranks[:, np.newaxis], 3, axis=1)
            words = [f"{word} {number}" for word in "abcdef"]
            topic.append(topic_test(words, 3, to_a, np.zeros((6, 3)), "abc", "def"))
        assert topic_p(topic_of(topic).layout).p_value == enumerated(topic)[0]


def test_bounds_enclose_what_counting_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    from weatherglass.stats.permutation import strata as module
    from weatherglass.stats.permutation.bounds import TailInterval

    methods = set()
    for seed in range(12):
        topic = random_topic(np.random.default_rng(seed), 2, (6, 8), "none", effect=seed / 8)
        layout = topic_of(topic).layout
        exact = topic_p(layout)
        assert exact.p_method == "meet-in-the-middle"
        with monkeypatch.context() as patched:
            patched.setattr(module, "LARGEST_HALF", 1)
            bounds = topic_p(layout)
            patched.setattr(module, "_bounded", lambda *_: TailInterval(0.0, 1.0))
            drawn = topic_p(layout)
        methods |= {bounds.p_method, drawn.p_method}
        assert bounds.p_low is not None
        assert bounds.p_high is not None
        assert bounds.p_low <= exact.p_value <= bounds.p_high <= exact.p_value * 1.01
        error = math.sqrt(exact.p_value / 1e5)
        assert abs(drawn.p_value - exact.p_value) < 5 * error + 1e-5
    assert methods == {"bounds", "sampled"}


def test_bounds_of_three_large_strata_are_near_the_normal_tail() -> None:
    topic = random_topic(np.random.default_rng(3), 3, (16, 16), "none", effect=0.4)
    layout = topic_of(topic).layout
    p = topic_p(layout)
    assert p.p_method == "bounds"
    normal = math.erfc(abs(layout.effect_size) / math.sqrt(2 * layout.exchange_variance))
    assert p.p_value == pytest.approx(normal, rel=0.3)


def test_one_test_is_its_row() -> None:
    rng = np.random.default_rng(0)
    for _ in range(1000):
        (test,) = random_topic(rng, 1, (2, 6), effect=float(rng.normal()))
        found = measure_topic([test])
        row = fixed_attributes(test.scores[: test.n_x], test.scores[test.n_x :], test.p_value)
        assert found.p_exchange == test.p_value
        assert found.interval == row.interval
        assert found.p_random == test.p_random
        assert found.tested[0].p_adjusted == test.p_value
        assert found.effect_size == pytest.approx(row.effect_size, rel=1e-12)
        (decision,) = judge_topics([[test]])
        assert decision.rows[0].outcome is decision.outcome


def test_swapping_x_and_y_negates_d_and_the_order_of_tests_is_irrelevant() -> None:
    for seed in range(20):
        topic = random_topic(np.random.default_rng(seed), 3, (6, 9), "none" if seed % 2 else "some")
        given = measure_topic(topic)
        reversed_order = measure_topic(topic[::-1])
        swapped = measure_topic([_swapped(test) for test in topic])
        assert given.effect_size is not None
        for other, sign, order in ((reversed_order, 1, -1), (swapped, -1, 1)):
            assert other.effect_size == pytest.approx(sign * given.effect_size, rel=1e-12)
            assert other.p_exchange == pytest.approx(given.p_exchange, rel=0.003)
            assert other.p_random == pytest.approx(given.p_random, rel=1e-9)
            p_of_tests = [row.p_adjusted for row in other.tested][::order]
            np.testing.assert_allclose(p_of_tests, [row.p_adjusted for row in given.tested], rtol=1e-12)
            if given.interval and other.interval:
                ends = sorted((sign * other.interval.low, sign * other.interval.high))
                np.testing.assert_allclose(
                    ends, (given.interval.low, given.interval.high), rtol=0.01, atol=0.002
                )


def _swapped(test: TopicTest) -> TopicTest:
    order = [*range(test.n_x, len(test.words)), *range(test.n_x)]
    tables = test.tables
    assert tables is not None
    assert test.pieces is not None
    return replace(
        test,
        words=[test.words[i] for i in order],
        n_x=len(test.words) - test.n_x,
        scores=test.scores[order],
        tables=replace(tables, to_a=tables.to_a[order], to_b=tables.to_b[order]),
        pieces=test.pieces[order],
    )


def test_a_word_on_both_sides_makes_p_by_t() -> None:
    topic = random_topic(np.random.default_rng(1), 2, (4, 6), "all")
    flipped = [topic[0], _swapped(topic[1])]
    layout = topic_of(flipped).layout
    assert not layout.exchangeable
    # The independent way to V_W: one number for each word, summed over tests before it is squared.
    parts: dict[object, float] = {}
    weights = [t.n_x * (len(t.words) - t.n_x) / len(t.words) for t in flipped]
    for test, weight in zip(flipped, weights, strict=True):
        z = test.scores / np.std(test.scores, ddof=1)
        for side, chosen in ((1, slice(None, test.n_x)), (-1, slice(test.n_x, None))):
            m = len(z[chosen])
            for word, value in zip(test.words[chosen], z[chosen], strict=True):
                part = side * weight / sum(weights) * (value - z[chosen].mean()) / math.sqrt(m * (m - 1))
                parts[word] = parts.get(word, 0.0) + part
    variance = sum(part**2 for part in parts.values())
    df = min(len(test.words) - 2 for test in flipped)
    expected = 2 * stats.t.sf(abs(layout.effect_size) / math.sqrt(variance), df)
    assert topic_p(layout).p_value == pytest.approx(expected, rel=1e-12)
    holm = adjusted_p_of_tests(layout, [0.01, 0.03])
    assert holm.method == "holm"
    assert holm.p.tolist() == pytest.approx([0.02, 0.03])


def test_a_stratum_of_one_label_or_few_labellings_makes_p_by_t() -> None:
    topic = random_topic(np.random.default_rng(2), 2, (4, 4), "none")
    arts = [f"arts {i}" for i in range(4)]
    shared = [replace(test, words=[*test.words[: test.n_x], *arts]) for test in topic]
    assert not topic_of(shared).layout.exchangeable
    assert topic_of(topic).layout.exchangeable


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.large)])
def test_the_interval_leaves_out_0_exactly_when_p_is_at_most_alpha(count: int) -> None:
    rng = np.random.default_rng(11)
    significant = 0
    for number in range(count):
        sharing = ("all", "some", "none")[number % 3]
        topic = topic_of(random_topic(rng, int(rng.integers(2, 4)), (2, 5), sharing, float(rng.normal())))
        p = topic_p(topic.layout).p_value
        interval = topic_interval(topic, p, 0.05)
        if interval is None:
            continue
        significant += p <= 0.05
        assert interval.excludes_zero == (p <= 0.05)
        assert interval.low <= interval.high
        assert interval.largest < topic.layout.largest * (1 + 1e-12)
    assert significant > count / 30


def test_the_interval_at_a_p_of_just_alpha_ends_at_0() -> None:
    topic = topic_of(random_topic(np.random.default_rng(4), 3, (6, 9), "none", effect=0.8))
    ends = []
    for p in (0.05, 0.05 * (1 + 1e-9)):
        interval = topic_interval(topic, p, 0.05)
        assert interval is not None
        ends.append(min(abs(interval.low), abs(interval.high)))
        assert interval.excludes_zero == (p <= 0.05)
    assert max(ends) < 1e-6


def test_words_that_lift_p_are_those_that_enumeration_finds() -> None:
    found, missed = 0, 0
    for topic in exchangeable_topics(8, 2, (3, 4), "none"):
        alpha = 1.02 * topic_p(topic_of(topic).layout).p_value
        lifting = {
            entry.word: entry.p for entry in lifting_words(topic_of(topic), alpha) if entry.role in "XY"
        }
        for word in {word for test in topic for word in test.words}:
            left = [_without(test, word) for test in topic]
            p = enumerated(left)[0]
            if word in lifting:
                assert lifting[word] == p
                found += 1
            else:
                assert p <= alpha
                missed += 1
    assert found > 5
    assert missed > 5


def _without(test: TopicTest, word: object) -> TopicTest:
    if word not in test.words:
        return test
    place = list(test.words).index(word)
    return replace(
        test,
        words=[w for w in test.words if w != word],
        n_x=test.n_x - (place < test.n_x),
        scores=np.delete(test.scores, place),
    )


def test_an_attribute_word_is_left_out_of_all_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_effect, "CLEARLY_BELOW", 1e9)
    topic = random_topic(np.random.default_rng(6), 2, (4, 4), "none")
    lifting = {entry.word: entry.p for entry in lifting_words(topic_of(topic), 1e-6) if entry.role == "A"}
    names = {name for test in topic for name in (test.tables.a if test.tables else ())}
    assert set(lifting) == names
    for name in names:
        left = []
        for test in topic:
            assert test.tables is not None
            kept = [column for column, a in enumerate(test.tables.a) if a != name]
            scores = test.tables.to_a[:, kept].mean(axis=1) - test.tables.to_b.mean(axis=1)
            left.append(replace(test, scores=scores))
        assert lifting[name] == enumerated(left)[0]


def test_the_mean_weighs_tests_by_their_sizes() -> None:
    topic = random_topic(np.random.default_rng(8), 3, (3, 9), "some")
    labels = {word: str(word).startswith("x") for test in topic for word in test.words}
    mean, effects = mean_of_labelled(topic, labels)
    layout = topic_of(topic).layout
    assert layout.effect_size == pytest.approx(mean, rel=1e-12)
    np.testing.assert_allclose(layout.d, effects, rtol=1e-12)


def test_the_detectable_mean_of_one_test_is_that_of_its_row_and_more_tests_detect_less() -> None:
    rng = np.random.default_rng(9)
    one = random_topic(rng, 1, (8, 8))
    alone = minimum_detectable_mean(topic_of(one), 0.05 / 8)
    assert alone == minimum_detectable_effect_size(8, 8, 0.05 / 8)
    several = minimum_detectable_mean(topic_of(random_topic(rng, 3, (8, 8), "none")), 0.05 / 8)
    assert alone is not None
    assert several is not None
    assert several < alone
