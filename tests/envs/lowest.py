"""Print a constraint for each dependency in pyproject.toml: exactly the lowest version that it allows.

Extras that need torch or TensorFlow are left out: `make test-envs` does without.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
EXTRAS = ("encodings", "api", "reliability", "distributed")

if __name__ == "__main__":
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    project, tools = settings["project"], settings["dependency-groups"]["dev"]
    optional = [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]
    lowest = {line.replace(">=", "==") for line in (*project["dependencies"], *optional, *tools)}
    sys.stdout.write("\n".join(sorted(lowest)) + "\n")
