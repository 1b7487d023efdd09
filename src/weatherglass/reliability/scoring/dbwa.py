"""DB/WA: cos(w, m) − cos(w, f), the word association and direct bias of Du et al. (2021)."""

from __future__ import annotations

from weatherglass.reliability.scoring.base import Rule, ScoringContext
from weatherglass.reliability.scoring.projections import Scores


def dbwa(context: ScoringContext) -> Scores:
    """target × pair."""
    return context.projections.dbwa[context.targets]


RULE = Rule("dbwa", "DB/WA", 1, dbwa)
