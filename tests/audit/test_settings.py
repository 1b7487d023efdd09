"""Settings: checked when they are built, and the same names as keywords of `run` and `associate`."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import Any

import pytest
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.settings import JUDGING, Settings
from weatherglass.errors import RenamedWarning, UnknownNameError, WeatherglassError
from weatherglass.inference.significance import Budget

X, Y = [[1.0, 0.1], [1.0, 0.2], [0.9, 0.3]], [[0.1, 1.0], [0.3, 1.0], [0.6, 0.5]]
A, B = [[1.0, 0.0], [0.9, 0.2]], [[0.0, 1.0], [0.1, 0.8]]

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"significance": "exakt"}, "unknown significance 'exakt'; did you mean 'exact'"),
    ({"alternative": "two-side"}, "unknown alternative 'two-side'; did you mean 'two-sided'"),
    ({"permute": "word"}, "unknown permute 'word'; did you mean 'words'"),
    ({"correction": "hulm"}, "unknown correction 'hulm'; did you mean 'holm'"),
    ({"covariance": "glaso"}, "unknown covariance estimator 'glaso'; did you mean 'glasso'"),
    ({"trust": "non"}, "unknown trust 'non'; did you mean 'none'"),
    ({"profile": "weef"}, "unknown profile 'weef'; did you mean 'wefe'"),
    ({"ddof": 2}, "ddof is 2, but should be 0 or 1"),
    ({"alpha": 0.5}, "alpha is 0.5, but should lie between 0 and 0.5"),
    ({"smallest": 2}, "smallest is 2, but should lie between 0 and 2"),
    ({"alpha": float("nan")}, "alpha is nan"),
    ({"alpha": "0.01"}, "alpha is '0.01', but should be a number"),
    ({"precision": 0.0}, "precision is 0.0, but should lie between 0 and 1"),
    ({"family": 0}, "family is 0, but should be at least 1"),
    ({"seed": -1}, "seed is -1, but should be at least 0"),
    ({"seed": 0.5}, "seed is 0.5, but should be a whole number"),
    ({"ci": "jacknife"}, "unknown ci 'jacknife'; did you mean 'jackknife'"),
    ({"ci": None}, "unknown ci 'None'; did you mean 'none'"),
    ({"budget": "2s,1GB"}, "budget is '2s,1GB', but should be a Budget"),
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
    with pytest.raises(WeatherglassError, match="computes p in its own way; leave out significance"):
        wg.associate(X, Y, A, B, profile="wefe", significance="normal")


@pytest.mark.parametrize("word", ["alternatives", "permutes", "smalest"])
def test_an_unknown_keyword_is_answered_with_the_nearest(word: str) -> None:
    nearest = {"alternatives": "alternative", "permutes": "permute", "smalest": "smallest"}[word]
    for call in (
        lambda **given: wg.run(HashedEncoder(), "weat7", **given),
        lambda **g: wg.associate(X, Y, A, B, **g),
    ):
        with pytest.raises(WeatherglassError, match=f"unknown setting '{word}'; did you mean '{nearest}'"):
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


def test_measures_of_run_works_with_one_warning() -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        run = wg.run(HashedEncoder(), "weat7", measures=["dot/mean", "cosine/max"], trust="none")
    assert [result.metric for result in run.results] == ["dot/mean", "cosine/max"]
    (warning,) = (each for each in warned if issubclass(each.category, DeprecationWarning))
    assert (warning.category, str(warning.message)) == (RenamedWarning, "measures= is now metrics=")
    assert warning.filename == __file__  # the caller's line, not ours


def test_measure_of_associate_stays() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wg.associate(X, Y, A, B, measure="euclidean/median").metric == "euclidean/median"
    with pytest.raises(
        WeatherglassError, match=r"measure 'cosine/\*' stands for 5 metrics; name one of them"
    ):
        wg.associate(X, Y, A, B, measure="cosine/*")
    with pytest.raises(UnknownNameError, match="did you mean 'cosine/mean'"):
        wg.associate(X, Y, A, B, measure="cosine/meen")
