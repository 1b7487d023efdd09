"""Makes the data that lme4.R and words.R fit: small tables of scores. Run once; the tables are kept.

python tests/oracles/lme4/generate.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TAGS = ("adj", "noun", "verb", "adv", "num")
CORPORA = ("classics", "essays", "forum")
RULES = {"dbwa": 0.0, "ripa": -0.01, "nbm": 0.06}
FEATURES = ["frequency", "senses", "pos", "nn_similarity", "l2_norm", "stability"]


def main() -> None:
    rng = np.random.default_rng(2021)
    words = [f"w{i}" for i in range(45)]
    tags = rng.choice(TAGS, len(words))
    senses = 1 + rng.poisson(3, len(words))
    own = rng.normal(0, 0.05, len(words))
    level = {"sgns": 0.06, "glove": -0.06}
    place = {"classics": -0.05, "essays": 0.01, "forum": 0.04}
    test_retest: list[list[object]] = []
    inter_rater: list[list[object]] = []
    for corpus in CORPORA:
        counts = np.exp(rng.normal(5, 1.5, len(words))).astype(int) + 5
        for algorithm in level:
            norm = 0.6 * np.log(counts) + rng.normal(0, 0.6, len(words))
            near = rng.uniform(0.3, 0.9, len(words))
            stable = np.clip(0.5 + 0.05 * np.log(counts) + rng.normal(0, 0.1, len(words)), 0, 1)
            steady = 0.3 + 0.02 * np.log(counts) - 0.03 * norm + 0.5 * stable + level[algorithm]
            for i, word in enumerate(words):
                known = ["" if i == 7 else senses[i], "" if i in (3, 7) else tags[i]]
                features = [counts[i], *known, f"{near[i]:.5f}", f"{norm[i]:.5f}", f"{stable[i]:.5f}"]
                for rule, shift in RULES.items():
                    score = steady[i] + shift + own[i] + place[corpus] + rng.normal(0, 0.08)
                    test_retest.append([word, corpus, algorithm, rule, f"{score:.5f}", *features])
                # No spread between corpora: the estimate of that variance is zero, on the edge of what it may be.
                score = steady[i] + own[i] + rng.normal(0, 0.1)
                inter_rater.append([word, corpus, algorithm, f"{score:.5f}", *features])
    write(HERE / "test_retest.tsv", ["word", "corpus", "algorithm", "rule", "score", *FEATURES], test_retest)
    write(HERE / "inter_rater.tsv", ["word", "corpus", "algorithm", "score", *FEATURES], inter_rater)
    write(HERE / "words.tsv", ["word", "pair", "seed", "score"], scores_of_words())


def scores_of_words() -> list[list[object]]:
    """9 base pairs × 6 seeds of each word; without a spread of pairs or seeds its estimate may be zero, on the edge."""
    rng = np.random.default_rng(105)
    rows: list[list[object]] = []
    spreads = {"nurse": (0.04, 0.02), "carpenter": (0.05, 0.001), "poet": (0.001, 0.03), "table": (0.0, 0.0)}
    for word, (of_pairs, of_seeds) in spreads.items():
        scores = (
            rng.normal(-0.03, 0.01)
            + rng.normal(0, of_pairs, (9, 1))
            + rng.normal(0, of_seeds, (1, 6))
            + rng.normal(0, 0.02, (9, 6))
        )
        rows += [
            [word, f"p{pair}", f"s{seed}", f"{scores[pair, seed]:.5f}"]
            for pair in range(9)
            for seed in range(6)
        ]
    return rows


def write(path: Path, head: list[str], rows: list[list[object]]) -> None:
    lines = ["\t".join(head), *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
