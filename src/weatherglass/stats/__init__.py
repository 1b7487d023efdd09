"""What a difference between two sets of words can be said to show: arrays in, numbers out (docs/methods 10).

Two readings of one effect: *these attributes* (`these`) and *such attributes* (`such`). Every function that ends in
`_ends`, and `crossed`, takes any number of leading axes, so that a benchmark runs the very formulas that a test does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.stats.interval import Interval as Interval
    from weatherglass.stats.paired import PairedChange as PairedChange
    from weatherglass.stats.paired import paired_change as paired_change
    from weatherglass.stats.such import SuchAttributes as SuchAttributes
    from weatherglass.stats.such import such_attributes as such_attributes
    from weatherglass.stats.these import TheseAttributes as TheseAttributes
    from weatherglass.stats.these import these_attributes as these_attributes

DEFAULT_CORRECTION = "holm"
"""The correction for multiple tests unless another is asked for; here it can be imported without numpy."""

_PLACES = {
    "these_attributes": "these",
    "TheseAttributes": "these",
    "such_attributes": "such",
    "SuchAttributes": "such",
    "paired_change": "paired",
    "PairedChange": "paired",
    "Interval": "interval",
}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
