"""explain: a reader can compute d and p again from what it prints."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from tests.models import HashedEncoder
from typer.testing import CliRunner

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.explain import explain
from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.cli import app
from weatherglass.errors import OutputError, UnknownNameError, WeatherglassError
from weatherglass.metrics.weat.profiles import PROFILES


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
        if not line.startswith("     "):
            break
        listed.append(float(line.split()[-1]))
    return listed


def number_after(text: str, steps: Sequence[str]) -> float:
    found = re.search(re.escape(text) + r" = (-?[\d.e+-]+)", "\n".join(steps))
    assert found is not None, text
    return float(found[1])


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
    assert number_after("mean of X", steps) == pytest.approx(mean_x)
    assert number_after("mean of Y", steps) == pytest.approx(mean_y)
    assert number_after("sd of all 15", steps) == pytest.approx(sd)
    d = number_after("   d", steps)
    assert d == pytest.approx((mean_x - mean_y) / sd)
    assert d == pytest.approx(result.effect_size)
    sums = [math.fsum(subset) for subset in combinations(both, 7)]
    centre = 7 * mean
    count = sum(abs(each - centre) >= abs(math.fsum(x) - centre) - 1e-12 for each in sums)
    text = "\n".join(steps)
    assert f"p = {count:,} / 6 435 = ".replace(",", " ") in text
    assert count / len(sums) == result.p_value
    assert number_after("S = sum over X - sum over Y", steps) == pytest.approx(sum(x) - sum(y))


def test_the_moments_of_the_null_are_those_of_all_relabellings(folder: Path) -> None:
    steps = explain(folder, "weat7").steps
    x, y = printed(steps, "X"), printed(steps, "Y")
    sums = np.array([math.fsum(subset) for subset in combinations(x + y, 7)])
    text = "\n".join(steps)
    mean, sd = re.search(r"its mean is (\S+) \n\s+and its sd (\S+)", text).groups()  # type: ignore[union-attr]
    assert float(mean) == pytest.approx(sums.mean())
    assert float(sd) == pytest.approx(sums.std())


def test_every_profile_is_reported_with_its_reason(folder: Path) -> None:
    explanation = explain(folder, "weat7")
    x, y = np.array(printed(explanation.steps, "X")), np.array(printed(explanation.steps, "Y"))
    assert [each.profile for each in explanation.profiles] == list(PROFILES)
    for each in explanation.profiles:
        profile = PROFILES[each.profile]
        assert each.effect_size == pytest.approx(profile.effect_size(x, y))
        assert profile.draws in each.why
        assert ("sd divided by n" in each.why) == (profile.ddof == 0)
        assert any(line.startswith(f"   {each.profile}: {profile.caution}") for line in explanation.steps)


def test_it_says_what_stands_beside_the_number(folder: Path) -> None:
    text = "\n".join(explain(folder, "sent-weat6").steps)
    for expected in (
        "with these attribute words: ",
        "with others like them: ",
        "reliability of a word's score over attribute words: ",
        "without the template ",
        "an effect of 0.5 would be found with probability",
    ):
        assert expected in text
    assert "Unknown to the model: math" in "\n".join(explain(folder, "weat7").steps)


def test_p_of_the_second_reading_is_printed_where_its_effect_is_not_estimable(tmp_path: Path) -> None:
    found = wg.run(HashedEncoder(), tests="weat*", folder=tmp_path).results
    result = next(r for r in found if r.effect_size_attr is None and r.p_attr is not None)
    lines = explain(tmp_path, result.test).steps
    reason = next(i for i, line in enumerate(lines) if "with others like them: not estimable" in line)
    assert lines[reason + 1] == f"      p = {result.p_attr:.3g}, two-sided"


def test_a_result_that_is_not_significant_is_not_called_unbiased(folder: Path) -> None:
    text = " ".join("\n".join(explain(folder, "weat7").steps).split())
    assert "It does not show that there is no association" in text


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
    assert any("run the" in line for line in words.steps)
    assert any("--profile NAME: may2019, " in line for line in words.steps)
    for each in elements.profiles:
        run = wg.run(HashedEncoder(), tests=test, profile=each.profile, trust="none").results[0]
        assert (each.effect_size, each.p_value) == pytest.approx((run.effect_size, run.p_value), rel=1e-12)
    assert elements.profiles[0].effect_size == pytest.approx(by_words.effect_size_elements)


def test_a_sign_that_a_profile_drops_is_said(tmp_path: Path) -> None:
    found = wg.run(HashedEncoder(), tests="weat*", trust="none").results
    name = min(found, key=lambda result: result.effect_size).test
    wg.run(HashedEncoder(), tests=name, profile="azarpanah2021", folder=tmp_path, trust="none")
    text = "\n".join(explain(tmp_path, name).steps)
    assert "(this run's profile prints d without its sign)" in text
    assert "by azarpanah2021: " in text
    assert "from the cosine m of the vectors" in text
    assert "s is the mean of m over A" in text


def test_equal_scores_are_explained(tmp_path: Path) -> None:
    class Constant(HashedEncoder):
        def _vector(self, text: str) -> AnyMatrix:
            return np.ones(4) if text not in ("a", "b") else super()._vector(text)

    x, y, a, b = (
        ElementSet(role, tuple(Element(word, word) for word in words.split()))
        for role, words in zip("XYAB", ("k l m", "n o p", "a", "b"), strict=True)
    )
    wg.run(Constant(4), tests=Test("flat", (x, y), (a, b)), folder=tmp_path)
    text = "\n".join(explain(tmp_path, "flat").steps)
    assert "d is not defined: all scores are equal" in text
    assert "p = 20 / 20 = 1.0" in text


def test_several_rows_of_a_test_are_told_apart(tmp_path: Path) -> None:
    models = [HashedEncoder(name="one"), HashedEncoder(name="two", width=9)]
    wg.run(models, tests="weat7", metrics=["cosine/mean", "dot/eq2"], folder=tmp_path, trust="none")
    with pytest.raises(WeatherglassError, match=r"has 4 results in .*; choose with --model: one, two"):
        explain(tmp_path, "weat7")
    with pytest.raises(WeatherglassError, match="choose with --metric: cosine/mean, dot/eq2"):
        explain(tmp_path, "weat7", model="one")
    steps = explain(tmp_path, "weat7", model="two", metric="dot/eq2").steps
    assert steps[0] == "weat7 on two, dot/eq2"
    assert "it has no direction" in "\n".join(steps)
    assert "not assessed; see --trust" in "\n".join(steps)
    with pytest.raises(UnknownNameError, match=r"unknown model of weat7 in .* 'tow'; did you mean 'two'"):
        explain(tmp_path, "weat7", model="tow")


def test_a_test_that_is_not_there_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="'weat8'; did you mean 'weat7'"):
        explain(folder, "weat8")
    with pytest.raises(OutputError, match=r"no run is here \(run.json is missing\)"):
        explain(tmp_path, "weat7")
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(OutputError, match=r"run\.json: cannot be read"):
        explain(tmp_path, "weat7")


def test_a_test_that_failed_is_explained_by_its_failure(tmp_path: Path) -> None:
    words = wg.load_test("weat7").targets[0].texts
    wg.run(HashedEncoder(unknown=words[:7]), tests=["weat6", "weat7"], folder=tmp_path, trust="none")
    with pytest.raises(UnknownNameError, match="weat7 could not be run on hashed: only 1 of the 8"):
        explain(tmp_path, "weat7")


def test_the_command_prints_the_steps(folder: Path) -> None:
    shown = CliRunner().invoke(app, ["explain", str(folder), "weat7"])
    assert shown.exit_code == 0
    assert shown.stdout.splitlines() == [line.rstrip("\n") for line in explain(folder, "weat7").steps]
