"""Write `requirements.lock`, the versions and hashes that CI installs, or check the environment: `make lock`.

The file is for Linux on x86-64 with Python 3.11. torch is not in it: the package index has only the CUDA build, so
constraints.txt fixes its version, and its file comes from a folder or index that pip is told.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
TOOLS = ("pip", "hatchling", "editables", "build", "twine")
"""What builds the package: `--no-build-isolation` and `make dist` need them."""
NOT_LOCKED = re.compile(r"weatherglass|torch|triton|nvidia-.*|cuda-.*")
"""This package, torch, and the libraries of its CUDA build."""
HEADER = """\
# Written by `make lock` for Linux x86-64 and Python 3.11; `make test LOCKED=1` installs exactly these files.
# torch is not here: constraints.txt fixes its version, and CONTRIBUTING.md says where its CPU build comes from.
"""
LINE = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ]+) --hash=sha256:[0-9a-f]{64}")


def normal(name: str) -> str:
    """Return the normalised name of a distribution (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def resolved() -> Mapping[str, Any]:
    """Return pip's report on what it would install into an empty environment."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--quiet",
        "--report",
        "-",
    ]
    wanted = ["--only-binary", ":all:", "--constraint", "constraints.txt", "--editable", ".[all]"]
    done = subprocess.run(
        [*command, *wanted, "--group", "dev", *TOOLS], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    report: Mapping[str, Any] = json.loads(done.stdout)
    return report


def lines_of(report: Mapping[str, Any]) -> list[str]:
    """Return a line per package of pip's report; a local file has no place in the lock."""
    lines = []
    for one in report["install"]:
        name, version = normal(one["metadata"]["name"]), one["metadata"]["version"]
        if name == "torch" and "+cpu" not in version:
            sys.exit(
                "make lock: pip chose the CUDA build of torch; name a folder with the CPU build: PIP_FIND_LINKS=DIR"
            )
        if NOT_LOCKED.fullmatch(name):
            continue
        download = one["download_info"]
        if not download["url"].startswith("https:"):
            sys.exit(f"make lock: {name} {version} is a local file; let pip take it from the package index")
        lines.append(f"{name}=={version} --hash=sha256:{download['archive_info']['hashes']['sha256']}")
    return sorted(lines)


def locked(text: str) -> dict[str, str]:
    """Return the versions of a lock file by name."""
    matches = [LINE.fullmatch(line) for line in text.splitlines() if not line.startswith("#")]
    return {match["name"]: match["version"] for match in matches if match}


def differences(installed: Mapping[str, str], lock: Mapping[str, str]) -> list[str]:
    """Return a line per installed package that the lock does not have, or has in another version."""
    return [
        f"{name} {version} is installed; requirements.lock has {lock.get(name, 'no such package')}"
        for name, version in sorted(installed.items())
        if not NOT_LOCKED.fullmatch(name) and lock.get(name) != version
    ]


def main(arguments: list[str]) -> None:
    """Write the lock, or with --check compare it with what is installed; exit code 1 if that differs."""
    if sys.platform != "linux" or sys.version_info[:2] != (3, 11):
        sys.exit("requirements.lock is for Linux and Python 3.11; use them, or do without LOCKED=1")
    if arguments != ["--check"]:
        LOCK.write_text(HEADER + "".join(f"{line}\n" for line in lines_of(resolved())), encoding="utf-8")
        return
    installed = {normal(one.name): one.version for one in distributions()}
    found = differences(installed, locked(LOCK.read_text(encoding="utf-8")))
    print("\n".join(found) or f"{len(installed)} packages are installed as requirements.lock says")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(sys.argv[1:])
