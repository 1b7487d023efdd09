"""What Du et al. 2021 (Assessing the Reliability of Word Embedding Gender Bias Measures) and its reproduction printed.

Tables are typed from the papers. The word lists (github nlpsoc/reliability_bias, data/word_lists) are held by their
number and checksum; `make test-shared` computes them again from the files.
"""

from __future__ import annotations

PEARSON = {
    # base pairs, algorithm: ripa-nbm, dbwa-ripa, dbwa-nbm
    ("gender", "glove"): (0.816, 0.989, 0.810),
    ("gender", "sgns"): (0.689, 0.781, 0.844),
    ("sexual_orientation", "glove"): (0.763, 0.986, 0.748),
    ("sexual_orientation", "sgns"): (0.723, 0.884, 0.654),
}
"""The reproduction's Tables 2, 4 and 5: Pearson's r between scoring rules."""

PEARSON_ORIGINAL = {("gender", "glove"): (0.836, 0.923, 0.897)}
"""Du et al.'s own, where they print them."""

RULES = ("ripa-nbm", "dbwa-ripa", "dbwa-nbm")
"""The columns of both."""

TABLE_3 = """
feature              test-retest  inter-rater
rule:ripa                -0.0109            –
rule:nbm                  0.0052            –
log freq                  0.0202       0.0072
log freq squared         -0.0158       0.0064
log senses                0.0008      -0.0005
pos:adp                   0.0026      -0.0146
pos:adv                   0.0048       0.0047
pos:conj                 -0.0591      -0.0113
pos:det                   0.0048       0.0012
pos:noun                 -0.0021       0.0071
pos:num                   0.0077       0.0038
pos:pron                 -0.0008       0.0315
pos:prt                   0.0096      -0.0063
pos:verb                 -0.0023       0.0022
pos:x                    -0.0036      -0.0100
nn similarity            -0.0111      -0.0073
l2 norm                  -0.0291      -0.0173
embedding stability       0.1315       0.0810
"""
"""The reproduction's regression estimates for gender; rule:dbwa and pos:adj are the references."""

R2 = {
    "test-retest": {"marginal": 0.326, "conditional": 0.518, "corpus": 0.011, "algorithm": 0.180},
    "inter-rater": {"marginal": 0.058, "conditional": 0.516, "corpus": 0.027, "algorithm": 0.431},
}
"""Du et al.'s own regressions: variance explained, and the shares of the random factors."""

WORD_LISTS = {
    # The union of Garg et al.'s 20 pairs and Bolukbasi et al.'s 10, male first.
    "gender": (23, "d27f7ca6a4c6289e4eb8149b65bdcaccf50f05b3f3be2a2ad7d89c52e257f7f9"),
    "occupations": (320, "e0c2d57208fe7b1b386e99a1ab2c5495d11753b75841acf1429eea5dde0c654d"),
    "occupations_1950": (76, "1830d03b56f4d87c82e0ac6b70a055b041fa9ba5b827ee42f0f674ecdbb9b59b"),
    "adjectives": (230, "5535c45d70759213d9ccfef08c3bce431f537677ccf0c0ac4afe98f9c43e4317"),
}
"""Number of distinct entries, and `checksum` of the sorted list of them."""


def estimates(reliability: str) -> dict[str, float]:
    """A column of Table 3 by feature."""
    _, *rows = (line.rsplit(maxsplit=2) for line in TABLE_3.strip().splitlines())
    column = 1 if reliability == "test-retest" else 2
    return {row[0].strip(): float(row[column]) for row in rows if row[column] != "–"}
