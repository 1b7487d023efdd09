"""Settings as a caller gives them: by name, or through a profile that brings its published ones along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weatherglass.audit.settings import Settings, check_setting_names
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.weat.profiles import Profile, profile_of
from weatherglass.registry import wrong_type


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
    check_setting_names(given, function)
    if settings is not None and not isinstance(settings, Settings):
        raise wrong_type("settings", "a Settings(…)", settings)
    if settings is not None:
        return settings.changed(**given)
    profile = given.get("profile")
    published = published_settings(profile_of(profile)) if profile else {}
    return Settings(**{**published, **given})


def published_settings(profile: Profile) -> dict[str, Any]:
    """What a paper or tool does where the user states nothing else: single elements are exchanged, alpha is 0.01."""
    return {
        "profile": profile.name,
        "alternative": profile.alternatives[0],
        "permute": "elements",
        "alpha": 0.01,
    }


def check_profile(profile: Profile, settings: Settings) -> None:
    """Refuse settings that contradict a profile.

    Raises:
        WeatherglassError: naming the setting to leave out.
    """
    if settings.significance != "auto":
        raise WeatherglassError(
            f"profile '{profile.name}' computes p in its own way; leave out significance '{settings.significance}'"
        )
    if settings.ddof not in (1, profile.ddof):
        raise WeatherglassError(f"profile '{profile.name}' divides by n - {profile.ddof}; leave out ddof")
    if settings.profile == profile.name:
        profile.tail(settings.alternative)
