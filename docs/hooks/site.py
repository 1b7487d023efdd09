"""The hooks of mkdocs.yml: what the build makes is put in its place, and the built site is checked.

A page says where something goes with a comment, which other readers of Markdown do not show:

    <!-- made: commands -->                       every command, from the command line itself
    <!-- made: output weatherglass run -t weat6 -->   what this command prints, run by the build
    <!-- made: gallery NAME -->                   a figure or page of the gallery
    <!-- made: names PACKAGE -->                  the public names of a package, for mkdocstrings
    <!-- made: notebook NAME -->                  a notebook of docs/notebooks, executed by the build

With WEATHERGLASS_SITE=quick the build runs neither commands nor notebooks, and checks everything else as strictly.
Other programs write parts of pages, too; their comments begin with another word than "made".
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from checks import problems
from gallery import Gallery
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from names import reference
from notebooks import notebook_page
from terminal import SwitchedOff, Terminal

from commands import command_pages

ROOT = Path(__file__).parents[2]
QUICK = os.environ.get("WEATHERGLASS_SITE") == "quick"
MADE = re.compile(r"^<!-- made: (\w+) ?(.*?) -->$", re.MULTILINE)

_folder: tempfile.TemporaryDirectory[str] | None = None
_terminal: Terminal
_gallery: Gallery


def on_pre_build(config: Any) -> None:  # noqa: ARG001
    """A folder in which the commands of all pages are run."""
    global _folder, _terminal, _gallery
    _folder = tempfile.TemporaryDirectory()
    _terminal = (SwitchedOff if QUICK else Terminal)(Path(_folder.name), ROOT)
    _gallery = Gallery(_terminal)


def on_files(files: Files, config: Any) -> Files:
    """The figures of the gallery, as files of the site."""
    for name, content in _gallery.files().items():
        files.append(File.generated(config, f"gallery/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """What the build makes, in the places that the page names."""

    def made(place: re.Match[str]) -> str:
        match place[1]:
            case "commands":
                return command_pages()
            case "output":
                printed = _terminal.output(place[2])
                if not printed.strip():
                    raise PluginError(f"{page.file.src_uri}: this command prints nothing: {place[2]}")
                return f"```text\n{printed}```"
            case "gallery":
                return _gallery.markdown(place[2])
            case "names":
                return reference(place[2])
            case "notebook":
                return notebook_page(ROOT / "docs" / "notebooks" / f"{place[2]}.ipynb", QUICK)
        raise PluginError(f"{page.file.src_uri}: nothing is called '{place[1]}'; see docs/hooks/site.py")

    return MADE.sub(made, markdown)


def on_post_build(config: Any) -> None:
    """The build fails on a link that leads nowhere, and on anything that would be fetched from elsewhere."""
    if _folder:
        _folder.cleanup()
    found = problems(Path(config["site_dir"]))
    if found:
        raise PluginError("\n".join(found))
