"""`weatherglass docs`: the manual in the terminal, since the installed package is often all that a user has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from weatherglass.manual.pages import Page

WIDTH = 80


def docs(
    topic: Annotated[
        str | None,
        typer.Argument(help="A topic, or TOPIC#SECTION. Default: the list of topics.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print a page of the manual; without a topic, list them.

    Exit code 0: printed; 2: there is no such topic or section, and the nearest is named.
    """
    from weatherglass.manual.pages import read_page, topics

    if topic is None:
        titles = {name: read_page(name).title for name in topics()}
        _print_json(titles) if as_json else _print_topics(titles)
        return
    name, _, anchor = topic.partition("#")
    page = read_page(name.removesuffix(".md").removeprefix("docs/"))
    if as_json:
        _print_json({"topic": page.topic, "title": page.title, "text": page.text(anchor)})
    else:
        _print_page(page, anchor)


def _print_json(value: object) -> None:
    from weatherglass.cli.console import print_json

    print_json(value)


def _print_topics(titles: dict[str, str]) -> None:
    from weatherglass.cli.console import plain_table

    table = plain_table("topic", "page")
    for topic, title in titles.items():
        table.add_row(topic, title.replace("`", ""))
    console = _console()
    console.print(table)
    console.print("\nweatherglass docs TOPIC prints a page, TOPIC#SECTION one section of it.")


def _print_page(page: Page, anchor: str) -> None:
    from rich.markdown import Markdown

    console = _console()
    console.print(Markdown(page.text(anchor), hyperlinks=False, code_theme="ansi_dark"))
    if named := page.topics_named(anchor):
        console.print(f"\nweatherglass docs …  {'  '.join(named)}")


def _console() -> Console:
    """At most 80 columns: a page is read, and long lines are not."""
    from rich.console import Console

    console = Console(markup=False, emoji=False, highlight=False)
    console.width = min(WIDTH, console.width)
    return console
