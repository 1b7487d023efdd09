"""Which tests are measured, not tested, because their sets differ in shared tokens or templates (docs/methods 10.6)."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from weatherglass.catalogue import list_tests, load_tests
from weatherglass.catalogue.test import ElementSet
from weatherglass.stats.confounding import Confounding, confounding, expected_level, tokens_of

CONFOUNDED = {
    "sent-weat9",
    "angry_black_woman_stereotype_b",
    "sent-angry_black_woman_stereotype_b",
    "heilman_double_bind_competent_1+3-",
    "heilman_double_bind_competent_1-",
    "heilman_double_bind_likable_1+3-",
    "heilman_double_bind_likable_1-",
}


def units_of(words: ElementSet) -> list[list[list[str]]]:
    units: dict[str, list[list[str]]] = {}
    for element in words.elements:
        units.setdefault(element.word, []).append(tokens_of(element.text))
    return list(units.values())


def found_in_catalogue() -> dict[str, Confounding]:
    found = {}
    for test in load_tests(list_tests()):
        x, y = test.targets
        templates = [{e.template for e in s.elements if e.template} for s in (x, y)]
        confounded = confounding(units_of(x), units_of(y), *templates)
        if confounded is not None:
            found[test.name] = confounded
    return found


def test_seven_tests_of_the_catalogue_are_confounded() -> None:
    found = found_in_catalogue()
    assert set(found) == CONFOUNDED
    tokens = {t.token: (t.share_x, t.share_y) for t in found["heilman_double_bind_likable_1-"].tokens}
    assert tokens == {"he": (1, 0), "his": (1, 0), "she": (0, 1), "her": (0, 1)}
    assert found["sent-weat9"].templates == (3, 11, 0)
    assert found["angry_black_woman_stereotype_b"].templates is None


@pytest.mark.parametrize("shared", [0, 1, 2])
def test_the_expected_level_is_that_of_noise_models(shared: int) -> None:
    """Every token is an independent random vector, a text their mean; scores are a projection of the texts."""
    x = [[[f"x{i}", "of", *["he", "his"][:shared]]] for i in range(8)]
    y = [[[f"y{i}", "of", *["she", "her"][:shared]]] for i in range(8)]
    rng = np.random.default_rng(shared)
    tokens = sorted({token for unit in (*x, *y) for text in unit for token in text})
    hits, runs = 0, 4000
    texts = np.zeros((16, len(tokens)))
    for row, unit in zip(texts, (*x, *y), strict=True):
        for token, count in Counter(unit[0]).items():
            row[tokens.index(token)] = count / math.sqrt(len(unit[0]))
    for _ in range(runs):
        scores = texts @ rng.normal(size=len(tokens))
        hits += stats.ttest_ind(scores[:8], scores[8:]).pvalue <= 0.05
    level = expected_level(x, y)
    # The formula takes the ratio of two means for the mean of a ratio.
    assert hits / runs == pytest.approx(level, abs=0.03)
    assert (level > 0.10) == (shared > 0)


def test_sets_of_the_same_tokens_have_no_level_to_speak_of() -> None:
    assert expected_level([[["a", "b"]]] * 3, [[["c", "d"]]] * 3) == 1.0
    x, y = ([[[f"{side}{i}"]] for i in range(6)] for side in "xy")
    assert expected_level(x, y) == pytest.approx(0.05, rel=1e-9)
    assert confounding(x, y) is None
    assert confounding(x, y, {"a", "b"}, {"b", "c"}) is None
    apart = confounding(x, y, {"a", "b"}, {"c"})
    assert apart is not None
    assert (apart.templates, apart.tokens) == ((2, 1, 0), ())
