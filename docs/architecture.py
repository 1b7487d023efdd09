"""Write what docs/architecture.md says of the tree: rooms, layers, and the walk of one word through the source.

`python -m docs.architecture` prints it; `--write` puts it between the markers of docs/architecture.md; `--source DIR`
measures another checkout, so that two trees are counted by one definition.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"

WALK = """
import inspect, json, os, sys

package, out = sys.argv[1], sys.argv[2]
functions, rooms, starts, changes = set(), {}, {}, 0


def room_of(code):
    if code not in rooms:
        path = code.co_filename
        inside = path.startswith(package) and not code.co_name.startswith("<")  # comprehensions
        rooms[code] = path[len(package) :].split(os.sep)[0] if inside else None
    return rooms[code]


def count(frame, event, _):
    global changes
    if event != "call" or (room := room_of(frame.f_code)) is None or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return
    if frame.f_lasti != starts.setdefault(frame.f_code, frame.f_lasti):  # a generator goes on
        return
    caller = frame.f_back
    while caller is not None and room_of(caller.f_code) is None:
        if caller.f_code.co_name == "<module>" and caller.f_code.co_filename.startswith(package):
            return
        caller = caller.f_back
    functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))
    changes += caller is not None and room_of(caller.f_code) != room


from weatherglass.cli import main

sys.argv[1:] = sys.argv[3:]
sys.setprofile(count)
try:
    main()
except SystemExit as end:
    code = end.code
sys.setprofile(None)
files = {file for file, _ in functions}
json.dump({"files": len(files), "functions": len(functions), "changes": changes}, open(out, "w"))
sys.exit(code)
"""
"""What counts as a walk: the package's functions that are called (a comprehension is a part of its function; what runs
while a module is imported does not count), the files that they are in, and the calls whose caller, the nearest function
of the package on the stack, is in another room."""


@dataclass(frozen=True, slots=True)
class Walk:
    """How far one word travels in `weatherglass run FILE -t weat6`."""

    files: int
    functions: int
    changes: int
    """Calls from one room to another."""


def walk(source: Path) -> Walk:
    """Run the command in a checkout with kernels compiled, and count what it calls.

    Raises:
        subprocess.CalledProcessError: if the command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        vectors = Path(folder, "vectors.txt")
        vectors.write_text("".join(_vectors()), encoding="utf-8")
        for turn in range(2):  # the first compiles
            out = Path(folder, f"{turn}.json")
            command = [sys.executable, "-c", WALK, str(source / "src" / "weatherglass") + os.sep, str(out)]
            audit = ["run", str(vectors), "-t", "weat6", "-q", "-o", str(Path(folder, f"run{turn}"))]
            environment = {**os.environ, "PYTHONPATH": str(source / "src"), "XDG_CACHE_HOME": folder}
            subprocess.run([*command, *audit], check=True, env=environment, cwd=folder)
        counted = json.loads(out.read_text(encoding="utf-8"))
    return Walk(counted["files"], counted["functions"], counted["changes"])


WORDS = (
    "John Paul Mike Kevin Steve Greg Jeff Bill Amy Joan Lisa Sarah Diana Kate Ann Donna executive management "
    "professional corporation salary office business career home parents children family cousins marriage wedding "
    "relatives"
)
"""Those of weat6."""


def _vectors() -> Iterator[str]:
    """Yield a line for every word, with numbers that depend on its letters alone."""
    for word in WORDS.split():
        numbers = [(sum(map(ord, word)) * (place + 3) ** 2 % 97 - 48) / 48 for place in range(8)]
        yield f"{word} {' '.join(map(str, numbers))}\n"


@dataclass(frozen=True, slots=True)
class Room:
    """A folder of the package, or the files beside them."""

    name: str
    files: int
    lines: int


def rooms(source: Path) -> list[Room]:
    """Return the rooms of a checkout with their Python files and lines, by name."""
    package = source / "src" / "weatherglass"
    counted: dict[str, tuple[int, int]] = {}
    for path in package.rglob("*.py"):
        inside = path.relative_to(package)
        name = f"{inside.parts[0]}/" if len(inside.parts) > 1 else "(top)"
        files, lines = counted.get(name, (0, 0))
        counted[name] = files + 1, lines + len(path.read_text(encoding="utf-8").splitlines())
    return [Room(name, *counted[name]) for name in sorted(counted)]


