"""Run every benchmark: `python -m benchmarks`. Exit code 1 if a part crashes, results differ or a goal is missed.

`--quick` takes three minutes at most, small sizes; there only a crash or unequal results fail. `--write FILE` writes
the page docs/performance.md; parts that were not run keep what it says of them. `--before DIR` measures the commands
of an earlier checkout by turns.
`python -m benchmarks profile` prints where the time of a run goes. A part also runs
alone: `python -m benchmarks growth`. A new part is a module here with `rows(options)`, and its goals in goals.py.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks._rows import ONE_THREAD, Options, Row
from benchmarks.goals import GOALS

HERE = Path(__file__).parent
NOT_PARTS = (
    "goals",
    "large_corpus",
    "planted_seeds",
    "profile",
    "ranking",
    "ranking_cost",
    "skip_gram_quality",
    "__main__",
)
MARK = "row: "
"""How a part's process starts a line that is a row."""


def parts() -> list[str]:
    """Return the modules with rows, then the scripts that only print."""
    names = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))
    names = [name for name in names if name not in NOT_PARTS]
    return sorted(names, key=lambda name: not gives_rows(name))


def gives_rows(part: str) -> bool:
    """Return whether it is a part that is measured against goals."""
    return "\ndef rows(" in (HERE / f"{part}.py").read_text(encoding="utf-8")


def run_part(part: str, arguments: argparse.Namespace) -> tuple[list[Row], int]:
    """Run a part in its own process, so that none warms up another, and return its rows and exit code."""
    command = [sys.executable, "-m", "benchmarks", "--print-rows", part]
    command += ["--quick"] * arguments.quick
    command += ["--wefe-python", arguments.wefe_python] if arguments.wefe_python else []
    command += ["--before", arguments.before] if arguments.before else []
    if not gives_rows(part):
        command = [sys.executable, "-m", f"benchmarks.{part}"]
    rows = []
    environment = {**os.environ, **ONE_THREAD}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(MARK):
                rows.append(Row(**json.loads(line.removeprefix(MARK))))
                print(shown(rows[-1]), flush=True)
            else:
                print(line, end="", flush=True)
    return rows, process.returncode


def print_rows(part: str, options: Options) -> None:
    """Run one part and print its rows as JSON."""
    for row in import_module(f"benchmarks.{part}").rows(options):
        print(MARK + json.dumps(asdict(row)), flush=True)


def cells(row: Row) -> list[str]:
    """Return the cells of a row: name, our cost, the peer and its cost, ratio, goal and verdict, note."""
    goal = GOALS.get(row.name)
    verdict = "" if goal is None else f"{goal} missed" if goal.missed(row) else f"{goal} reached"
    if row.ours is None:
        verdict = "not run"
    if row.equal is not None:
        verdict = f"{verdict}, results equal" if row.equal else "RESULTS DIFFER"
    ours, theirs, ratio = (
        "" if number is None else f"{number:.3g}" for number in (row.ours, row.theirs, row.ratio)
    )
    peer = f"{row.peer}: {theirs}" if theirs else row.peer
    return [row.name, ours, peer, ratio, verdict.strip(", "), row.note]


def shown(row: Row) -> str:
    """Return a row as a line of a table."""
    return "| " + " | ".join(cells(row)) + " |"


HEADINGS = "| what | ours | peer | ratio | goal | note |\n|---|---|---|---|---|---|"
PAGE_HEADINGS = "| what is measured | weatherglass | compared with | ratio | goal |\n|---|---|---|---|---|"


def on_page(rows: Sequence[Row]) -> list[str]:
    """Return the lines of the rows that the page shows: those with a goal or another program."""
    lines = []
    for row in rows:
        name, ours, peer, ratio, verdict, _ = cells(row)
        if row.peer == "before":
            peer, ratio = "", ""
        if row.name in GOALS or peer or row.ours is None:
            goal = verdict.removesuffix("results equal").removesuffix(", ").removesuffix(" reached")
            name = name.partition(", against ")[0] if peer else name
            lines.append(f"| {' | '.join((name, ours, peer, ratio, goal))} |")
    return lines


def page(sections: Mapping[str, str]) -> str:
    """Return the text of docs/performance.md."""
    head = [
        "# Performance",
        "",
        "`python -m benchmarks --write docs/performance.md` writes this page; do not edit it. The numbers are CPU",
        "seconds (user and system) on one thread, unless a row states another unit: medians, and for commands and",
        "jobs the lowest of several runs. The ratio is the cost of the other program divided by that of weatherglass.",
        "Rows on growth show the exponent b of cost = a·size^b. Every goal is reached and all results are equal,",
        "unless a row says that it is missed or that results differ. The command also prints rows without a goal, and",
        "notes on every row.",
    ]
    return "\n".join([*head, "", *sections.values()])


def section(part: str, rows: Sequence[Row], failures: Sequence[str]) -> str:
    """Return the page's section of a part: when and where it was measured, its rows, and its failures."""
    machine = f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    measured = f"{machine}, {datetime.now(UTC):%Y-%m-%d}."
    lines = [f"## {part}", "", measured, "", PAGE_HEADINGS, *on_page(rows)]
    lines += ["", *(f"Not as it should be: {failure}." for failure in failures)] if failures else []
    return "\n".join(lines) + "\n"


def sections_of(path: Path) -> dict[str, str]:
    """Return the sections of an earlier page, by part."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return {part: f"## {part}\n{content.rstrip()}\n" for part, content in found}


def processor() -> str:
    """Return the name of the processor in /proc, else what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> None:
    """Run the parts, print every row, say what failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help="profile, or some of: " + ", ".join(parts()))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--wefe-python", metavar="PATH", help="an interpreter that has WEFE")
    parser.add_argument(
        "--before", metavar="DIR", help="a checkout of an earlier commit, for the rows of commands"
    )
    parser.add_argument("--write", metavar="FILE", type=Path)
    parser.add_argument("--print-rows", metavar="PART", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.print_rows:
        print_rows(arguments.print_rows, Options(arguments.quick, arguments.wefe_python, arguments.before))
        return
    if arguments.parts == ["profile"]:
        import_module("benchmarks.profile").main()
        return
    unknown = set(arguments.parts) - set(parts())
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))} (known: {', '.join(parts())})")
    failures: list[str] = []
    sections = sections_of(arguments.write) if arguments.write else {}
    for part in arguments.parts or parts():
        if arguments.quick and not gives_rows(part):
            continue
        print(f"\n== {part}\n" + (f"\n{HEADINGS}" if gives_rows(part) else ""), flush=True)
        rows, code = run_part(part, arguments)
        found = [f"{part}: crashed (exit code {code})"] if code else []
        found += [f"{part}: {row.name}: results differ" for row in rows if row.equal is False]
        if not arguments.quick:
            missed = [row for row in rows if row.name in GOALS and GOALS[row.name].missed(row)]
            found += [f"{part}: {row.name}: goal {GOALS[row.name]} missed" for row in missed]
        failures += found
        if arguments.write and gives_rows(part):  # after each part: some take many minutes
            sections[part] = section(part, rows, found)
            arguments.write.write_text(page(sections), encoding="utf-8")
    if failures:
        sys.exit("\n".join(["", "failed:", *failures]))


if __name__ == "__main__":
    main()
