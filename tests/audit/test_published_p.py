"""The published p that a result by words implies is the one that the published settings compute."""

from __future__ import annotations

import pytest
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.results import published_p

TESTS = ["weat3b", "weat6", "weat7", "weat8b", "weat10", "sent-weat6", "sent-weat10"]


@pytest.fixture(scope="module")
def by_words() -> list[wg.Result]:
    return list(wg.run([HashedEncoder(), "wordllama"], tests=TESTS).results)


def test_it_is_what_the_published_settings_compute(by_words: list[wg.Result]) -> None:
    published = wg.run(
        [HashedEncoder(), "wordllama"], tests=TESTS, permute="elements", alternative="greater", trust="none"
    ).results
    assert {result.value > 0 for result in published} == {True, False}
    for ours, theirs in zip(by_words, published, strict=True):
        assert (ours.model, ours.test) == (theirs.model, theirs.test)
        implied = published_p(ours)
        if ours.target_sizes[0] != ours.target_sizes[1]:
            assert implied is None
        else:
            assert implied == pytest.approx(theirs.p_middle, rel=2e-3, abs=2e-4)  # ties and certified bounds


def test_a_one_sided_run_has_it_already() -> None:
    (result,) = wg.run(HashedEncoder(), tests="weat6", alternative="greater", trust="none").results
    assert published_p(result) == result.p_value
    (less,) = wg.run(HashedEncoder(), tests="weat6", alternative="less", trust="none").results
    assert published_p(less) is None
