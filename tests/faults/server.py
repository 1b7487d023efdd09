"""Processes that run a command and can be killed: forked from one that has everything imported, so that they are cheap.

A line of JSON on standard input asks for one: its arguments, when it is killed, its limits; a line of JSON answers.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

IMPORTED = (
    *("gensim.models", "matplotlib.figure", "polars", "scipy.stats", "rich.progress", "jinja2"),
    *("weatherglass.api.cures", "weatherglass.api.mitigation", "weatherglass.api.multiverses"),
    *("weatherglass.api.studies", "weatherglass.audit.audit", "weatherglass.cli", "weatherglass.cli.bar"),
    *("weatherglass.reliability.agreement.assess_study", "weatherglass.reliability.regression.study"),
    *("weatherglass.reliability.training.train", "weatherglass.report.cure.page"),
    *(
        "weatherglass.report.multiverse.page",
        "weatherglass.report.page.html",
        "weatherglass.report.study.page",
    ),
    *("weatherglass.report.figures", "weatherglass.report.study.figures"),
)
"""What the commands would import one by one; none of it starts a thread, so that forks are safe."""


LONGEST = 120.0
"""Seconds by the clock after which a command hangs; it then ends by SIGKILL, which no test expects."""


def prepare_forks() -> None:
    """Import, and compile what is compiled."""
    modules = {name: importlib.import_module(name) for name in IMPORTED}
    modules["matplotlib.figure"].Figure.savefig = save_placeholder
    from weatherglass.inference.significance.prepare import prepare

    prepare()


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


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Fork, kill at the moment that was asked for, and say how it ended."""
    child = os.fork()
    if not child:
        try:
            run_command(request)
        finally:
            os._exit(99)
    killed = False
    if (moment := request.get("kill_at")) is not None:
        while cpu_seconds(child) < moment and not has_ended(child):
            time.sleep(0.002)
        killed = not has_ended(child)
        os.kill(child, signal.SIGKILL)
    ends = time.monotonic() + LONGEST
    while not has_ended(child):
        if time.monotonic() > ends:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    _, status, used = os.wait4(child, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "killed": killed,
        "cpu_seconds": used.ru_utime + used.ru_stime,
    }


def cpu_seconds(child: int) -> float:
    """What a child has computed so far: a moment that does not depend on what else the machine does."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


if __name__ == "__main__":
    prepare_forks()
    Path(sys.argv[1]).touch()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()
