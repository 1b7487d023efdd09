"""Leave-one-out, null distribution, power, and what is said of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.models import HashedEncoder
from typer.testing import CliRunner

import weatherglass as wg
from weatherglass.catalogue import load_test
from weatherglass.catalogue.association_test import AssociationTest, ElementSet
from weatherglass.cli import app
from weatherglass.inference.bootstrap import Sample
from weatherglass.inference.trust import (
    NULL_LEVELS,
    LeftOut,
    Trust,
    attribute_noise,
    interval_is_too_narrow,
    null_quantiles,
    power,
)
from weatherglass.metrics.weat.statistic import MEAN
from weatherglass.report.terminal import caption, format_p, results_tables
from weatherglass.runs.judge import Correction, judge
from weatherglass.runs.results import Result


def run_without(test: AssociationTest, role: int, word: str) -> Result:
    """The test with a word taken out of one set, from the start."""
    sets = list(test.sets)
    sets[role] = ElementSet(sets[role].category, tuple(e for e in sets[role].elements if e.word != word))
    smaller = AssociationTest("smaller", (sets[0], sets[1]), (sets[2], sets[3]), test.context)
    return wg.run(HashedEncoder(), tests=smaller, trust="none").results[0]


def trust_of(result: Result) -> Trust:
    assert result.trust is not None
    return result.trust


@pytest.mark.parametrize("name", ["weat7", "sent-weat6"])
def test_leaving_out_a_word_is_the_test_without_it(name: str) -> None:
    test = load_test(name)
    (result,) = wg.run(HashedEncoder(), tests=test, resamples=100).results
    left_out = {(each.role, each.name): each for each in trust_of(result).left_out}
    for role in range(4):
        word = test.sets[role].elements[0].word
        expected = run_without(test, role, word)
        assert left_out["XYAB"[role], word].effect_size == pytest.approx(expected.effect_size)
    words = sum(len(set(each.words)) for each in test.sets)
    assert sum(each.kind == "word" for each in left_out.values()) == words


def test_the_most_telling_word_is_the_one_whose_loss_costs_most() -> None:
    (result,) = wg.run(HashedEncoder(), tests="weat7", resamples=100).results
    left_out = trust_of(result).left_out
    sign = math.copysign(1, result.effect_size)
    telling = min(left_out, key=lambda each: sign * (each.effect_size or 0.0))
    role = "XYAB".index(telling.role)
    assert telling.p_value == pytest.approx(run_without(load_test("weat7"), role, telling.name).p_value)


def test_a_template_is_left_out_of_all_sets() -> None:
    test = load_test("sent-weat6")
    (result,) = wg.run(HashedEncoder(), tests=test, resamples=100).results
    template = next(each for each in trust_of(result).left_out if each.kind == "template")
    sets = [
        ElementSet(s.category, tuple(e for e in s.elements if e.template != template.name)) for s in test.sets
    ]
    smaller = AssociationTest("smaller", (sets[0], sets[1]), (sets[2], sets[3]), test.context)
    expected = wg.run(HashedEncoder(), tests=smaller, trust="none").results[0]
    assert template.effect_size == pytest.approx(expected.effect_size)


def test_the_null_distribution_is_that_of_all_relabellings() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=6), rng.normal(size=5)
    pool = np.concatenate([x, y])
    all_d = []
    for chosen in itertools.combinations(range(11), 6):
        inside = np.isin(np.arange(11), chosen)
        all_d.append((pool[inside].mean() - pool[~inside].mean()) / pool.std(ddof=1))
    found = null_quantiles(x, y, 1, np.random.default_rng(0))
    assert found[20:181:20] == pytest.approx(list(np.quantile(all_d, NULL_LEVELS[20:181:20])), abs=0.06)
    assert null_quantiles(np.ones(3), np.ones(3), 1, rng) == []


@pytest.mark.parametrize(("n", "d", "alpha"), [(8, 0.8, 0.05), (16, 0.5, 0.05), (25, 0.8, 0.01)])
def test_power_is_the_share_of_tests_that_find_the_effect(n: int, d: float, alpha: float) -> None:
    """Simulated: normal scores whose population has effect d, and the t-test done by scipy."""
    from scipy.stats import ttest_ind

    # In a population, d² = δ² / (1 + δ²/4) for equal sets.
    shift = d / math.sqrt(1 - d * d / 4)
    rng = np.random.default_rng(n)
    x, y = rng.normal(shift, 1, (4000, n)), rng.normal(0, 1, (4000, n))
    found = (ttest_ind(x, y, axis=1, alternative="greater").pvalue <= alpha).mean()
    assert power(n, n, d, alpha) == pytest.approx(found, abs=0.05)
    assert power(n, n, 0.0, alpha) == pytest.approx(alpha)
    assert power(2 * n, 2 * n, d, alpha) > power(n, n, d, alpha)
    assert math.isnan(power(n, n, 2.5, alpha))


def test_attribute_noise_is_the_share_that_attributes_add() -> None:
    """Scores = true score + noise of 10 attributes in each set, whose variance is known to be half of the whole."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(30):
        true = rng.normal(size=(40, 1))
        to_a = true + math.sqrt(5) * rng.normal(size=(40, 10))
        to_b = math.sqrt(5) * rng.normal(size=(40, 10))
        units = np.arange(20), np.arange(20), np.arange(10), np.arange(10)
        sample = Sample(to_a, to_b, 1, MEAN, units)
        shares.append(attribute_noise(sample, to_a.mean(axis=1) - to_b.mean(axis=1), rng))
    assert np.mean(shares) == pytest.approx(0.5, abs=0.08)


