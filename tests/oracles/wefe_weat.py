"""What the wefe package itself reports; run where it is installed (its pins conflict with ours), from the checkout:

python -m venv wefe-venv && wefe-venv/bin/pip install wefe==1.0.1
PYTHONPATH=src wefe-venv/bin/python tests/oracles/wefe_weat.py > tests/oracles/wefe_weat.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from wefe.metrics import WEAT  # type: ignore[import-not-found, unused-ignore]
from wefe.query import Query  # type: ignore[import-not-found, unused-ignore]
from wefe.utils import load_test_model  # type: ignore[import-not-found, unused-ignore]
from wefe.word_embedding_model import WordEmbeddingModel  # type: ignore[import-not-found, unused-ignore]

from weatherglass.catalogue import load_test

SIZES = (6, 5, 4, 7)
WIDTH = 10
DRAWS = 2000
"""Fewer than its default of 10 000, since each takes it 10 ms."""


def made_vectors() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Rounded normal vectors; those of X lean to A a little. The first sets of SIZES are X, Y, A and B."""
    rng = np.random.default_rng(20)
    vectors = rng.normal(size=(sum(SIZES), WIDTH))
    vectors[: SIZES[0], 0] += 0.5
    vectors[sum(SIZES[:2]) : sum(SIZES[:3]), 0] += 1.0
    return vectors.round(3)


def main() -> None:
    """Print the oracle as JSON."""
    vectors = made_vectors()
    keyed = KeyedVectors(WIDTH)
    keyed.add_vectors([f"w{i}" for i in range(len(vectors))], vectors)
    ends = np.cumsum(SIZES)
    sets = [[f"w{i}" for i in range(end - size, end)] for size, end in zip(SIZES, ends, strict=True)]
    query = Query(sets[:2], sets[2:])
    made = WordEmbeddingModel(keyed, "made")
    tails = {"right-sided": "greater", "left-sided": "less", "two-sided": "two-sided"}
    p_values = {
        ours: WEAT().run_query(
            query, made, calculate_p_value=True, p_value_test_type=theirs, p_value_iterations=DRAWS
        )["p_value"]
        for theirs, ours in tails.items()
    }
    swapped = WEAT().run_query(
        Query(sets[1::-1], sets[2:]),
        made,
        calculate_p_value=True,
        p_value_test_type="two-sided",
        p_value_iterations=DRAWS,
    )
    result = WEAT().run_query(query, made)
    news = load_test_model()
    effects = {}
    for name in ("weat1", "weat6", "weat7", "weat8"):
        x, y, a, b = ([element.text for element in s.elements] for s in load_test(name).sets)
        effects[name] = WEAT().run_query(Query([x, y], [a, b]), news)["effect_size"]
    oracle = {
        "source": "wefe 1.0.1, WEAT.run_query; tests/oracles/wefe_weat.py",
        "vectors": vectors.tolist(),
        "sizes": SIZES,
        "effect_size": result["effect_size"],
        "statistic": result["weat"],
        "draws": DRAWS,
        "p_values": p_values,
        "p_two_sided_swapped": swapped["p_value"],
        "google_news_effect_sizes": effects,
    }
    json.dump(oracle, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
