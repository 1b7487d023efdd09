"""Commands of the pages, run by the build: what stands in the site is what they print today."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EMPTY = {
    ".html": b"<!doctype html><title>not made</title>\n",
    ".svg": b'<svg xmlns="http://www.w3.org/2000/svg"/>\n',
}
"""What a quick build has in the place of files that commands write."""


class Terminal:
    """A shell in a folder of its own, in which `weatherglass` is this checkout's."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder
        programs = folder / ".bin"
        programs.mkdir()
        command = programs / "weatherglass"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m weatherglass "$@"\n', encoding="utf-8")
        command.chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(root / "src"),
            "COLUMNS": "80",
            "NO_COLOR": "1",
        }
        self._printed: dict[str, str] = {}

    def output(self, command: str) -> str:
        """What a command prints; the same command is run once. A command that fails ends the build."""
        if command not in self._printed:
            self._printed[command] = self._run(command)
        return self._printed[command]

    def file(self, name: str) -> bytes:
        """Return the content of a file that a command wrote."""
        return (self.folder / name).read_bytes()

    def _run(self, command: str) -> str:
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode not in (0, 1):  # 1: a gate failed, which a page may want to show
            raise RuntimeError(f"{command}\nended with {ended.returncode}:\n{ended.stderr}")
        return ended.stdout


class SwitchedOff(Terminal):
    """The terminal of a quick build, which runs no command."""

    def file(self, name: str) -> bytes:
        return EMPTY[Path(name).suffix]

    def _run(self, command: str) -> str:
        return f"(a quick build does not run: {command})\n"
