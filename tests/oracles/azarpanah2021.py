"""What Azarpanah & Farhadloo 2021 (Measuring Biases of Word Embeddings, TrustNLP) printed, typed from the paper."""

from __future__ import annotations

from collections.abc import Mapping

Row = tuple[int, float, float]

TABLE_3: Mapping[str, Mapping[str, Row]] = {
    "cosine/mean": {
        "GloVe": (9, 1.39, 0.21),
        "Word2Vec": (7, 1.13, 0.54),
        "ELMo": (3, 0.64, 0.51),
        "BERT": (5, 0.74, 0.50),
        "GPT": (2, 0.61, 0.48),
        "GPT2": (3, 0.73, 0.46),
    },
    "euclidean/mean": {
        "GloVe": (9, 1.41, 0.20),
        "Word2Vec": (7, 1.13, 0.55),
        "ELMo": (3, 0.65, 0.52),
        "BERT": (5, 0.74, 0.48),
        "GPT": (3, 0.65, 0.42),
        "GPT2": (4, 0.71, 0.46),
    },
    "mahalanobis/mean": {
        "GloVe": (3, 0.79, 0.53),
        "Word2Vec": (5, 0.84, 0.52),
        "ELMo": (3, 0.61, 0.42),
        "BERT": (2, 0.47, 0.50),
        "GPT": (4, 0.59, 0.35),
        "GPT2": (3, 0.69, 0.49),
    },
    "mahalanobis/eq2": {
        "GloVe": (0, 0.34, 0.27),
        "Word2Vec": (0, 0.32, 0.33),
        "ELMo": (0, 0.36, 0.23),
        "BERT": (2, 0.55, 0.52),
        "GPT": (0, 0.29, 0.27),
        "GPT2": (3, 0.66, 0.49),
    },
}
"""By measure and model: how many of ten tests are significant at 0.01, mean and standard deviation of |d|."""

AGGREGATES = {
    ("statistic", "mean"): (0.80, 0.52),
    ("statistic", "median"): (0.74, 0.48),
    ("statistic", "min"): (0.68, 0.48),
    ("statistic", "max"): (0.65, 0.48),
    ("statistic", "eq2"): (0.39, 0.30),
    ("similarity", "cosine"): (0.72, 0.49),
    ("similarity", "euclidean"): (0.67, 0.50),
    ("similarity", "manhattan"): (0.63, 0.48),
    ("similarity", "mahalanobis"): (0.58, 0.45),
    ("all", "all"): (0.65, 0.50),
}
"""Mean and standard deviation of |d| over all models and tests, by half of the measure."""


def table_3() -> dict[tuple[str, str], Row]:
    """By model, in lower case, and measure."""
    return {(model.lower(), measure): row for measure, rows in TABLE_3.items() for model, row in rows.items()}
