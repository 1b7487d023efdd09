"""Every proof on real models, one after another: `python -m proofs`; each also alone: `python -m proofs.static`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run each module in a process of its own; exit with 1 if any of them failed."""
    failed = []
    for module in sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
    ):
        print(f"\n== {module}\n", flush=True)
        code = subprocess.run(
            [sys.executable, "-m", f"proofs.{module}", *sys.argv[1:]], check=False
        ).returncode
        if code != 0:
            failed.append(f"{module} (exit code {code})")
    if failed:
        sys.exit(f"\nfailed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
