"""Define `weatherglass docs`, which shows the manual in the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from weatherglass.cli.command import argument, command, flag
from weatherglass.cli.console import print_json, say, table, width_of
from weatherglass.cli.options import Completed, json_option, starting
from weatherglass.report.layout import Bold, wrapped

WIDTH = 80
"""The largest width of a page, for readability."""
_ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)")
_CELL = re.compile(r"(?<!\\)\|")


def _topics(_: object, incomplete: str) -> list[str]:
    from weatherglass.manual import topics

    return starting(incomplete, topics())


@command(
    "docs", examples=("weatherglass docs", "weatherglass docs warnings", "weatherglass docs run --schema")
)
@argument(
    "topic",
    type=Completed(_topics),
    required=False,
    metavar="[TOPIC]",
    help="A topic, or TOPIC#SECTION. By default, the topics are listed.",
)
@flag("--schema", help="Print the JSON Schema of what commands print with --json; TOPIC is then a command.")
@json_option
def docs(topic: str | None, schema: bool, as_json: bool) -> None:
    """Print a page of the manual, or the list of its pages."""
    if schema:
        print_json(schema_of(topic or ""))
        return
    from weatherglass.manual import read_page, topics

    width = min(WIDTH, width_of())
    if topic is None:
        titles = {name: read_page(name).title for name in topics()}
        if as_json:
            print_json(titles)
            return
        say(
            table(
                ["topic", "page"], [[name, title.replace("`", "")] for name, title in titles.items()], width
            )
        )
        say(["", "weatherglass docs TOPIC prints a page, and TOPIC#SECTION prints one section of it."])
        return
    name, _, anchor = topic.partition("#")
    page = read_page(name.removesuffix(".md").removeprefix("docs/"))
    if as_json:
        print_json({"topic": page.topic, "title": page.title, "text": page.text(anchor)})
        return
    say(page_lines(page.text(anchor), width))
    if named := page.topics_named(anchor):
        say(["", *wrapped(f"weatherglass docs …  {'  '.join(named)}", width)])


@cache
def output_schema() -> Mapping[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the output of all commands, below $defs."""
    text = files("weatherglass.cli").joinpath("output.schema.json").read_text(encoding="utf-8")
    schema: Mapping[str, Any] = json.loads(text)
    return schema


def schema_of(command: str) -> Mapping[str, Any]:
    """Return the schema of a command's output, or of all.

    Raises:
        UnknownNameError: if the schema has no such command; the message suggests the nearest one.
    """
    schema = output_schema()
    if not command:
        return schema
    from weatherglass.registry import one_of

    return {**schema, "$ref": f"#/$defs/{one_of('command', command, list(schema['$defs']))}"}


def page_lines(markdown: str, width: int) -> Iterator[str]:
    """Yield a page of Markdown as lines of a terminal, with bold headings and wrapped paragraphs and tables.

    >>> list(page_lines("# A\\n\\nSome **bold**\\ntext.\\n\\n- one\\n- two", 20))
    ['A', '', 'Some bold text.', '', '- one', '- two']
    """
    waiting: list[str] = []
    in_code = False
    for line in markdown.strip().splitlines():
        if in_code and not line.lstrip().startswith("```"):
            yield from wrapped(f"    {line}", width, further="      ")
            continue
        starts_block = not line.strip() or _ITEM.match(line) or line.lstrip().startswith(("#", "```", "|"))
        if waiting and (starts_block if not waiting[0].startswith("|") else not line.startswith("|")):
            yield from _block(waiting, width)
            waiting = []
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif line.startswith("#"):
            yield Bold(_plain(line.lstrip("# ")))
        elif line.strip():
            waiting.append(line)
        else:
            yield ""
    if waiting:
        yield from _block(waiting, width)


def _block(lines: list[str], width: int) -> Iterator[str]:
    """Yield a paragraph, an item of a list, or a table."""
    if lines[0].startswith("|"):
        rows = [[_plain(cell) for cell in _CELL.split(line.strip()[1:-1])] for line in lines]
        full = [[*row, *[""] * len(rows[0])][: len(rows[0])] for row in rows]
        yield from table(full[0], full[2:], width)
        return
    text = _plain(" ".join(line.strip() for line in lines))
    item = _ITEM.match(lines[0])
    indent = item[1] if item else ""
    yield from wrapped(indent + text, width, further=indent + " " * (len(item[2]) + 1 if item else 0))


def _plain(text: str) -> str:
    return text.replace("**", "").replace("\\|", "|").strip()
