"""Test and estimate a difference between two sets of words: arrays in, numbers out (docs/methods 10).

An effect is estimated for fixed attributes (`fixed_attributes`) and for random ones (`random_attributes`). Every
function that ends in `_ends`, and `crossed`, takes any number of leading axes, so that benchmarks use the
formulas of the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.stats.attributes import FixedAttributes as FixedAttributes
    from weatherglass.stats.attributes import RandomAttributes as RandomAttributes
    from weatherglass.stats.attributes import fixed_attributes as fixed_attributes
    from weatherglass.stats.attributes import random_attributes as random_attributes
    from weatherglass.stats.interval import Interval as Interval
    from weatherglass.stats.paired import PairedChange as PairedChange
    from weatherglass.stats.paired import paired_change as paired_change

DEFAULT_CORRECTION = "holm"
"""The default correction for multiple tests; here it can be imported without numpy."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The time and memory that `auto` may use for one p-value; here it can be imported without numpy."""

    seconds: float = 2.0
    bytes: int = 1_000_000_000


_PLACES = {
    "fixed_attributes": "attributes",
    "FixedAttributes": "attributes",
    "random_attributes": "attributes",
    "RandomAttributes": "attributes",
    "paired_change": "paired",
    "PairedChange": "paired",
    "Interval": "interval",
}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
