"""How often the decision tree says what: parts of `python -m benchmarks.verdicts`, which measures all of it."""

from __future__ import annotations

import pytest
from benchmarks.coverage import generator
from benchmarks.verdicts import World, bounds_of, covered, measured, old_rule

from weatherglass.stats import Outcome

RUNS = 60


def test_a_world_has_the_tests_of_the_catalogue_that_are_tested() -> None:
    world = World("noise")
    assert len(world.catalogue.topics) == 8
    assert sum(not test.confounded for test in world.catalogue.tests) == 35
    rates = measured(world, 2)
    assert rates.runs == 2
    assert rates.outcomes.total() == 2 * 8
    assert rates.old.total() == 2 * 8


def test_the_attribute_words_of_a_relabelled_world_keep_their_side_in_all_tests_of_a_topic() -> None:
    world = World("relabelled")
    rng = generator("test")
    for tests in world.topics(world.model(rng), rng)[4:6]:
        tables = [test.tables for test in tests if test.tables is not None]
        assert len({(frozenset(t.a), frozenset(t.b)) for t in tables}) == 1


def test_the_old_rule_takes_the_smallest_p_of_a_topic() -> None:
    world = World("noise")
    rng = generator("old")
    topics = world.topics(world.model(rng), rng)
    nothing = [[None] * len(tests) for tests in topics]
    by_words, by_sentences = old_rule(topics, nothing), old_rule(topics, [[0.001] * len(t) for t in topics])
    assert "cannot tell" in by_words
    assert "cannot tell" not in by_sentences


@pytest.mark.large
@pytest.mark.parametrize("world", ["noise", "pieces", "shuffled", "relabelled", "planted-1.20"])
def test_the_rates_keep_the_bounds_of_docs_methods_12(world: str) -> None:
    rates = measured(World(world), RUNS)
    assert [bound for bound in bounds_of(world, rates) if bound.broken] == []
    assert rates.of_topics(Outcome.ROBUST) <= rates.of_topics(Outcome.ROBUST, Outcome.LIMITED)


@pytest.mark.large
@pytest.mark.parametrize("step", [0, 4, 8])
@pytest.mark.parametrize("d", [0.0, 0.7, 1.4])
def test_the_mean_of_a_topic_is_covered_whatever_the_tests_share(step: int, d: float) -> None:
    assert covered(f"test, {step}, {d}", 3, (8, 8), step, d, 400).mean() >= 0.92
