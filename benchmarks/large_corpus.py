"""Train on a corpus of hundreds of millions of tokens: time, memory and disk of each step.

    python -m benchmarks.large_corpus CORPUS… [--tokens 200] [--dimensions 100] [--folder DIR] [--write docs/scaling.md]

The text is made from the corpora given: passed over again and again, with the second half of each line taken from
another, and with new words in every pass, so that distinct words grow with the tokens by Heaps' law as they do in the
corpora themselves. One of two Dask workers encodes it; then one trains skip-gram (one epoch) and the other GloVe
(co-occurrence, two iterations) at the same time. Times are CPU seconds, so that other work on the machine hardly
matters. What each step cost is in DIR/measured, written by the worker as soon as the step is finished, and such a step
is not measured again; one that was interrupted is repeated from its beginning, never timed on what it left.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import shutil
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from benchmarks.scale import dask

from weatherglass.parallel.base import JobOutcome
from weatherglass.reliability.corpus import (
    Corpus,
    CorpusSettings,
    encode_corpus,
    open_corpus,
    sentences,
)
from weatherglass.reliability.training import glove
from weatherglass.reliability.training.glove import GloveSettings, count_cooccurrence
from weatherglass.reliability.training.train import (
    Algorithm,
    TrainingUnit,
    WordToVecSettings,
    train,
    train_unit,
)
from weatherglass.storage.atomic import remove_unfinished, write_whole

T = TypeVar("T")

MILLION = 10**6
FREQUENT = 5000
"""The most frequent words, which keep their names in every pass."""
PAPER = 300
"""Dimensions of Du et al. 2021."""
EPOCHS, ITERATIONS, SEEDS = 5, 15, 32
STUDY = {"WikiText-103": 103, "a subreddit": 100, "another subreddit": 100}
"""Millions of tokens: 103 by Merity et al. 2016; of the subreddits we assume 100 each."""
ALGORITHMS: tuple[Algorithm, ...] = ("glove", "sgns")
RATIO_LINES = 20_000
RATIO_REPEATS = 3
MEASURED = "measured"
"""The folder of what was measured, a JSON file a step."""
CORPORA = "corpora"
BEGIN, END = "<!-- large corpus -->", "<!-- /large corpus -->"


@dataclass(frozen=True)
class Step:
    """What one step cost."""

    name: str
    cpu: float
    """Seconds."""
    memory: float
    """Most private memory of the process in MB; memory-mapped files, which the system can drop, are not in it."""
    disk: float
    """MB that it leaves behind."""
    note: str


# The text


def write_text(path: Path, sources: Sequence[Path], tokens: int) -> dict[str, Any]:
    """Write a text of `tokens` tokens whose distinct words grow by Heaps' law, and return its facts."""
    once = path.with_suffix(".once")
    counts: Counter[str] = Counter()
    growth: list[tuple[int, int]] = []
    with once.open("w", encoding="utf-8") as file:
        number = 0
        for line in sentences(sources, CorpusSettings()):
            file.write(" ".join(line) + "\n")
            counts.update(line)
            number += len(line)
            if not growth or number >= growth[-1][0] + MILLION:
                growth.append((number, len(counts)))
    exponent = heaps_exponent(growth)
    rare = [word for word, _ in counts.most_common()][FREQUENT:]
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for passed in range(1, math.ceil(tokens / number) + 1):
            grown = len(counts) * (passed**exponent - (passed - 1) ** exponent) if passed > 1 else 0
            drawn = np.random.default_rng(passed).choice(
                len(rare), min(round(grown), len(rare)), replace=False
            )
            renamed = {rare[place]: f"{rare[place]}x{passed}" for place in drawn}
            for line in _spliced(once, 997 * passed):
                file.write(" ".join([renamed.get(word, word) for word in line]) + "\n")
                written += len(line)
                if written >= tokens:
                    break
    once.unlink()
    return {"tokens": written, "once": number, "types_once": len(counts), "exponent": exponent}


