"""Settings: checked when they are built, and the same names as keywords of `run` and `associate`."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from typing import Any

import pytest
from tests.messages import naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.settings import JUDGING, Settings
from weatherglass.cli.questions import words
from weatherglass.errors import UnknownNameError, WeatherglassError
from weatherglass.stats import DEFAULT_CORRECTION
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.permutation import Budget

X, Y = [[1.0, 0.1], [1.0, 0.2], [0.9, 0.3]], [[0.1, 1.0], [0.3, 1.0], [0.6, 0.5]]
A, B = [[1.0, 0.0], [0.9, 0.2]], [[0.0, 1.0], [0.1, 0.8]]

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"significance": "exakt"}, naming("significance", "exakt", suggesting="exact")),
    ({"alternative": "two-side"}, naming("alternative", "two-side", suggesting="two-sided")),
    ({"permute": "word"}, naming("permute", "word", suggesting="words")),
    ({"correction": "hulm"}, naming("correction", "hulm", suggesting="holm")),
    ({"covariance": "glaso"}, naming("covariance", "glaso", suggesting="glasso")),
    ({"trust": "non"}, naming("trust", "non", suggesting="none")),
    ({"profile": "weef"}, naming("profile", "weef", suggesting="wefe")),
    ({"ddof": 2}, naming("ddof", 2, 0, 1)),
    ({"alpha": 0.5}, naming("alpha", 0, 0.5)),
    ({"smallest": 2}, naming("smallest", 0, 2)),
    ({"alpha": float("nan")}, naming("alpha", "nan")),
    ({"alpha": "0.01"}, naming("alpha", "'0.01'", "number")),
    ({"precision": 0.0}, naming("precision", 0.0, 0, 1)),
    ({"family": 0}, naming("family", 0, 1)),
    ({"seed": -1}, naming("seed", -1, 0)),
    ({"seed": 0.5}, naming("seed", 0.5, "whole number")),
    ({"ci": "jacknife"}, naming("ci", "jacknife", suggesting="jackknife")),
    ({"ci": None}, naming("ci", "None", suggesting="none")),
    ({"budget": "2s,1GB"}, naming("budget", "'2s,1GB'", "Budget")),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_a_wrong_value_is_refused_when_settings_are_built(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(WeatherglassError, match=message) as refused:
        Settings(**wrong)
    assert "\n" not in str(refused.value)


def test_every_field_but_synonyms_has_a_wrong_value_above() -> None:
    """Synonyms may name a file, which is read when a plan is made."""
    assert {name for wrong, _ in WRONG for name in wrong} == {f.name for f in fields(Settings)} - {"synonyms"}


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_run_and_associate_refuse_it_likewise(wrong: dict[str, Any], message: str) -> None:
    encoder = HashedEncoder()
    with pytest.raises(WeatherglassError, match=message):
        wg.run(encoder, "weat7", **wrong)
    assert not encoder.encoded
    with pytest.raises(WeatherglassError, match=message):
        wg.associate(X, Y, A, B, **wrong)


def test_every_field_is_a_keyword_of_both() -> None:
    for field in fields(Settings):
        value = getattr(Settings(trust="none"), field.name)
        assert wg.associate(X, Y, A, B, trust="none", **{field.name: value} if field.name != "trust" else {})
    given: dict[str, Any] = {"alternative": "two-sided", "permute": "words", "ddof": 0, "trust": "none"}
    (by_keyword,) = wg.run(HashedEncoder(), "weat7", **given).results
    (by_settings,) = wg.run(HashedEncoder(), "weat7", settings=Settings(**given)).results
    assert by_keyword.to_json() | {"seconds": 0} == by_settings.to_json() | {"seconds": 0}
    assert (by_keyword.alternative, by_keyword.permute, by_keyword.ddof) == ("two-sided", "words", 0)
    by_array = wg.associate(X, Y, A, B, settings=Settings(alternative="less", trust="none"))
    assert by_array.p_value == wg.associate(X, Y, A, B, alternative="less").p_value
    assert by_array.p_value != wg.associate(X, Y, A, B).p_value


def test_a_keyword_goes_before_the_settings() -> None:
    settings = Settings(alternative="less", ddof=0)
    result = wg.associate(X, Y, A, B, settings=settings, alternative="greater", trust="none")
    assert (result.alternative, result.ddof) == ("greater", 0)


def test_a_profile_of_associate_is_that_of_the_metric() -> None:
    """wefe divides by n (docs/profiles.md), which ddof=0 does, too."""
    result = wg.associate(X, Y, A, B, profile="wefe")
    assert result.metric == "weat(cosine/mean, profile=wefe)"
    assert result.effect_size == pytest.approx(wg.associate(X, Y, A, B, ddof=0).effect_size)
    with pytest.raises(WeatherglassError, match=naming("wefe", "significance", "normal")):
        wg.associate(X, Y, A, B, profile="wefe", significance="normal")


@pytest.mark.parametrize("word", ["alternatives", "permutes", "smalest"])
def test_an_unknown_keyword_is_answered_with_the_nearest(word: str) -> None:
    nearest = {"alternatives": "alternative", "permutes": "permute", "smalest": "smallest"}[word]
    for call in (
        lambda **given: wg.run(HashedEncoder(), "weat7", **given),
        lambda **g: wg.associate(X, Y, A, B, **g),
    ):
        with pytest.raises(WeatherglassError, match=naming(word, suggesting=nearest)):
            call(**{word: 1})


@pytest.mark.parametrize(
    ("word", "nearest"), [("test", "tests"), ("model", "models"), ("metric", "metrics"), ("job", "jobs")]
)
def test_an_unknown_keyword_may_be_another_argument_of_the_function(word: str, nearest: str) -> None:
    with pytest.raises(WeatherglassError, match=f"unknown setting '{word}'; did you mean '{nearest}'"):
        wg.run(HashedEncoder(), **{word: "weat7"})  # type: ignore[arg-type]


def test_what_judges_is_no_part_of_a_result() -> None:
    """Another correction needs no result computed again; another alpha does, whose intervals are at another level."""
    judged_otherwise = Settings(smallest=0.5, correction="benjamini-hochberg", family=99)
    assert Settings().in_key() == judged_otherwise.in_key()
    for change in ({"seed": 1}, {"ddof": 0}, {"budget": Budget(9.0, 10)}, {"trust": "mean"}, {"alpha": 0.01}):
        assert Settings(**change).in_key() != Settings().in_key()
    assert {"smallest", "correction", "family"} == set(JUDGING)


def test_associate_takes_one_measure() -> None:
    assert wg.associate(X, Y, A, B, measure="euclidean/median").metric == "euclidean/median"
    with pytest.raises(WeatherglassError, match=naming("cosine/*", 5)):
        wg.associate(X, Y, A, B, measure="cosine/*")
    with pytest.raises(UnknownNameError, match=naming("cosine/meen", suggesting="cosine/mean")):
        wg.associate(X, Y, A, B, measure="cosine/meen")


def test_whoever_names_no_correction_gets_the_same_one() -> None:
    of_words = next(option.default for option in words.params if option.name == "correction")
    in_python = signature(wg.word_map).parameters["correction"].default
    defaults = {Settings().correction, in_python, of_words}
    assert defaults == {DEFAULT_CORRECTION, signature(adjust).parameters["method"].default}
