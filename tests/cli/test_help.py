"""Help: an example of each command, options in groups, lines that fit and break no word."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from fnmatch import fnmatchcase
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.cli.commands import CONTEXT, LEAVES

from weatherglass.audit.settings import HOW_P, MARKS, Settings
from weatherglass.cli import COMMANDS, app
from weatherglass.cli.command import first_paragraph
from weatherglass.cli.errors import EXIT_CODES
from weatherglass.cli.options import OUTPUT, Choice
from weatherglass.cli.run import GATE, WHAT

GROUPS = [(), *sorted({words[:-1] for words in LEAVES} - {()})]


def help_of(*words: str) -> str:
    """Return the help at 80 columns."""
    return CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"}).output


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_the_command_would_take_its_example(words: tuple[str, ...]) -> None:
    assert LEAVES[words].examples
    for example in LEAVES[words].examples:
        assert len(example) <= 78
        program, *given = shlex.split(example)
        assert program == "weatherglass"
        called = tuple(given[: len(words)])
        # An unknown option or a missing argument would be an error; an example of metrics shows how to run one.
        LEAVES.get(called, LEAVES["run",]).make_context(
            "example", given[len(called) if called in LEAVES else 1 :]
        )


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_help_fits_80_columns_and_ends_with_the_example(words: tuple[str, ...]) -> None:
    text = help_of(*words)
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[-1].strip() == LEAVES[words].examples[-1]
    assert text.startswith(f"Usage: weatherglass {' '.join(words)} [OPTIONS]")
    assert "[[" not in text
    assert not re.search("[Ee]xit code", text)


@pytest.mark.parametrize("words", [*LEAVES, *GROUPS], ids=" ".join)
def test_help_breaks_no_word(words: tuple[str, ...]) -> None:
    wide = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"}, terminal_width=5000).output
    assert set(help_of(*words).split()) == set(wide.split())


@pytest.mark.parametrize("words", GROUPS, ids=" ".join)
def test_the_list_of_commands_has_the_first_paragraph_of_each(words: tuple[str, ...]) -> None:
    text = " ".join(help_of(*words).split())
    listed = {path[len(words)]: command for path, command in LEAVES.items() if path[:-1] == words}
    for name, command in listed.items():
        assert f"{name} {first_paragraph(command.help or '')}" in text


def test_the_table_of_commands_says_what_the_commands_say() -> None:
    for name, (_, summary) in COMMANDS.items():
        command = app.get_command(CONTEXT, name)
        assert command is not None
        assert summary == first_paragraph(command.help or "")


def test_the_help_of_the_program_alone_states_the_exit_codes() -> None:
    text = " ".join(help_of().split())
    assert list(EXIT_CODES) == [0, 1, 2, 3, 4]
    for code, meaning in EXIT_CODES.items():
        assert f"{code} {meaning}" in text


def test_every_setting_is_an_option_whose_help_names_its_choices() -> None:
    options = {option.name: option for option in LEAVES["run",].params if isinstance(option, click.Option)}
    assert {field.name for field in fields(Settings)} <= set(options)
    for field in fields(Settings):
        option = options[field.name]
        assert option.opts == [f"--{field.name.replace('_', '-')}"]
        if isinstance(option.type, Choice):
            named = [name for name in option.type.choices if name in (option.help or "")]
            assert len(named) >= min(2, len(option.type.choices))
            assert field.default in (None, *option.type.choices)


def test_the_list_of_commands_imports_none_of_them() -> None:
    loaded = modules_after(["--help"])
    assert not {f"weatherglass.cli.{place.partition(':')[0]}" for place, _ in COMMANDS.values()} & loaded
    assert not {"numpy", "weatherglass.audit", "weatherglass.catalogue", "weatherglass.report"} & loaded


def test_a_command_imports_no_other() -> None:
    loaded = modules_after(["run", "--help"])
    assert "weatherglass.cli.run" in loaded
    assert not {f"weatherglass.cli.{name}" for name in ("tests", "stored", "reliability", "models")} & loaded
    assert "numpy" not in loaded


def modules_after(arguments: list[str]) -> set[str]:
    """What is loaded once a command has ended, in a process of its own."""
    script = (
        "import json, sys\nfrom weatherglass.cli import app\n"
        f"try:\n    app({arguments!r})\nexcept SystemExit:\n    pass\nprint(json.dumps(list(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_options_of_run_are_in_groups() -> None:
    text = help_of("run")
    assert all(f"\n{group}:\n" in text for group in ("Arguments", WHAT, OUTPUT, GATE, HOW_P, MARKS))
    alone = text.split("\nOptions:\n")[1].split("\n\n")[0].splitlines()
    assert len(alone) == 1  # every option but --help is in a group


def test_git_ignores_the_folders_that_commands_write_by_default() -> None:
    lines = (Path(__file__).parents[2] / ".gitignore").read_text("utf-8").split()
    parameters = [parameter for command in LEAVES.values() for parameter in command.params]
    folders = {
        str(one.default) for one in parameters if one.name == "folder" and isinstance(one, click.Option)
    }
    assert {"weatherglass-run", "weatherglass-multiverse"} <= folders
    assert [name for name in folders if not any(fnmatchcase(f"/{name}/", f"*{line}") for line in lines)] == []
