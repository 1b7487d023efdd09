"""Find scorers of words by name; scorers are rules, including those of other packages (`weatherglass.rules`), and
metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from weatherglass.errors import WeatherglassError
from weatherglass.registry import Registry, unknown

if TYPE_CHECKING:
    from weatherglass.reliability.scoring.scorers import ScoringRule, WordScorer

RULES: Registry[ScoringRule] = Registry(
    "rule",
    {
        "dbwa": "weatherglass.reliability.scoring.scorers:DBWA",
        "ripa": "weatherglass.reliability.scoring.scorers:RIPA",
        "ripa-raw": "weatherglass.reliability.scoring.scorers:RIPA_RAW",
        "nbm": "weatherglass.reliability.scoring.scorers:NBM",
    },
    entry_points="weatherglass.rules",
)

DEFAULT_RULES = ("dbwa", "ripa", "ripa-raw", "nbm")
"""The three rules that Du et al. (2021) compare, and raw RIPA."""


def find_rules(names: Iterable[str]) -> tuple[WordScorer, ...]:
    """Return the rules with these names; other names are spellings of metrics, such as euclidean/mean.

    Raises:
        UnknownNameError: if a name is unknown; the message suggests the nearest name.
        WeatherglassError: if another package registered a rule under a name that differs from its own, or a metric
            cannot score words.
    """
    return tuple(_rule(name) if name in RULES else _metric_scorer(name) for name in dict.fromkeys(names))


def _rule(name: str) -> ScoringRule:
    rule = RULES.get(name)
    if rule.name != name:
        raise WeatherglassError(f"rule '{name}' has the name '{rule.name}'; register it under that name")
    return rule


def _metric_scorer(name: str) -> WordScorer:
    from weatherglass.metrics import METRICS, select_metrics
    from weatherglass.reliability.scoring.scorers import MetricScorer

    if "/" not in name and name.partition("(")[0] not in METRICS:
        raise unknown("rule", name, [*RULES.names(), *METRICS.names()])
    metrics = select_metrics([name])
    if len(metrics) != 1:
        raise WeatherglassError(f"rule '{name}' matches {len(metrics)} metrics; choose one of them")
    return MetricScorer(metrics[0])


def raters(names: Iterable[str]) -> tuple[str, ...]:
    """Return the rules to compare with one another; variants of a rule in the list are left out."""
    names = tuple(dict.fromkeys(names))
    return tuple(name for name in names if name not in RULES or RULES.get(name).variant_of not in names)
