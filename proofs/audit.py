"""Compare the installed versions with known vulnerabilities: `make audit` runs pip-audit in its own environment."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HOME = Path(".venv-audit")


def main() -> None:
    """Print the verdict; exit code 1 if a version has a known vulnerability."""
    tool = HOME / "bin" / "pip-audit"
    made = subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=False)
    install = [str(HOME / "bin" / "pip"), "install", "--quiet", "pip-audit"]
    if made.returncode or subprocess.run(install, check=False).returncode:
        print("audit skipped: pip-audit cannot be installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        options = ["--skip-editable", "--progress-spinner", "off", "--format", "json", "--output", str(found)]
        subprocess.run([str(tool), "--path", sysconfig.get_path("purelib"), *options], check=False)
        content = json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}
    line, code = verdict(content)
    print(line)
    sys.exit(code)


def verdict(found: Mapping[str, Any]) -> tuple[str, int]:
    """Return a line and the exit code for the content of pip-audit's file.

    pip-audit ends with 0 if it cannot reach its database: then it skips every package, and nothing was compared.
    """
    packages = [one for one in found.get("dependencies", []) if "skip_reason" not in one]
    if not packages:
        return "audit skipped: the database of vulnerabilities cannot be reached", 0
    bad = [
        f"{one['name']} {one['version']}: {', '.join(each['id'] for each in one['vulns'])}"
        for one in packages
        if one["vulns"]
    ]
    return "\n".join(
        [f"{len(packages)} packages compared, {len(bad)} with known vulnerabilities", *bad]
    ), int(bool(bad))


if __name__ == "__main__":
    main()
