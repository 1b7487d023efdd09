"""Compare two ranking audits of the same texts and names, and test whether a preference between groups grew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from weatherglass.errors import WeatherglassError
from weatherglass.ranking.ranking import RankedName, Ranking
from weatherglass.ranking.texts import FEWEST
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.win_rate import exchange_p


@dataclass(frozen=True, slots=True)
class RankChange:
    """The change of the difference between the mean ranks of two groups, over all contexts.

    With two groups, the difference is the win rate minus 0.5; with more, names are ranked among all groups.
    """

    model: str
    x: str
    y: str
    before: float
    after: float
    p: float
    """The p from exchanging group labels over names, using each name's change of mean rank."""
    p_adjusted: float = 1.0
    """The p after Holm's correction over all changes."""

    def grew(self, alpha: float) -> bool:
        """Return whether the difference is farther from 0 than before, and the change is significant."""
        return abs(self.after) > abs(self.before) and self.p_adjusted <= alpha


def changes(before: Ranking, after: Ranking) -> list[RankChange]:
    """Return the change for every pair of groups, with paired names that both models know.

    If each audit has one model, the two are compared whatever their names; otherwise models with the same name are
    compared.

    Raises:
        WeatherglassError: if the audits have different texts or names, or no model in common.
    """
    texts = [ranking.record.get("materials", {}).get("sha256") for ranking in (before, after)]
    if texts[0] != texts[1]:
        raise WeatherglassError(
            "the two audits have different queries, passages or names, so they cannot be compared"
        )
    earlier, later = _by_model(before), _by_model(after)
    if len(earlier) == len(later) == 1:
        earlier = dict(zip(later, earlier.values(), strict=True))
    models = [model for model in later if model in earlier]
    if not models:
        raise WeatherglassError(f"the two audits have no model in common (before: {', '.join(earlier)})")
    found = [change for model in models for change in _changes(model, earlier[model], later[model])]
    adjusted = adjust([change.p for change in found], "holm")
    return [replace(change, p_adjusted=float(p)) for change, p in zip(found, adjusted, strict=True)]


def _by_model(ranking: Ranking) -> dict[str, list[RankedName]]:
    models: dict[str, list[RankedName]] = {}
    for one in ranking.names:
        models.setdefault(one.model, []).append(one)
    return models


def _changes(model: str, before: list[RankedName], after: list[RankedName]) -> list[RankChange]:
    earlier: Mapping[str, float] = {one.name: one.mean_rank for one in before}
    groups: dict[str, list[RankedName]] = {}
    for one in after:
        if one.name in earlier:
            groups.setdefault(one.group, []).append(one)
    usable = [group for group, names in groups.items() if len(names) >= FEWEST]
    found = []
    for x, y in combinations(usable, 2):
        names, n_x = [*groups[x], *groups[y]], len(groups[x])
        old, new = np.array([earlier[one.name] for one in names]), np.array([one.mean_rank for one in names])
        was, now = (float(ranks[:n_x].mean() - ranks[n_x:].mean()) for ranks in (old, new))
        found.append(RankChange(model, x, y, was, now, exchange_p(new - old, n_x).p_value))
    return found
