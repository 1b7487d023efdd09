"""Which sets of a test a metric takes: all, or one target or attribute set after another (docs/methods 13)."""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.catalogue.test import ElementSet, Test
from weatherglass.metrics.base import Metric, Shape


@dataclass(frozen=True, slots=True)
class Part:
    """Some sets of a test, or all of them."""

    roles: tuple[str, ...]
    sets: str
    """The roles as the column `sets` has them."""
    whole: bool


def parts_of(test: Test, metric: Metric) -> list[Part]:
    """What the metric measures of the test, one result each; empty where its shape does not fit."""
    shape = metric.info.shape
    if shape.paired and _unequal(test, shape):
        return []
    (targets, attributes), roles = test.shape, test.roles
    parts = []
    for chosen, chosen_attributes in shape.selections(targets, attributes):
        taken = (
            *(roles[place] for place in chosen),
            *(roles[targets + place] for place in chosen_attributes),
        )
        parts.append(Part(taken, " ".join(taken), len(taken) == len(roles)))
    return parts


def why_not(test: Test, metric: Metric) -> str:
    """Why a metric cannot measure a test, in one line that names the shape it takes."""
    targets, attributes = test.shape
    takes = f"{metric.name} takes {metric.info.shape}"
    if metric.info.shape.selections(targets, attributes):
        sizes = " and ".join(str(_words(element_set)) for element_set in test.targets)
        return f"{takes}; the target sets of this test have {sizes} words"
    return f"{takes}; this test has {targets} and {attributes}"


def _unequal(test: Test, shape: Shape) -> bool:
    return bool(shape.selections(*test.shape)) and len({_words(each) for each in test.targets}) > 1


def _words(element_set: ElementSet) -> int:
    return len(set(element_set.words))
