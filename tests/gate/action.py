"""Run the steps of action.yml as GitHub runs them: bash, inputs as variables, and files for outputs and the summary."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{ inputs\.([\w-]+)( \|\| github\.action_path)? \}\}")
"""The only expressions that the steps have."""


def execute(
    name: str, inputs: Mapping[str, str], environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run a step in a folder, as a job whose workspace it is.

    Args:
        name: name of the step.
        inputs: what a workflow gives below `with:`; the others have their defaults.
        environment: variables of the job.
        folder: the workspace; `output` and `step.md` in it are the files that a step writes its outputs and summary to.
    """
    step = STEPS[name]
    assert not set(inputs) - set(ACTION["inputs"]), "an input that the action does not have"
    assert "${{" not in step["run"], "an input would become text of the script"
    variables = {}
    for variable, expression in step["env"].items():
        found = EXPRESSION.fullmatch(expression)
        assert found, expression
        given = inputs.get(found[1], str(ACTION["inputs"][found[1]].get("default", "")))
        variables[variable] = given or (str(ROOT) if found[2] else "")
    files = {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "step.md")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**environment, **variables, **files},
        capture_output=True,
        text=True,
        check=False,
    )
