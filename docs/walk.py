"""Walk through the pages of docs/walks step by step, as a new user would, and write below each step what it prints.

    python -m docs.walk [PAGE]…          rewrite the pages
    python -m docs.walk --check [PAGE]…  fail if a step prints something else than its page shows

A step is a block of Python, or of commands: weatherglass, or cat and head of a file that a step wrote. Nothing else is
at hand, above all not the source. A block whose first line is a comment with a file name is the user's own file. Every
step has 80 columns. In a block below `<!-- times differ -->`, numbers are not compared.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import io
import os
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

WALKS = Path(__file__).parent / "walks"
PAGES = sorted(path for path in WALKS.glob("*.md") if path.stem != "index")
WIDTH = 80
STEP = re.compile(
    r"^```(sh|python|csv|tsv|toml)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
PROGRESS = re.compile(r" so far\)$", re.MULTILINE)
"""How a line of progress ends, which a slow machine writes each minute if standard error is not a terminal."""
VARYING = "<!-- times differ -->\n"
PACKAGES = {"weatherglass", "numpy", "pandas", "random", "pathlib"}
"""What the Python of a step may import."""


class WalkError(Exception):
    """A step that does not do what its page shows."""


@dataclass
class Walk:
    """The state of one walk: a folder, and the names of its Python."""

    names: dict[str, Any]

    def step(self, language: str, text: str) -> str:
        """Return what a step prints; a file is written and prints nothing."""
        if found := FILE.match(text):
            path = Path(found[1])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text[found.end() :], encoding="utf-8")
            return ""
        if language == "python":
            return self._run_python(text)
        if language != "sh":
            raise WalkError(f"a block of {language} has no file name:\n{text}")
        return "".join(_run_line(line) for line in text.replace("\\\n", " ").splitlines() if line.strip())

    def _run_python(self, text: str) -> str:
        """Run Python as a cell of a notebook: the value of the last expression is printed, unless a
        semicolon follows."""
        tree = ast.parse(text)
        for node in ast.walk(tree):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in imported:
                if name.partition(".")[0] not in PACKAGES:
                    raise WalkError(f"a step imports {name}")
        quiet = text.rstrip().endswith(";")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) and not quiet else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            exec(compile(tree, "step", "exec"), self.names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "step", "eval"), self.names)
                if value is not None:
                    print(repr(value))  # noqa: T201
        return printed.getvalue()


def _run_line(line: str) -> str:
    """Return what a line of commands prints, and its exit code if that is not 0."""
    words = shlex.split(line, comments=True)
    shown = slice(None)
    if "|" in words:
        place = words.index("|")
        if words[place + 1 : place + 2] not in (["head"], ["tail"]) or len(words) != place + 3:
            raise WalkError(f"not '| head -N' or '| tail -N': {line}")
        number = int(words[place + 2].lstrip("-"))
        shown = slice(number) if words[place + 1] == "head" else slice(-number, None)
        words = words[:place]
    if words[0] == "weatherglass":
        printed, code = _call(words)
    elif words[0] in ("cat", "head"):
        shown = slice(int(words[1].lstrip("-"))) if words[0] == "head" else shown
        printed, code = Path(words[-1]).read_text(encoding="utf-8"), 0
    else:
        raise WalkError(f"a step has only weatherglass, cat and head, not: {line}")
    lines = printed.splitlines(keepends=True)[shown]
    return "".join(lines) + (f"(exit code {code})\n" if code else "")


class _Terminal(io.StringIO):
    encoding = "utf-8"


class _Errors(io.TextIOBase):
    """Standard error: a message is one line, which is broken here as a terminal breaks it."""

    encoding = "utf-8"

    def __init__(self, terminal: io.StringIO) -> None:
        self.terminal = terminal

    def write(self, text: str) -> int:
        if not PROGRESS.search(text):
            self.terminal.write("\n".join(map(_broken, text.split("\n"))))
        return len(text)


def _broken(line: str) -> str:
    return "\n".join(textwrap.wrap(line, WIDTH)) if len(line) > WIDTH else line


def _call(words: list[str]) -> tuple[str, int]:
    """Run a command of weatherglass in this process, and return what it prints and its exit code."""
    from weatherglass.cli import app
    from weatherglass.cli.errors import exit_code_of
    from weatherglass.storage.printable import cell_len

    printed = _Terminal()
    errors: Any = _Errors(printed)
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(errors),
        patch.object(sys, "argv", words),
    ):
        try:
            code = exit_code_of(app)
        except SystemExit as ended:
            code = int(ended.code or 0)
    if words[1] == "report":  # text for a document, whose paragraphs are lines
        return "\n".join(map(_broken, printed.getvalue().split("\n"))), code
    if wide := [line for line in printed.getvalue().splitlines() if cell_len(line) > WIDTH]:
        raise WalkError(f"more than {WIDTH} columns: {wide[0]}")
    return printed.getvalue(), code


def walked(page: str) -> str:
    """Return a page with what its steps print today, run in an empty folder.

    Raises:
        WalkError: if a step is of another kind, ends with an internal error or prints a line of more than 80 columns.
    """
    walk = Walk({"__name__": "walk"})

    def shown(step: re.Match[str]) -> str:
        printed = "\n".join(line.rstrip() for line in walk.step(step[1], step[2]).splitlines())
        if "Traceback" in printed or "(exit code 4)" in printed:
            raise WalkError(f"an internal error:\n{step[2]}{printed}")
        return f"```{step[1]}\n{step[2]}```\n" + (f"\n```text\n{printed}\n```\n" if printed else "")

    variables = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "WEATHERGLASS_CACHE": ".cache"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), patch.dict(os.environ, variables):
        return STEP.sub(shown, page)


def compared(page: str) -> str:
    """Return a page for comparison, without the numbers that differ from run to run."""
    first, *others = page.split(VARYING)
    return first + VARYING.join(_without_numbers(other) for other in others)


def _without_numbers(text: str) -> str:
    found = STEP.search(text)
    if not found or found[3] is None:
        return text
    output = re.sub(r"[\d.,]+ *(?:s|min|minutes?|seconds?|hours?|h)?\b", "#", found[3])
    return text[: found.start(3)] + re.sub(r" +", " ", output) + text[found.end(3) :]


def differences(path: Path) -> Iterator[str]:
    """Yield the lines in which a page differs from what its steps print today."""
    page = path.read_text(encoding="utf-8")
    yield from difflib.unified_diff(
        compared(page).splitlines(), compared(walked(page)).splitlines(), path.name, "today", lineterm="", n=2
    )


def main() -> None:
    """Rewrite pages, or check them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path, help="pages; by default, all of docs/walks")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    options = parser.parse_args()
    changed = False
    for path in [page.resolve() for page in options.pages] or PAGES:
        if options.check:
            lines = list(differences(path))
            print(*lines, sep="\n", end="\n" if lines else "")  # noqa: T201
            changed |= bool(lines)
        else:
            path.write_text(walked(path.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit(changed)


if __name__ == "__main__":
    main()
