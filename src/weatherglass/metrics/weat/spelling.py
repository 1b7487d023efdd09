"""What stands in the parentheses of `weat(…)`: measures, globs over them, and whose d and p to report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weatherglass.errors import WeatherglassError
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
