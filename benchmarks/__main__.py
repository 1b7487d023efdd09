"""Every benchmark, one after another: `python -m benchmarks`. Each also runs alone: `python -m benchmarks.vectors`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run each module in a process of its own, so that none warms up another."""
    here = Path(__file__).parent
    for module in sorted(path.stem for path in here.glob("*.py") if not path.stem.startswith("_")):
        print(f"\n== {module}\n", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{module}"], check=False)


if __name__ == "__main__":
    main()
