"""The scoring rules by name; a package installed beside ours adds its own (entry-point group `weatherglass.rules`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from weatherglass.errors import WeatherglassError
from weatherglass.registry import Registry

if TYPE_CHECKING:
    from weatherglass.reliability.scoring.base import Rule

RULES: Registry[Rule] = Registry(
    "rule",
    {
        "dbwa": "weatherglass.reliability.scoring.dbwa:RULE",
        "ripa": "weatherglass.reliability.scoring.ripa:RULE",
        "ripa-raw": "weatherglass.reliability.scoring.ripa:RAW",
        "nbm": "weatherglass.reliability.scoring.nbm:RULE",
    },
    entry_points="weatherglass.rules",
)

DEFAULT_RULES = ("dbwa", "ripa", "ripa-raw", "nbm")
"""The three rules that Du et al. (2021) compare, and raw RIPA beside them."""


def find_rules(names: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of these names.

    Raises:
        UnknownNameError: naming the nearest known rule.
        WeatherglassError: if a rule of another package was added under a name that is not its own.
    """
    rules = {name: RULES.get(name) for name in names}
    for name, rule in rules.items():
        if rule.name != name:
            raise WeatherglassError(
                f"rule '{name}' calls itself '{rule.name}'; the two names should be the same"
            )
    return tuple(rules.values())


def raters(names: Iterable[str]) -> tuple[str, ...]:
    """The rules that are compared with one another: all but variants of a rule that is there itself."""
    names = tuple(dict.fromkeys(names))
    return tuple(name for name in names if name not in RULES or RULES.get(name).variant_of not in names)
