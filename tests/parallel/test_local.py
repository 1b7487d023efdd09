"""Units are computed whatever becomes of single ones."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.messages import naming

from weatherglass.errors import WeatherglassError
from weatherglass.parallel import ENGINES, EngineOptions, InProcess, LocalProcesses, backend
from weatherglass.parallel.base import attempt
from weatherglass.parallel.local import THREAD_VARIABLES


def square_or_fail(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number * number


def threads_of_worker(_: int) -> list[str]:
    return [os.environ[name] for name in THREAD_VARIABLES]


def die_the_first_time(flag: Path) -> int:
    if flag.suffix == ".dies" and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def always_die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def report_and_wait(_: int) -> None:
    os.write(sys.stdout.fileno(), f"{os.getpid()}\n".encode())
    time.sleep(600)


def wait_for_ever() -> None:
    list(LocalProcesses(2).map(report_and_wait, range(2)))


def is_running(process: int) -> bool:
    """A process that has ended but was not waited for is not running."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_unit_stops_no_other(jobs: int) -> None:
    outcomes = {outcome.unit: outcome for outcome in backend(jobs).map(square_or_fail, range(9))}
    assert {unit: o.value for unit, o in outcomes.items() if unit != 3} == {
        n: n * n for n in range(9) if n != 3
    }
    assert isinstance(outcomes[3].error, ValueError)


def test_a_killed_process_loses_no_unit(tmp_path: Path) -> None:
    units = [tmp_path / "1", tmp_path / "2.dies", tmp_path / "3", tmp_path / "4"]
    outcomes = list(LocalProcesses(2).map(die_the_first_time, units))
    assert sorted(outcome.unit for outcome in outcomes) == units
    assert all(outcome.error is None for outcome in outcomes)
    assert os.getpid() not in {outcome.value for outcome in outcomes}


def test_processes_stay_for_the_next_units_and_end_with_their_owner() -> None:
    workers = LocalProcesses(2)
    units = [Path(str(number)) for number in range(8)]
    first, second = ({o.value for o in workers.map(die_the_first_time, units)} for _ in range(2))
    # Two processes at most; a pool of its own for each call would have new ones.
    processes = {process for process in first | second if process is not None}
    assert len(processes) <= 2
    assert all(map(is_running, processes))
    del workers
    deadline = time.monotonic() + 60
    while any(map(is_running, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, processes))


def collection_threshold(_: int) -> tuple[int, int, int]:
    return gc.get_threshold()


def test_processes_look_for_cycles_as_rarely_as_their_parent() -> None:
    before = gc.get_threshold()
    gc.set_threshold(54_321, 7, 8)
    try:
        (outcome,) = LocalProcesses(1).map(collection_threshold, [0])
    finally:
        gc.set_threshold(*before)
    assert outcome.value == (54_321, 7, 8)


def test_a_process_that_dies_between_two_calls_is_replaced() -> None:
    workers = LocalProcesses(2)
    (died,) = {o.value for o in workers.map(die_the_first_time, [Path("1")])}
    assert died is not None
    os.kill(died, signal.SIGKILL)
    outcomes = list(workers.map(die_the_first_time, [Path("1"), Path("2")]))
    assert all(outcome.error is None and outcome.value != died for outcome in outcomes)


def test_interrupting_one_owner_leaves_the_processes_of_another() -> None:
    one, other = LocalProcesses(1), LocalProcesses(1)
    working = one.map(die_the_first_time, [Path("1"), Path("2")])
    next(working)
    (kept,) = {o.value for o in other.map(die_the_first_time, [Path("3")])}
    working.close()  # type: ignore[attr-defined]
    assert {o.value for o in other.map(die_the_first_time, [Path("4")])} == {kept}


def test_a_unit_that_always_kills_its_process_is_given_up() -> None:
    (outcome,) = LocalProcesses(2).map(always_die, [1])
    assert "died 3 times" in str(outcome.error)


def test_workers_of_a_killed_command_do_not_outlive_it() -> None:
    command = [sys.executable, "-c", "from tests.parallel.test_local import wait_for_ever; wait_for_ever()"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        parent.kill()
        # The pipe is closed only when the last process that holds it has ended.
        assert parent.communicate(timeout=60)[0] == ""
    assert not any(is_running(worker) for worker in workers)


def test_processes_share_the_cores() -> None:
    cores = os.cpu_count() or 1
    (outcome,) = LocalProcesses(cores).map(threads_of_worker, [0])
    assert outcome.value == ["1"] * len(THREAD_VARIABLES)


def test_an_engine_is_chosen_by_jobs_or_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[EngineOptions] = []

    def remember(options: EngineOptions) -> InProcess:
        asked.append(options)
        return InProcess()

    monkeypatch.setitem(ENGINES._registered, "mine", remember)
    monkeypatch.setitem(ENGINES._registered, "dask", remember)
    assert isinstance(backend(1), InProcess)
    assert backend(3) == LocalProcesses(3)
    assert backend(1, "processes:4") == LocalProcesses(4)
    backend(2, "mine:gpu:7", Path("shared"))
    backend(1, "tcp://127.0.0.1:8786")
    backend(1, "dask:tcp://127.0.0.1:8786")
    backend(1, "scheduler.json")
    assert asked == [
        EngineOptions(2, "gpu:7", Path("shared")),
        EngineOptions(1, "tcp://127.0.0.1:8786"),
        EngineOptions(1, "tcp://127.0.0.1:8786"),
        EngineOptions(1, "scheduler.json"),
    ]


@pytest.mark.parametrize("scheduler", ["processes:many", "processes:0", "in-process:2"])
def test_an_address_that_an_engine_cannot_read_is_one_clear_error(scheduler: str) -> None:
    engine, address = scheduler.split(":")
    with pytest.raises(WeatherglassError, match=naming(f"'{engine}'", f"'{address}'")):
        backend(1, scheduler)


@pytest.mark.parametrize("jobs", [0, -1])
def test_fewer_than_one_process_is_one_clear_error(jobs: int) -> None:
    with pytest.raises(WeatherglassError, match=naming("jobs", jobs, 1)):
        backend(jobs)


def test_an_interrupt_of_compiled_code_is_no_failure_of_the_unit() -> None:
    """Python reports it as "SystemError: … returned a result with an exception set", caused by the interrupt."""

    def interrupted() -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        attempt(interrupted)
    error = attempt(int, "x")[1]
    assert isinstance(error, ValueError)
