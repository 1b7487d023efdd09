"""How d is computed again without single words, attributes and templates: closed forms on the table of measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weatherglass.arrays import Vector
from weatherglass.metrics.exchange import Exchange
from weatherglass.metrics.resample import Tested
from weatherglass.metrics.weat.tables import NamedSample

if TYPE_CHECKING:
    from weatherglass.stats.permutation.base import Significance
    from weatherglass.stats.topic_layout import AttributeTables
    from weatherglass.stats.trust import Assessment


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """The raw measures of a test by unit, and the scores without each sentence template."""

    whole: NamedSample
    without_templates: tuple[tuple[str, Vector, Vector], ...] = ()
    """A template with the scores of X and of Y without its sentences."""
    tables: AttributeTables | None = None
    """Of the words of X and Y in the order of the test; None where words are not what is resampled."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreResample:
    """The Resample of WEAT."""

    exchange: Exchange
    samples: Callable[[], Samples]
    """Computes what is resampled, when it is asked for."""
    flipped: bool = False
    """Whether the value is reported as |d| although d is negative."""

    def assess(self, tested: Tested) -> Assessment:
        """Return both readings of d, its leave-one-out values and its null distribution."""
        from weatherglass.stats.trust import assess

        samples = self.samples()

        def test(x: Vector, y: Vector, rough: bool) -> Significance:
            return tested.significance_of(replace(self.exchange, x=x, y=y), rough)

        found = assess(samples.whole, tested, test, samples.without_templates)
        found = replace(found, tables=samples.tables)
        return found.flipped() if self.flipped else found
