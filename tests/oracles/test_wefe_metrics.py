"""Metrics against what WEFE 1.0.1 printed (tests/oracles/wefe_metrics.py): drawn vectors, lists of the catalogue.

`python -m docs.metrics.write` compares them on GloVe, and says in docs/metrics.md where WEFE's definition is another.
"""

from __future__ import annotations

import numpy as np
import pytest

import weatherglass as wg
from weatherglass.catalogue import load_test
from weatherglass.metrics import select_metrics

# WEFE 1.0.1 with numpy 1.26.4, scipy 1.12.0, scikit-learn 1.9.1: run_queries, vectors in float64. WEAT with
# return_effect_size=True; rnd(normalise=yes) with normalize=True; RNSB with holdout=False and the solver
# newton-cholesky, tol=1e-12, which leaves the intercept without penalty.
WEFE = [
    ("weat7", "weat(cosine/mean, profile=wefe)", 0.004376216577840487),
    ("weat7", "rnd", 0.014077967228385363),
    ("weat7", "rnd(normalise=yes)", -0.007247631119357681),
    ("weat7", "rnsb", 0.09526338363878956),
    ("weat7", "mac", 0.9970824828327053),
    ("weat7", "ect", 0.2142857142857143),
    ("weat7", "ripa", -0.027155450918608773),
    ("weat9", "weat(cosine/mean, profile=wefe)", -0.215814428918994),
    ("weat9", "rnd", 0.15058926152098043),
    ("weat9", "rnd(normalise=yes)", 0.09236863345525535),
    ("weat9", "rnsb", 0.07465634261127982),
    ("weat9", "mac", 1.019925652594736),
    ("weat9", "ect", 0.8571428571428573),
    ("weat9", "ripa", -0.07344076543051672),
]


@pytest.mark.parametrize(("name", "metric", "theirs"), WEFE)
def test_a_value_is_that_of_wefe(name: str, metric: str, theirs: float) -> None:
    test = load_test(name)
    drawn = np.random.default_rng(18).uniform(-1, 1, (len(test.texts), 8)).round(3)
    vectors = dict(zip(test.texts, drawn, strict=True))
    sets = [[vectors[text] for text in element_set.texts] for element_set in test.sets]
    takes_one = select_metrics([metric])[0].info.shape.attributes.most == 1
    found = wg.measure(metric, sets[:2], sets[2:3] if takes_one else sets[2:], trust="none")
    assert found.value == pytest.approx(theirs, abs=1e-9)