def judged(**changes: object) -> Result:
    (result,) = wg.run(HashedEncoder(), tests="weat7", resamples=100).results
    return judge([replace(result, warnings=(), **changes)], Correction("holm", 0.05))[0]  # type: ignore[arg-type]


def test_significance_that_hangs_on_one_word_is_said() -> None:
    left_out = LeftOut("word", "X", "math", 0.3, 0.2)
    template = replace(left_out, kind="template", name="This is {}.")
    warnings = judged(p_value=0.01, trust=Trust(None, (left_out, template), (), None)).warnings
    assert "significance hangs on 'math': without it p is 0.2" in warnings
    assert "significance hangs on the template 'This is {}.': without it p is 0.2" in warnings
    steady = Trust(None, (replace(left_out, p_value=0.04),), (), None)
    assert not any("hangs" in w for w in judged(p_value=0.01, trust=steady).warnings)
    hanging = Trust(None, (left_out,), (), None)
    assert not any("hangs" in w for w in judged(p_value=0.3, trust=hanging).warnings)


def test_sentences_that_are_significant_only_as_independent_are_said() -> None:
    assert any("by words p is above 0.05" in w for w in judged(p_value=0.01, p_words=0.06).warnings)
    assert not any("by words" in w for w in judged(p_value=0.01, p_words=0.04).warnings)


@pytest.mark.parametrize(
    ("n", "d", "narrow"),
    [(8, 1.8, True), (8, -1.5, True), (8, 0.5, False), (25, 1.4, False), (40, 1.8, True)],
)
def test_the_coverage_warning_fires_where_less_than_92_percent_were_measured(
    n: int, d: float, narrow: bool
) -> None:
    """docs/trust.md, the lower of the two columns of BCa."""
    assert interval_is_too_narrow(n, d) is narrow
    assert not interval_is_too_narrow(n, math.nan)
    assert interval_is_too_narrow(25, 1.0, noise=0.6)
    assert not interval_is_too_narrow(25, 1.0, noise=0.3)
    warned = judged(value=d, target_sizes=(n, n), ci_low=0.1, ci_high=1.9, trust=None).warnings
    assert any("less than 92 times in 100" in warning for warning in warned) is narrow


def test_a_result_tells_the_power_and_the_table_the_interval() -> None:
    run = wg.run(HashedEncoder(), tests="weat7", resamples=100)
    (result,) = run.results
    assert result.power["0.5"] == pytest.approx(power(8, 8, 0.5, 0.01))
    assert run.record["power"] == {"8 + 8 elements": result.power}
    if not result.significance:
        assert any("would find an effect of 0.5 with probability 0.08 only" in line for line in caption(run))
    assert any("does not show that a model is unbiased" in line for line in caption(run))
    (table,) = results_tables(run)
    assert [column.header for column in table.columns][:4] == ["test", "d", "", "95 % of d"]
    (bare,) = results_tables(wg.run(HashedEncoder(), tests="weat7", trust="none"))
    assert "95 % of d" not in [column.header for column in bare.columns]
    assert format_p(0.0) == "0"


def test_trust_says_which_metrics_are_assessed() -> None:
    metrics = ["cosine/mean", "cosine/max"]
    for trust, expected in (("mean", [True, False]), ("all", [True, True]), ("none", [False, False])):
        run = wg.run(HashedEncoder(), tests="weat7", metrics=metrics, trust=trust, resamples=100)
        assert [result.ci_low is not None for result in run.results] == expected
        assert [result.trust is not None for result in run.results] == expected


def test_the_command_fails_its_gate_with_1_and_says_why(tmp_path: Path) -> None:
    folder, report = tmp_path / "run", tmp_path / "junit.xml"
    command = ["run", "-t", "weat6", "-o", str(folder), "--resamples", "100", "-q", "--junit", str(report)]
    failed = CliRunner().invoke(app, [*command, "--fail-if", "num_targ1 == 8"])
    assert failed.exit_code == 1
    assert "gate: weat6 on wordllama (cosine/mean): num_targ1 == 8: num_targ1 = 8" in failed.stderr
    assert "<failure" in report.read_text()
    passed = CliRunner().invoke(app, [*command, "--fail-if", "num_targ1 != 8"])
    assert passed.exit_code == 0
    assert "<failure" not in report.read_text()
    refused = CliRunner().invoke(app, [*command, "--fail-if", "__import__('os')"])
    assert "cannot be called" in str(refused.exception)
