"""Worse than last time: an effect that grew significantly after correction, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.messages import mentions, naming
from tests.models import HashedEncoder

import weatherglass
from weatherglass.arrays import AnyMatrix
from weatherglass.audit import compare
from weatherglass.cli import app
from weatherglass.errors import GateError
from weatherglass.gate.rules import RANKS
from weatherglass.gate.worse import judge_runs
from weatherglass.stats import Outcome
from weatherglass.stats.interval import Interval
from weatherglass.stats.paired import PairedChange

WEAT6 = weatherglass.load_test("weat6")
WEAT1 = weatherglass.load_test("weat1")
X = {word for test in (WEAT6, WEAT1) for word in test.targets[0].texts}
A = {word for test in (WEAT6, WEAT1) for word in test.attributes[0].texts}


class Planted(HashedEncoder):
    """Random vectors with a direction in which A lies, and X as far as this strength says: d of WEAT follows it."""

    def __init__(self, strength: float, name: str = "model", unknown: Sequence[str] = ()) -> None:
        super().__init__(width=40, name=name, unknown=unknown)
        self.strength = strength

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        along = [6 * self.strength * (text in X) + 6.0 * (text in A) for text in texts]
        vectors = super().encode(texts)
        vectors[:, 0] += np.array(along)
        return vectors


def saved(
    folder: Path, strength: float, tests: str | list[str] = "weat6", name: str = "model"
) -> weatherglass.Run:
    return weatherglass.run(Planted(strength, name), tests).save(folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, weatherglass.Run]:
    folder = tmp_path_factory.mktemp("runs")
    strengths = {"none": 0.0, "strong": 1.0, "reversed": -1.0}
    return {name: saved(folder / name, strength) for name, strength in strengths.items()}


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def folder_of(run: weatherglass.Run) -> Path:
    assert run.folder is not None
    return run.folder


def test_a_planted_bias_is_worse_by_its_effect_and_by_its_verdict(runs: dict[str, weatherglass.Run]) -> None:
    before, after = runs["none"], runs["strong"]
    assert abs(after.results[0].effect_size) > abs(before.results[0].effect_size) + 0.5
    done = command("compare", folder_of(before), folder_of(after), "--fail-if", "worse")
    assert done.exit_code == 1
    reasons = [line for line in done.stderr.splitlines() if line.startswith("gate: ")]
    assert len(reasons) == 2
    assert "weat6 on model (cosine/mean): d " in reasons[0]
    assert re.search(
        r"'gender and career' on model \(cosine/mean\): .*\binconclusive\b.*\b(limited|robust)\b", reasons[1]
    )


def test_less_bias_is_not_worse_and_neither_is_the_same(runs: dict[str, weatherglass.Run]) -> None:
    for before, after in (("strong", "none"), ("none", "none"), ("strong", "strong")):
        done = command("compare", folder_of(runs[before]), folder_of(runs[after]), "--fail-if", "worse")
        assert done.exit_code == 0, done.stderr


def test_without_fail_if_a_comparison_only_shows(runs: dict[str, weatherglass.Run]) -> None:
    assert command("compare", folder_of(runs["none"]), folder_of(runs["strong"])).exit_code == 0


def test_size_counts_not_sign() -> None:
    """d from +s to −s is a change that leaves out 0, and worse only where |d| is larger."""
    small, large = Planted(0.15), Planted(-1.0)
    grown = judge_runs(weatherglass.run(small, "weat6"), weatherglass.run(large, "weat6"))
    shrunk = judge_runs(weatherglass.run(large, "weat6"), weatherglass.run(small, "weat6"))
    (difference,) = grown.comparison.differences
    assert difference.changed
    assert difference.before > 0 > difference.after
    assert abs(difference.after) > abs(difference.before)
    assert any(", change -" in breach.reason for breach in grown.breaches)
    assert shrunk.breaches == []


def changes_with(monkeypatch: pytest.MonkeyPatch, *p_values: float, after: float = 0.5) -> None:
    """Let the effects of a comparison change from 0.1 to `after` with these p, in the order of the rows."""
    given = iter(p_values)

    def change(*_: object) -> PairedChange:
        p = next(given)
        return PairedChange(0.1, after, p, Interval(0.05 if p <= 0.05 else -0.05, 1.0, 0.95))

    monkeypatch.setattr(compare, "paired_change", change)


@pytest.mark.parametrize(
    ("p_values", "worse"),
    [
        ((0.016, 0.024, 0.049), {"weat6", "weat7", "weat8"}),
        ((0.016, 0.026, 0.049), {"weat6"}),
        ((0.017, 0.024, 0.049), set()),
        ((0.049, 0.9, 0.001), {"weat8"}),
        ((0.04, 0.04, 0.04), set()),
    ],
)
def test_an_effect_is_worse_by_p_after_holm_over_all_rows_but_controls(
    p_values: tuple[float, ...], worse: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = weatherglass.run(HashedEncoder(), ["weat1", "weat6", "weat7", "weat8"])
    for control in (1e-9, 0.9):
        changes_with(monkeypatch, control, *p_values)
        judged = judge_runs(run, run)
        assert {row.test for row in judged.comparison.worse} == worse
        assert {breach.result.test for breach in judged.breaches if breach.result} == worse
        assert [row.p_adjusted is None for row in judged.comparison.differences] == [
            True,
            False,
            False,
            False,
        ]
        changes_with(monkeypatch, control, *p_values, after=-0.05)
        assert judge_runs(run, run).breaches == [], "|d| shrank"


def test_a_verdict_that_rose_fails_only_with_a_worse_effect_of_its_topic(
    runs: dict[str, weatherglass.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = (weatherglass.run(Planted(s), ["weat6", "weat7"]) for s in (0.0, 1.0))
    for p_values, failing, rises in (
        ((0.001, 0.5), ["weat6", "weat6"], 0),
        ((0.5, 0.001), ["weat7"], 1),
        ((0.03, 0.5), [], 1),
    ):
        changes_with(monkeypatch, *p_values)
        judged = judge_runs(before, after)
        assert [breach.result.test for breach in judged.breaches if breach.result] == failing
        assert len(judged.rises) == rises
        assert len(judged.breaches) == len(failing)
    changes_with(monkeypatch, 0.5)
    done = command(
        "compare", folder_of(runs["none"]), folder_of(runs["strong"]), "--fail-if", "worse", "--json"
    )
    assert done.exit_code == 0
    assert len(json.loads(done.stdout)["verdicts_that_rose"]) == 1
    assert "note: 'gender and career' on model" in done.stderr


def test_controls_are_no_bias(tmp_path: Path) -> None:
    saved(tmp_path / "one", 0.0, "weat1")
    saved(tmp_path / "two", 1.0, "weat1")
    done = command("compare", tmp_path / "one", tmp_path / "two", "--fail-if", "worse")
    assert "changed" in done.stdout
    assert done.exit_code == 0, done.stderr


def test_what_is_missing_in_the_later_run_has_not_passed(tmp_path: Path) -> None:
    saved(tmp_path / "one", 0.0, ["weat6", "weat7"])
    saved(tmp_path / "two", 0.0, "weat6")
    done = command("compare", tmp_path / "one", tmp_path / "two", "--fail-if", "worse")
    assert done.exit_code == 1
    assert "gate: weat7 on model (cosine/mean): " in done.stderr
    added = command("compare", tmp_path / "two", tmp_path / "one", "--fail-if", "worse")
    assert added.exit_code == 0, "a test that was added is no reason to fail"


def test_runs_without_a_common_test_are_an_error(tmp_path: Path) -> None:
    """The command is wrong, and no model was found worse."""
    saved(tmp_path / "one", 0.0, "weat7")
    saved(tmp_path / "two", 0.0, "weat6")
    for words in (
        ["compare", tmp_path / "one", tmp_path / "two", "--fail-if", "worse"],
        ["run", "-t", "weat6", "-o", tmp_path / "new", "--baseline", tmp_path / "one"],
    ):
        with pytest.raises(
            weatherglass.WeatherglassError, match=naming(str(tmp_path / "one"), "weat7", "weat6")
        ):
            CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert not (tmp_path / "new").exists(), "found before work"


def test_runs_of_which_nothing_can_be_compared_have_not_passed(tmp_path: Path) -> None:
    saved(tmp_path / "one", 0.0)
    weatherglass.run(Planted(0.0), "weat6", "dot/mean").save(tmp_path / "two")
    done = command("compare", tmp_path / "one", tmp_path / "two", "--fail-if", "worse")
    assert done.exit_code == 1
    assert mentions(done.stderr, "judged")


def test_models_of_one_run_are_held_against_its_first(tmp_path: Path) -> None:
    weatherglass.run([Planted(0.0, "old"), Planted(1.0, "new")], "weat6").save(tmp_path / "run")
    done = command("compare", tmp_path / "run", "--fail-if", "worse", "--json")
    assert done.exit_code == 1
    assert any("weat6 on new" in reason for reason in json.loads(done.stdout)["gate"])


def test_other_words_than_worse_are_refused(runs: dict[str, weatherglass.Run]) -> None:
    with pytest.raises(GateError, match=naming("effect_size > 1", suggesting="worse")):
        CliRunner().invoke(
            app,
            ["compare", str(folder_of(runs["none"])), "x", "--fail-if", "effect_size > 1"],
            catch_exceptions=False,
        )


def test_junit_and_the_summary_of_a_pull_request(runs: dict[str, weatherglass.Run], tmp_path: Path) -> None:
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    files = ["--junit", junit, "--summary", summary]
    command("compare", folder_of(runs["none"]), folder_of(runs["strong"]), "--fail-if", "worse", *files)
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("### ")
    assert mentions(text.splitlines()[0], "gate failed")
    assert re.search(r"\| Gender and career \| model \| inconclusive \| (limited|robust) \|", text)
    assert mentions(text, "1 of 1")
    command("compare", folder_of(runs["none"]), folder_of(runs["none"]), "--fail-if", "worse", *files)
    assert mentions(summary.read_text(encoding="utf-8").splitlines()[0], "gate passed")
    assert ElementTree.parse(junit).getroot().get("failures") == "0"


def test_run_with_a_baseline_fails_when_it_is_worse(tmp_path: Path) -> None:
    vectors = {}
    for name, strength in (("old", 0.0), ("new", 1.0)):
        words = list(WEAT6.texts)
        rows = Planted(strength).encode(words)
        vectors[name] = tmp_path / f"{name}.txt"
        vectors[name].write_text(
            "".join(f"{w} {' '.join(map(repr, map(float, r)))}\n" for w, r in zip(words, rows, strict=True))
        )
    base = ["run", f"m=vectors:{vectors['old']}", "-t", "weat6", "-q", "-o", tmp_path / "base"]
    assert command(*base).exit_code == 0
    again = ["run", f"m=vectors:{vectors['old']}", "-t", "weat6", "-q", "-o", tmp_path / "again"]
    assert command(*again, "--baseline", tmp_path / "base").exit_code == 0
    worse = ["run", f"m=vectors:{vectors['new']}", "-t", "weat6", "-o", tmp_path / "worse", "--json"]
    done = command(
        *worse, "--baseline", tmp_path / "base", "--summary", tmp_path / "s.md", "--junit", tmp_path / "j.xml"
    )
    assert done.exit_code == 1
    assert len(json.loads(done.stdout)["gate"]) == 2
    assert json.loads(done.stdout)["verdicts_that_rose"] == []
    assert mentions((tmp_path / "s.md").read_text(encoding="utf-8").splitlines()[0], "gate failed")
    assert ElementTree.parse(tmp_path / "j.xml").getroot().get("failures") == "1"


def test_a_baseline_or_folder_that_is_not_there_is_found_before_work(tmp_path: Path) -> None:
    for option, value in (("--baseline", tmp_path / "no"), ("--junit", tmp_path / "no" / "j.xml")):
        with pytest.raises(weatherglass.WeatherglassError, match=naming(str(tmp_path / "no"))):
            CliRunner().invoke(
                app,
                ["run", "-t", "weat6", "-o", str(tmp_path / "run"), option, str(value)],
                catch_exceptions=False,
            )
        assert not (tmp_path / "run").exists()


def test_every_verdict_has_a_rank() -> None:
    assert set(RANKS) == {*Outcome}
    assert [outcome for outcome in Outcome if RANKS[outcome] == max(RANKS.values())] == [Outcome.ROBUST]
    assert {RANKS[outcome] for outcome in (Outcome.SMALL, Outcome.INCONCLUSIVE)} == {0}


def test_a_test_that_is_measured_and_not_tested_neither_fails_nor_passes_a_gate() -> None:
    name = "angry_black_woman_stereotype_b"
    one, two = (weatherglass.run(HashedEncoder(width), [name, "weat6"]) for width in (16, 48))
    there, back = judge_runs(one, two), judge_runs(two, one)
    assert there.comparison.differences[0].grew != back.comparison.differences[0].grew
    for judged in (there, back):
        assert judged.comparison.corrected == 1
        assert not any(name in breach.reason for breach in judged.breaches)
    one, two = (weatherglass.run(HashedEncoder(width), name) for width in (16, 48))
    assert len(judge_runs(one, two).breaches) == 1, "nothing was judged"
