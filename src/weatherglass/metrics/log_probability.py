"""Compute WEAT on log-probabilities (Kurita et al. 2019), which test whether an attribute word makes a target word
more probable.

The association of a target t with an attribute a is log P(t | sentence) − log P(t | sentence without a), averaged over
templates. In both terms, all pieces of t are masked; in the second, which is the prior, the pieces of a are masked as
well. The prior is read at the mask of the target. The rest of the metric is WEAT with these associations in place of
cosines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from weatherglass.catalogue.test import Test
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.metrics.base import Context, Estimate, MetricInfo
from weatherglass.metrics.sets import VectorSet
from weatherglass.metrics.weat.association import Association
from weatherglass.metrics.weat.metric import INFO, Weat

TARGET, ATTRIBUTE = "{target}", "{attribute}"
TEMPLATES = (
    "{target} is {attribute}.",
    "{target} likes {attribute}.",
    "{target} is interested in {attribute}.",
)
"""Templates like those of the paper."""


class Filled(NamedTuple):
    """A template with its two words and their positions."""

    text: str
    target: tuple[int, int]
    attribute: tuple[int, int]


def fill(template: str, target: str, attribute: str) -> Filled:
    """Return the sentence, with its first letter as written.

    >>> fill("{target} is {attribute}.", "Amy", "kind")
    Filled(text='Amy is kind.', target=(0, 3), attribute=(7, 11))
    """
    text, places = "", {}
    rest = template
    while rest:
        slots = [(rest.find(slot), slot) for slot in (TARGET, ATTRIBUTE) if slot in rest]
        if not slots:
            text += rest
            break
        place, slot = min(slots)
        text += rest[:place]
        word = target if slot == TARGET else attribute
        places[slot] = len(text), len(text) + len(word)
        text, rest = text + word, rest[place + len(slot) :]
    return Filled(text, places[TARGET], places[ATTRIBUTE])


@dataclass(frozen=True)
class LogProbability:
    """WEAT with the log-probability that an attribute word adds to a target word."""

    templates: tuple[str, ...] = TEMPLATES

    info: ClassVar[MetricInfo] = replace(
        INFO,
        needs="log-probabilities",
        summary=(
            "difference between X and Y in how much words of A, rather than B, raise their probability, in sd"
        ),
        direction="above 0: A makes X more probable, and B makes Y more probable",
        source="Kurita et al. 2019",
    )

    @property
    def name(self) -> str:
        return (
            "log-probability"
            if self.templates == TEMPLATES
            else f"log-probability({', '.join(self.templates)})"
        )

    def __str__(self) -> str:
        return self.name

    def texts(self, test: Test) -> tuple[str, ...]:
        """Return no texts, since the sentences are made from the words of the test."""
        del test
        return ()

    def evaluate(self, sets: Sequence[VectorSet], context: Context) -> Estimate:
        """Return d of the associations: the rows of X and Y have one column for each word of A and then of B."""
        x, y, a, b = sets
        if x.vectors.shape[1] != len(a) + len(b):
            raise UnitError(
                f"{self.name} needs a column for each of the {len(a) + len(b)} attribute words, "
                f"but there are {x.vectors.shape[1]}"
            )
        columns = np.eye(len(a) + len(b))
        attributes = [replace(a, vectors=columns[: len(a)]), replace(b, vectors=columns[len(a) :])]
        estimate = Weat(Association("dot", "mean")).evaluate([x, y, *attributes], replace(context, shared={}))
        return replace(estimate, info=self.info)


def log_probability(arguments: Sequence[str], named: Mapping[str, str]) -> list[LogProbability]:
    """Return the metric written as `log-probability` or `log-probability({target} is {attribute}.)`.

    Raises:
        WeatherglassError: if a template does not contain both words exactly once.
    """
    for name in named:
        raise WeatherglassError(f"log-probability has no parameter '{name}'; its arguments are templates")
    for template in arguments:
        if template.count(TARGET) != 1 or template.count(ATTRIBUTE) != 1:
            raise WeatherglassError(
                f"log-probability: the template '{template}' should contain {TARGET} and {ATTRIBUTE} once each"
            )
    return [LogProbability(tuple(arguments) or TEMPLATES)]
