"""A file of 400 000 × 300 word vectors is transformed and written in blocks, in less than 1 GB of memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

WORDS, WIDTH = 400_000, 300
PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
GB = 10**9


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """word2vec's binary format, written here, without the code under test."""
    path = tmp_path_factory.mktemp("large") / "large.bin"
    rng = np.random.default_rng(0)
    named = ["man", "woman", "he", "she", "boy", "girl", "father", "mother"]
    with path.open("wb") as file:
        file.write(f"{WORDS} {WIDTH}\n".encode())
        for number in range(WORDS):
            word = named[number] if number < len(named) else f"w{number}"
            file.write(word.encode() + b" " + rng.standard_normal(WIDTH, dtype=np.float32).tobytes() + b"\n")
    return path


@pytest.mark.large
@pytest.mark.parametrize("ending", ["safetensors", "bin", "txt"])
def test_a_large_file_is_written_in_less_than_a_gigabyte(
    large_file: Path, tmp_path: Path, ending: str
) -> None:
    output = tmp_path / f"out.{ending}"
    command = [sys.executable, "-m", "weatherglass", "mitigate", str(large_file)]
    command += ["--with", "hard-debias", "-o", str(output), "-q"]
    program = f"import subprocess; subprocess.run({command!r}, check=True, stdout=subprocess.DEVNULL); {PEAK}"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    peak = 1024 * int(done.stdout.split()[-1])
    assert output.stat().st_size > 4 * WORDS * WIDTH
    assert peak < GB, f"{peak / 1e6:.0f} MB"
    print(f"{ending}: {peak / 1e6:.0f} MB")  # noqa: T201 - shown with -s
