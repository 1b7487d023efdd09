"""Every benchmark, one after another: `python -m benchmarks`. Each also runs alone: `python -m benchmarks.vectors`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run each module in a process of its own, so that none warms up another; exit with 1 if any of them failed."""
    here = Path(__file__).parent
    failed = []
    for module in sorted(path.stem for path in here.glob("*.py") if not path.stem.startswith("_")):
        print(f"\n== {module}\n", flush=True)
        code = subprocess.run([sys.executable, "-m", f"benchmarks.{module}"], check=False).returncode
        if code != 0:
            failed.append(f"{module} (exit code {code})")
    if failed:
        sys.exit(f"\nfailed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
