"""What the pages tell a reader to type works: their blocks are run, and commands that are not are at least parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from tests.docs.blocks import SHELL, Block, blocks, commands, is_run, run_page
from tests.docs.stand_ins import STAND_INS
from tests.registries import registries_restored

from weatherglass.cli import app
from weatherglass.errors import WeatherglassError

ROOT = Path(__file__).parents[2]
WRITTEN_BY_COMMANDS = (
    "docs/study/",
    "docs/multiverse",
    "docs/performance.md",
    "docs/reference",
    "docs/walks",
)
"""Pages of results, whose commands take hours, and walks; what they say is tested where they are written."""
PAGES = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if not path.relative_to(ROOT).as_posix().startswith(WRITTEN_BY_COMMANDS)
]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


FIRST = ("README.md", "docs/index.md")
"""What a new user reads; make test-all runs the blocks of every page."""
RUN = [page for page in PAGES if any(map(is_run, blocks(text_of(page))))]
TYPED = [page for page in PAGES if any(block.language in SHELL for block in blocks(text_of(page)))]


@pytest.fixture(autouse=True, scope="module")  # once: it looks through all objects of the process
def forget_registrations() -> Iterator[None]:
    with registries_restored():
        yield


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The file or folder that stands in for one that pages name, made once."""
    folder = tmp_path_factory.mktemp("stand-ins")

    @cache
    def made(name: str) -> Path:
        STAND_INS[name](folder / name)
        return folder / name

    return made


@pytest.mark.parametrize(
    "page",
    [page if name_of(page) in FIRST else pytest.param(page, marks=pytest.mark.large) for page in RUN],
    ids=name_of,
)
def test_the_blocks_of_a_page_work(
    page: Path, stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / ".cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    shown = "\n".join(block.text for block in blocks(text_of(page)) if is_run(block))
    folder = tmp_path / "page"
    folder.mkdir()
    for name in STAND_INS:
        if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.…-])", shown):
            (folder / name).symlink_to(stand_in(name))
    assert run_page(text_of(page), folder) > 0


def test_every_command_of_every_page_is_one_that_the_program_knows() -> None:
    wrong = []
    for page in TYPED:
        shell = (block for block in blocks(text_of(page)) if block.language in SHELL)
        for arguments in (arguments for block in shell for arguments in commands(block)):
            try:
                parse(arguments)
            except (AssertionError, click.ClickException, WeatherglassError) as error:
                wrong.append(f"{name_of(page)}: {' '.join(arguments)}: {error}")
    assert not wrong


def parse(arguments: list[str]) -> None:
    """Raise if a command, an option or a required argument is wrong; nothing is carried out."""
    context = click.Context(app)
    command: click.Command = app
    while isinstance(command, click.Group) and arguments:
        found = command.get_command(context, arguments[0])
        assert found is not None, f"no command '{arguments[0]}' ({' '.join(arguments)})"
        command, arguments = found, arguments[1:]
    command.make_context("weatherglass", list(arguments))


def test_a_wrong_option_is_found() -> None:
    with pytest.raises(Exception, match="--tset"):
        parse(["run", "--tset", "weat6"])


def test_a_block_that_fails_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no-such-test"):
        run_page("```sh\nweatherglass run -t no-such-test\n```\n", tmp_path)
    with pytest.raises(AssertionError, match="ends with 2"):
        run_page("```sh\nweatherglass run -t no-such-test > table.txt\n```\n", tmp_path)
    with pytest.raises(ZeroDivisionError):
        run_page("```python\n1 / 0\n```\n", tmp_path)
    with pytest.raises(AssertionError, match="Expected"):
        run_page("```python\n>>> 1 + 1\n3\n```\n", tmp_path)


def test_a_block_says_why_it_is_not_run() -> None:
    not_run = "<!-- not run: it needs a cluster -->\n```sh\nfalse\n```\n\n"
    page = f"{not_run}```toml\n# a.toml\nx = 1\n```\n\n```toml\nx = 1\n```\n"
    assert [(block.why_not_run, block.file, is_run(block)) for block in blocks(page)] == [
        ("it needs a cluster", None, False),
        (None, "a.toml", True),
        (None, None, False),
    ]
    assert isinstance(blocks(page)[0], Block)
