"""Audit rankings without and with the transforms of a mitigation, and measure what they cost in retrieval."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.audit.encode import observe
from weatherglass.audit.plan import PlannedModel
from weatherglass.encoders.base import Input
from weatherglass.errors import EncoderError, WeatherglassError
from weatherglass.mitigation_evaluation.cost import RelevanceSet, retrieval_cost
from weatherglass.mitigation_evaluation.recovery import BeforeAfter
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.ranking.compare import REST
from weatherglass.ranking.ranking import RankOptions, run_ranking
from weatherglass.ranking.scores import observe_scores
from weatherglass.ranking.texts import Materials, read_materials
from weatherglass.registry import shown

if TYPE_CHECKING:
    from weatherglass.api.mitigation import Mitigation

BEFORE, AFTER = "before", "after"
OF_COMPARISON = (
    *(
        "win_rate",
        "ci_low",
        "ci_high",
        "p",
        "outcome",
        "impact_ratio",
        "impact_ratio_low",
        "impact_ratio_high",
    ),
    *("four_fifths", "selected_x", "selected_y"),
)


def rankings_before_after(
    mitigation: Mitigation, materials: Materials, alpha: float, workers: Backend, progress: Progress
) -> list[dict[str, Any]]:
    """Return both audits of every two groups over all topics, and the change of their difference.

    Raises:
        WeatherglassError: if the model cannot read a text, or too few names of a group.
    """
    plain = replace(PlannedModel.of(mitigation.model.encoder), name=BEFORE)
    models = (plain, replace(mitigation.model, name=AFTER))
    rankers = {one.name: partial(observe_scores, one, materials, workers, progress) for one in models}
    found = run_ranking(rankers, RankOptions(alpha=alpha))
    for failure in found.failures:
        raise EncoderError(failure["reason"])
    rows = {(one.model, one.x, one.y): one for one in found.overall if one.y != REST}
    return [
        {
            "x": one.x,
            "y": one.y,
            **{
                model: {name: getattr(rows[model, one.x, one.y], name) for name in OF_COMPARISON}
                for model in (BEFORE, AFTER)
            },
            "change": one.change,
            "low": one.low,
            "high": one.high,
            "p": one.p,
            "p_adjusted": one.p_adjusted,
        }
        for one in found.compare(alpha=alpha).overall
    ]


def retrieval_before_after(
    mitigation: Mitigation, chosen: RelevanceSet, workers: Backend, progress: Progress
) -> BeforeAfter:
    """Return nDCG without and with the transforms; queries and passages have the prompts of the model.

    Raises:
        EncoderError: if the model has no vector for a text.
    """
    plain: list[Matrix] = []
    changed: list[Matrix] = []
    for kind, texts in (("query", chosen.queries), ("passage", chosen.passages)):
        asked = [Input(text, kind=kind) for text in texts]  # type: ignore[arg-type]
        observed = observe(mitigation.model.encoder, asked, "vectors", workers, progress)
        place = {one: row for row, one in enumerate(observed.inputs)}
        for text, one in zip(texts, asked, strict=True):
            if not observed.known(place[one]):
                raise EncoderError(f"{mitigation.name}: there is no vector for the text '{shown(text)}'")
        vectors = observed.matrix[[place[one] for one in asked]].astype(np.float64, copy=False)
        plain.append(vectors)
        changed.append(mitigation.apply(vectors, texts))
    return retrieval_cost(chosen, (plain[0], plain[1]), (changed[0], changed[1]))


def materials_for(groups: Any, queries: Any, passages: Any) -> Materials | None:
    """Return the checked texts and names of a ranking audit; None if none is requested."""
    if groups is None or groups == "":
        if queries is not None or passages is not None:
            raise WeatherglassError("queries and passages need groups of names; name some with --rank")
        return None
    return read_materials(queries, passages, groups)
