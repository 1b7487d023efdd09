"""Measure what ranking audits cost: time and memory by the size of a background, and the share beside encoding."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks._rows import exponent

BACKGROUNDS = (10_000, 100_000, 1_000_000)
EXPONENT, MEMORY, BESIDE = 1.1, 64.0, 0.10
"""Goals: the largest exponent of time, the largest growth of memory from the second to the last size in MB, and the
largest share of time beside encoding."""
NAMES, QUERIES, PASSAGES = 64, 100, 100
VOCABULARY = 50_000
WORDS = (
    "the",
    "a",
    "of",
    "in",
    "city",
    "river",
    "report",
    "budget",
    "season",
    "museum",
    "engine",
    "garden",
    "teacher",
)


def write_background(path: Path, passages: int) -> None:
    """Write passages of 21 words each, with a vocabulary of at most `VOCABULARY` words."""
    import random

    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(passages):
            file.write(f"w{number % VOCABULARY} {' '.join(draw.choices(WORDS, k=20))}\n")


def audit_in_process(background: str) -> None:
    """Audit the embedded model with a background; print the CPU time in seconds and the peak of memory in MB."""
    import resource

    import weatherglass as wg

    wg.rank(background=background or None)
    spent = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([spent.ru_utime + spent.ru_stime, spent.ru_maxrss / 1024]))


def _measured(background: str) -> tuple[float, float]:
    program = f"from benchmarks.ranking_cost import audit_in_process; audit_in_process({background!r})"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory


def growth(largest: int) -> tuple[list[str], list[str]]:
    """Return the lines of a table of time and memory by the number of passages, and the goals that are missed."""
    sizes = [size for size in BACKGROUNDS if size <= largest]
    lines = ["| background passages | CPU seconds | peak memory, MB |", "|---|---|---|"]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "background.txt"
        alone = _measured("")
        lines.append(f"| 0 | {alone[0]:.1f} | {alone[1]:.0f} |")
        for size in sizes:
            write_background(path, size)
            found.append(_measured(str(path)))
            lines.append(f"| {size:,} | {found[-1][0]:.1f} | {found[-1][1]:.0f} |".replace(",", " "))
    grows = exponent(sizes, [seconds - alone[0] for seconds, _ in found])
    more = found[-1][1] - found[-2][1]
    lines += [
        "",
        f"Time for the background grows with exponent {grows:.2f}; memory from the last size but one "
        f"to the last, by {more:.0f} MB.",
    ]
    missed = [f"growth: exponent {grows:.2f} above {EXPONENT}"] if grows > EXPONENT else []
    missed += [f"growth: {more:.0f} MB above {MEMORY:.0f}"] if more > MEMORY else []
    return lines, missed


@contextmanager
def _timed(kind: type[Any]) -> Iterator[list[float]]:
    """Yield a list with the CPU seconds spent in a class's `encode`, not counting calls from within it."""
    spent, depth, original = [0.0], [0], kind.encode

    def encode(self: Any, *given: Any, **named: Any) -> Any:
        depth[0] += 1
        start = process_time()
        try:
            return original(self, *given, **named)
        finally:
            depth[0] -= 1
            if not depth[0]:
                spent[0] += process_time() - start

    kind.encode = encode
    try:
        yield spent
    finally:
        kind.encode = original


def beside_encoding(spec: str) -> tuple[list[str], list[str]]:
    """Return a line on what an audit costs beside encoding, and the goal if it is missed.

    Args:
        spec: the model, such as st:all-MiniLM-L6-v2.
    """
    import weatherglass as wg
    from weatherglass.encoders.cache import CachedEncoder
    from weatherglass.ranking.texts import groups_of, own_texts

    queries = [f"{text.text} {number}" for number in range(3) for text in own_texts("queries")][:QUERIES]
    passages = [f"{text.text} {number}" for number in range(3) for text in own_texts("passages")][:PASSAGES]
    groups = {group.name: list(group.names[: NAMES // 2]) for group in groups_of("race")}
    encoder: Any = wg.load_encoder(spec)
    while isinstance(encoder, CachedEncoder):
        encoder = encoder.inner
    with tempfile.TemporaryDirectory() as folder, _timed(type(encoder)) as spent:
        start = process_time()
        found = wg.rank(spec, queries, passages, groups, folder=folder)
        whole = process_time() - start
    share = (whole - spent[0]) / whole
    one = found.overall[0]
    lines = [
        f"{one.names_x + one.names_y} names × {one.queries} queries × {one.contexts // one.queries} passages on "
        f"{found.comparisons[0].model}: {whole:.1f} s CPU, of which {spent[0]:.1f} s encode; beside encoding "
        f"{100 * share:.1f} %."
    ]
    return lines, [f"cost beside encoding: {share:.3f} above {BESIDE}"] if share > BESIDE else []


def report(largest: int, models: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines of all measurements, and the goals that are missed."""
    lines, missed = growth(largest)
    for spec in models:
        more, too = beside_encoding(spec)
        lines += ["", *more]
        missed += too
    return lines, missed
