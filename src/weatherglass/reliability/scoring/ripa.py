"""RIPA, the relational inner product association: w·(m − f) / ‖m − f‖, with and without normalising w."""

from __future__ import annotations

from weatherglass.reliability.scoring.base import Rule, ScoringContext
from weatherglass.reliability.scoring.projections import Scores


def ripa(context: ScoringContext) -> Scores:
    """target × pair, w normalised, as Du et al. (2021) do."""
    return context.projections.ripa[context.targets]


def ripa_raw(context: ScoringContext) -> Scores:
    """target × pair, w as it is (Ethayarajh et al. 2019)."""
    return context.projections.ripa_raw[context.targets]


RULE = Rule("ripa", "RIPA", 1, ripa)
RAW = Rule("ripa-raw", "raw RIPA", 1, ripa_raw, variant_of="ripa")
