"""A scheduler that dies under a run: one line, exit code 3, and the same folder ends as if nothing had been."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.faults.commands import COMMANDS
from tests.parallel.test_cluster import SOURCE, Cluster
from tests.parallel.test_cluster import cluster as cluster


@pytest.mark.large
def test_a_scheduler_that_is_killed_under_a_run_loses_nothing(
    cluster: Cluster, data: Path, tmp_path: Path
) -> None:
    command, folder = COMMANDS["run"], tmp_path / "run"
    words = [sys.executable, "-m", "weatherglass", *command.of(data, folder)]
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    process = subprocess.Popen(
        [*words, "--scheduler", str(cluster.file)], env=environment, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and not (folder / "run.json").exists():
        time.sleep(0.005)
    cluster.scheduler.kill()
    _, err = process.communicate()
    assert process.returncode in (0, 3), err  # 0 where all units were back already
    assert process.returncode == 0 or "scheduler" in err.splitlines()[-1]
    assert "Traceback" not in err
    before = command.finished(folder)
    subprocess.run(words, env=environment, check=True)
    after = command.finished(folder)
    assert all(after[key] == line for key, line in before.items())
    assert len(after) == 3
