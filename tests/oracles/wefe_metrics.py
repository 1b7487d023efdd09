"""What WEFE's `run_queries` gives and costs; run by an interpreter that has WEFE, which cannot be installed beside us.

    python -m venv wefe-venv && wefe-venv/bin/pip install wefe==1.0.1
    wefe-venv/bin/python tests/oracles/wefe_metrics.py < request.json

A request names a file of vectors (.npz: words, vectors), queries by name, and jobs: a metric with its parameters and
the queries it is asked. The answer is JSON, too: for each job the values and the CPU seconds, user and system.
`python -m benchmarks.metrics` and docs/metrics/write.py send such requests, `answers` does it for them. Vectors stay in
float64, so that WEFE rounds no more than we do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class Query:
    """Sets of words, as many as the metric takes."""

    name: str
    targets: Sequence[Sequence[str]]
    attributes: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Job:
    """One call of `run_queries`."""

    metric: str
    """As WEFE's class is called."""
    queries: Sequence[Query]
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a job."""

    values: Sequence[float]
    """By query, in their order."""
    cpu: float


def answers(python: str, vectors: Mapping[str, Any], jobs: Sequence[Job]) -> list[Answer]:
    """What WEFE, in a process of its own on one thread, says to each job."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vectors.npz"
        np.savez(file, words=np.array(list(vectors)), vectors=np.array(list(vectors.values()), np.float64))
        request = json.dumps({"vectors": str(file), "jobs": [asdict(job) for job in jobs]})
        done = subprocess.run(
            [python, __file__],
            input=request,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": ""},
        )
    return [Answer(**answer) for answer in json.loads(done.stdout.splitlines()[-1])]


def main() -> None:
    """Answer the request on standard input."""
    import wefe.metrics  # type: ignore[import-not-found, unused-ignore]
    from gensim.models import KeyedVectors
    from wefe.query import Query as WefeQuery  # type: ignore[import-not-found, unused-ignore]
    from wefe.utils import run_queries  # type: ignore[import-not-found, unused-ignore]
    from wefe.word_embedding_model import (  # type: ignore[import-not-found, unused-ignore]
        WordEmbeddingModel,
    )

    request = json.load(sys.stdin)
    stored = np.load(request["vectors"])
    keyed = KeyedVectors(stored["vectors"].shape[1], dtype=np.float64)
    keyed.add_vectors(stored["words"].tolist(), stored["vectors"])
    model = WordEmbeddingModel(keyed, "model")
    found = []
    for job in request["jobs"]:
        queries = [
            WefeQuery(
                query["targets"],
                query["attributes"],
                [f"{query['name']} target {n}" for n, _ in enumerate(query["targets"])],
                [f"{query['name']} attribute {n}" for n, _ in enumerate(query["attributes"])],
            )
            for query in job["queries"]
        ]
        started = time.process_time()
        table = run_queries(
            getattr(wefe.metrics, job["metric"]), queries, [model], metric_params=job["params"]
        )
        cpu = time.process_time() - started
        values = [float(table.loc["model", query.query_name]) for query in queries]
        found.append({"values": values, "cpu": cpu})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
