"""The site of the documentation builds strictly: every link and every comment for the build is understood."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_site_builds_strictly_without_running_commands_and_notebooks(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "WEATHERGLASS_SITE": "quick", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = tmp_path / "site"
    assert re.search(r"inputs in \d+ minutes", (pages / "security.html").read_text(encoding="utf-8"))
    assert "weatherglass run" in (pages / "cli.html").read_text(encoding="utf-8")
    assert "weatherglass.audit" in (pages / "api" / "audit.html").read_text(encoding="utf-8")
