"""Every proof on real models, one after another: `python -m proofs`; each also alone: `python -m proofs.static`."""

from __future__ import annotations

import subprocess
import sys

MODULES = ("neural", "static", "language_models")
"""Those that run in one environment; `proofs/languages.py` has one of its own (make languages-proof)."""


def main() -> None:
    """Run each module in a process of its own; exit with 1 if any of them failed."""
    failed = []
    for module in MODULES:
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
