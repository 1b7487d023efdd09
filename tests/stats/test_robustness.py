"""Leave-one-out, null distribution, power, and what is said of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.messages import mentions
from tests.models import HashedEncoder
from tests.results import made_result

import weatherglass as wg
from weatherglass.arrays import Vector
from weatherglass.audit.explain import explain
from weatherglass.audit.judge import judge
from weatherglass.audit.results import Result
from weatherglass.audit.settings import Settings
from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_test
from weatherglass.catalogue.test import ElementSet, Test
from weatherglass.cli import app
from weatherglass.errors import GateError
from weatherglass.metrics.exchange import ROUGH
from weatherglass.report.numbers import format_p
from weatherglass.report.rows import results_lines
from weatherglass.report.statements import caveats
from weatherglass.report.terminal import notes
from weatherglass.stats import leave_one_out
from weatherglass.stats.leave_one_out import LeftOut, removals_of_words
from weatherglass.stats.permutation import Significance, permutation_test
from weatherglass.stats.power import minimum_detectable_effect_size, power
from weatherglass.stats.robustness import NULL_LEVELS, Robustness, null_quantiles

WIDTH = 5
"""Of vectors that give weat7 a p of 0.23."""


def without_word(test: Test, role: int, word: str) -> Test:
    """The test with a word taken out of one set."""
    sets = list(test.sets)
    sets[role] = ElementSet(sets[role].category, tuple(e for e in sets[role].elements if e.word != word))
    return Test("smaller", (sets[0], sets[1]), (sets[2], sets[3]), test.context)


def run_without(test: Test, role: int, word: str, metric: str = "cosine/mean") -> Result:
    """The result of the test without a word, from the start."""
    smaller = without_word(test, role, word)
    return wg.run(HashedEncoder(WIDTH), tests=smaller, metrics=metric, trust="none").results[0]


def robustness_of(result: Result) -> Robustness:
    assert result.robustness is not None
    return result.robustness


@pytest.mark.parametrize("name", ["weat7", "sent-weat6"])
def test_leaving_out_a_word_is_the_test_without_it(name: str) -> None:
    test = load_test(name)
    (result,) = wg.run(HashedEncoder(WIDTH), tests=test).results
    left_out = {(each.role, each.name): each for each in robustness_of(result).left_out}
    for role in range(4):
        word = test.sets[role].elements[0].word
        expected = run_without(test, role, word)
        assert left_out["XYAB"[role], word].effect_size == pytest.approx(expected.effect_size)
    words = sum(len(set(each.words)) for each in test.sets)
    assert sum(each.kind == "word" for each in left_out.values()) == words


@pytest.mark.parametrize("metric", ["cosine/mean"])
def test_a_result_hangs_on_the_word_without_which_p_is_largest(metric: str) -> None:
    """Every word taken out of its set and the test run again: 34 runs."""
    test = load_test("weat7")
    (before,) = wg.run(HashedEncoder(WIDTH), tests=test, metrics=metric, trust="none").results
    alpha = 1.1 * before.p_value
    (result,) = wg.run(HashedEncoder(WIDTH), tests=test, metrics=metric, alpha=alpha).results
    anew = {
        (role, word): run_without(test, place, word, metric).p_value
        for place, role in enumerate("XYAB")
        for word in dict.fromkeys(test.sets[place].words)
    }
    decisive = robustness_of(result).decisive("word", alpha)
    assert decisive is not None
    assert (decisive.role, decisive.name) == max(anew, key=lambda word: anew[word])
    assert decisive.p_value == pytest.approx(max(anew.values()))
    assert decisive.lifting == sum(p > alpha for p in anew.values()) > 1


def test_a_template_is_left_out_of_all_sets() -> None:
    test = load_test("sent-weat6")
    (result,) = wg.run(HashedEncoder(), tests=test).results
    template = next(each for each in robustness_of(result).left_out if each.kind == "template")
    sets = [
        ElementSet(s.category, tuple(e for e in s.elements if e.template != template.name)) for s in test.sets
    ]
    smaller = Test("smaller", (sets[0], sets[1]), (sets[2], sets[3]), test.context)
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


def judged(**changes: object) -> Result:
    (result,) = wg.run(HashedEncoder(), tests="weat7").results
    return judge([replace(result, warnings=(), **changes)], Settings(correction="holm", alpha=0.05))[0]  # type: ignore[arg-type]


@pytest.mark.large
def test_words_that_could_lift_p_have_the_p_of_the_test_without_them() -> None:
    """Every word of a significant test is taken out and the test run anew; a p that is left out cannot exceed alpha."""
    test = load_test("weat9")
    (result,) = wg.run("wordllama", tests=test).results
    assert result.p_value <= 0.05
    for left_out in robustness_of(result).left_out:
        smaller = without_word(test, "XYAB".index(left_out.role), left_out.name)
        again = wg.run("wordllama", tests=smaller, trust="none").results[0].p_value
        if left_out.p_value is None:
            assert again <= 0.05
        else:
            assert left_out.p_value == pytest.approx(again)


@pytest.mark.large
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.large) for seed in range(1, 4))])
def test_of_25_words_each_the_p_that_exceed_alpha_are_those_of_fine_bounds(seed: int) -> None:
    """Where counting takes too long for every word, rough bounds decide which p are worth finer ones."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=25), rng.normal(size=25)
    x += 0.57 * np.std(np.concatenate([x, y])) - x.mean() + y.mean()  # p about 0.04
    alpha = 1.05 * permutation_test(x, y, alternative="two-sided").p_value
    names = [f"x{n}" for n in range(25)], [f"y{n}" for n in range(25)]
    removals = list(removals_of_words(np.concatenate([x, y]), 25, names, 1))

    def bounds(x: Vector, y: Vector, rough: bool) -> Significance:
        precision = ROUGH if rough else 0.01
        return permutation_test(x, y, method="bounds", alternative="two-sided", precision=precision)

    found = {
        one.name: one.p_value for one in leave_one_out.tested(removals, bounds, 0.99 * alpha, alpha, False)
    }
    fine = {
        one.name: permutation_test(
            one.x, one.y, method="bounds", alternative="two-sided", precision=0.002
        ).p_value
        for one in removals
    }
    lifting = {name for name, p in found.items() if p is not None and p > alpha}
    assert 0 < len(lifting) < 50
    assert {name for name, p in fine.items() if p > alpha} <= lifting
    assert lifting <= {name for name, p in fine.items() if p > 0.99 * alpha}
    for name, p in found.items():
        assert p is None or p == pytest.approx(fine[name], rel=0.011)
    assert None in found.values()


