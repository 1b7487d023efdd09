"""Compare a run with the reference audits, which contain d of every published test on well-known models.

`reference.tsv` is written by `make reference` with the default settings; docs/reference.md has the models, versions
and dates.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from weatherglass.audit.results import Result
from weatherglass.metrics import DEFAULT_METRIC

TABLE = "reference.tsv"
SAME = 0.002
"""The largest difference in every d at which a model is taken to be the reference model itself, perhaps with rounded
vectors, and is not compared with itself.
"""


@dataclass(frozen=True, slots=True)
class ReferenceStanding:
    """The position of a topic's d̄ among the reference models."""

    above: int
    """The number of reference models with a smaller d̄."""
    models: int
    """The number of reference models that have all of the tests."""
    effect_sizes: Mapping[str, float]
    """d̄ of each reference model over the same tests."""


@cache
def reference_effect_sizes() -> dict[str, dict[str, float]]:
    """Return d by model and test."""
    text = files(__package__).joinpath(TABLE).read_text(encoding="utf-8")
    found: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(text.splitlines(), delimiter="\t"):
        found.setdefault(row["model"], {})[row["test"]] = float(row["effect_size"])
    return found


def standing(rows: Sequence[Result], effect_sizes: Mapping[str, float | None]) -> ReferenceStanding | None:
    """Return the position of the mean d of some results among the reference models; None if it cannot be compared."""
    if any((r.metric, r.permute, r.ddof) != (DEFAULT_METRIC, "words", 1) for r in rows):
        return None
    own = {test: d for test, d in effect_sizes.items() if d is not None}
    means = {}
    for model, d_by_test in reference_effect_sizes().items():
        if not own or any(test not in d_by_test for test in own):
            continue
        if all(abs(d_by_test[test] - d) <= SAME for test, d in own.items()):
            continue
        means[model] = math.fsum(d_by_test[test] for test in own) / len(own)
    if not means:
        return None
    mean = math.fsum(own.values()) / len(own)
    return ReferenceStanding(sum(other < mean for other in means.values()), len(means), means)
