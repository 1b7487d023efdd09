"""The numbers of the page against those of `weatherglass.run` and `weatherglass.measure`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weatherglass as wg
from weatherglass.errors import WeatherglassError
from weatherglass.explore.engine import Engine, words_needed
from weatherglass.explore.page import copies_of
from weatherglass.explore.panels import multiverse_of, ranking_of
from weatherglass.explore.state import ROLES, State, start_state
from weatherglass.explore.words import StaleError, catalogue_words
from weatherglass.stats.power import power

COMPARED = ("value", "p_value", "p_pieces", "p_method", "ci_low", "ci_high", "p_random", "effect_size_random")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """Words of the catalogue in four sets of 3 to 9, no word in two sets."""
    words = rng.permutation(catalogue_words()).tolist()
    sets = {}
    for role in ROLES:
        size = int(rng.integers(3, 10))
        sets[role] = {"name": f"set {role}", "words": words[:size]}
        words = words[size:]
    return {"sets": sets, "models": [0], "metric": str(rng.choice(["cosine/mean", "euclidean/mean"]))}


def same(one: Any, other: Any) -> bool:
    return one == other or (one is None and other != other)


@pytest.mark.parametrize("states", [30, pytest.param(200, marks=pytest.mark.large)])
def test_random_states_equal_run_and_measure(engine: Engine, states: int) -> None:
    rng = np.random.default_rng(44)
    for _ in range(states):
        state = random_state(rng)
        answer = engine.answer(state)["answers"][0]
        words = {role: state["sets"][role]["words"] for role in ROLES}
        test = State.from_json(state).test()
        result = wg.run(engine.models[0].kept.inner, [test], state["metric"]).results[0]
        for name in COMPARED:
            assert same(answer[name], getattr(result, name)), (name, words)
        assert [score for _, _, score in answer["scores"]] == [s.score for s in result.scores]
        if not result.not_tested:
            measured = wg.measure(
                state["metric"], [words["X"], words["Y"]], [words["A"], words["B"]], model="wordllama"
            )
            assert (answer["value"], answer["p_value"]) == (measured.value, measured.p_value)


def test_a_placed_word_has_the_score_it_has_as_a_target(engine: Engine) -> None:
    state = start_state("weat6")
    word = state["sets"]["X"]["words"][2]
    answer = engine.answer({**state, "place": [word]})["answers"][0]
    (placed,) = answer["placed"]
    assert placed["score"] == next(s for role, w, s in answer["scores"] if (role, w) == ("X", word))
    single = wg.measure(
        "sc-weat", [[word]], [state["sets"]["A"]["words"], state["sets"]["B"]["words"]], model="wordllama"
    )
    assert (placed["value"], placed["p_value"], placed["ci_low"]) == (
        single.value,
        single.p_value,
        single.ci_low,
    )


def test_the_word_that_carries_it_is_the_one_whose_removal_moves_d_most(engine: Engine) -> None:
    state = start_state("weat6")
    answer = engine.answer(state)["answers"][0]
    role, word, d, _ = answer["decisive"]
    without = {**state, "sets": {**state["sets"]}}
    kept = [each for each in state["sets"][role]["words"] if each != word]
    without["sets"][role] = {"name": "fewer", "words": kept}
    assert engine.answer(without)["answers"][0]["value"] == pytest.approx(d, abs=1e-12)
    assert min(abs(each[2]) for each in answer["left_out"]) == pytest.approx(abs(d))


def test_words_of_a_file_are_read_once_and_unknown_ones_are_named(tmp_path: Any) -> None:
    rng = np.random.default_rng(1)
    state = start_state("weat6")
    words = [word for role in ROLES for word in state["sets"][role]["words"]]
    path = tmp_path / "small.txt"
    numbers = rng.normal(size=(len(words), 20)).astype(np.float32)
    rows = [" ".join([w, *(f"{n:.6f}" for n in row)]) for w, row in zip(words, numbers, strict=True)]
    path.write_text("\n".join(rows) + "\n")
    engine = Engine([f"vectors:{path}"])
    engine.prepare()
    expected = wg.run(f"vectors:{path}", [State.from_json(state).test()]).results[0]
    path.unlink()
    state["sets"]["X"]["words"].append("qqqzzz")
    answer = engine.answer(state)["answers"][0]
    assert answer["unknown"] == {"X": ["qqqzzz"]}
    assert (answer["value"], answer["p_value"]) == (expected.value, expected.p_value)
    first = words[0]
    assert engine.suggest(first[:3])[0].startswith(first[:3])
    found = engine.neighbours(first)["nearest"]
    units = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
    cosines = units @ units[0]
    best = [words[row] for row in np.argsort(-cosines)[1:4]]
    assert [word for word, _ in found[:3]] == best


def test_a_later_question_cancels_an_earlier_one(engine: Engine) -> None:
    state = start_state("weat6")
    engine.answer({**state, "client": "one", "sequence": 8})
    with pytest.raises(StaleError):
        engine.answer({**state, "client": "one", "sequence": 7})
    engine.answer({**state, "client": "two", "sequence": 7})


@pytest.mark.parametrize(
    "change",
    [
        {"sets": None},
        {"sets": {}},
        {"metric": "no-such-metric"},
        {"metric": "*"},
        {"metric": "sc-weat"},
        {"models": [9]},
        {"models": []},
        {"models": [True]},
        {"place": ["\ud800"]},
        {"place": [7]},
    ],
)
def test_a_wrong_state_is_refused(engine: Engine, change: dict[str, Any]) -> None:
    with pytest.raises(WeatherglassError):
        engine.answer({**start_state("weat6"), **change})


def test_copies_spell_a_model_as_the_user_did() -> None:
    specs = ["small=wordllama?dim=64", "wordllama | centre"]
    copies = copies_of(Engine(specs), {**start_state("weat6"), "models": [0, 1]})
    assert shlex.split(copies["command"])[2:4] == specs
    assert repr(specs) in copies["python"]


def test_a_model_without_sentences_has_the_combinations_of_single_words() -> None:
    rng = np.random.default_rng(5)
    state = start_state("weat6")
    vectors = {word: rng.normal(size=20) for one in state["sets"].values() for word in one["words"]}
    (answer,) = multiverse_of(Engine({"mine": vectors}), state)["answers"]
    assert len(answer["specifications"]) == 12
    assert {one["template"] for one in answer["specifications"]} == {"word"}


def test_an_error_names_the_model_and_not_its_path(tmp_path: Path) -> None:
    path = tmp_path / "few.txt"
    path.write_text("John 1 2\nAmy 3 4\n")
    given = {"queries": ["zzz"], "passages": ["{name} zzz"], "groups": "race", "models": [0]}
    (answer,) = ranking_of(Engine([f"vectors:{path}"]), given)["answers"]
    assert "few" in answer["error"]
    assert str(tmp_path) not in answer["error"]


def test_an_empty_box_is_an_answer_without_numbers(engine: Engine) -> None:
    state = start_state("weat6")
    state["sets"]["Y"]["words"] = []
    answer = engine.answer({**state, "place": ["nurse"]})["answers"][0]
    assert answer["error"]
    assert answer["placed"][0]["score"] is not None


@pytest.mark.parametrize("d", [0.4, 0.8, 1.5])
def test_words_needed_is_the_least_number_with_that_power(d: float) -> None:
    needed = words_needed(d, 0.05)
    assert needed is not None
    assert power(d, needed, needed) >= 0.8 > power(d, needed - 1, needed - 1)


def test_a_first_answer_has_p_without_one_word_only_and_the_second_the_rest() -> None:
    rng = np.random.default_rng(43)  # with these vectors, p is 0.04, and above 0.05 without some words
    names = {role: [f"{role}{n}" for n in range(12)] for role in ROLES}
    lean = {"X": 1.0, "A": 2.0}
    vectors = {
        word: rng.normal(size=40) + lean.get(role, 0.0) * np.eye(40)[0]
        for role, words in names.items()
        for word in words
    }
    state = {"sets": {role: {"name": role, "words": words} for role, words in names.items()}}
    engine = Engine({"mine": vectors})
    first, second = (engine.answer({**state, "quick": quick})["answers"][0] for quick in (True, False))
    assert (first["final"], second["final"]) == (False, True)
    p_first, p_second = (
        {(role, word): p for role, word, _, p in answer["left_out"] if p is not None}
        for answer in (first, second)
    )
    assert len(p_first) == 1 < len(p_second)
    assert p_first.items() <= p_second.items()
    assert max(p_second.values()) == next(iter(p_first.values()))
    for name in ("value", "ci_low", "p_random", "sentence", "outcome", "limit", "decisive"):
        assert first[name] == second[name]
    assert [one["kind"] for one in first["warnings"]] == [one["kind"] for one in second["warnings"]]
