"""explain: a reader can compute d and p again from what it prints."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.messages import mentions, naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.explain import explain
from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.cli import app
from weatherglass.errors import OutputError, UnknownNameError, WeatherglassError
from weatherglass.metrics.weat.profiles import OF_SCORES, PROFILES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two small encoders: a word test, a sentence test."""
    path = tmp_path_factory.mktemp("run")
    wg.run(HashedEncoder(unknown=["math"]), tests=["weat7", "sent-weat6"], folder=path)
    return path


def printed(steps: Sequence[str], role: str) -> list[float]:
    """The scores listed under X or Y."""
    start = next(i for i, line in enumerate(steps) if line.startswith(f"   {role}: "))
    listed = []
    for line in steps[start + 1 :]:
        if not re.fullmatch(r"   \S.*  -?\d[\d.e+-]*", line):
            break
        listed.append(float(line.split()[-1]))
    return listed


def step(number: int, steps: Sequence[str]) -> str:
    """The text of one numbered step."""
    starts = [i for i, line in enumerate(steps) if re.match(r"\d\. ", line)] + [len(steps)]
    return "\n".join(steps[starts[number - 1] : starts[number]])


def equations(text: str) -> list[float]:
    """The numbers that follow an equals sign."""
    return [float(number) for number in re.findall(r" = (-?[\d.]+(?:e[+-]\d+)?)", text)]


def test_d_and_p_follow_from_the_printed_numbers(folder: Path) -> None:
    (result,) = wg.run(HashedEncoder(unknown=["math"]), tests="weat7", trust="none").results
    assert result.alternative == "two-sided"
    steps = explain(folder, "weat7").steps
    x, y = printed(steps, "X"), printed(steps, "Y")
    assert (len(x), len(y)) == (7, 8)
    both = x + y
    mean_x, mean_y = sum(x) / 7, sum(y) / 8
    mean = sum(both) / 15
    sd = math.sqrt(sum((s - mean) ** 2 for s in both) / 14)
    d = (mean_x - mean_y) / sd
    assert equations(step(2, steps)) == pytest.approx([mean_x, mean_y, sd, d])
    assert d == pytest.approx(result.effect_size)
    sums = [math.fsum(subset) for subset in combinations(both, 7)]
    centre = 7 * mean
    count = sum(abs(each - centre) >= abs(math.fsum(x) - centre) - 1e-12 for each in sums)
    assert f"p = {count:,} / 6 435 = ".replace(",", " ") in step(4, steps)
    assert count / len(sums) == result.p_value
    assert equations(step(3, steps)) == pytest.approx([sum(x), sum(x) - sum(y)])


def test_the_moments_of_the_null_are_those_of_all_relabellings(folder: Path) -> None:
    steps = explain(folder, "weat7").steps
    x, y = printed(steps, "X"), printed(steps, "Y")
    sums = np.array([math.fsum(subset) for subset in combinations(x + y, 7)])
    named = re.findall(r"\b(mean|sd) (?:\w+ )?(-?\d[\d.]*(?:e[+-]\d+)?)", step(3, steps))
    assert {name: float(number) for name, number in named} == pytest.approx(
        {"mean": sums.mean(), "sd": sums.std()}
    )


def test_every_profile_is_reported_with_its_reason(folder: Path) -> None:
    explanation = explain(folder, "weat7")
    x, y = np.array(printed(explanation.steps, "X")), np.array(printed(explanation.steps, "Y"))
    assert [each.profile for each in explanation.profiles] == [each.name for each in OF_SCORES]
    for each in explanation.profiles:
        profile = PROFILES[each.profile]
        assert each.effect_size == pytest.approx(profile.effect_size(x, y))
        assert profile.draws in each.why
        assert mentions(each.why, "sd") == (profile.ddof == 0)
        assert any(line.startswith(f"   {each.profile}: {profile.caution}") for line in explanation.steps)


def test_it_says_what_stands_beside_the_number(folder: Path) -> None:
    explained = explain(folder, "sent-weat6")
    result, text = explained.result, step(5, explained.steps)
    assert result.robustness is not None
    assert f": {result.ci_low:.4f} to {result.ci_high:.4f}\n" in text
    assert f": {result.robustness.random_reason}\n" in text  # no interval for random attributes
    assert f": {result.score_reliability:.2f}\n" in text
    assert mentions(text, "template", 0.5, f"{result.power['0.5']:.2f}")
    assert mentions(step(1, explain(folder, "weat7").steps), "unknown", "math")


def test_p_of_the_second_reading_is_printed_where_its_effect_is_not_estimable(tmp_path: Path) -> None:
    found = wg.run(HashedEncoder(), tests="weat*", folder=tmp_path).results
    result = next(r for r in found if r.effect_size_random is None and r.p_random is not None)
    lines = explain(tmp_path, result.test).steps
    assert result.robustness is not None
    assert result.robustness.random_reason is not None
    reason = next(i for i, line in enumerate(lines) if result.robustness.random_reason in line)
    assert lines[reason + 1].endswith(f" = {result.p_random:.3g}, two-sided")


