"""Measure how reliable bias scores are over corpora, algorithms and seeds (Du et al. 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.reliability.corpus.readers import READERS as READERS
    from weatherglass.reliability.corpus.readers import Reader as Reader
    from weatherglass.reliability.scoring import RULES as RULES
    from weatherglass.reliability.scoring.scorers import ScoringContext as ScoringContext
    from weatherglass.reliability.scoring.scorers import ScoringRule as ScoringRule
    from weatherglass.reliability.study_file import Study as Study
    from weatherglass.reliability.study_file import read_study as read_study

_PLACES = {
    "read_study": "study_file",
    "Study": "study_file",
    "ScoringRule": "scoring.scorers",
    "ScoringContext": "scoring.scorers",
    "RULES": "scoring",
    "Reader": "corpus.readers",
    "READERS": "corpus.readers",
}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
