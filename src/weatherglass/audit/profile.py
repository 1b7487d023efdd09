"""A run under a profile: which metrics it applies to, its warnings, and the one number that some profiles print."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from typing import Any

from weatherglass.audit.settings import Settings, check_setting_names
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.base import Metric
from weatherglass.metrics.weat.metric import Weat
from weatherglass.metrics.weat.profiles import Profile, profile_of
from weatherglass.registry import wrong_type
from weatherglass.runs.results import Result


def under_profile(metrics: Iterable[Metric], profile: str | None) -> list[Metric]:
    """The metrics, WEAT's as the profile reports them unless they name one of their own.

    Raises:
        WeatherglassError: if a metric knows no profiles.
    """
    if profile is None:
        return list(metrics)
    chosen = profile_of(profile).name
    changed: list[Metric] = []
    for metric in metrics:
        if not isinstance(metric, Weat):
            raise WeatherglassError(f"profile '{chosen}' is one of WEAT's; {metric.name} has none")
        changed.append(metric if metric.profile else replace(metric, profile=chosen))
    return changed


def chosen_settings(
    settings: Settings | None, given: Mapping[str, Any], function: Callable[..., Any] | None = None
) -> Settings:
    """The settings with some fields given by name; a profile brings its published tail, unit and level along.

    Args:
        settings: those to start from; the default ones if None.
        given: fields by name.
        function: what the user called, whose other arguments may have been meant.

    Raises:
        WeatherglassError: for a name that is no setting, or a value that it cannot have.
    """
    check_setting_names(given, _arguments(function) if function else ())
    if settings is not None and not isinstance(settings, Settings):
        raise wrong_type("settings", "a Settings(…)", settings)
    if settings is not None:
        return settings.changed(**given)
    profile = given.get("profile")
    base = published_settings(profile_of(profile)) if profile else Settings()
    return base.changed(**given)


def _arguments(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's arguments, without the one that takes the settings by name."""
    parameters = signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is not Parameter.VAR_KEYWORD]


def published_settings(profile: Profile) -> Settings:
    """What a paper or tool does where the user states nothing else: single elements are exchanged, alpha is 0.01."""
    return Settings(
        profile=profile.name,
        alternative=profile.alternatives[0],
        permute="elements",
        alpha=0.01,
    )


def check_profiles(metrics: Sequence[Metric], settings: Settings) -> None:
    """Refuse settings that ask for what a profile does otherwise.

    Raises:
        WeatherglassError: naming the setting to leave out.
    """
    for profile in profiles_of(metrics):
        if settings.significance != "auto":
            raise WeatherglassError(
                f"profile '{profile.name}' computes p in its own way; leave out significance '{settings.significance}'"
            )
        if settings.ddof not in (1, profile.ddof):
            raise WeatherglassError(f"profile '{profile.name}' divides by n - {profile.ddof}; leave out ddof")
        if settings.profile == profile.name:
            profile.tail(settings.alternative)


def profiles_of(metrics: Sequence[Metric]) -> list[Profile]:
    """The profiles in use, each once."""
    names = dict.fromkeys(metric.profile for metric in metrics if isinstance(metric, Weat) and metric.profile)
    return [profile_of(name) for name in names]


def warnings_of(metrics: Sequence[Metric]) -> list[str]:
    """What a reader of numbers by a profile should know, for the run as a whole."""
    return [
        line
        for profile in profiles_of(metrics)
        for line in (
            f"profile {profile.name}: {profile.caution}",
            f"profile {profile.name}: vectors are the model's own; habits of the original: {profile.habits}",
        )
    ]


def cautions_of(metrics: Sequence[Metric]) -> list[str]:
    """What the metrics themselves want said of their numbers."""
    cautions = {metric.name: getattr(metric, "caution", "") for metric in metrics}
    return [f"{name}: {caution}" for name, caution in cautions.items() if caution]


def headline(metrics: Sequence[Metric], results: Sequence[Result]) -> dict[str, Any] | None:
    """The one number that a profile prints of all tests; None where none does."""
    for profile in profiles_of(metrics):
        names = {m.name for m in metrics if isinstance(m, Weat) and m.profile == profile.name}
        values = [abs(r.effect_size) for r in results if r.metric in names and not math.isnan(r.effect_size)]
        if profile.headline and values:
            return {"profile": profile.name, "name": "mean of |d|", "value": math.fsum(values) / len(values)}
    return None
