"""Verdicts on a run: families, controls, what is said where none can be given, and what the folder keeps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.messages import mentions, naming
from tests.results import made_result

import weatherglass as wg
from weatherglass.errors import OutputError
from weatherglass.inference.trust import Trust
from weatherglass.inference.verdict import Outcome
from weatherglass.report.verdicts import verdict_charts
from weatherglass.runs.joint import read_joint_p
from weatherglass.runs.reference import reference_effect_sizes, standing
from weatherglass.runs.results import ElementScore, Result
from weatherglass.runs.stored import read_run
from weatherglass.runs.verdict import Verdict, verdicts

TRUST = Trust(0.95, True, None, None, False, 1.1, None, (), (), ())


def judged(test: str, p: float, p_attr: float | None = None, **given: object) -> Result:
    """A result by words and two-sided, with both readings and scores that have some spread."""
    scores = tuple(
        ElementScore(role, f"{role}{i}", f"{role}{i}", None, shift + 0.1 * i)
        for role, shift in (("X", 0.5), ("Y", 0.0))
        for i in range(8)
    )
    base = made_result(p, 1.0, test=test, model="m", permute="words", alternative="two-sided", scores=scores)
    return replace(base, units_x=8, units_y=8, p_attr=p if p_attr is None else p_attr, trust=TRUST, **given)  # type: ignore[arg-type]


def by_topic(*results: Result, **options: object) -> dict[str, Verdict]:
    topics = {"a1": "age", "a2": "age", "c1": "control"}
    return {v.topic: v for v in verdicts(results, topics, alpha=0.05, **options)}  # type: ignore[arg-type]


def test_controls_stand_apart_and_a_test_without_topic_is_its_own() -> None:
    found = by_topic(judged("a1", 0.02), judged("own", 0.8), judged("c1", 0.04))
    assert list(found) == ["age", "own", "control"]
    assert found["age"].verdict == "shown"  # 2 topics: 0.04
    assert found["age"].family == 2
    assert found["control"].verdict == "shown"  # a family of its own: 0.04
    assert found["control"].control
    assert found["own"].verdict == "cannot tell"
    assert mentions(found["own"].why, "|d|", "1.10", f"{found['own'].minimum_detectable:.2f}")


def test_another_model_turns_no_verdict() -> None:
    alone = by_topic(judged("a1", 0.04))["age"]
    other = [replace(judged(f"t{i}", 0.9), model="other") for i in range(9)]
    (beside,) = [
        v for v in verdicts([judged("a1", 0.04), *other], {"a1": "age"}, alpha=0.05) if v.model == "m"
    ]
    assert beside == alone


def test_the_joint_p_of_a_multiverse_is_asked() -> None:
    key = ("age", "m", "cosine/mean")
    assert by_topic(judged("a1", 0.01), joint_p={key: 0.01})["age"].verdict == "shown"
    kept = by_topic(judged("a1", 0.01), joint_p={key: 0.3})["age"]
    assert kept.verdict == Outcome.THESE_WORDS.value
    assert mentions(kept.why, "multiverse", "p", 0.3)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"permute": "elements"}, ("by words", "two-sided")),
        ({"alternative": "greater"}, ("by words", "two-sided")),
        ({"trust": None}, ("both readings",)),
        ({"p_method": "none: nothing to exchange"}, ("cosine/mean", "no p", "nothing to exchange")),
    ],
)
def test_where_there_can_be_no_verdict_it_says_why(change: dict[str, object], named: tuple[str, ...]) -> None:
    found = by_topic(replace(judged("a1", 0.001), **change))["age"]  # type: ignore[arg-type]
    assert found.verdict is None
    assert mentions(found.why, *named)


def test_opposite_tests_are_named() -> None:
    against = replace(judged("a2", 0.01), value=-1.0)
    found = by_topic(judged("a1", 0.001), against)["age"]
    assert found.verdict == Outcome.MIXED.value
    assert mentions(found.why, "a1", "a2", "opposite")
    assert found.significant == 2


def test_a_run_keeps_its_verdicts_and_gives_them_again(tmp_path: Path) -> None:
    finished = wg.run("wordllama", ["weat1", "weat6", "weat9", "weat10"], folder=tmp_path)
    found = finished.verdicts()
    assert [v.topic for v in found] == [
        "gender and career",
        "illness and permanence",
        "age and valence",
        "control",
    ]
    assert {v.family for v in found if not v.control} == {3}
    assert found == read_run(tmp_path).verdicts()
    record = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert record["verdicts"] == json.loads(json.dumps([v.to_json() for v in found]))
    assert found[0].human == {"weat6": 0.72}
    # One test: the topic's size is that test's.
    assert found[0].effect_size == pytest.approx(finished.results[1].effect_size)


def test_the_output_of_a_multiverse_is_read(tmp_path: Path) -> None:
    path = tmp_path / "multiverse.json"
    entries = [
        {"topic": "age", "model": "m", "joint_p": 0.2},
        {"topic": "sex", "model": "m", "joint_p": None},
    ]
    for content in (entries, {"topics": entries}):
        path.write_text(json.dumps(content))
        assert read_joint_p(path, ["cosine/mean"]) == {("age", "m", "cosine/mean"): 0.2}
    path.write_text("[1]")
    with pytest.raises(OutputError, match=naming(str(path), "weatherglass multiverse --json")):
        read_joint_p(path, [])


def test_a_run_stands_among_the_reference_models() -> None:
    """By hand from reference.tsv: models with a smaller mean of the same tests; the model itself is left out."""
    d = reference_effect_sizes()
    own = made_result(0.5, 0.9, test="weat6", permute="words")
    both = [own, replace(own, test="weat6b", value=0.7)]
    found = standing(both, {"weat6": 0.9, "weat6b": 0.7})
    assert found is not None
    assert found.models == len(d) == 7
    assert found.above == sum((of["weat6"] + of["weat6b"]) / 2 < 0.8 for of in d.values())
    itself = standing(both, {test: d["wordllama"][test] for test in ("weat6", "weat6b")})
    assert itself is not None
    assert itself.models == 6
    assert standing([own], {"own": 0.9}) is None
    assert standing([replace(own, metric="euclidean/mean")], {"weat6": 0.9}) is None


def test_verdict_lines_fit_a_terminal_of_80_columns(tmp_path: Path) -> None:
    finished = wg.run("wordllama", ["weat6", "weat7*", "heilman*one_word"], folder=tmp_path)
    longest = Outcome.THESE_WORDS.value
    widest = {"verdict": longest, "ci_low": -1.5, "ci_high": -0.5, "tests": ("weat6",) * 10}
    shown = [replace(v, **widest) for v in finished.verdicts()]  # type: ignore[arg-type]
    for width in (80, 100, 120, 200):
        lines = list(verdict_charts(shown, width))
        assert all(len(line) <= width for line in lines)
        assert sum(line.endswith(longest) for line in lines) == len(shown)  # nothing is cut
        assert sum("/10 " in line for line in lines) == len(shown)