def test_a_result_that_is_not_significant_is_not_called_unbiased(folder: Path) -> None:
    steps = explain(folder, "weat7").steps
    assert mentions(step(4, steps), "not significant", "association")
    assert not mentions("\n".join(steps), "unbiased")


def test_words_are_explained_by_word(tmp_path: Path) -> None:
    run = wg.run(HashedEncoder(), tests="sent-weat6", permute="words", folder=tmp_path)
    explanation = explain(tmp_path, "sent-weat6")
    x, y = (np.array(printed(explanation.steps, role)) for role in "XY")
    assert (len(x), len(y)) == (8, 8)
    d = (x.mean() - y.mean()) / np.concatenate([x, y]).std(ddof=1)
    assert run.results[0].effect_size == pytest.approx(d)


def test_profiles_of_a_sentence_test_are_those_of_a_run_under_the_profile(tmp_path: Path) -> None:
    """By words the stored scores have attribute words averaged, so that no published number follows from them."""
    test = "sent-weat6"
    by_words = wg.run(HashedEncoder(), tests=test, folder=tmp_path / "words", trust="none").results[0]
    wg.run(HashedEncoder(), tests=test, folder=tmp_path / "elements", trust="none", permute="elements")
    words, elements = (explain(tmp_path / unit, test) for unit in ("words", "elements"))
    assert words.profiles == ()
    assert mentions(step(6, words.steps), "--profile", *(each.name for each in OF_SCORES))
    for each in elements.profiles:
        run = wg.run(HashedEncoder(), tests=test, profile=each.profile, trust="none").results[0]
        assert (each.effect_size, each.p_value) == pytest.approx((run.effect_size, run.p_value), rel=1e-12)
    assert elements.profiles[0].effect_size == pytest.approx(by_words.effect_size_elements)


def test_a_sign_that_a_profile_drops_is_said(tmp_path: Path) -> None:
    found = wg.run(HashedEncoder(), tests="weat*", trust="none").results
    name = min(found, key=lambda result: result.effect_size).test
    wg.run(HashedEncoder(), tests=name, profile="azarpanah2021", folder=tmp_path, trust="none")
    steps = explain(tmp_path, name).steps
    assert mentions(step(1, steps), "cosine", "mean")
    assert "profile" not in step(1, steps)
    assert mentions(step(2, steps), "profile", "sign")
    assert mentions(step(4, steps), "azarpanah2021")


def test_equal_scores_are_explained(tmp_path: Path) -> None:
    class Constant(HashedEncoder):
        def _vector(self, text: str) -> AnyMatrix:
            return np.ones(4) if text not in ("a", "b") else super()._vector(text)

    x, y, a, b = (
        ElementSet(role, tuple(Element(word, word) for word in words.split()))
        for role, words in zip("XYAB", ("k l m", "n o p", "a", "b"), strict=True)
    )
    wg.run(Constant(4), tests=Test("flat", (x, y), (a, b)), folder=tmp_path)
    steps = explain(tmp_path, "flat").steps
    assert mentions(step(2, steps), "d", "not defined", "equal")
    assert "p = 20 / 20 = 1" in step(4, steps)


def test_several_rows_of_a_test_are_told_apart(tmp_path: Path) -> None:
    models = [HashedEncoder(name="one"), HashedEncoder(name="two", width=9)]
    wg.run(models, tests="weat7", metrics=["cosine/mean", "dot/eq2"], folder=tmp_path, trust="none")
    with pytest.raises(WeatherglassError, match=naming("weat7", 4, str(tmp_path), "--model", "one", "two")):
        explain(tmp_path, "weat7")
    with pytest.raises(WeatherglassError, match=naming("--metric", "cosine/mean", "dot/eq2")):
        explain(tmp_path, "weat7", model="one")
    steps = explain(tmp_path, "weat7", model="two", metric="dot/eq2").steps
    assert mentions(steps[0], "weat7", "two", "dot/eq2")
    assert mentions(step(1, steps), "no direction")
    assert mentions(step(5, steps), "--trust")
    with pytest.raises(UnknownNameError, match=naming("model", "weat7", "tow", suggesting="two")):
        explain(tmp_path, "weat7", model="tow")


def test_a_test_that_is_not_there_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=naming("weat8", suggesting="weat7")):
        explain(folder, "weat8")
    with pytest.raises(OutputError, match=naming(f"{tmp_path}:", "run.json")):
        explain(tmp_path, "weat7")
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(OutputError, match=naming(str(tmp_path / "run.json"))):
        explain(tmp_path, "weat7")


def test_a_test_that_failed_is_explained_by_its_failure(tmp_path: Path) -> None:
    words = wg.load_test("weat7").targets[0].texts
    wg.run(HashedEncoder(unknown=words[:7]), tests=["weat6", "weat7"], folder=tmp_path, trust="none")
    with pytest.raises(UnknownNameError, match=naming("weat7", "hashed", 1, 8)):
        explain(tmp_path, "weat7")


def test_the_command_prints_the_steps(folder: Path) -> None:
    shown = CliRunner().invoke(app, ["explain", str(folder), "weat7"])
    assert shown.exit_code == 0
    assert shown.stdout.splitlines() == [
        line.rstrip("\n") for line in explain(folder, "weat7", digits=4).steps
    ]
