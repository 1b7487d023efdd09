"""A real scheduler and real worker processes on loopback; some of them are killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import mentions, naming

import weatherglass as wg
from weatherglass.audit.run import Run
from weatherglass.errors import ClusterError, VectorFileError
from weatherglass.parallel import backend

pytest.importorskip("distributed", reason="dask is not installed; pip install 'weatherglass[distributed]'")

SOURCE = str(Path(wg.__file__).parents[1])
TESTS = str(Path(__file__).parents[2])


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.file = folder / "scheduler.json"
        self._folder = folder
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        self.scheduler = self._start("scheduler", *options, "--scheduler-file", str(self.file))
        self.workers = [self.start_worker() for _ in range(workers)]

    def start_worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        return self._start("worker", *options, "--scheduler-file", str(self.file))

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([SOURCE, TESTS, os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster(tmp_path, workers=2)
    deadline = time.monotonic() + 60
    while not started.file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    try:
        yield started
    finally:
        started.stop()


def double(number: int) -> int:
    return 2 * number


def sum_with(number: int, common: np.ndarray) -> float:
    return float(number + common.sum())


def slow_pid(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def slow_sum(seconds: float, common: np.ndarray) -> float:
    time.sleep(seconds)
    return float(common.sum())


def fail_on_three(number: int) -> int:
    if number == 3:
        raise VectorFileError("vectors.txt: cannot be read")
    return number


def full_disk_once(flag: Path) -> int:
    if not flag.exists():
        flag.touch()
        raise OSError(28, "No space left on device")
    return os.getpid()


def numbers(run: Run) -> list[tuple[str, float, float, float | None]]:
    return [(r.test, r.effect_size, r.p_value, r.p_adjusted) for r in run.results]


def test_units_come_back_from_the_workers(cluster: Cluster) -> None:
    workers = backend(scheduler=str(cluster.file))
    assert {o.unit: o.value for o in workers.map(double, range(20))} == {n: 2 * n for n in range(20)}


@pytest.mark.large
@pytest.mark.parametrize("shared", [False, True])
def test_a_common_array_reaches_the_workers(cluster: Cluster, tmp_path: Path, shared: bool) -> None:
    workers = backend(scheduler=str(cluster.file), shared_dir=tmp_path if shared else None)
    outcomes = list(workers.map(sum_with, range(4), np.arange(1000.0)))
    assert {o.unit: o.value for o in outcomes} == {n: n + 499500.0 for n in range(4)}


def test_a_failing_unit_names_the_machine_and_stops_no_other(cluster: Cluster) -> None:
    outcomes = {o.unit: o for o in backend(scheduler=str(cluster.file)).map(fail_on_three, range(6))}
    assert [outcomes[n].value for n in (0, 1, 2, 4, 5)] == [0, 1, 2, 4, 5]
    assert mentions(str(outcomes[3].error), "worker", socket.gethostname())
    assert isinstance(outcomes[3].error, VectorFileError)


def test_a_full_disk_on_one_worker_is_tried_again(cluster: Cluster, tmp_path: Path) -> None:
    (outcome,) = backend(scheduler=str(cluster.file)).map(full_disk_once, [tmp_path / "flag"])
    assert outcome.error is None


@pytest.mark.large
def test_a_killed_worker_loses_no_unit(cluster: Cluster) -> None:
    outcomes = backend(scheduler=str(cluster.file)).map(slow_pid, [0.4] * 8)
    first = next(outcomes)
    cluster.workers[0].send_signal(signal.SIGKILL)
    rest = list(outcomes)
    assert len(rest) == 7
    assert all(outcome.error is None for outcome in rest)
    assert {outcome.value for outcome in rest[-2:]} == {cluster.workers[1].pid}
    assert first.value in {worker.pid for worker in cluster.workers}


def test_a_result_that_is_lost_before_it_is_fetched_is_computed_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that dies with finished results takes them along; the scheduler may then know them no more."""
    from distributed import Future

    lost: list[object] = []
    result = Future.result

    def lose_the_first(future: Future[Any], timeout: float | None = None) -> object:
        if not lost:
            lost.append(future.key)
            future.cancel()
        return result(future, timeout)

    monkeypatch.setattr(Future, "result", lose_the_first)
    outcomes = list(backend(scheduler=str(cluster.file)).map(double, range(6)))
    assert lost
    assert {outcome.unit: outcome.value for outcome in outcomes} == {n: 2 * n for n in range(6)}


