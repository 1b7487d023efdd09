"""Read or try a file in a child process, so that a library that loops, crashes or fills memory does no harm.

The HDF5 library can loop for ever on a damaged file, the Parquet reader of polars can allocate any size that a header
states, and an ONNX graph or a tokenizer is a program of its author; the process itself can stop none of them. The
child has limits on its processor time and memory, and arrays and facts are passed through a temporary folder as
numbers and JSON, so that nothing is unpickled.

A file that is too slow to be used in a child, such as a model, is proven there: the child uses it once, and if that
succeeds, this process uses it without limits. A proof is remembered by content in the user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weatherglass import errors
from weatherglass.errors import WeatherglassError
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.checksum import cache_folder
from weatherglass.storage.reading import (
    LARGEST_RATIO,
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

THREADS = {"POLARS_MAX_THREADS": "4", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
"""Limits on the threads of libraries: each thread needs memory, and the processor time of all threads is counted."""


PROVEN = "proven"
"""The folder of the cache with an empty file for each content that was proven."""
MODEL_RATIO = 4
"""A model may need the larger of `LEAST_LIMIT` and this multiple of its files, twice; a session of onnxruntime needs
three times its weights.
"""

_proven: set[str] = set()
"""What this process has proven or found proven; the cache may not be writable."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a child process, which grow with the size of what it reads."""

    size: int
    ratio: int = LARGEST_RATIO

    @property
    def seconds(self) -> int:
        """Seconds of processor time."""
        return SECONDS + self.size // BYTES_PER_SECOND

    @property
    def memory(self) -> int:
        """Bytes of memory."""
        return BASE_MEMORY + 2 * unpack_limit(self.size, self.ratio)


def read_in_child(
    reader: str,
    path: Path,
    error: type[WeatherglassError],
    given: Content | None = None,
    limits: Limits | None = None,
) -> Content:
    """Return the result of the function `reader` ("module:function" of weatherglass) for a file.

    Args:
        reader: a function of the path, or of the path and of `given`.
        path: the file.
        error: the type of errors.
        given: facts and arrays for the function.
        limits: by default, those of a file that is unpacked.

    Raises:
        WeatherglassError: the error of the function, or one of the type `error` if the child takes too long or
            crashes.
    """
    size = require_regular_file(path, error).st_size
    limits = limits or Limits(size)
    with tempfile.TemporaryDirectory(prefix="weatherglass-") as name:
        folder = Path(name)
        if given is not None:
            _send(given, folder, GIVEN)
        order = [reader, str(path), name, error.__name__, str(limits.seconds), str(limits.memory)]
        try:
            code = run_child(order, WAITING * limits.seconds)
        except subprocess.TimeoutExpired:
            raise error(f"{path}: {_took_too_long(limits)}") from None
        if code != 0 or not (folder / ANSWER).is_file():
            raise error(f"{path}: {_died(code, size, limits)}")
        return _received(folder, ANSWER)


def prove(
    trial: str,
    path: Path,
    error: type[WeatherglassError],
    identity: Sequence[str],
    limits: Limits,
    given: Content | None = None,
) -> None:
    """Call the function `trial` for a file in a child process, unless this content passed the trial before.

    Args:
        trial: "module:function" of weatherglass; the function uses the file as this process is about to.
        path: the file.
        error: the type of errors.
        identity: the hashes of all files in use, and the versions of the libraries that use them.
        limits: those of the trial.
        given: facts and arrays for the function.

    Raises:
        WeatherglassError: the error of the function, or one of the type `error` if it reaches a limit or crashes.
    """
    key = hashlib.sha256(json.dumps([trial, *identity]).encode()).hexdigest()
    record = cache_folder() / PROVEN / key
    if key in _proven or record.is_file():
        return
    read_in_child(trial, path, error, given, limits)
    _proven.add(key)
    with contextlib.suppress(OSError):  # an unwritable cache costs time, never a result
        record.parent.mkdir(parents=True, exist_ok=True)
        write_whole(record, "")


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
    return {**os.environ, "PYTHONPATH": paths, "RUST_BACKTRACE": "0", **THREADS}


def _took_too_long(limits: Limits) -> str:
    return f"its library needed more than {limits.seconds} seconds, so the file is damaged or malicious; get it again"


def _died(code: int, size: int, limits: Limits) -> str:
    if code == -24:  # SIGXCPU
        return _took_too_long(limits)
    return (
        f"its library crashed, or needed over {shown_size(limits.memory)} to read {shown_size(size)} (exit "
        f"{code}); the file is damaged or malicious; get it again. If you trust it, set {LIMIT_VARIABLE} to a larger "
        "size, such as 8G"
    )


ANSWER, GIVEN = "answer", "given"


def _send(content: Content, folder: Path, name: str) -> None:
    """Write facts and arrays into two files; the other process calls `_received`."""
    facts, arrays = content
    described = _write_arrays(folder / f"{name}-arrays", arrays)
    (folder / name).write_text(json.dumps({"facts": facts, "arrays": described}), encoding="utf-8")


def _received(folder: Path, name: str) -> Content:
    content = json.loads((folder / name).read_text(encoding="utf-8"))
    if "error" in content:
        kind: type[WeatherglassError] = getattr(errors, content["error"])
        raise kind(content["message"])
    data = np.fromfile(folder / f"{name}-arrays", np.uint8)
    return content["facts"], {
        name: np.frombuffer(data, np.dtype(kind), int(np.prod(shape, dtype=np.int64)), place).reshape(shape)
        for name, kind, shape, place in content["arrays"]
    }


def main(order: Sequence[str]) -> None:
    """Read the file within limits and write the answer; the child process runs this function.

    Args:
        order: in this order the reader, the file, the folder for the answer, the type of errors, the seconds and the
            bytes of memory.
    """
    reader, path, folder, error = order[0], Path(order[1]), Path(order[2]), getattr(errors, order[3])
    _limit(*map(int, order[4:]))
    module, _, name = reader.partition(":")
    try:
        with reading(path, error):
            given = _received(folder, GIVEN) if (folder / GIVEN).exists() else ()
            content = cast(Content, getattr(import_module(module), name)(path, *given))
            _send(content, folder, ANSWER)
    except WeatherglassError as failure:
        answer = {"error": type(failure).__name__, "message": str(failure)}
        (folder / ANSWER).write_text(json.dumps(answer), encoding="utf-8")


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