def layers(source: Path) -> list[str]:
    """Return the layers that the import contract states, the topmost first."""
    contracts = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return next(
        list(contract["layers"]) for contract in contracts["contracts"] if contract["type"] == "layers"
    )


def private_functions_called_once(source: Path) -> tuple[int, int]:
    """Return how many private functions and methods there are, and how many are named in one other place only."""
    defined: list[str] = []
    named: dict[str, int] = {}
    for path in (source / "src" / "weatherglass").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("_"):
                if not node.name.endswith("__"):
                    defined.append(f"{path}:{node.name}")
            elif isinstance(node, ast.Name):
                named[f"{path}:{node.id}"] = named.get(f"{path}:{node.id}", 0) + 1
            elif isinstance(node, ast.Attribute):
                named[f"{path}:{node.attr}"] = named.get(f"{path}:{node.attr}", 0) + 1
    return len(defined), sum(named.get(name, 0) == 1 for name in defined)


def class_names_with_two_meanings(source: Path) -> list[str]:
    """Return the names that more than one class of the package has."""
    places: dict[str, int] = {}
    for path in (source / "src" / "weatherglass").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name] = places.get(node.name, 0) + 1
    return sorted(name for name, number in places.items() if number > 1)


def section(source: Path, before: Path | None) -> str:
    """Return the counts of a checkout as Markdown, and by room beside those of an earlier one if it is given."""
    trees = [tree for tree in (before, source) if tree is not None]
    heads = ["before", "now"] if before else ["now"]
    lines = [
        "| what | " + " | ".join(heads) + " |",
        "|---|" + "---|" * len(heads),
    ]
    walks = [walk(tree) for tree in trees]
    counted = {
        "Python files": [sum(room.files for room in rooms(tree)) for tree in trees],
        "lines": [sum(room.lines for room in rooms(tree)) for tree in trees],
        "private functions": [private_functions_called_once(tree)[0] for tree in trees],
        "private functions that are used in only one place": [
            private_functions_called_once(tree)[1] for tree in trees
        ],
        "class names that several classes have": [len(class_names_with_two_meanings(tree)) for tree in trees],
        "example run: files": [each.files for each in walks],
        "example run: functions": [each.functions for each in walks],
        "example run: calls from one room to another": [each.changes for each in walks],
    }
    lines += [
        f"| {what} | {' | '.join(f'{n:,}'.replace(',', ' ') for n in numbers)} |"
        for what, numbers in counted.items()
    ]
    if before is None:
        return "\n".join(lines) + "\n"
    by_room = [{room.name: room for room in rooms(tree)} for tree in trees]
    lines += [
        "",
        "| room | " + " | ".join(f"files {h} | lines {h}" for h in heads) + " |",
        "|---|" + "---|---|" * len(heads),
    ]
    for name in sorted({name for tree in by_room for name in tree}):
        cells = (f"{tree[name].files} | {tree[name].lines}" if name in tree else " | " for tree in by_room)
        shown = f"`{name}`" if name in by_room[-1] else f"{name} (gone)"
        lines.append(f"| {shown} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write(page: Path, name: str, content: str) -> None:
    """Put content between the markers of a section of the page.

    Raises:
        ValueError: if the page has no such markers.
    """
    start, end = f"<!-- written: {name} -->\n", "<!-- end -->\n"
    before, found, rest = page.read_text(encoding="utf-8").partition(start)
    if not found or end not in rest:
        raise ValueError(f"{page}: no section between {start.strip()} and {end.strip()}")
    page.write_text(before + start + content + rest[rest.index(end) :], encoding="utf-8")


def main() -> None:
    """Print the sections, or write them into docs/architecture.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=ROOT, help="the checkout to count (default: this one)")
    parser.add_argument("--before", type=Path, help="an earlier checkout to show beside it")
    parser.add_argument("--write", action="store_true", help="write into docs/architecture.md")
    chosen = parser.parse_args()
    made = {
        "layers": "```\n" + "\n".join(layers(chosen.source)) + "\n```\n",
        "counts": section(chosen.source.resolve(), chosen.before and chosen.before.resolve()),
    }
    for name, content in made.items():
        if chosen.write:
            write(PAGE, name, content)
        else:
            sys.stdout.write(content + "\n")


if __name__ == "__main__":
    main()
