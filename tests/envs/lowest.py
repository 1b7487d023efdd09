"""Print a constraint for each dependency that pyproject.toml states: exactly the lowest version that it allows.

Torch, and what needs it, is left out: `make test-envs` does without.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
EXTRAS = ("encodings", "api", "reliability", "distributed")


def lowest_versions(project: dict[str, object], extras: tuple[str, ...]) -> dict[str, str]:
    """Package -> the version after `>=`; of two bounds for one package the higher, since both must hold."""
    optional = project["optional-dependencies"]
    assert isinstance(optional, dict)
    assert isinstance(project["dependencies"], list)
    bounds: dict[str, str] = {}
    for requirement in [*project["dependencies"], *(one for extra in extras for one in optional[extra])]:
        name, _, version = requirement.partition(">=")
        bounds[name] = max(version, bounds.get(name, version), key=_numbers)
    return bounds


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    sys.stdout.writelines(
        f"{name}=={version}\n" for name, version in lowest_versions(project, EXTRAS).items()
    )
