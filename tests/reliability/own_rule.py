"""A scoring rule as a package beside ours would bring it: one file."""

from __future__ import annotations

import numpy as np

from weatherglass.reliability.scoring.scorers import Scores, ScoringContext, ScoringRule


def nearer_end(context: ScoringContext) -> Scores:
    """1 if the word is nearer to the pair's first word, −1 if to its second, by Euclidean distance."""
    words = context.vectors[context.targets]
    to_first, to_second = (
        np.linalg.norm(words[:, None] - context.vectors[ends][None], axis=2)
        for ends in (context.first, context.second)
    )
    sides: Scores = np.sign(to_second - to_first).astype(np.float32)
    return sides


RULE = ScoringRule("nearer-end", "nearer end", 3, nearer_end)
