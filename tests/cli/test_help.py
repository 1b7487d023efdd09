"""Help: an example of each command, options in groups, lines that fit; and what a shell completes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import CliRunner

from weatherglass.cli import app
from weatherglass.cli.commands import COMMANDS
from weatherglass.cli.completion import (
    complete_metric,
    complete_model,
    complete_test,
    complete_test_of_run,
    complete_topic,
)
from weatherglass.cli.examples import EXAMPLES
from weatherglass.cli.run import GATE, OUTPUT, WHAT
from weatherglass.cli.settings_options import HOW_P, MARKS

ROOT: Any = typer.main.get_command(app)


def leaves(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, one in command.commands.items():
        if hasattr(one, "commands"):
            yield from leaves(one, (*words, name))
        else:
            yield (*words, name), one


LEAVES = dict(leaves(ROOT))


def test_every_command_has_an_example_and_no_example_is_of_nothing() -> None:
    assert set(EXAMPLES) == {"", *(" ".join(words) for words in LEAVES)}


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_the_command_would_take_its_example(words: tuple[str, ...]) -> None:
    for example in EXAMPLES[" ".join(words)]:
        assert len(example) <= 78
        program, *given = shlex.split(example)
        assert program == "weatherglass"
        command = ROOT
        while hasattr(command, "commands"):
            command = command.commands[given.pop(0)]
        command.make_context("example", given)  # an unknown option or a missing argument would be an error


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_help_fits_80_columns_and_ends_with_the_example(words: tuple[str, ...]) -> None:
    lines = CliRunner().invoke(ROOT, [*words, "--help"]).output.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1].strip() == EXAMPLES[" ".join(words)][-1]


def test_the_table_of_commands_says_what_the_commands_say() -> None:
    assert {name: entry.summary for name, entry in COMMANDS.items()} == {
        name: command.get_short_help_str(limit=500) for name, command in ROOT.commands.items()
    }


def test_the_list_of_commands_imports_none_of_them() -> None:
    loaded = modules_after(["--help"])
    assert "weatherglass.cli.commands" in loaded
    assert not {entry.place.partition(":")[0] for entry in COMMANDS.values()} & {
        module.removeprefix("weatherglass.cli.")
        for module in loaded
        if module.startswith("weatherglass.cli.")
    }
    assert not {"rich", "numpy", "weatherglass.audit", "weatherglass.catalogue"} & loaded


def test_a_command_imports_no_other() -> None:
    loaded = modules_after(["run", "--help"])
    assert "weatherglass.cli.run" in loaded
    assert not {f"weatherglass.cli.{name}" for name in ("tests", "report", "reliability", "models")} & loaded
    assert not {"rich", "numpy"} & loaded


def modules_after(arguments: list[str]) -> set[str]:
    """What is loaded once a command has ended, in a process of its own."""
    script = (
        "import json, sys\nfrom weatherglass.cli import app\n"
        f"try:\n    app({arguments!r})\nexcept SystemExit:\n    pass\nprint(json.dumps(list(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_options_of_run_stand_in_groups() -> None:
    text = CliRunner().invoke(ROOT, ["run", "--help"]).output
    assert all(f"\n{group}:\n" in text for group in ("Arguments", WHAT, OUTPUT, GATE, HOW_P, MARKS))
    alone = text.split("\nOptions:\n")[1].split("\n\n")[0].splitlines()
    assert len(alone) == 1  # every option but --help is in a group


def test_names_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete_test("sent-weat1")[:2] == ["sent-weat1", "sent-weat10"]
    assert "gender and career" in complete_test("gender")
    assert complete_topic("angry") == ["angry black woman"]
    assert "cosine/mean" in complete_metric("cos")
    assert complete_metric("mac") == ["mac"]
    assert complete_model("wordll") == ["wordllama"]
    assert complete_model("mine=vec") == ["mine=vectors:"]
    (tmp_path / "glove.txt").touch()
    assert complete_model(f"{tmp_path}/gl") == [f"{tmp_path}/glove.txt"]
    monkeypatch.chdir(tmp_path)
    assert complete_test("glo") == ["glove.txt"]
    assert complete_model("no-such-folder/x") == []


def test_explain_completes_the_tests_of_its_run(tmp_path: Path) -> None:
    context = typer.Context(LEAVES["explain",])
    context.params["run"] = tmp_path
    assert complete_test_of_run(context, "weat1") == complete_test("weat1")
    (tmp_path / "run.json").write_text('{"tests": {"own-test": "", "weat6": ""}}', "utf-8")
    assert complete_test_of_run(context, "") == ["own-test", "weat6"]


def test_a_shell_gets_them() -> None:
    """The protocol of click's completion: the words so far in COMP_WORDS, the place in COMP_CWORD."""
    environment = {
        "_WEATHERGLASS_COMPLETE": "complete_bash",
        "COMP_WORDS": "weatherglass run -t weat1",
        "COMP_CWORD": "3",
    }
    done = CliRunner().invoke(ROOT, [], env=environment, prog_name="weatherglass")
    assert done.output.split() == ["weat1", "weat10"]


def test_git_ignores_the_folders_that_commands_write_by_default() -> None:
    lines = (Path(__file__).parents[2] / ".gitignore").read_text("utf-8").split()
    parameters = [parameter for command in LEAVES.values() for parameter in command.params]
    folders = {str(one.default) for one in parameters if one.name == "folder" and one.default is not None}
    assert {"weatherglass-run", "weatherglass-multiverse"} <= folders
    assert [name for name in folders if not any(fnmatchcase(f"/{name}/", f"*{line}") for line in lines)] == []
