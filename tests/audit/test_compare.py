"""compare: which effects changed, and what cannot be compared."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.messages import in_order, mentions, naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.compare import compare_models, compare_runs
from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.cli import app
from weatherglass.errors import OutputError, WeatherglassError
from weatherglass.metrics.weat.scores import effect_size


class TiltedEncoder(HashedEncoder):
    """Moves the words of X towards those of A."""

    def __init__(self, tilt: float, unknown: tuple[str, ...] = (), name: str = "tilted") -> None:
        super().__init__(unknown=unknown, name=name)
        self._tilt = tilt

    def _vector(self, text: str) -> AnyMatrix:
        vector = super()._vector(text)
        vector[0] += self._tilt * text.startswith("x") + 3 * text.startswith("a") - 3 * text.startswith("b")
        return vector


def words(letter: str, count: int) -> ElementSet:
    return ElementSet(letter, tuple(Element(f"{letter}{i}", f"{letter}{i}") for i in range(count)))


def made_test(size: int = 20, name: str = "made") -> Test:
    x, y, a, b = (words(letter, size) for letter in "xyab")
    return Test(name, (x, y), (a, b))


def run(folder: Path, tilt: float = 0.0, unknown: tuple[str, ...] = (), **options: object) -> Path:
    tests = options.pop("tests", made_test())
    name = str(options.pop("name", "tilted"))
    wg.run(TiltedEncoder(tilt, unknown, name), tests=tests, folder=folder, trust="none", **options)  # type: ignore[arg-type]
    return folder


def test_a_run_does_not_differ_from_itself(tmp_path: Path) -> None:
    folder = run(tmp_path / "one")
    (found,) = compare_runs(folder, folder).differences
    assert found.change == 0
    assert (found.low, found.high) == pytest.approx((0, 0))
    assert found.changed is False


def test_an_effect_that_grew_is_found(tmp_path: Path) -> None:
    before, after = run(tmp_path / "one"), run(tmp_path / "two", tilt=3.0, name="other")
    (found,) = compare_runs(before, after).differences
    assert found.models == ("tilted", "other")
    assert found.changed is True
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.change < found.high
    (back,) = compare_runs(after, before).differences
    assert back.change == -found.change
    assert back.changed is True


def test_what_one_model_does_not_know_is_left_out_of_both(tmp_path: Path) -> None:
    before, after = run(tmp_path / "one"), run(tmp_path / "two", 1.0, unknown=("x3", "a1"))
    (found,) = compare_runs(before, after).differences
    assert found.units == (19, 20)
    for role in "XA":
        assert any(re.search(in_order(role, 20, 19), note) for note in found.notes)
    result = wg.run(TiltedEncoder(0.0), tests=made_test(), trust="none").results[0]
    kept = np.array([s.score for s in result.scores if s.role == "X" and s.text != "x3"])
    assert found.before == pytest.approx(effect_size(kept, result.y_scores))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ddof": 0}, in_order("ddof", 1, 0)),
        ({"permute": "elements"}, in_order("permute", "words", "elements")),
        ({"tests": made_test(19)}, naming("words", "differ")),
        ({"metrics": "dot/mean"}, naming("only")),
    ],
)
def test_what_is_not_the_same_quantity_is_not_compared(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    found = compare_runs(run(tmp_path / "one"), run(tmp_path / "two", **change))  # type: ignore[arg-type]
    assert not found.differences
    assert re.search(reason, found.incomparable[0].reason)


def test_runs_without_a_common_test_are_refused(tmp_path: Path) -> None:
    before, after = run(tmp_path / "one"), run(tmp_path / "two", tests=made_test(name="other"))
    with pytest.raises(WeatherglassError, match=in_order(str(before), "made", str(after), "other")):
        compare_runs(before, after)


def test_p_is_adjusted_over_all_rows_by_holm(tmp_path: Path) -> None:
    tests = [made_test(size, f"made{size}") for size in (6, 9, 14, 20)]
    before, after = run(tmp_path / "one", tests=tests), run(tmp_path / "two", tilt=1.5, tests=tests)
    found = compare_runs(before, after)
    p = [row.p_value for row in found.differences]
    assert None not in p
    in_turn = sorted(range(4), key=lambda place: p[place])  # type: ignore[arg-type, return-value]
    least = 0.0
    for rank, place in enumerate(in_turn):
        least = max(least, min(1.0, (4 - rank) * p[place]))  # type: ignore[operator]
        assert found.differences[place].p_adjusted == pytest.approx(least)
    assert found.corrected == 4


def test_another_alternative_leaves_d_comparable(tmp_path: Path) -> None:
    found = compare_runs(run(tmp_path / "one"), run(tmp_path / "two", alternative="less"))
    assert any(mentions(note, "p", "alternative", "two-sided", "less") for note in found.differences[0].notes)


def test_runs_of_several_models_are_matched_by_model(tmp_path: Path) -> None:
    for folder, tilt in (("one", 0.0), ("two", 2.0)):
        models = [TiltedEncoder(tilt, name="p"), TiltedEncoder(2 * tilt, name="q")]
        wg.run(models, tests=made_test(), folder=tmp_path / folder, trust="none")
    found = compare_runs(tmp_path / "one", tmp_path / "two")
    assert [each.models for each in found.differences] == [("p", "p"), ("q", "q")]
    assert found.differences[0].change < found.differences[1].change


def test_a_test_that_failed_says_why_it_is_not_compared(tmp_path: Path) -> None:
    spare = Test("spare", (words("a", 5), words("b", 5)), (words("y", 5), words("b", 5)))
    before = run(tmp_path / "one", tests=[made_test(), spare])
    unknown = tuple(f"x{i}" for i in range(19))
    after = run(tmp_path / "two", unknown=unknown, tests=[made_test(), spare])
    found = compare_runs(before, after)
    assert [each.test for each in found.differences] == ["spare"]
    assert re.search(in_order("two", 1, 20, "x"), found.incomparable[0].reason)


def test_words_are_paired_by_word(tmp_path: Path) -> None:
    for folder, width in (("one", 20), ("two", 21)):
        wg.run(HashedEncoder(width), tests="sent-weat6", permute="words", folder=tmp_path / folder)
    (found,) = compare_runs(tmp_path / "one", tmp_path / "two").differences
    assert found.units == (8, 8)
    expected = wg.run(HashedEncoder(20), tests="sent-weat6", permute="words", trust="none").results[0]
    assert found.before == pytest.approx(expected.effect_size)


def test_the_command_prints_a_table_or_json(tmp_path: Path) -> None:
    before, after = run(tmp_path / "one"), run(tmp_path / "two", 3.0)
    shown = CliRunner().invoke(app, ["compare", str(before), str(after)])
    assert shown.exit_code == 0
    assert "changed" in shown.stdout
    assert mentions(" ".join(shown.stdout.split()), "Holm", "X and Y", "templates", "5 of 100")
    record = json.loads(CliRunner().invoke(app, ["compare", str(before), str(after), "--json"]).stdout)
    row = record["differences"][0]
    assert (row["changed"], row["worse"], record["corrected"]) == (True, True, 1)
    assert row["p_value"] == row["p_adjusted"] < 0.05
    with pytest.raises(OutputError, match=naming(f"{tmp_path}:", "run.json")):
        compare_runs(tmp_path, after)


def test_the_models_of_one_run_compare_as_two_runs_do(tmp_path: Path) -> None:
    before, after = run(tmp_path / "one"), run(tmp_path / "two", tilt=3.0, name="other")
    models = [TiltedEncoder(0.0), TiltedEncoder(3.0, name="other")]
    wg.run(models, tests=made_test(), folder=tmp_path / "both", trust="none")
    (two_runs,), (one_run,) = (
        compare_runs(before, after).differences,
        compare_models(tmp_path / "both").differences,
    )
    assert one_run == two_runs
    assert one_run.models == ("tilted", "other")
    shown = CliRunner().invoke(app, ["compare", str(tmp_path / "both")])
    assert shown.exit_code == 0
    assert mentions(shown.output, "changed", "1 of 1")


def test_a_test_that_one_model_cannot_do_is_said_to_be_missing(tmp_path: Path) -> None:
    unknown = tuple(f"x{i}" for i in range(20))
    models = [TiltedEncoder(0.0), TiltedEncoder(0.0, unknown, name="ignorant")]
    wg.run(models, tests=made_test(), folder=tmp_path / "both", trust="none")
    (other,) = compare_models(tmp_path / "both").incomparable
    assert mentions(other.reason, "ignorant", 0, 20)


def test_one_model_alone_has_nothing_to_compare_with(tmp_path: Path) -> None:
    with pytest.raises(WeatherglassError, match=naming("one model")):
        compare_models(run(tmp_path / "one"))


def test_the_change_of_mac_takes_all_target_words_as_one_sample(tmp_path: Path) -> None:
    """Its interval, from the values without each word: t over all of them, not within X and within Y."""
    from scipy.stats import t as student

    runs = [wg.run(HashedEncoder(width), "weat7", "mac", folder=tmp_path / str(width)) for width in (16, 48)]
    (row,) = compare_runs(tmp_path / "16", tmp_path / "48").differences
    before, after = (run.results[0] for run in runs)
    assert before.robustness is not None
    assert after.robustness is not None
    change = {
        kind: np.array(
            [
                (second.effect_size or 0) - (first.effect_size or 0)
                for first, second in zip(before.robustness.left_out, after.robustness.left_out, strict=True)
                if first.role in kind
            ]
        )
        for kind in ("XY", "A", "B")
    }
    variances = {k: (len(v) - 1) / len(v) * ((v - v.mean()) ** 2).sum() for k, v in change.items()}
    total = sum(variances.values())
    df = total**2 / sum(v**2 / (len(change[k]) - 1) for k, v in variances.items())
    half = student.ppf(0.975, df) * total**0.5
    assert (row.low, row.high) == pytest.approx((row.change - half, row.change + half))


def test_two_exact_methods_are_no_difference_worth_a_note() -> None:
    run = wg.run(HashedEncoder(), "weat7", trust="none")
    (result,) = run.results
    for method, noted in (("meet-in-the-middle", False), ("sampled", True)):
        other = replace(run, results=[replace(result, p_method=method)])
        (difference,) = compare_runs(run, other).differences
        assert any(mentions(note, method, result.p_method) for note in difference.notes) == noted


def without_tables(run: wg.Run) -> wg.Run:
    return replace(run, results=[replace(result, tables=None, robustness=None) for result in run.results])


def test_p_counts_the_choice_of_attribute_words_where_both_runs_have_their_numbers() -> None:
    runs = [wg.run(TiltedEncoder(tilt), made_test()) for tilt in (0.0, 0.6)]
    (random,) = compare_runs(*runs).differences
    (fixed,) = compare_runs(runs[0], without_tables(runs[1])).differences
    (asked,) = compare_runs(*runs, attributes="fixed").differences
    assert (random.attributes, fixed.attributes, asked.attributes) == ("random", "fixed", "fixed")
    assert fixed.p_value == asked.p_value != random.p_value
    assert len(fixed.notes) == 1, "what was asked for is not there"
    assert random.notes == asked.notes == ()
    assert (random.before, random.after) == (fixed.before, fixed.after)


@pytest.mark.parametrize("metric", ["cosine/median", "euclidean/max"])
def test_other_statistics_count_attribute_words_by_what_is_left_without_each(metric: str) -> None:
    runs = [wg.run(TiltedEncoder(tilt), made_test(), metric) for tilt in (0.0, 0.6)]
    assert runs[0].results[0].tables is None
    (random,) = compare_runs(*runs).differences
    (fixed,) = compare_runs(*map(without_tables, runs)).differences
    assert (random.attributes, fixed.attributes) == ("random", "fixed")
    assert random.p_value is not None
    assert fixed.p_value is not None
    assert random.p_value > fixed.p_value


def test_fewer_than_three_attribute_words_count_as_fixed() -> None:
    x, y, a, b = (words(letter, size) for letter, size in zip("xyab", (8, 8, 2, 8), strict=True))
    runs = [wg.run(TiltedEncoder(tilt), Test("made", (x, y), (a, b))) for tilt in (0.0, 0.6)]
    (found,) = compare_runs(*runs).differences
    assert found.attributes == "fixed"
    assert found.p_value is not None


def test_a_run_stored_before_tables_were_kept_is_compared(tmp_path: Path) -> None:
    """Its attribute words count by the d without each of them, which it has."""
    for name, tilt in (("one", 0.0), ("two", 0.6)):
        wg.run(TiltedEncoder(tilt), made_test(), folder=tmp_path / name)
    whole = compare_runs(tmp_path / "one", tmp_path / "two").differences[0]
    stored = wg.load_run(tmp_path / "one")
    record = stored.results[0].to_json()
    del record["tables"]
    old = replace(stored, results=[type(stored.results[0]).from_json(record)])
    (found,) = compare_runs(old, tmp_path / "two").differences
    assert found.attributes == "random"
    assert found.p_value is not None
    assert whole.p_value is not None
    assert found.p_value >= whole.p_value, "the interaction is counted twice"


def test_words_that_one_model_lacks_leave_the_others_paired() -> None:
    runs = [wg.run(TiltedEncoder(0.6, unknown), made_test()) for unknown in ((), ("x1", "y3", "a2"))]
    (found,) = compare_runs(*runs).differences
    assert (found.units, found.attributes) == ((19, 19), "random")
    assert found.p_value is not None
    (back,) = compare_runs(*reversed(runs)).differences
    assert back.p_value == pytest.approx(found.p_value)


def test_the_change_of_a_row_that_is_measured_and_not_tested_has_no_p() -> None:
    tests = ["angry_black_woman_stereotype_b", "weat6"]
    runs = [wg.run(HashedEncoder(width), tests) for width in (16, 48)]
    measured, tested = compare_runs(*runs).differences
    assert (measured.tested, tested.tested) == (False, True)
    assert (measured.p_value, measured.low, measured.p_adjusted) == (None, None, None)
    assert tested.p_adjusted == tested.p_value, "it is the only row of the family"
    assert any(mentions(note, "white") for note in measured.notes)
