"""Topics against the plain yardstick of the methods, whose exchanges are sampled: `make test-shared SHARED=DIR`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.stats.test_confounding import units_of
from tests.stats.topic_cases import random_topic

from weatherglass.catalogue import list_tests, load_tests
from weatherglass.stats.confounding import expected_level
from weatherglass.stats.topic import TopicTest
from weatherglass.stats.verdict import measure_topic

pytestmark = pytest.mark.shared
DRAWS = 19_999


@pytest.fixture(scope="module")
def yardstick(shared: Path) -> Iterator[Any]:
    folder = shared / "reference"
    sys.path.insert(0, str(folder))  # it imports a file beside it
    spec = importlib.util.spec_from_file_location("topics", folder / "topics.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(folder))


def given(test: TopicTest) -> tuple[Any, ...]:
    assert test.tables
    return test.words, test.n_x, test.tables.to_a, test.tables.to_b, test.tables.a, test.tables.b


def test_every_number_of_a_topic_is_the_yardsticks(yardstick: Any) -> None:
    rng = np.random.default_rng(12)
    exchanged = 0
    for case in range(60):
        sharing = ("none", "some", "all")[case % 3]
        tests = random_topic(rng, tests=1 + case % 4, sharing=sharing, effect=rng.uniform(0, 1.5))
        found = measure_topic(tests)
        assert found.significance
        expected = yardstick.topic(list(map(given, tests)), rng, DRAWS, [test.pieces for test in tests])
        assert found.effect_size == pytest.approx(expected["D"], abs=1e-12)
        assert found.p_random == pytest.approx(expected["p_such"], abs=1e-9)
        assert found.pieces
        assert found.pieces.p == pytest.approx(expected["p_pieces"], abs=1e-9)
        if expected["exchangeable"]:
            exchanged += 1
            error = 5 * np.sqrt(expected["p"] * (1 - expected["p"]) / DRAWS) + 2 / DRAWS
            assert found.p_exchange == pytest.approx(expected["p"], abs=error)
            for row, p in zip(found.tested, expected["p_maxT"], strict=True):
                assert row.p_adjusted == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / DRAWS) + 2 / DRAWS)
        else:
            assert found.p_exchange == pytest.approx(expected["p"], abs=1e-12)
    assert exchanged >= 20


def test_the_expected_level_is_the_yardsticks(yardstick: Any) -> None:
    for test in load_tests(list_tests()):
        sets = [units_of(words) for words in test.targets]
        assert expected_level(*sets) == pytest.approx(yardstick.expected_level(*sets), abs=1e-9)
