"""Leave-one-out, null distribution, power, and what is said of them."""

from __future__ import annotations

import itertools
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
from weatherglass.inference.notes import Note
from weatherglass.inference.power import power
from weatherglass.inference.removal import LeftOut
from weatherglass.inference.trust import NULL_LEVELS, Trust, null_quantiles
from weatherglass.report.terminal import caption, format_p, results_tables
from weatherglass.runs.judge import Correction, judge
from weatherglass.runs.results import Result


def run_without(test: AssociationTest, role: int, word: str, model: str | None = None) -> Result:
    """The test with a word taken out of one set, from the start."""
    sets = list(test.sets)
    sets[role] = ElementSet(sets[role].category, tuple(e for e in sets[role].elements if e.word != word))
    smaller = AssociationTest("smaller", (sets[0], sets[1]), (sets[2], sets[3]), test.context)
    return wg.run(model or HashedEncoder(), tests=smaller, trust="none").results[0]


def trust_of(result: Result) -> Trust:
    assert result.trust is not None
    return result.trust


@pytest.mark.parametrize("name", ["weat7", "sent-weat6"])
def test_leaving_out_a_word_is_the_test_without_it(name: str) -> None:
    test = load_test(name)
    (result,) = wg.run(HashedEncoder(), tests=test).results
    left_out = {(each.role, each.name): each for each in trust_of(result).left_out}
    for role in range(4):
        word = test.sets[role].elements[0].word
        expected = run_without(test, role, word)
        assert left_out["XYAB"[role], word].effect_size == pytest.approx(expected.effect_size)
    words = sum(len(set(each.words)) for each in test.sets)
    assert sum(each.kind == "word" for each in left_out.values()) == words


def test_words_that_could_lift_p_have_the_p_of_the_test_without_them() -> None:
    """Every word of a significant test is taken out and the test run anew; a p that is left out cannot exceed alpha."""
    test = load_test("weat9")
    (result,) = wg.run("wordllama", tests=test).results
    assert result.p_value <= 0.05
    again = {}
    for each in trust_of(result).left_out:
        again[each.name] = run_without(test, "XYAB".index(each.role), each.name, "wordllama").p_value
        if each.p_value is None:
            assert again[each.name] <= 0.05
        else:
            assert each.p_value == pytest.approx(again[each.name])
    hanging = trust_of(result).hangs_on("word", 0.05)
    assert hanging is not None
    assert hanging.p_value == pytest.approx(max(again.values()))
    assert hanging.lifting == sum(p > 0.05 for p in again.values())


def test_a_template_is_left_out_of_all_sets() -> None:
    test = load_test("sent-weat6")
    (result,) = wg.run(HashedEncoder(), tests=test).results
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


def judged(**changes: object) -> Result:
    (result,) = wg.run(HashedEncoder(), tests="weat7").results
    return judge([replace(result, warnings=(), **changes)], Correction("holm", 0.05))[0]  # type: ignore[arg-type]


def resting_on(*left_out: LeftOut) -> Trust:
    """What stands beside an effect that changes so when words are left out."""
    (result,) = wg.run(HashedEncoder(), tests="weat7").results
    return replace(trust_of(result), left_out=left_out, notes=())


def test_significance_that_hangs_on_one_word_is_said() -> None:
    left_out = LeftOut("word", "X", "math", 0.3, 0.2)
    template = replace(left_out, kind="template", name="This is {}.")
    warnings = judged(p_value=0.01, trust=resting_on(left_out, template)).warnings
    assert "significance hangs on 'math': without it p is 0.2" in warnings
    assert "significance hangs on the template 'This is {}.': without it p is 0.2" in warnings
    steady = resting_on(replace(left_out, p_value=0.04))
    assert not any("hangs" in w for w in judged(p_value=0.01, trust=steady).warnings)
    assert not any("hangs" in w for w in judged(p_value=0.3, trust=resting_on(left_out)).warnings)


def test_it_hangs_on_the_word_without_which_p_is_largest() -> None:
    """Not on the one without which d is smallest; how many words each lift p is said, too."""
    words = [("math", 0.1, 0.06), ("algebra", 0.4, 0.3), ("geometry", 0.2, 0.04)]
    left_out = [LeftOut("word", "X", name, d, p) for name, d, p in words]
    assert (
        "significance hangs on 'algebra': without it p is 0.3 (2 words each lift it)"
        in judged(p_value=0.01, trust=resting_on(*left_out)).warnings
    )


def test_sentences_that_are_significant_only_as_independent_are_said() -> None:
    assert any("by words p is above 0.05" in w for w in judged(p_value=0.06, p_elements=0.01).warnings)
    assert not any("by words" in w for w in judged(p_value=0.04, p_elements=0.01).warnings)


def test_the_notes_of_a_row_are_warnings() -> None:
    noted = replace(resting_on(), notes=(str(Note.NOISY),))
    assert "mostly attribute noise (score reliability below 0.3)" in judged(trust=noted).warnings


def test_a_result_tells_the_power_and_the_table_the_interval() -> None:
    run = wg.run(HashedEncoder(), tests="weat7")
    (result,) = run.results
    assert result.power["0.5"] == pytest.approx(power(0.5, 8, 8, 0.05))
    assert run.record["power"] == {"8 + 8 words": result.power}
    if not result.significance:
        assert any("would find an effect of 0.5 with probability 0.15 only" in line for line in caption(run))
    assert any("does not show that a model is unbiased" in line for line in caption(run))
    (table,) = results_tables(run)
    assert [column.header for column in table.columns][:4] == ["test", "d", "", "95 % of d"]
    (bare,) = results_tables(wg.run(HashedEncoder(), tests="weat7", trust="none"))
    assert "95 % of d" not in [column.header for column in bare.columns]
    assert format_p(0.0) == "0"


def test_trust_says_which_metrics_are_assessed() -> None:
    metrics = ["cosine/mean", "cosine/max"]
    for trust, expected in (("mean", [True, False]), ("all", [True, True]), ("none", [False, False])):
        run = wg.run(HashedEncoder(), tests="weat7", metrics=metrics, trust=trust)
        assert [result.ci_low is not None for result in run.results] == expected
        assert [result.trust is not None for result in run.results] == expected


def test_the_command_fails_its_gate_with_1_and_says_why(tmp_path: Path) -> None:
    folder, report = tmp_path / "run", tmp_path / "junit.xml"
    command = ["run", "-t", "weat6", "-o", str(folder), "-q", "--junit", str(report)]
    failed = CliRunner().invoke(app, [*command, "--fail-if", "num_targ1 == 8"])
    assert failed.exit_code == 1
    assert "gate: weat6 on wordllama (cosine/mean): num_targ1 == 8: num_targ1 = 8" in failed.stderr
    assert "<failure" in report.read_text()
    passed = CliRunner().invoke(app, [*command, "--fail-if", "num_targ1 != 8"])
    assert passed.exit_code == 0
    assert "<failure" not in report.read_text()
    refused = CliRunner().invoke(app, [*command, "--fail-if", "__import__('os')"])
    assert "cannot be called" in str(refused.exception)