def made_robustness(*left_out: LeftOut, excluded_above: float | None = None) -> Robustness:
    return Robustness(
        level=0.95,
        random_corrected=True,
        fixed_reason=None,
        random_reason=None,
        templates_random=False,
        excluded_above=excluded_above,
        bootstrap=None,
        left_out=left_out,
        null=(),
    )


def values_of(kind: str, result: Result) -> list[Mapping[str, Any]]:
    """Return the values of the warnings of one kind."""
    return [warning.values for warning in result.warnings if warning.kind == kind]


def test_significance_that_hangs_on_one_word_is_said() -> None:
    math_ = LeftOut("word", "X", "math", 0.3, 0.2)
    template = math_._replace(kind="template", name="This is {}.")
    one, other = values_of("fragile", judged(p_value=0.01, robustness=made_robustness(math_, template)))
    assert one == {"unit": "word", "name": "math", "p": 0.2, "lifting": 1, "alpha": 0.05}
    assert other == {**one, "unit": "template", "name": "This is {}."}
    also = math_._replace(name="algebra", p_value=0.06)
    assert values_of("fragile", judged(p_value=0.01, robustness=made_robustness(also, math_))) == [
        {**one, "lifting": 2}
    ]
    steady = made_robustness(math_._replace(p_value=0.04))
    assert not values_of("fragile", judged(p_value=0.01, robustness=steady))
    assert not values_of("fragile", judged(p_value=0.3, robustness=made_robustness(math_)))


def test_sentences_that_are_significant_only_as_independent_are_said() -> None:
    assert values_of("pseudoreplication", judged(p_value=0.06, p_elements=0.01)) == [{"alpha": 0.05}]
    assert not values_of("pseudoreplication", judged(p_value=0.04, p_elements=0.01))


def test_a_result_has_the_warnings_of_both_readings() -> None:
    (result,) = wg.run("wordllama", tests="weat9").results
    (fixed,) = values_of("fixed-attributes", result)
    assert fixed == {"p": result.p_value, "p_random": result.p_random}
    assert values_of("unreliable", result) == [{"reliability": result.score_reliability, "least": 0.3}]


def test_trust_comes_back_from_the_journal() -> None:
    (result,) = wg.run(HashedEncoder(), tests="weat7", ci="bca").results
    robustness = robustness_of(result)
    assert robustness.bootstrap is not None
    assert Robustness.from_json(json.loads(json.dumps(robustness.to_json()))) == robustness


