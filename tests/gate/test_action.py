"""The GitHub Action and the pre-commit hooks: their own scripts and entries are run, as their hosts run them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from tests.gate.action import ROOT, execute
from tests.gate.test_worse import WEAT6, Planted
from tests.messages import mentions

import weatherglass
from weatherglass.cli.errors import EXIT_CODES

HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A command called weatherglass on the path, which is this source."""
    command = tmp_path / "bin" / "weatherglass"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m weatherglass "$@"\n')
    command.chmod(0o755)
    source = str(Path(weatherglass.__file__).parents[1])
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": source, "WEATHERGLASS_CACHE": str(tmp_path / "cache")}


def vectors(file: Path, strength: float) -> Path:
    rows = zip(WEAT6.texts, Planted(strength).encode(WEAT6.texts).tolist(), strict=True)
    file.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows))
    return file


def act(environment: dict[str, str], folder: Path, **inputs: str) -> int:
    """Run the action's own script, and return its exit code."""
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    return execute("Run", given, environment, folder).returncode


@pytest.mark.large
def test_the_action_passes_then_fails_when_the_model_is_worse(
    environment: dict[str, str], tmp_path: Path
) -> None:
    vectors(tmp_path / "old vectors.txt", 0.0)
    vectors(tmp_path / "new.txt", 1.0)
    assert act(environment, tmp_path, models="m=vectors:old vectors.txt\n", tests="weat6", output="base") == 0
    assert (tmp_path / "base" / "junit.xml").exists()
    assert "folder=base" in (tmp_path / "output").read_text()
    again = {"tests": "weat6\n", "baseline": "base"}
    assert act(environment, tmp_path, models="m=vectors:old vectors.txt", output="same", **again) == 0
    assert act(environment, tmp_path, models="m=vectors:new.txt", output="worse", **again) == 1
    assert mentions(EXIT_CODES[1], "gate")
    assert mentions((tmp_path / "step.md").read_text(encoding="utf-8"), "gate failed")


def test_inputs_are_arguments_and_never_code(environment: dict[str, str], tmp_path: Path) -> None:
    assert act(environment, tmp_path, models="$(touch hacked)", tests="weat6", fail_if="`touch hacked`") == 2
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    "inputs",
    [
        {"models": "wordllama\n--fail-if=effect_size > 9"},
        {"models": "-o"},
        {"models": "wordllama", "output": "a\nfolder=/"},
        {"models": "wordllama", "output": "a\rb"},
    ],
)
def test_an_option_among_the_models_and_a_second_output_are_refused(
    inputs: dict[str, str], environment: dict[str, str], tmp_path: Path
) -> None:
    ended = execute("Run", {"tests": "weat6", **inputs}, environment, tmp_path)
    assert ended.returncode == 2
    (line,) = ended.stdout.splitlines()
    assert line.startswith(f"::error::{'output' if 'output' in inputs else 'models'}: ")
    assert not ended.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"bin"}, "nothing was computed or written"


@pytest.mark.parametrize(
    ("inputs", "installed"),
    [
        ({}, str(ROOT)),
        ({"extras": "transformers,onnx"}, f"{ROOT}[transformers,onnx]"),
        ({"package": "weatherglass==0.3.0"}, "weatherglass==0.3.0"),
        ({"package": "weatherglass==0.3.0", "extras": "api"}, "weatherglass[api]==0.3.0"),
        ({"package": "weatherglass", "extras": "api"}, "weatherglass[api]"),
        ({"package": "-r x.txt"}, "-r x.txt"),
    ],
)
def test_what_the_action_installs(inputs: dict[str, str], installed: str, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nfor one; do echo "$one"; done\n')
    python.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    ended = execute("Install", inputs, {"PATH": path}, tmp_path)
    assert ended.stdout.splitlines() == ["-m", "pip", "install", "--quiet", "--", installed]


def test_extras_are_names(tmp_path: Path) -> None:
    ended = execute("Install", {"extras": "onnx] evil["}, dict(os.environ), tmp_path)
    assert (ended.returncode, ended.stdout.startswith("::error::extras: ")) == (2, True)


@pytest.mark.large
def test_the_hooks_run(environment: dict[str, str], tmp_path: Path) -> None:
    entries = {hook["id"]: shlex.split(hook["entry"]) for hook in HOOKS}
    assert all(hook["language"] == "python" for hook in HOOKS), "pre-commit then installs this repository"
    file = tmp_path / "mine.toml"
    subprocess.run(["weatherglass", "tests", "init", str(file)], env=environment, check=True)

    def hook(name: str, *arguments: str) -> int:
        command = [*entries[name], *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, check=False).returncode

    assert hook("weatherglass-tests", str(file)) == 0
    (tmp_path / "broken.toml").write_text("X = 3\n")
    assert hook("weatherglass-tests", str(tmp_path / "broken.toml")) == 2
    gate = ("m=vectors:" + str(vectors(tmp_path / "v.txt", 1.0)), "-t", "weat6")
    assert hook("weatherglass-gate", *gate, "--fail-if", "abs(effect_size) > 5") == 0
    assert hook("weatherglass-gate", *gate, "--fail-if", "effect_size > 0.5") == 1
