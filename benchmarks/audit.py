"""The main job: all 46 tests on the embedded model, by stage, against the same run with nothing left to do."""

from __future__ import annotations

import tempfile
import time

import weatherglass as wg
from weatherglass.progress import Silent


class Stages(Silent):
    """Notes the CPU time at which each stage begins."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, float]] = []

    def stage(self, name: str, total: int) -> None:  # noqa: ARG002 - the signature is the protocol's
        self.begun.append((name, time.process_time()))


def timed(folder: str) -> tuple[float, Stages]:
    """CPU seconds of one run into `folder`, and its stages."""
    stages = Stages()
    start = time.process_time()
    run = wg.run(folder=folder, progress=stages)
    spent = time.process_time() - start
    assert len(run.results) == 46
    return spent, stages


def main() -> None:
    """Print CPU seconds by stage, and the ratio of a first run to a second that finds everything done."""
    wg.run(tests="weat6")  # compiled code and the model's file are then at hand
    with tempfile.TemporaryDirectory() as folder:
        first, stages = timed(folder)
        second, _ = timed(folder)
    ends = [begun for _, begun in stages.begun[1:]] + [stages.begun[0][1] + first]
    for (name, begun), end in zip(stages.begun, ends, strict=True):
        print(f"{name:32} {end - begun:6.2f} CPU s")
    print(f"{'46 tests':32} {first:6.2f} CPU s")
    print(f"{'the same again (baseline)':32} {second:6.2f} CPU s, {first / second:.0f} times less")


if __name__ == "__main__":
    main()
