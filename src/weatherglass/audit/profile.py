"""A run under a profile: its settings, its warnings, and the one number that some profiles print (docs/methods 9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from weatherglass.audit.evaluate import Settings
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.weat.profiles import Profile, profile_of
from weatherglass.runs.results import Result


def settings_of(profile: Profile, settings: Settings) -> Settings:
    """The settings with the profile's standard deviation and tail.

    Raises:
        WeatherglassError: if the settings ask for what the profile does otherwise.
    """
    if settings.significance != "auto":
        raise WeatherglassError(
            f"profile '{profile.name}' has its own way to p; leave out significance '{settings.significance}'"
        )
    if settings.ddof not in (1, profile.ddof):
        raise WeatherglassError(f"profile '{profile.name}' divides by n - {profile.ddof}; leave out ddof")
    return replace(
        settings, profile=profile.name, ddof=profile.ddof, alternative=profile.tail(settings.alternative)
    )


def warnings_of(settings: Settings) -> list[str]:
    """What a reader of these numbers should know, for the run as a whole."""
    if not settings.profile:
        return []
    profile = profile_of(settings.profile)
    return [
        f"profile {profile.name}: {profile.caution}",
        f"profile {profile.name}: vectors are the model's own; habits of the original: {profile.habits}",
    ]


def headline(settings: Settings, results: Sequence[Result]) -> dict[str, Any] | None:
    """The one number that a profile prints of all tests; None where it prints none."""
    sizes = [abs(result.effect_size) for result in results if not math.isnan(result.effect_size)]
    if not settings.profile or not profile_of(settings.profile).headline or not sizes:
        return None
    return {"profile": settings.profile, "name": "mean of |d|", "value": math.fsum(sizes) / len(sizes)}
