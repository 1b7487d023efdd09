"""`weatherglass reproduce du2021`: what it prints beside the published figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weatherglass.cli import app


@pytest.mark.large
def test_the_command_prints_the_published_correlations_beside_ours(text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    options = ["--seeds", "2", "--dimensions", "8", "-o", str(folder)]
    done = CliRunner().invoke(app, ["reproduce", "du2021", f"made={text}", *options])
    assert done.exit_code == 0, done.output
    rows = {tuple(line.split()[:3]): line.split()[3:] for line in done.stdout.splitlines() if line}
    # The reproduction of Du et al., Tables 2 and 4: gender and GloVe have an original figure beside the reproduced one.
    assert rows["gender", "glove", "dbwa-ripa"][1:] == ["0.989", "0.923"]
    assert rows["sexual_orientation", "sgns", "dbwa-nbm"] == ["–", "0.654", "–"]
    assert -1 <= float(rows["gender", "glove", "dbwa-ripa"][0]) <= 1
    assert "high test–retest:" in done.stdout
    assert (folder / "study.html").is_file()