@pytest.mark.large
def test_a_common_array_is_sent_again_when_its_only_holder_is_killed(cluster: Cluster) -> None:
    holder, other = cluster.workers
    other.kill()
    other.wait()
    outcomes = backend(scheduler=str(cluster.file)).map(slow_sum, [0.5] * 6, np.arange(1000.0))
    assert next(outcomes).value == 499500.0
    cluster.workers.append(cluster.start_worker())
    holder.kill()
    assert [outcome.value for outcome in outcomes] == [499500.0] * 5


def test_a_scheduler_that_goes_away_is_one_clear_error(cluster: Cluster) -> None:
    outcomes = backend(scheduler=str(cluster.file)).map(slow_pid, [0.2] * 20)
    next(outcomes)
    cluster.scheduler.kill()
    with pytest.raises(ClusterError, match=naming("connection", "scheduler")):
        list(outcomes)


@pytest.mark.parametrize(
    ("address", "fact"), [("tcp://127.0.0.1:9", "dask scheduler"), ("nowhere.json", "file")]
)
def test_a_scheduler_that_is_not_there_is_one_clear_error(
    address: str, fact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weatherglass.parallel.cluster.CONNECT_TIMEOUT", 0.5)
    with pytest.raises(ClusterError, match=naming(address, fact)):
        list(backend(scheduler=address).map(double, [1]))


@pytest.mark.large
@pytest.mark.parametrize(
    "tests", [["weat[678]"], pytest.param(["weat*", "sent-weat[5-8]"], marks=pytest.mark.large)]
)
def test_a_distributed_run_equals_a_local_one_though_a_worker_is_killed(
    cluster: Cluster, tmp_path: Path, tests: list[str]
) -> None:
    folder = tmp_path / "run"
    command = [
        sys.executable,
        "-m",
        "weatherglass",
        "run",
        "-o",
        str(folder),
        "--scheduler",
        str(cluster.file),
        "-q",
    ]
    for test in tests:
        command += ["-t", test]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": SOURCE})
    journal = folder / "journal.jsonl"
    while process.poll() is None and not (journal.exists() and journal.stat().st_size):
        time.sleep(0.01)
    cluster.workers[0].kill()
    assert process.wait() == 0
    local = wg.run(tests=tests)
    again = wg.run(tests=tests, folder=folder)
    assert numbers(again) == numbers(local)
    assert len(journal.read_text().splitlines()) == len(local.results)


@pytest.mark.large
def test_a_study_on_a_cluster_equals_a_local_one_though_a_worker_is_killed(
    cluster: Cluster, tmp_path: Path
) -> None:
    pytest.importorskip("gensim", reason="gensim is not installed; pip install 'weatherglass[reliability]'")
    text = tmp_path / "text.txt"
    words = np.random.default_rng(0).zipf(1.5, (3000, 12)) % 60
    text.write_text("\n".join(" ".join(f"w{word}" for word in row) for row in words))

    def train(folder: Path, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "weatherglass", "reliability", "train", "--corpus", f"made={text}"]
        command += ["--seeds", "3", "-o", str(folder), "-q", *options]
        return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": SOURCE}, stdout=subprocess.DEVNULL)

    process = train(tmp_path / "there", "--scheduler", str(cluster.file))
    stored = tmp_path / "there" / "embeddings"
    while process.poll() is None and not (stored.is_dir() and any(stored.glob("*.safetensors"))):
        time.sleep(0.02)
    cluster.workers[0].kill()
    assert process.wait() == 0
    assert train(tmp_path / "here").wait() == 0
    there, here = (
        {file.name: file.read_bytes() for file in folder.glob("*.safetensors")}
        for folder in (stored, tmp_path / "here" / "embeddings")
    )
    assert len(there) == 6
    assert there == here
