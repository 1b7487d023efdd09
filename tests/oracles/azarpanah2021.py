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


TABLE_4 = """
model test similarity mean median min max eq2
glove weat1 cosine - 1.34*** 1.35*** - 0.27
glove weat1 euclidean 1.52**** - - 1.23**** 0.03
glove weat1 manhattan 1.50**** - 1.32**** 0.90** 0.15
glove weat1 mahalanobis 1.53**** - 1.19**** 1.61*** 0.00
glove weat2 cosine 1.53*** 1.37*** 0.83* - 0.08
glove weat2 euclidean 1.53**** - - 0.03 -
glove weat2 manhattan 1.51*** - 1.44*** 0.27 0.24
glove weat2 mahalanobis 1.61*** - 1.49**** 0.98*** 0.28
glove weat3 cosine - 1.13*** 1.53**** - 0.60*
glove weat3 euclidean 1.37**** - - 0.09 -
glove weat3 manhattan 0.82** - 1.24**** 0.69* 0.21
glove weat3 mahalanobis 0.57 - 0.37 0.89** 0.13
glove weat4 cosine - - 1.55**** - 0.17
glove weat4 euclidean - - - 0.32 0.06
glove weat4 manhattan 0.93* - 1.14*** 0.80* 0.05
glove weat4 mahalanobis 0.30 - 0.04 0.67 0.31
word2vec weat1 cosine - - 0.55 - 0.16
word2vec weat1 euclidean 1.50**** - - 0.95** 0.31
word2vec weat1 manhattan 1.49**** - 1.38**** 0.75* 0.26
word2vec weat1 mahalanobis 0.84* - 0.79* 0.34 0.13
word2vec weat3 cosine - - 0.10 - 0.38
word2vec weat3 euclidean 0.78** - - 0.62* 0.19
word2vec weat3 manhattan 0.82** - 0.68* 0.63* 0.17
word2vec weat3 mahalanobis 0.24 - 0.98*** 0.68* 0.19
word2vec weat6 cosine - - 1.76*** - 0.91
word2vec weat6 euclidean 1.88*** - - 1.70**** 0.85
word2vec weat6 manhattan 1.89**** - 1.39* 1.76**** 0.39
word2vec weat6 mahalanobis 1.21* - 1.49** 0.29 0.01
word2vec weat7 cosine 0.97 - 0.52 - 0.67
word2vec weat7 euclidean 0.92 - - 1.27* 0.70
word2vec weat7 manhattan 1.06 - 1.04 1.27* 1.29*
word2vec weat7 mahalanobis 0.97 - 0.55 1.35* 0.08
"""
"""|d| with a star for each of p ≤ 0.01, 0.001, 0.0001 and 0.00001; - where the text of the paper is not legible."""

RANGE = (0.00, 1.89)
"""Of all |d|."""


def table_4() -> dict[tuple[str, str, str], tuple[float, int]]:
    """By model, test and measure: |d| and how many stars it has."""
    header, *rows = (line.split() for line in TABLE_4.strip().splitlines())
    return {
        (model, test, f"{similarity}/{statistic}"): (float(cell.rstrip("*")), cell.count("*"))
        for model, test, similarity, *cells in rows
        for statistic, cell in zip(header[3:], cells, strict=True)
        if cell != "-"
    }
