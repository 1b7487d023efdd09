"""What May et al. 2019 (On Measuring Social Biases in Sentence Encoders, NAACL) printed, typed from the paper."""

from __future__ import annotations

TABLE_4 = """
test                                           cbow infersent gensen    use   elmo    gpt   bert
weat1                                        1.50**    1.56** 1.24** 1.38**  -0.03   0.20   0.22
sent-weat1                                   1.56**    1.65** 1.22** 1.38** 0.42** 0.81** 0.62**
weat3                                        1.41**    1.33** 1.32**   0.52  -0.40  0.60*  -0.11
sent-weat3                                   0.52**    1.07** 0.97**  0.32*  -0.38   0.19   0.05
weat6                                         1.81*     1.78*  1.84*   0.02  -0.45   0.22   0.21
sent-weat6                                   1.74**    1.69** 1.63** 0.83**  -0.38   0.35   0.08
angry_black_woman_stereotype                  1.10*     1.18* 1.57**  -0.39   0.53   0.08  -0.32
sent-angry_black_woman_stereotype            0.62**    0.98** 1.05**  -0.19  0.52*  -0.07  -0.17
heilman_double_bind_competent_one_word        1.62*      1.09  1.49*  1.51*  -0.35  -0.28  -0.81
sent-heilman_double_bind_competent_one_word  0.79**     0.57* 0.83**   0.25  -0.15   0.10   0.39
heilman_double_bind_competent_one_sentence     0.84     1.42*   1.03   0.71   0.20   0.71  1.17*
heilman_double_bind_likable_one_word          1.29*      0.65  1.31*   0.16  -0.60   0.91  -0.55
sent-heilman_double_bind_likable_one_word     0.69*      0.37   0.25   0.32  -0.45  -0.20  -0.35
heilman_double_bind_likable_one_sentence       0.51     1.33*   0.05   0.48  -0.90  -0.87   0.99
"""
"""Effect sizes; * for p ≤ 0.01, ** where it is significant after Holm–Bonferroni correction, too."""

P_VALUES = {
    "cbow": {"weat7": 0.016, "weat8": 1e-2, "sent-weat7": 1e-5, "sent-weat8": 1e-5}
    | {"weat3": 1e-5, "weat4": 1e-5, "weat5": 1e-4}
    | {"sent-weat3": 1e-5, "sent-weat4": 1e-5, "sent-weat5": 1e-2},
    "bert": {"sent-weat7": 1e-5, "sent-weat8": 0.14},
    "gensen": {"sent-weat7": 0.12, "sent-weat8": 1e-3},
    "gpt": {"sent-weat7": 0.89, "sent-weat8": 1e-4},
    "elmo": {"weat3": 0.95, "weat4": 0.45, "weat5": 0.08}
    | {"sent-weat3": 1, "sent-weat4": 0.97, "sent-weat5": 1e-4},
}
"""By model and test: those given in the text."""


def table_4() -> dict[tuple[str, str], tuple[float, str]]:
    """By test and model: d and its mark."""
    header, *rows = (line.split() for line in TABLE_4.strip().splitlines())
    return {
        (test, model): (float(cell.rstrip("*")), "*" * cell.count("*"))
        for test, *cells in rows
        for model, cell in zip(header[1:], cells, strict=True)
    }


NAMES_AND_TERMS = (
    ("weat3", "weat3b"),
    ("weat5", "weat5b"),
    ("weat6", "weat6b"),
    ("weat7b", "weat7"),
    ("weat8b", "weat8"),
    ("angry_black_woman_stereotype", "angry_black_woman_stereotype_b"),
)
"""By given names and by group terms: the supplement, B.1 and B.2; Caliskan's tests 7 and 8 have terms themselves."""

_WORDS = (
    *(f"weat{n}" for n in ("1", "2", "3", "3b", "4", "5", "5b", "6", "6b", "7", "7b", "8", "8b", "9", "10")),
    "angry_black_woman_stereotype",
    "angry_black_woman_stereotype_b",
    "heilman_double_bind_competent_one_word",
    "heilman_double_bind_likable_one_word",
)
ALL_TESTS = (
    *_WORDS,
    *(f"sent-{test}" for test in _WORDS),
    *(f"heilman_double_bind_competent_{form}" for form in ("one_sentence", "1", "1+3-", "1-")),
    *(f"heilman_double_bind_likable_{form}" for form in ("one_sentence", "1", "1+3-", "1-")),
)
"""The rows of Figure 1."""

STATEMENTS = {
    1: (19, 23, 42, "correction 8 and 19"),
    3: ("33 of 42",),
    5: ("33 of 56", "correction 25", "12 of 42", "correction 2"),
    7: ("use 1", "elmo 0", "gpt 0", "bert 1"),
    8: ("20 of 24", "7 of 18"),
    9: ("6 of 42", "39 of 56"),
}
"""By place in the list of statements: what counting the stars of Table 4 gives.

Words and sentences: of the six tests in both forms × seven models, 19 and 23 have a star, 8 and 19 have two.
"""
