"""Scores that are not defined, such as SC-WEAT of a word that is as near to every attribute, on the page of a run."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.messages import in_order
from tests.report.browser import Browser

import weatherglass
from weatherglass.report.page import PAGE, page


def vectors() -> dict[str, NDArray[np.float64]]:
    """Of the words of weat6; the first of X is at right angles to all others."""
    test = weatherglass.load_test("weat6")
    words = list(dict.fromkeys(text for one in test.sets for text in one.texts))
    rng = np.random.default_rng(0)
    found = {word: np.append(rng.normal(size=8), 0.0) for word in words}
    found[test.targets[0].texts[0]] = np.eye(9)[8]
    return found


def test_the_drawing_leaves_them_out_and_says_how_many(browser: Browser, tmp_path: Path) -> None:
    run = weatherglass.run(vectors(), "weat6", "sc-weat", folder=tmp_path)
    assert sum(math.isnan(score.score) for result in run.results for score in result.scores) == 1
    browser.open(tmp_path / PAGE)
    browser.run("location.hash = '#r0'")
    browser.wait_for_detail()
    shown = browser.find("#detail").text
    captions = browser.run(
        "[...document.querySelectorAll('#detail .plots figcaption')].map(c => c.textContent)"
    )
    assert any(re.search(in_order("7 words", 1), caption) for caption in captions)
    assert "NaN" not in shown
    assert browser.run("document.querySelectorAll('#detail .plots circle.x').length") == 7


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_page_in_memory_has_none_for_them(value: float) -> None:
    run = weatherglass.run(vectors(), "weat6", "cosine/mean")
    (result,) = run.results
    scores = (result.scores[0]._replace(score=value), *result.scores[1:])
    stored = replace(run, results=[replace(result, scores=scores)])
    assert "<title>" in page([stored])
