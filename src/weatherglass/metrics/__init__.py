"""Compute metrics, which return an Estimate from the vectors of a test, without input or output.

A metric is a value whose text is its spelling on the command line, such as "cosine/mean" (short for
"weat(cosine/mean)") and "weat(cosine/mean, profile=wefe)". METRICS contains the families of metrics by name; each
family makes metrics from the arguments in parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from weatherglass.errors import WeatherglassError
from weatherglass.registry import Registry, described, unknown

if TYPE_CHECKING:
    from weatherglass.metrics.base import Metric
    from weatherglass.metrics.weat.association import Association

__all__ = ["DEFAULT_METRIC", "METRICS", "select_metrics"]

MakeMetrics = Callable[[Sequence[str], Mapping[str, str]], "Sequence[Metric]"]
"""A function that makes metrics from the positional and named arguments in the parentheses of a spelling."""

METRICS: Registry[MakeMetrics] = Registry(
    "metric",
    {
        "weat": "weatherglass.metrics.weat.metric:weat",
        "sc-weat": "weatherglass.metrics.sc_weat:sc_weat",
        "rnd": "weatherglass.metrics.rnd:rnd",
        "rnsb": "weatherglass.metrics.rnsb:rnsb",
        "mac": "weatherglass.metrics.mac:mac",
        "ect": "weatherglass.metrics.ect:ect",
        "ripa": "weatherglass.metrics.ripa:ripa",
        "same": "weatherglass.metrics.same:same",
        "direct-bias": "weatherglass.metrics.direct_bias:direct_bias",
        "crows-pairs": "weatherglass.metrics.pairs:crows_pairs",
        "aul": "weatherglass.metrics.pairs:aul",
        "aula": "weatherglass.metrics.pairs:aula",
        "stereoset": "weatherglass.metrics.pairs:stereoset",
        "log-probability": "weatherglass.metrics.log_probability:log_probability",
    },
    entry_points="weatherglass.metrics",
)

DEFAULT_METRIC = "cosine/mean"
OBSERVED = ("vectors", "log-probabilities", "unmasked-log-probabilities", "attended-log-probabilities")
"""The kinds of observation that a model can return."""
_CALL = re.compile(r"(?P<name>[a-z][\w-]*)(?:\((?P<arguments>.*)\))?")


def select_metrics(patterns: Sequence[str | Association | Metric]) -> list[Metric]:
    """Return the metrics that match spellings, globs and groups, in the order of the request and without repeats.

    "weat" means "cosine/mean", "*/mean" means every similarity with the mean, and "*" every metric with its defaults.

    >>> [metric.name for metric in select_metrics(["weat", "cosine/m*n"])]
    ['cosine/mean', 'cosine/median', 'cosine/min']

    Raises:
        UnknownNameError: if a metric is unknown; the message suggests the nearest name.
        WeatherglassError: if no metric is given, or a metric needs an observation that no model returns.
    """
    from weatherglass.metrics.weat.association import Association

    selected: dict[str, Metric] = {}
    for given in patterns:
        if isinstance(given, str | Association):
            found = _matching(str(given))
        elif isinstance(given, type) or not all(
            hasattr(given, name) for name in ("name", "info", "evaluate")
        ):
            raise WeatherglassError(
                "a metric should be a spelling such as cosine/mean, or an object with name, info and evaluate, but is "
                f"{described(given)}; give several in a list"
            )
        else:
            found = [given]
        for metric in found:
            if metric.info.needs not in OBSERVED:
                raise WeatherglassError(
                    f"{metric.name} needs {metric.info.needs} from a model, but weatherglass observes only "
                    f"{', '.join(OBSERVED)}"
                )
            selected.setdefault(metric.name, metric)
    if not selected:
        raise WeatherglassError("no metric is given; omit -m to use cosine/mean")
    return list(selected.values())


def _matching(pattern: str) -> Sequence[Metric]:
    """Return the metrics that match a spelling or a glob."""
    from weatherglass.metrics.weat.association import GROUPS, SIMILARITIES

    call = _CALL.fullmatch(pattern.strip())
    if call and call["name"] in METRICS:
        arguments = [part.strip() for part in (call["arguments"] or "").split(",") if part.strip()]
        named = {n.strip(): v.strip() for n, is_named, v in (a.partition("=") for a in arguments) if is_named}
        return METRICS.get(call["name"])([a for a in arguments if "=" not in a], named)
    if "/" in pattern or pattern in GROUPS or pattern in SIMILARITIES:
        return METRICS.get("weat")([pattern], {})  # similarity/statistic is WEAT's short spelling
    families = [name for name in METRICS.names() if fnmatchcase(name, pattern)]
    if not families:
        raise unknown("metric", pattern, [*METRICS.names(), "similarity/statistic", *GROUPS])
    return [metric for name in families for metric in METRICS.get(name)([], {})]
