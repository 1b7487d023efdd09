"""Would another auditor rank the models alike? Generalisability over specifications, and Kendall's W (docs/methods 11).

A table of models (down) and specifications (across). Its variance has three sources: models, specifications, and both
together (with error). Shavelson & Webb (1991) call the first the universe score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix


@dataclass(frozen=True, slots=True)
class Generalisability:
    """How far one specification, or the mean of all, tells models apart as any other would."""

    relative: float
    """Of one specification: the share of the variance between models that any of them sees; rankings rest on it."""
    absolute: float
    """The same where the size of d counts, too, so that a specification that gives larger d to all models costs."""
    relative_of_mean: float
    """Of the mean over all the specifications at hand."""
    absolute_of_mean: float
    kendall_w: float
    """Agreement of the specifications' rankings of the models: 1 where all are the same, 0 for none."""
    models: int
    specifications: int


def generalisability(d: Matrix) -> Generalisability | None:
    """The coefficients of a table of d, models down and specifications across; None below two of either."""
    models, specifications = d.shape
    if min(models, specifications) < 2:
        return None
    grand = d.mean()
    of_models, of_specifications = d.mean(axis=1), d.mean(axis=0)
    between = specifications * float(((of_models - grand) ** 2).sum()) / (models - 1)
    across = models * float(((of_specifications - grand) ** 2).sum()) / (specifications - 1)
    left = d - of_models[:, np.newaxis] - of_specifications + grand
    both = float((left**2).sum()) / ((models - 1) * (specifications - 1))
    # Negative estimates of a variance are taken as 0.
    model, choice = max(0.0, (between - both) / specifications), max(0.0, (across - both) / models)

    def coefficient(error: float) -> float:
        return model / (model + error) if model + error > 0 else 0.0

    return Generalisability(
        coefficient(both),
        coefficient(both + choice),
        coefficient(both / specifications),
        coefficient((both + choice) / specifications),
        kendall_w(d),
        models,
        specifications,
    )


def kendall_w(d: Matrix) -> float:
    """Kendall's coefficient of concordance, corrected for ties: models are ranked down each column."""
    from scipy.stats import rankdata  # here: it takes 0.5 s to import, and one model is not ranked

    models, judges = d.shape
    ranks = np.apply_along_axis(rankdata, 0, d)
    spread = float(((ranks.sum(axis=1) - judges * (models + 1) / 2) ** 2).sum())
    ties = sum(
        float((counts**3 - counts).sum())
        for counts in (np.unique(column, return_counts=True)[1].astype(np.float64) for column in ranks.T)
    )
    largest = judges**2 * (models**3 - models) - judges * ties
    return 12 * spread / largest if largest > 0 else 0.0
