"""Make the GloVe vectors that the package contains, and compare them with the original: `python -m proofs.embedded`.

`--write` replaces the file in the package. Without it, the file is compared byte for byte with a new one. All 46 tests
are then run on the embedded vectors and on all 400 000 original ones.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

import weatherglass as wg
from proofs._sources import glove_50d
from weatherglass.catalogue import load_tests
from weatherglass.encoders.vectors import GLOVE

FREQUENT = 40_000
"""The number of most frequent words that are kept."""
LARGEST = 5_000_000
"""The size in bytes that the file must not exceed."""
DIFFERENCE = 0.01
"""The largest acceptable difference of d from that of the original vectors."""


def main() -> int:
    """Make the file, compare it with the one in the package, and compare the effect sizes."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / GLOVE.name
        words = write(made)
        if "--write" in sys.argv:
            GLOVE.write_bytes(made.read_bytes())
        same = made.read_bytes() == GLOVE.read_bytes()
    size = GLOVE.stat().st_size
    print(
        f"{words} words, {size / 1e6:.2f} MB; {'equal to' if same else 'NOT equal to'} the file in the package"
    )
    run = wg.run(["glove", f"original=vectors:{glove_50d()}"])
    found = {(row.model, row.test): row.effect_size for row in run.results}
    tests = [test for model, test in found if model == "glove"]
    largest = max(abs(found["glove", test] - found["original", test]) for test in tests)
    print(f"{len(tests)} tests; the largest difference of d is {largest:.4f}")
    outcomes = {(verdict.model, verdict.topic): verdict.outcome for verdict in run.verdicts()}
    topics = [topic for model, topic in outcomes if model == "glove"]
    changed = [topic for topic in topics if outcomes["glove", topic] != outcomes["original", topic]]
    print(f"{len(topics)} topics and sanity checks; other verdicts: {', '.join(changed) or 'none'}")
    return int(not same or size > LARGEST or largest > DIFFERENCE or bool(changed))


def write(path: Path) -> int:
    """Write the vectors of the frequent words and of the words of the 46 tests; return the number of words."""
    texts = [text for test in load_tests(["*"]) for text in test.texts]
    wanted = {part for text in texts for part in re.findall(r"[\w'-]+", text.lower())}
    wanted |= {part for word in wanted for part in re.split(r"['-]", word)}
    words, rows = [], []
    with glove_50d().open(encoding="utf-8") as file:
        for line, text in enumerate(file):
            word, *numbers = text.rstrip().split(" ")
            if line < FREQUENT or word in wanted:
                words.append(word)
                rows.append(numbers)
    vectors = np.array(rows, dtype=np.float32).astype(np.float16)
    save_file({"vectors": vectors}, path, {"words": json.dumps(words, ensure_ascii=False)})
    return len(words)


if __name__ == "__main__":
    sys.exit(main())
