"""The children of `storage/child_process.py`, forked from one process that has imported their libraries already.

Starting an interpreter and importing polars or h5py takes a hundred times as long as reading a hostile file. What is
tried is the same: each input is read by `child_process.main` in a process of its own, with the limits that it sets and
a limit of memory like that of the fuzzer itself.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from tests.hostile.limits import limit_memory

from weatherglass.storage import child_process


class ChildServer:
    """Takes the place of `child_process.run_child`."""

    def __init__(self, libraries: Sequence[str]) -> None:
        """Import these here, once."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.child_server", *libraries],
            bufsize=0,  # what a buffer holds, `select` does not see
            env=child_process.child_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def run(self, order: Sequence[str], timeout: float) -> int:
        """As `run_child`."""
        server = self._process
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(list(order)).encode() + b"\n")
        server.stdin.flush()
        child = int(server.stdout.readline())
        if not select.select([server.stdout], [], [], timeout)[0]:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            server.stdout.readline()
            raise subprocess.TimeoutExpired(list(order), timeout)
        return int(server.stdout.readline())

    def close(self) -> None:
        """The server ends with its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve(libraries: Sequence[str]) -> None:
    """Fork for every line; answer with the child's number at once, and with its code when it has ended."""
    for library in libraries:
        import_module(library)
    answers = os.dup(sys.stdout.fileno())
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, sys.stdout.fileno())
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os.dup2(silence, sys.stdin.fileno())
            limit_memory()
            try:
                child_process.main(order)
            except BaseException:  # an interpreter of its own would end with 1
                os._exit(1)
            os._exit(0)
        os.write(answers, b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        os.write(answers, b"%d\n" % os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    serve(sys.argv[1:])
