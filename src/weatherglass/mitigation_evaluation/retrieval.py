"""Measure what a transform costs in retrieval, with nDCG on queries and passages whose relevance the user knows."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector, unit_length
from weatherglass.errors import CatalogueError
from weatherglass.mitigation_evaluation.recovery import BeforeAfter, mean
from weatherglass.registry import shown

CUTOFF = 10
"""The number of places that count, as in nDCG@10."""
DECIMALS = 12
"""The number of decimals to which similarities are rounded, so that equal vectors tie."""


@dataclass(frozen=True, slots=True)
class RelevanceSet:
    """Queries and passages, with the relevance of some pairs."""

    name: str
    queries: tuple[str, ...]
    passages: tuple[str, ...]
    gains: tuple[dict[int, float], ...]
    """For each query, the relevance of passages by number; all other passages have relevance 0."""


def read_relevance(path: Path) -> RelevanceSet:
    """Read a table with the columns query, passage and, optionally, relevance, which is 1 if it is missing.

    Every query is ranked against all passages of the table. Queries without a relevant passage are only used for their
    passages.

    Raises:
        CatalogueError: if the table has another form, a relevance is not a number of at least 0, a pair occurs twice,
            or fewer than two queries have a relevant passage.
    """
    from weatherglass.storage.tables import read_rows

    found: dict[str, dict[str, float]] = {}
    for row in read_rows(path, ["query", "passage"], ["relevance"], error=CatalogueError):
        given = row["relevance"]
        try:
            relevance = float(given) if given else 1.0
        except ValueError:
            relevance = float("nan")
        if not (isfinite(relevance) and relevance >= 0):
            raise CatalogueError(
                f"{row.place}: the relevance is '{shown(given)}', but should be a number of at least 0"
            )
        of_query = found.setdefault(row["query"], {})
        if row["passage"] in of_query:
            raise CatalogueError(
                f"{row.place}: this query and passage are already in the table; keep one row"
            )
        of_query[row["passage"]] = relevance
    number = {
        passage: place
        for place, passage in enumerate(dict.fromkeys(p for of_query in found.values() for p in of_query))
    }
    asked = {query: of_query for query, of_query in found.items() if any(of_query.values())}
    if len(asked) < 2:
        raise CatalogueError(
            f"{path}: {len(asked)} of the queries have a relevant passage, but at least 2 are needed"
        )
    gains = tuple({number[p]: gain for p, gain in of_query.items()} for of_query in asked.values())
    return RelevanceSet(path.stem, tuple(asked), tuple(number), gains)


def ndcg(scores: Vector, gains: Vector, cutoff: int = CUTOFF) -> float:
    """Return nDCG of one query, with linear gains; passages with equal scores share the gain of their places.

    >>> round(ndcg(np.array([3.0, 2.0, 1.0]), np.array([0.0, 1.0, 0.0])), 4)
    0.6309
    """
    discounts = np.where(np.arange(len(scores)) < cutoff, 1 / np.log2(2 + np.arange(len(scores))), 0.0)
    order = np.argsort(-scores, kind="stable")
    tied: Integers = np.unique(-scores[order], return_inverse=True)[1]
    shared = (np.bincount(tied, discounts) / np.bincount(tied))[tied]
    best = float(np.sort(gains)[::-1] @ discounts)
    return float(gains[order] @ shared) / best if best else 0.0


def retrieval_cost(
    chosen: RelevanceSet, before: tuple[Matrix, Matrix], after: tuple[Matrix, Matrix]
) -> BeforeAfter:
    """Return mean nDCG@10 without and with a transform, and its change, with queries as units.

    Args:
        chosen: the queries, passages and their relevance.
        before: the vectors of queries and of passages.
        after: the same after the transform.
    """
    gains = np.zeros((len(chosen.queries), len(chosen.passages)))
    for row, of_query in zip(gains, chosen.gains, strict=True):
        row[list(of_query)] = list(of_query.values())
    found = [
        np.array(
            [
                ndcg(scores, own)
                for scores, own in zip(
                    np.round(unit_length(queries) @ unit_length(passages).T, DECIMALS), gains, strict=True
                )
            ]
        )
        for queries, passages in (before, after)
    ]
    return BeforeAfter(
        f"nDCG@{CUTOFF}: {chosen.name}",
        mean(found[0]),
        mean(found[1]),
        n=len(gains),
        change=mean(found[1] - found[0]),
    )
