"""Processes that run a command and can be killed: forked from one that has everything imported, so that they are cheap.

A line of JSON on standard input asks for one: its arguments, when it is killed, its limits; a line of JSON answers.
"""

from __future__ import annotations

import errno
import importlib
import itertools
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

IMPORTED = (
    *("gensim.models", "matplotlib.figure", "polars", "scipy.stats", "jinja2"),
    *(
        "weatherglass.api.mitigation_evaluation",
        "weatherglass.api.mitigation",
        "weatherglass.api.multiverses",
    ),
    *(
        "weatherglass.api.studies",
        "weatherglass.audit.audit",
        "weatherglass.cli",
        "weatherglass.cli.progress",
    ),
    *("weatherglass.reliability.agreement.assess_study", "weatherglass.reliability.regression.explain"),
    *("weatherglass.reliability.training.train", "weatherglass.report.mitigation"),
    *(
        "weatherglass.report.multiverse",
        "weatherglass.report.page",
        "weatherglass.report.study.page",
    ),
    *("weatherglass.report.figures", "weatherglass.report.study.figures"),
)
"""What the commands would import one by one; none of it starts a thread, so that forks are safe."""


CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate")
"""Events that Python announces before they change a file system; that files are opened is one more."""
LONGEST = 600.0
"""Seconds by the clock after which a command hangs; the server then ends, which no test expects."""
LONGEST_AFTER = 20.0
"""Seconds that the processes which a killed command had started have to notice it."""


def prepare_forks() -> None:
    """Import everything and load the kernels: LLVM aborts a process whose memory ends while it loads one."""
    modules = {name: importlib.import_module(name) for name in IMPORTED}
    modules["matplotlib.figure"].Figure.savefig = save_placeholder
    from weatherglass.stats.permutation.kernels import load_kernels

    load_kernels()


def save_placeholder(_figure: object, target: Any, **_options: object) -> None:
    """Drawing takes most of the time of a tiny study and decides no number; the file is written all the same."""
    content = b"<svg></svg>" * 500
    if hasattr(target, "write"):
        target.write(content)
    else:
        Path(target).write_bytes(content)


def run_command(request: dict[str, Any]) -> None:
    """In the child: the command, as the console script would run it."""
    os.chdir(request["cwd"])
    os.environ.update(request.get("environment", {}))
    for number, path in ((1, request["out"]), (2, request["err"])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if "memory" in request:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + request["memory"]
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if request.get("clock"):
        jump_clock(request["clock"])
    if request.get("kill_before"):
        kill_before_write(request["kill_before"], request["below"])
    if request.get("fail_at"):
        fail_at_change(request["fail_at"], request["below"], request["seen"])
    sys.argv = ["weatherglass", *request["arguments"]]
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    from weatherglass.cli import main

    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def jump_clock(seconds: float) -> None:
    """From now on the clock of the wall goes back and forth, as when somebody sets it; no file is older for it."""
    real, calls = time.time, itertools.count()
    time.time = lambda: real() + (seconds if next(calls) % 2 else -seconds)


def kill_before_write(number: int, below: str) -> None:
    """From now on count what changes a file system below a folder, and be killed just before it happens again."""
    counted = itertools.count(1)

    def see(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if writes and str(arguments[0]).startswith(below) and next(counted) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(see)


def fail_at_change(number: int, below: str, seen: str) -> None:
    """From now on count what changes a file system below a folder, and let it fail once; `seen` then says what failed.

    An exception of an audit hook takes the place of the call. Writing and flushing are not announced, so the functions
    of `os` and of files are replaced; what a library writes by itself is not counted.
    """
    counted = itertools.count(1)

    def count(call: str, path: object) -> None:
        if next(counted) == number:
            Path(seen).write_text(f"{call} {path}", encoding="utf-8")
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    def see(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if writes and str(arguments[0]).startswith(below):
            count(event, arguments[0])

    def counting(call: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted_call(target: Any, *rest: Any) -> Any:
            path = str(Path(f"/proc/self/fd/{target}").readlink()) if isinstance(target, int) else str(target)
            if path.startswith(below):
                count(call, path)
            return function(target, *rest)

        return counted_call

    sys.addaudithook(see)
    os.write, os.fsync = counting("write", os.write), counting("fsync", os.fsync)
    Path.write_bytes = counting("write", Path.write_bytes)  # type: ignore[method-assign]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Fork, kill at the moment that was asked for, and say how it ended."""
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        try:
            run_command(request)
        finally:
            os._exit(99)
    if (moment := request.get("kill_at")) is not None:
        while not has_ended(child) and cpu_seconds(child) < moment:
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
    ends = time.monotonic() + LONGEST
    while not has_ended(child):
        if time.monotonic() > ends:
            os.kill(child, signal.SIGKILL)
            raise TimeoutError(f"{request['arguments']} hangs")
        time.sleep(0.002)
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return {
        "code": code,
        "killed": code == -signal.SIGKILL,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "orphans": outlives(child),
    }


def cpu_seconds(child: int) -> float:
    """What a child has computed so far: a moment that does not depend on what else the machine does."""
    return time.clock_gettime(~child << 3 | 2)  # as clock_getcpuclockid(3) of the C library names its clock


def has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def outlives(group: int) -> bool:
    """Whether any process of the group is there after a while; workers need a moment to see that they are alone."""
    ends = time.monotonic() + LONGEST_AFTER
    while time.monotonic() < ends:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.01)
    return True


if __name__ == "__main__":
    prepare_forks()
    Path(sys.argv[1]).touch()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()
