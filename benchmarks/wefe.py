"""Time WEFE in its own interpreter, `--wefe-python PATH`; without one its rows say "not run"."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks._rows import Options, Row, cpu, from_python

SIZES = (25, 25, 25, 25)
WIDTH = 300
ITERATIONS = 200
"""WEFE's draws; its default is 10 000, for which it takes a quarter of an hour of CPU, in proportion."""

PROGRAM = f"""
import json, time
import numpy as np
from gensim.models import KeyedVectors
from wefe.metrics import WEAT
from wefe.query import Query
from wefe.word_embedding_model import WordEmbeddingModel
vectors = np.random.default_rng(0).normal(size=(sum({SIZES}), {WIDTH})).astype(np.float32)
words = [f"w{{i}}" for i in range(len(vectors))]
keyed = KeyedVectors({WIDTH}); keyed.add_vectors(words, vectors)
ends = np.cumsum((0, *{SIZES}))
x, y, a, b = (words[start:end] for start, end in zip(ends, ends[1:]))
start = time.process_time()
found = WEAT().run_query(Query([x, y], [a, b]), WordEmbeddingModel(keyed), calculate_p_value=True,
                         p_value_iterations={ITERATIONS})
print(json.dumps([time.process_time() - start, float(found["effect_size"])]))
"""


def rows(options: Options) -> Iterator[Row]:
    """Yield WEAT with p of 25 + 25 words: some of WEFE's draws with replacement against our exact p."""
    name = "WEAT with p, 25 + 25, against WEFE"
    if options.wefe_python is None:
        yield Row(name, None, "WEFE", note="not run: no --wefe-python")
        return
    from weatherglass.audit.evaluate import associate

    vectors = np.random.default_rng(0).normal(size=(sum(SIZES), WIDTH)).astype(np.float32)
    x, y, a, b = np.split(vectors, np.cumsum(SIZES)[:-1])
    associate(x, y, a, b, trust="none")
    ours = cpu(lambda: associate(x, y, a, b, trust="none"))
    d = associate(x, y, a, b, trust="none", ddof=0).effect_size
    answer = from_python(options.wefe_python, PROGRAM)
    assert isinstance(answer, list)
    yield Row(name, ours, f"WEFE, {ITERATIONS} draws", answer[0], d is not None and abs(answer[1] - d) < 1e-4)
