"""What the README prints and claims is what the commands print today."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a first run prints in a terminal of 80 columns."""
    done = subprocess.run(
        [sys.executable, "-m", "weatherglass", "run"],
        cwd=tmp_path_factory.mktemp("first"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "COLUMNS": "80", "PYTHONPATH": str(ROOT / "src")},
        text=True,
        check=True,
    )
    # A busy machine shows progress after some seconds.
    return "".join(line for line in done.stdout.splitlines(True) if not line.startswith("weatherglass: "))


def test_the_screen_is_what_the_command_prints(printed: str) -> None:
    (shown,) = re.findall(r"```\n(glove .*?)```", README, re.S)
    assert shown == printed
    assert max(map(len, shown.splitlines())) <= 80
    report = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    (begun,) = re.findall(r"```\n(glove .*?)…\n```", report, re.S)
    assert printed.startswith(begun)


def test_the_finding_is_that_of_the_screen(printed: str) -> None:
    (d, low, high) = re.findall(
        r"mean d = (\S+), 95 % CI\s+(\S+) to (\S+?)\. The verdict is \*robust\*", README
    )[0]
    assert f"mean d {d}, 95 % CI {low} to {high}" in " ".join(printed.split())
    robust = printed[printed.index("ROBUST") : printed.index("ISOLATED")]
    assert re.search(rf"Gender and career +{d} ", robust)


def test_the_caution_is_in_the_table_of_reference_models() -> None:
    ratio, low, high = re.findall(r"only (\S+) times as often \(95 % CI (\S+) to (\S+)\)", README)[0]
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    verdicts, rankings = reference.split("<!-- ranking -->")
    (row,) = re.findall(r"^\| all-MiniLM-L6-v2 \|.*", rankings, re.M)
    assert f"fails<br>{ratio} [{low}, {high}]" in row.split("|")[3]
    header, *rows = [line.split(" | ") for line in verdicts.splitlines() if line.count(" | ") > 6]
    outcomes = [row[header.index("all-MiniLM-L6-v2")] for row in rows if "<br>" in row[-1]]
    assert len(outcomes) >= 8
    assert not any("robust" in outcome for outcome in outcomes)
