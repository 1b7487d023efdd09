"""What stands in the parentheses of `weat(…)`: measures, globs over them, and whose d and p to report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from weatherglass.errors import WeatherglassError
from weatherglass.metrics.base import Metric
from weatherglass.metrics.weat.measure import Measure, select_measures
from weatherglass.metrics.weat.metric import Weat
from weatherglass.metrics.weat.profiles import profile_of
from weatherglass.registry import suggestion


def weat(arguments: Sequence[str], named: Mapping[str, str]) -> list[Weat]:
    """The metrics of `weat(cosine/mean, profile=wefe)`; without an argument the papers' cosine/mean.

    Raises:
        UnknownNameError: for an unknown measure or profile.
        WeatherglassError: for an unknown parameter.
    """
    for name in named:
        if name != "profile":
            raise WeatherglassError(f"weat has no parameter '{name}'{suggestion(name, ['profile'])}")
    profile = profile_of(named["profile"]).name if "profile" in named else ""
    measures = select_measures(arguments) if arguments else [Measure()]
    return [Weat(measure, profile) for measure in measures]


def under_profile(metrics: Iterable[Metric], profile: str) -> list[Metric]:
    """Return the metrics, WEAT's as the profile reports them unless they name one of their own.

    Raises:
        WeatherglassError: if a metric knows no profiles.
    """
    chosen = profile_of(profile).name
    changed: list[Metric] = []
    for metric in metrics:
        if not isinstance(metric, Weat):
            raise WeatherglassError(f"profile '{chosen}' is one of WEAT's; {metric.name} has none")
        changed.append(metric if metric.profile else replace(metric, profile=chosen))
    return changed