@pytest.mark.parametrize(
    ("smallest", "excluded", "small"),
    [(0.5, 0.49, True), (0.5, 0.5, False), (0.5, None, None), (None, 0.1, None)],
)
def test_an_effect_is_called_small_only_below_a_stated_size(
    smallest: float | None, excluded: float | None, small: bool | None
) -> None:
    result = judge(
        [made_result(robustness=made_robustness(excluded_above=excluded))],
        Settings(correction="holm", alpha=0.05, smallest=smallest),
    )[0]
    assert result.small is small


def test_smallest_is_kept_with_the_run_and_said(tmp_path: Path) -> None:
    tests, settings = "weat[678]", {"smallest": 1.9}
    run = wg.run("wordllama", tests=tests, folder=tmp_path / "stated", **settings)  # type: ignore[arg-type]
    bounds = [robustness_of(result).excluded_above for result in run.results]
    assert [result.small for result in run.results] == [None if u is None else u < 1.9 for u in bounds]
    assert any(result.small for result in run.results)
    assert [result.small for result in read_run(tmp_path / "stated").results] == [
        r.small for r in run.results
    ]
    assert any(mentions(line, 1.9) for line in notes(run))
    place = next(place for place, result in enumerate(run.results) if result.small)

    def bound_in(folder: str) -> str:
        """The line that says which |d| is excluded."""
        steps = explain(tmp_path / folder, run.results[place].test).steps
        (line,) = (step for step in steps if mentions(step, "|d|", f"{bounds[place]:.2f}"))
        return line

    assert mentions(bound_in("stated"), 1.9)
    silent = wg.run("wordllama", tests=tests, folder=tmp_path / "not-stated")
    assert all(result.small is None for result in silent.results)
    assert not any(mentions(line, 1.9) for line in notes(silent))
    assert not mentions(bound_in("not-stated"), 1.9)


def test_a_result_tells_the_power_and_the_table_the_interval() -> None:
    run = wg.run(HashedEncoder(), tests="weat7")
    (result,) = run.results
    assert result.power["0.5"] == pytest.approx(power(0.5, 8, 8, 0.05))
    assert run.record["power"] == {"8 + 8 words": result.power}
    assert result.minimum_detectable == pytest.approx(minimum_detectable_effect_size(8, 8, 0.05))
    (verdict,) = run.verdicts()
    assert verdict.outcome == "inconclusive"
    assert verdict.minimum_detectable is not None
    said = [text for text in caveats([verdict], run.alpha) if mentions(text, "80 %")]
    assert len(said) == 1
    assert mentions(said[0], f"d = {verdict.minimum_detectable:.2f}")
    assert next(line for line in results_lines(run, 80) if "95 %" in line).split()[:2] == ["test", "d"]
    bare = wg.run(HashedEncoder(), tests="weat7", trust="none")
    assert not any("95 %" in line for line in results_lines(bare, 80))
    assert format_p(0.0) == "0"


def test_trust_says_which_metrics_are_assessed() -> None:
    metrics = ["cosine/mean", "cosine/max"]
    for trust, expected in (("mean", [True, False]), ("all", [True, True]), ("none", [False, False])):
        run = wg.run(HashedEncoder(), tests="weat7", metrics=metrics, trust=trust)
        assert [result.ci_low is not None for result in run.results] == expected
        assert [result.robustness is not None for result in run.results] == expected


def test_the_command_fails_its_gate_with_1_and_says_why(tmp_path: Path) -> None:
    folder, report = tmp_path / "run", tmp_path / "junit.xml"
    command = ["run", "-t", "weat6", "-o", str(folder), "-q", "--junit", str(report)]
    failed = CliRunner().invoke(app, [*command, "--fail-if", "num_targ1 == 8"])
    assert failed.exit_code == 1
    assert "gate: weat6 on glove (cosine/mean): num_targ1 == 8: num_targ1 = 8" in failed.stderr
    assert "<failure" in report.read_text()
    passed = CliRunner().invoke(app, [*command, "--fail-if", "num_targ1 != 8"])
    assert passed.exit_code == 0
    assert "<failure" not in report.read_text()
    refused = CliRunner().invoke(app, [*command, "--fail-if", "__import__('os')"])
    assert isinstance(refused.exception, GateError)
    assert mentions(str(refused.exception), "'__import__'")
