"""What a shell completes, asked as a shell asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from tests.cli.commands import LEAVES

import weatherglass
from weatherglass.catalogue import list_tests
from weatherglass.cli import app
from weatherglass.cli.options import STARTUP, Choice
from weatherglass.errors import OutputError
from weatherglass.stats.multiplicity import CORRECTIONS


@pytest.fixture(autouse=True)
def _an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Complete in a folder without files, since those are offered beside names: `make run` leaves a folder behind."""
    monkeypatch.chdir(tmp_path)


def completed(*words: str) -> list[str]:
    """Return what the last word can become behind the others."""
    *before, last = words
    shell = ShellComplete(app, {}, "weatherglass", "_WEATHERGLASS_COMPLETE")
    return [item.value for item in shell.get_completions(before, last)]


def test_commands_and_options_are_completed() -> None:
    assert completed("re") == ["report", "reliability", "reproduce"]
    assert completed("tests", "se") == ["sets", "sentences"]
    assert completed("run", "--sc") == ["--scheduler"]


def test_tests_and_topics_are_completed() -> None:
    assert completed("run", "-t", "we") == [name for name in list_tests() if name.startswith("we")]
    assert completed("run", "-t", "sent-weat1")[:2] == ["sent-weat1", "sent-weat10"]
    assert "gender and career" in completed("multiverse", "-t", "gender")
    assert completed("tests", "list", "--topic", "angry") == ["angry black woman"]


def test_metrics_are_completed() -> None:
    assert completed("run", "-m", "ma")[0] == "mac"
    assert "cosine/mean" in completed("run", "-m", "cos")


def test_closed_lists_are_completed() -> None:
    assert completed("run", "--correction", "") == list(CORRECTIONS)
    assert completed("run", "--correction", "h") == ["holm"]
    assert completed("run", "--alternative", "gr") == ["greater"]
    assert completed("report", "x", "-f", "p") == ["png", "pdf"]
    assert completed("compare", "--fail-if", "w") == ["worse"]
    assert completed("reliability", "run", "--format", "js") == ["jsonl"]


def test_every_list_of_choices_can_be_read() -> None:
    choices = [p.type for command in LEAVES.values() for p in command.params if isinstance(p.type, Choice)]
    assert len(choices) >= 10
    assert all(one.choices for one in choices)


def test_lists_with_commas_are_completed_behind_the_last() -> None:
    assert completed("multiverse", "--similarity", "cosine,eu") == ["cosine,euclidean"]
    assert completed("multiverse", "--statistic", "mean,med") == ["mean,median"]
    assert completed("multiverse", "--choices", "te") == ["template"]


def test_models_and_transforms_are_completed() -> None:
    assert completed("run", "wordll") == ["wordllama"]
    assert completed("run", "glov") == ["glove"]
    assert completed("try", "mine=vec") == ["mine=vectors:"]
    assert completed("run", "wordllama | hard") == ["wordllama | hard-debias"]
    assert completed("mitigate", "wordllama", "--with", "lea") == ["leace"]


def test_names_of_studies_are_completed() -> None:
    assert "gender" in completed("reliability", "run", "--pairs", "gen")
    assert completed("reliability", "run", "--prepare", "wiki=wi") == ["wiki=wikitext"]
    assert completed("reliability", "word", "x", "--rule", "dbw") == ["dbwa"]
    assert completed("docs", "glos") == ["glossary"]


def test_files_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "glove.txt").touch()
    assert completed("run", f"{tmp_path}/gl") == [f"{tmp_path}/glove.txt"]
    monkeypatch.chdir(tmp_path)
    assert completed("run", "-t", "glo") == ["glove.txt"]
    assert completed("reliability", "run", "--corpus", "wiki=gl") == ["wiki=glove.txt"]
    assert completed("run", "no-such-folder/x") == []


def test_explain_completes_the_tests_of_its_run(tmp_path: Path) -> None:
    assert completed("explain", str(tmp_path), "weat1") == completed("run", "-t", "weat1")
    (tmp_path / "run.json").write_text('{"tests": {"own-test": "", "weat6": ""}}', "utf-8")
    assert completed("explain", str(tmp_path), "") == ["own-test", "weat6"]


def test_bash_gets_them() -> None:
    """The protocol of click's completion: the words so far in COMP_WORDS, the place in COMP_CWORD."""
    environment = {
        "_WEATHERGLASS_COMPLETE": "bash_complete",
        "COMP_WORDS": "weatherglass run -t weat1",
        "COMP_CWORD": "3",
    }
    done = CliRunner().invoke(app, [], env=environment)
    assert done.output.split() == ["plain,weat1", "plain,weat10"]


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_the_installed_line_makes_bash_complete(tmp_path: Path) -> None:
    program = tmp_path / "weatherglass"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m weatherglass "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    sources = str(Path(weatherglass.__file__).parents[1])
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "SHELL": "/bin/bash",
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([sources, os.environ.get("PYTHONPATH", "")]),
    }
    for _ in range(2):
        subprocess.run([program, "--install-completion"], env=environment, check=True, capture_output=True)
    assert (tmp_path / ".bashrc").read_text("utf-8") == f"{STARTUP['bash'][1]}\n"  # once, though called twice
    shown = subprocess.check_output([program, "--show-completion"], env=environment, text=True)
    assert shown == f"{STARTUP['bash'][1]}\n"
    asked = (
        "source ~/.bashrc; COMP_WORDS=(weatherglass run --correction we); COMP_CWORD=3;"
        "_weatherglass_completion weatherglass we --correction; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", asked], env=environment, text=True, capture_output=True, check=True)
    assert done.stdout.split() == ["westfall-young"]


def test_another_shell_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    with pytest.raises(OutputError, match="tcsh"):
        CliRunner().invoke(app, ["--install-completion"], catch_exceptions=False)
