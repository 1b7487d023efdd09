"""The code and shell blocks of a page, and how they are run: in order, in one folder, as a reader would.

A block that starts with a comment that is a file name (`# chores.toml`) is that file. A block below a comment
`<!-- not run: why -->` is left out; `<!-- exit code 1 -->` says what the block below it ends with. The module needs
nothing but the standard library and weatherglass, so that the wheel can be tried with it in an environment that has
nothing else:

    python tests/docs/blocks.py README.md
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"^(?:<!-- not run: (.+?) -->\n)?(?:<!-- exit code (\d) -->\n)?```(\w+)[^\n]*\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"# ([\w./-]+\.\w+)(?::.*)?\n")
SHELL = ("sh", "bash")


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    text: str
    line: int
    why_not_run: str | None
    exit_code: int = 0
    """That its last command ends with, such as 1 where a gate is shown that fails."""

    @property
    def file(self) -> str | None:
        """The name of the file that the block is, if it says so in its first line."""
        found = FILE.match(self.text)
        return found[1] if found else None


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return [
        Block(found[3], found[4], page[: found.start(4)].count("\n") + 1, found[1], int(found[2] or 0))
        for found in BLOCK.finditer(page)
    ]


def is_run(block: Block) -> bool:
    """Whether a block is a thing to run or a file that others need."""
    return block.why_not_run is None and (block.language in ("python", *SHELL) or block.file is not None)


def commands(block: Block) -> Iterator[list[str]]:
    """The weatherglass commands of a shell block, as lists of arguments."""
    for line in block.text.replace("\\\n", " ").splitlines():
        parser = shlex.shlex(line, posix=True, punctuation_chars="|&>;")
        parser.whitespace_split = True
        words: list[str] = []
        for word in [*parser, ";"]:
            if not set(word) <= set("|&>;"):
                words.append(word)
                continue
            if words[:1] == ["weatherglass"]:
                yield words[1:]
            words = []


def run_page(text: str, folder: Path) -> int:
    """Run the blocks of a page in a folder and return how many were run; the first that fails raises."""
    names: dict[str, Any] = {"__name__": "page"}
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        sys.path.insert(0, str(folder))
        try:
            run = sorted(filter(is_run, blocks(text)), key=lambda block: block.file is None)  # files first
            return sum(_run(block, names) for block in run)
        finally:
            sys.path.remove(str(folder))


def _run(block: Block, names: dict[str, Any]) -> int:
    if block.file and block.language not in SHELL:
        path = Path(block.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = block.text.partition("\n")[2] if path.suffix == ".txt" else block.text
        path.write_text(text, encoding="utf-8")
    elif block.language in SHELL:
        _run_shell(block)
    elif ">>> " in block.text:
        _run_examples(block, names)
    else:
        exec(compile(block.text, f"line {block.line}", "exec"), names)
    return 1


def _run_shell(block: Block) -> None:
    """In this process where a block has nothing but weatherglass commands, which saves starting it for each."""
    lines = [
        line for line in block.text.replace("\\\n", " ").splitlines() if shlex.split(line, comments=True)
    ]
    simple = [
        re.fullmatch(r"""weatherglass (?:[^'"#|&<>;$*?]|'[^']*'|"[^"$]*")*(?:\s#.*)?""", line)
        for line in lines
    ]
    if all(simple):
        for arguments in commands(block):
            _call(arguments, block)
    else:
        _run_bash(block)


def _call(arguments: list[str], block: Block) -> None:
    from weatherglass.cli import app
    from weatherglass.errors import WeatherglassError

    try:
        ended = app(arguments, standalone_mode=False)
    except (WeatherglassError, SystemExit) as error:
        raise AssertionError(f"line {block.line}: weatherglass {shlex.join(arguments)}: {error!r}") from error
    assert (ended or 0) == block.exit_code, (
        f"line {block.line}: weatherglass {shlex.join(arguments)} ends with {ended}"
    )


def _run_bash(block: Block) -> None:
    with tempfile.TemporaryDirectory() as programs:
        for name, command in {"weatherglass": "-m weatherglass", "python": ""}.items():
            program = Path(programs, name)
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n', encoding="utf-8")
            program.chmod(0o755)
        environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.text],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if ended.returncode != block.exit_code:
        raise AssertionError(
            f"line {block.line} ends with {ended.returncode}:\n{block.text}\n{ended.stderr[-1000:]}"
        )


def _run_examples(block: Block, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, f"line {block.line}", None, block.line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.summarize(verbose=False).failed, "".join(report)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as empty:
            count = run_page(page, Path(empty))
        print(f"{name}: {count} blocks run")  # noqa: T201
