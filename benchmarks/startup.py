"""Start-up: what `import weatherglass` and `--help` cost, against a bare interpreter and against numpy alone."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

REPEATS = 9

COMMANDS = {
    "bare interpreter": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import weatherglass": ["-c", "import weatherglass"],
    "weatherglass --help": ["-m", "weatherglass", "--help"],
    "weatherglass tests list": ["-m", "weatherglass", "tests", "list"],
}


def cpu_seconds(arguments: list[str]) -> float:
    """CPU time of one process, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def main() -> None:
    """Print the median CPU time of each command and its ratio to a bare interpreter."""
    seconds = {
        name: statistics.median(cpu_seconds(c) for _ in range(REPEATS)) for name, c in COMMANDS.items()
    }
    baseline = seconds["bare interpreter"]
    print(f"{'command':26} {'CPU s':>7} {'× bare interpreter':>20}")
    for name, spent in seconds.items():
        print(f"{name:26} {spent:7.3f} {spent / baseline:20.1f}")


if __name__ == "__main__":
    main()
