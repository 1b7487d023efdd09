"""`python -m benchmarks` runs every part, whatever the others do, and says which failed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import benchmarks.__main__ as runner


def run_all(folder: Path, **parts: str) -> subprocess.CompletedProcess[str]:
    """The runner over a folder of these modules instead of the real ones, which take minutes."""
    package = folder / "benchmarks"
    package.mkdir()
    shutil.copy(str(runner.__file__), package / "__main__.py")
    for name, code in parts.items():
        (package / f"{name}.py").write_text(code)
    command = [sys.executable, "-m", "benchmarks"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_part_that_crashes_is_named_and_the_rest_still_run(tmp_path: Path) -> None:
    done = run_all(
        tmp_path,
        a_crash="1 / 0",
        b_fine="print('b is done')",
        c_killed="import os\nos.kill(os.getpid(), 9)",
        d_fine="print('d is done')",
        _helper="raise AssertionError('no benchmark')",
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "failed: a_crash (exit code 1), c_killed (exit code -9)"
    assert "ZeroDivisionError" in done.stderr
    assert "b is done" in done.stdout
    assert "d is done" in done.stdout


def test_no_crash_is_exit_code_0(tmp_path: Path) -> None:
    done = run_all(tmp_path, a_fine="print('a is done')")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "\n== a_fine\n\na is done\n"
