"""Why a number is left out, in the words that a reader of a result sees."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why an interval or an effect size is not estimable."""

    TOO_FEW_WORDS = "not estimable: a target set has fewer than 2 words"
    NO_SPREAD = "not estimable: the scores do not vary within X and Y"
    ONE_WORD_SPREAD = "not estimable: without one of the words the scores do not vary within X and Y"
    TOO_FEW_ATTRIBUTES = "not estimable: an attribute set has fewer than 3 words"
    NOISE = "not estimable: the attributes disagree about these words (score reliability below 0.1)"
