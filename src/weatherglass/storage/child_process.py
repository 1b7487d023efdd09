"""Read a file in a child process, so that a library that loops, crashes or fills memory does no harm.

The HDF5 library can loop for ever on a damaged file, and the Parquet reader of polars can panic or allocate any size
that a header states; the process itself can stop neither. The child has limits on its processor time and memory, and
passes arrays and facts through a temporary folder as numbers and JSON, so that nothing is unpickled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weatherglass import errors
from weatherglass.errors import WeatherglassError
from weatherglass.storage.reading import (
    LIMIT_VARIABLE,
    reading,
    require_regular_file,
    shown_size,
    unpack_limit,
)

Content = tuple[Any, Mapping[str, NDArray[Any]]]
"""Facts that JSON can represent, and arrays of numbers by name."""

SECONDS = 8
BYTES_PER_SECOND = 5 * 2**20
"""Seconds of processor time to start, and bytes of content read per second; readers are usually ten times as fast."""

WAITING = 10
"""The limit on elapsed time as a multiple of the processor time, for a busy machine."""

BASE_MEMORY = 512 * 2**20
"""The number of bytes that the interpreter and the library need before they read anything."""

ALIGNED = 64


def read_in_child(reader: str, path: Path, error: type[WeatherglassError]) -> Content:
    """Return the result of the function `reader` ("module:function" of weatherglass) for a file.

    Raises:
        WeatherglassError: the error of the function, or one of the type `error` if the child takes too long or
            crashes.
    """
    size = require_regular_file(path, error).st_size
    seconds = SECONDS + size // BYTES_PER_SECOND
    with tempfile.TemporaryDirectory(prefix="weatherglass-") as folder:
        order = [reader, str(path), folder, error.__name__, str(seconds)]
        try:
            code = run_child(order, WAITING * seconds)
        except subprocess.TimeoutExpired:
            raise error(f"{path}: {_took_too_long(seconds)}") from None
        answer = Path(folder) / "answer.json"
        if code != 0 or not answer.is_file():
            raise error(f"{path}: {_died(code, size, seconds)}")
        return _received(answer, Path(folder) / "arrays")


def run_child(order: Sequence[str], timeout: float) -> int:
    """Run `main` with these arguments in a new interpreter, and return its exit code.

    Raises:
        subprocess.TimeoutExpired: if it did not end in time and was killed.
    """
    # -P: nothing is imported from the working directory, which may contain the file.
    finished = subprocess.run(
        [sys.executable, "-P", "-m", __name__, *order],
        env=child_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=timeout,
        check=False,
    )
    return finished.returncode


def child_environment() -> dict[str, str]:
    """Return the environment of a child process, with the same import paths and few threads."""
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    return {**os.environ, "PYTHONPATH": paths, "POLARS_MAX_THREADS": "4", "RUST_BACKTRACE": "0"}


def _took_too_long(seconds: int) -> str:
    return f"its library needed more than {seconds} seconds to read it, so the file is damaged; get it again"


def _died(code: int, size: int, seconds: int) -> str:
    if code == -24:  # SIGXCPU
        return _took_too_long(seconds)
    return (
        f"its library crashed, or needed over {shown_size(_memory(size))} to read {shown_size(size)} (exit "
        f"{code}); the file is damaged; get it again. If you trust it, set {LIMIT_VARIABLE} to a larger "
        "size, such as 8G"
    )


def _received(answer: Path, arrays: Path) -> Content:
    content = json.loads(answer.read_text(encoding="utf-8"))
    if "error" in content:
        kind: type[WeatherglassError] = getattr(errors, content["error"])
        raise kind(content["message"])
    data = np.fromfile(arrays, np.uint8)
    return content["facts"], {
        name: np.frombuffer(data, np.dtype(kind), int(np.prod(shape, dtype=np.int64)), place).reshape(shape)
        for name, kind, shape, place in content["arrays"]
    }


def main(order: Sequence[str]) -> None:
    """Read the file within limits and write the answer; the child process runs this function.

    Args:
        order: in this order the reader, the file, the folder for the answer, the type of errors, the seconds.
    """
    reader, path, folder = order[0], Path(order[1]), Path(order[2])
    error, seconds = getattr(errors, order[3]), int(order[4])
    _limit(seconds, _memory(path.stat().st_size))
    module, _, name = reader.partition(":")
    try:
        with reading(path, error):
            facts, arrays = cast(Content, getattr(import_module(module), name)(path))
            described = _write_arrays(folder / "arrays", arrays)
            answer = {"facts": facts, "arrays": described}
    except WeatherglassError as failure:
        answer = {"error": type(failure).__name__, "message": str(failure)}
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


def _write_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]]
) -> list[tuple[str, str, tuple[int, ...], int]]:
    """Write all arrays into one file, and return the name, type, shape and position of each."""
    described = []
    with path.open("wb") as file:
        for name, array in arrays.items():
            if array.dtype.kind not in "biuf":
                raise TypeError(f"'{name}' is of type {array.dtype}, not an array of numbers")
            file.write(bytes(-file.tell() % ALIGNED))
            described.append((name, array.dtype.str, array.shape, file.tell()))
            file.write(np.ascontiguousarray(array).data)
    return described


def _memory(size: int) -> int:
    return BASE_MEMORY + 2 * unpack_limit(size)


def _limit(seconds: int, memory: int) -> None:
    """Set limits that the system enforces; on Windows, which has none, only the parent's timeout applies."""
    try:
        import resource
    except ImportError:
        return
    for kind, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