def heaps_exponent(growth: Sequence[tuple[int, int]]) -> float:
    """Return β of distinct words = K · tokens^β, by least squares of the logarithms over the last three quarters."""
    tail = np.log(np.array(growth[len(growth) // 4 :], dtype=float))
    return float(np.polyfit(tail[:, 0], tail[:, 1], 1)[0])


def _spliced(path: Path, lag: int) -> Iterator[list[str]]:
    """Yield each line with the second half of the one `lag` lines before, so that new pairs of words occur together."""
    earlier: deque[list[str]] = deque(maxlen=lag)
    with path.open(encoding="utf-8") as file:
        for text in file:
            line = text.split()
            other = earlier[0] if len(earlier) == lag else line
            earlier.append(line)
            yield line[: len(line) // 2] + other[len(other) // 2 :]


# The measure


@contextmanager
def peak_memory() -> Iterator[Callable[[], float]]:
    """Yield the largest private memory of this process so far in MB, sampled ten times per second (Linux)."""
    peak = 0.0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, private_memory())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: max(peak, private_memory())
    finally:
        done.set()
        watcher.join()


def private_memory() -> float:
    """Return the private memory of this process in MB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return float(status.split("RssAnon:")[1].split()[0]) / 1e3


def size_of(folder: Path) -> float:
    """Return the MB of a file or of all files in a folder."""
    files = [folder] if folder.is_file() else [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files) / 1e6


def once(record: Path, made: Sequence[Path], measure: Callable[[], T]) -> T:
    """Return the record of a step; if there is none, remove what the step wrote, and measure it."""
    if not record.is_file():
        for path in made:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        record.parent.mkdir(exist_ok=True)
        write_whole(record, json.dumps(measure(), indent=1) + "\n")
    found: T = json.loads(record.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class EncodingUnit:
    """A text to encode, and the folder of the measurement."""

    text: Path
    folder: Path


def encode_step(unit: EncodingUnit) -> dict[str, Any]:
    """Measure in a worker what counting and encoding cost."""
    corpora = unit.folder / CORPORA

    def measure() -> dict[str, Any]:
        with peak_memory() as peak:
            start = time.process_time()
            corpus = encode_corpus("large", unit.text, corpora, CorpusSettings())
            seconds = time.process_time() - start
            note = f"{len(corpus.tokens) / 1e6:.0f} M tokens, {len(corpus.words):,} words that occur at least 5 times"
            return vars(Step("counting and encoding", seconds, peak(), size_of(corpus.folder), note))

    return once(unit.folder / MEASURED / "encoding.json", [corpora], measure)


def train_steps(unit: TrainingUnit) -> list[dict[str, Any]]:
    """Measure in a worker what training one embedding costs, step by step."""
    return _sgns_steps(unit) if unit.algorithm == "sgns" else _glove_steps(unit)


def _sgns_steps(unit: TrainingUnit) -> list[dict[str, Any]]:
    def measure() -> list[dict[str, Any]]:
        with peak_memory() as peak:
            start = time.process_time()
            train_unit(unit)
            seconds = time.process_time() - start
            name = f"skip-gram, {unit.settings.dimensions}-d, 1 epoch"
            return [vars(Step(name, seconds, peak(), size_of(unit.target), "the embedding stays"))]

    return once(_record(unit, "sgns"), [unit.target], measure)


def _glove_steps(unit: TrainingUnit) -> list[dict[str, Any]]:
    settings = unit.settings
    assert isinstance(settings, GloveSettings)
    counts_folder = unit.corpus / f"cooccurrence-{settings.window}"

    def count() -> dict[str, Any]:
        corpus = open_corpus(unit.corpus)
        with peak_memory() as peak:
            start = time.process_time()
            counts = count_cooccurrence(corpus, settings.window)
            seconds = time.process_time() - start
            note = f"{len(counts.keys) / 1e6:.0f} M pairs of words"
            name = f"co-occurrence, window {settings.window}"
            return vars(Step(name, seconds, peak(), size_of(counts_folder), note))

    def fit() -> list[dict[str, Any]]:
        pairs = len(count_cooccurrence(open_corpus(unit.corpus), settings.window).keys)
        passes: list[Pass] = []
        with peak_memory() as peak, _watched_passes(passes, peak):
            start = time.process_time()
            train_unit(unit)
            in_passes = sum(one.seconds for one in passes)
            rest = time.process_time() - start - in_passes
        name, scratch = f"GloVe, {settings.dimensions}-d", 2 * pairs * glove.PAIR.itemsize / 1e6
        shuffling = Step(
            f"{name}, shuffling the pairs", rest, passes[0].before, scratch, "removed when it is done"
        )
        most, stays = max(one.memory for one in passes), size_of(unit.target)
        iterations = f"{name}, {settings.iterations} iterations"
        return [vars(shuffling), vars(Step(iterations, in_passes, most, stays, "the embedding stays"))]

    return [
        once(_record(unit, "cooccurrence"), [counts_folder], count),
        *once(_record(unit, "glove"), [unit.target], fit),
    ]


def _record(unit: TrainingUnit, step: str) -> Path:
    return unit.target.parent / MEASURED / f"{step}.json"


@dataclass(frozen=True)
class Pass:
    """One pass of GloVe over a bucket of pairs."""

    seconds: float
    """Of CPU time."""
    memory: float
    """The most private memory during it, in MB."""
    before: float
    """The most from the start of the training until the pass began."""


@contextmanager
def _watched_passes(passes: list[Pass], so_far: Callable[[], float]) -> Iterator[None]:
    """Add every pass of GloVe over a bucket of pairs to `passes`."""
    descend = glove.descend

    def watched(*arguments: Any) -> float:
        before = so_far()
        with peak_memory() as peak:
            start = time.process_time()
            loss: float = descend(*arguments)
            passes.append(Pass(time.process_time() - start, peak(), before))
        return loss

    glove.descend = watched  # type: ignore[assignment]
    try:
        yield
    finally:
        glove.descend = descend


def measure(sources: Sequence[Path], tokens: int, dimensions: int, folder: Path) -> dict[str, Any]:
    """Return what every step cost; measure what is not in its record."""
    text = folder / "large.txt"
    for path in folder.rglob("*"):  # What a kill left: nothing else is writing yet.
        if path.is_dir():
            remove_unfinished(path)
    remove_unfinished(folder)
    about = once(
        folder / MEASURED / "text.json",
        [text],
        lambda: {**write_text(text, sources, tokens), "dimensions": dimensions},
    )
    with dask(2, folder) as workers:
        (encoding,) = _values(workers.map(encode_step, [EncodingUnit(text, folder)]))
    with dask(2, folder) as workers:  # New processes: the first would keep some of the encoding's memory.
        corpus = next((folder / CORPORA).iterdir())
        trained = _values(workers.map(train_steps, _training_units(corpus, dimensions, folder)))
        ratios = _values(
            workers.map(dimension_ratio, [RatioUnit(name, dimensions, text, folder) for name in ALGORITHMS])
        )
    return {
        "text": about,
        "steps": [encoding, *itertools.chain.from_iterable(trained)],
        "ratios": dict(zip(ALGORITHMS, ratios, strict=True)),
    }


def _training_units(corpus: Path, dimensions: int, folder: Path) -> list[TrainingUnit]:
    settings: Mapping[Algorithm, WordToVecSettings | GloveSettings] = {
        "glove": GloveSettings(dimensions=dimensions, iterations=2),
        "sgns": WordToVecSettings(dimensions=dimensions, epochs=1),
    }
    return [
        TrainingUnit(corpus, name, settings[name], 1, folder / f"{name}.safetensors") for name in ALGORITHMS
    ]


def _values(outcomes: Iterator[JobOutcome[Any, Any]]) -> list[Any]:
    """Return the results in the order of their algorithms, whichever is finished first."""
    values = []
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
        values.append((getattr(outcome.unit, "algorithm", ""), outcome.value))
    return [value for _, value in sorted(values, key=lambda entry: entry[0])]


@dataclass(frozen=True)
class RatioUnit:
    """An algorithm whose cost at PAPER dimensions is compared with that at `dimensions`."""

    algorithm: Algorithm
    dimensions: int
    text: Path
    folder: Path


def dimension_ratio(unit: RatioUnit) -> float:
    """Measure in a worker how many times more a pass costs with the paper's dimensions, on the first lines of the text.

    By turns, the least of several of each: what else the machine does slows some of them down.
    """
    folder = unit.folder / f"ratio-{unit.algorithm}"

    def measure() -> float:
        folder.mkdir()
        cut = folder / "first.txt"
        with unit.text.open(encoding="utf-8") as text:
            cut.write_text("".join(itertools.islice(text, RATIO_LINES)), encoding="utf-8")
        corpus = encode_corpus("first", cut, folder, CorpusSettings())
        _pass_seconds(unit.algorithm, corpus, 2, folder)  # Compiles.
        seconds = [
            [_pass_seconds(unit.algorithm, corpus, number, folder) for number in (unit.dimensions, PAPER)]
            for _ in range(RATIO_REPEATS)
        ]
        ours, papers = np.min(seconds, axis=0)
        return float(papers / ours)

    return once(unit.folder / MEASURED / f"{folder.name}.json", [folder], measure)


def _pass_seconds(algorithm: Algorithm, corpus: Corpus, dimensions: int, folder: Path) -> float:
    """Return CPU seconds of one pass over a corpus."""
    if algorithm == "glove":
        passes: list[Pass] = []
        with _watched_passes(passes, private_memory):
            train(corpus, "glove", 1, GloveSettings(dimensions=dimensions, iterations=1), folder)
        return sum(one.seconds for one in passes)
    start = time.process_time()
    train(corpus, "sgns", 1, WordToVecSettings(dimensions=dimensions, epochs=1), folder)
    return time.process_time() - start


# The report


def facts(measured: Mapping[str, Any]) -> list[str]:
    """Return what the text was, in one paragraph."""
    text = measured["text"]
    return [
        f"The text has {text['tokens'] / 1e6:.0f} million tokens, made from {text['once'] / 1e6:.0f} million, with new "
        f"words by Heaps' law (exponent {text['exponent']:.2f}, as in the {text['types_once']:,} distinct words of the "
        f"sources). Two Dask workers trained {text['dimensions']}-dimensional embeddings."
    ]


def table_of(measured: Mapping[str, Any]) -> list[str]:
    """Return the measured steps as a table."""
    million = measured["text"]["tokens"] / 1e6
    lines = ["| step | CPU s per million tokens | peak MB | disk | |", "|---|---|---|---|---|"]
    for step in measured["steps"]:
        disk = f"{step['disk'] / 1e3:.1f} GB" if step["disk"] > 1e3 else f"{step['disk']:.0f} MB"
        lines.append(
            f"| {step['name']} | {step['cpu'] / million:.2f} | {step['memory']:,.0f} | {disk} | {step['note']} |"
        )
    return lines


def estimate(measured: Mapping[str, Any]) -> str:
    """Return CPU hours of the paper's study, from what was measured: not measured itself."""
    million = measured["text"]["tokens"] / 1e6
    cost = {step["name"].split(",")[0]: 0.0 for step in measured["steps"]}
    for step in measured["steps"]:
        cost[step["name"].split(",")[0]] += step["cpu"] / million
    passes = next(step["cpu"] for step in measured["steps"] if step["name"].endswith("iterations")) / million
    shuffle = cost["GloVe"] - passes
    tokens = sum(STUDY.values())
    once = (cost["counting and encoding"] + cost["co-occurrence"]) * tokens / 3600
    sgns = cost["skip-gram"] * measured["ratios"]["sgns"] * EPOCHS * tokens / 3600
    per_iteration = passes / 2 * measured["ratios"]["glove"]
    gloves = (shuffle + per_iteration * ITERATIONS) * tokens / 3600
    total = once + SEEDS * (sgns + gloves)
    corpora = ", ".join(f"{name} ({size} M tokens)" for name, size in STUDY.items())
    return (
        f"**Estimate, not measured.** The study of the paper has {corpora}, {PAPER} dimensions, {EPOCHS} epochs, "
        f"{ITERATIONS} iterations and {SEEDS} seeds of both algorithms. Counting, encoding and co-occurrence take "
        f"{once:.1f} CPU hours, a seed of skip-gram {sgns:.1f} and a seed of GloVe {gloves:.1f} ({PAPER} dimensions "
        f"cost {measured['ratios']['sgns']:.2f} and {measured['ratios']['glove']:.2f} times as much as "
        f"{measured['text']['dimensions']}). The total is **{total:.0f} CPU hours**: {total / 2:.0f} hours on two "
        f"cores, {total / 64:.1f} on 64."
    )


def main() -> None:
    """Measure, print the table, and write it into a document between its marks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="*", type=Path, metavar="CORPUS")
    parser.add_argument("--tokens", type=float, default=200, help="millions")
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="kept; else a temporary one")
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        measured = measure(options.sources, round(options.tokens * MILLION), options.dimensions, folder)
    lines = [*facts(measured), "", *table_of(measured), "", estimate(measured)]
    print("\n".join(lines))
    if options.write:
        before, _, rest = options.write.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        options.write.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8")


if __name__ == "__main__":
    main()
