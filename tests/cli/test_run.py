"""`weatherglass run` as a user types it, in a process of its own."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cases import every
from tests.messages import mentions, naming

from weatherglass.cli.options import parse_budget
from weatherglass.errors import WeatherglassError

COMMAND = [sys.executable, "-m", "weatherglass"]


def weatherglass(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    in_a_pipe = {
        name: value for name, value in os.environ.items() if name != "COLUMNS"
    }  # pytest may state it
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, env=in_a_pipe
    )


def test_the_embedded_model_is_put_through_all_46_tests(tmp_path: Path) -> None:
    done = weatherglass("run", "-o", tmp_path / "run", "--table")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("glove")
    assert len((tmp_path / "run" / "results.tsv").read_text().splitlines()) == 47
    assert sum(line[2:].startswith(("weat", "sent-", "angry_", "heilman")) for line in lines) == 46
    assert mentions(done.stdout, "inconclusive", "unbiased")
    assert lines[-1].endswith(str(tmp_path / "run" / "report.html"))


def test_json_is_for_machines(tmp_path: Path) -> None:
    done = weatherglass("run", "-t", "weat6", "-o", tmp_path / "run", "--json")
    record = json.loads(done.stdout)
    assert record["status"] == "complete"
    assert record["results"][0]["test"] == "weat6"
    assert len(record["results"][0]["scores"]) == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "no-such-file.txt"], naming("no-such-file.txt")),
        (["run", "wordlama"], naming("wordlama", suggesting="wordllama")),
        (["tests", "import", "grep-biasir"], naming("grep-biasir", "rank", "--variants grep-biasir")),
        (["run", "-t", "weat11"], naming("weat11", suggesting="weat1")),
        (["run", "-m", "cosine/average"], naming("cosine/average")),
        (["run", "--significance", "exakt"], naming("exakt", suggesting="exact")),
        (["run", "--budget", "lots"], naming("lots", "2s,1GB")),
        (["run", "wordllama?dim=7"], naming("dim=7")),
        (["tests", "show", "wheat1"], naming("wheat1", suggesting="weat1")),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert re.search(message, done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    every(
        2,
        [
            ("", naming("empty")),
            ("he 0.1 0.2\nshe 0.1\nJohn 0.1 0.2\n", naming("line 2")),
            ("3 2\nhe 0.1 0.2\nshe 0.3 0.4\n", naming(3, 2)),
            ("John 0.1 nan\nshe 0.3 0.4\n", naming("John")),
            ("<html>\n<p>404</p>\n", naming("web page")),
        ],
    ),
)
def test_a_bad_vector_file_is_one_line_and_exit_code_2(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(content)
    done = weatherglass("run", path, "-t", "weat6", "-o", tmp_path / "run")
    assert done.returncode == 2
    assert re.search(message, done.stderr)
    assert str(path) in done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = weatherglass("run", "-t", "weat6", "-o", tmp_path / "file" / "run")
    assert done.returncode == 2
    assert mentions(done.stderr, str(tmp_path / "file" / "run"), os.strerror(errno.ENOTDIR))
    assert "Traceback" not in done.stderr


def test_a_test_that_cannot_be_run_gives_exit_code_3(tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("science 0.1 0.3\ntechnology 0.2 0.1\nJohn 1 0\n")
    done = weatherglass("run", tmp_path / "few.txt", "-t", "weat6", "-o", tmp_path / "run")
    assert done.returncode == 3
    assert mentions(done.stderr, "weat6", 0, 8, "FemaleNames")


def test_interrupting_keeps_what_is_finished(tmp_path: Path) -> None:
    journal = tmp_path / "run" / "journal.jsonl"
    command = [*COMMAND, "run", "-o", str(tmp_path / "run")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (journal.exists() and journal.stat().st_size):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 3
    assert mentions(stderr, "same command")
    assert "Traceback" not in stderr
    assert 0 < len(journal.read_text().splitlines()) < 46
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "interrupted"


def test_importing_weatherglass_is_light() -> None:
    script = "import json, sys, weatherglass; print(json.dumps([m for m in sys.modules if '.' not in m]))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    heavy = {"scipy", "numba", "matplotlib", "click", "torch", "transformers", "wordllama", "sqlite3"}
    assert not heavy & set(json.loads(loaded))


def test_help_loads_no_heavy_library() -> None:
    script = (
        "import sys\nfrom weatherglass.cli import app\n"
        "try:\n    app(['run', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('scipy', 'numba', 'matplotlib', 'torch', 'wordllama') if m in sys.modules])"
    )
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("budget", every(3, ["lots", "2s", "1.2.3s,1GB", "2s," + "9" * 400 + "GB", "2s,1TB"]))
def test_a_budget_that_cannot_be_read_is_one_line_also_under_python_o(budget: str, tmp_path: Path) -> None:
    """`python -O` takes out asserts; what a user wrote must not rest on one."""
    options = ["-t", "weat7", "--budget", budget, "-o", str(tmp_path)]
    command = [sys.executable, "-O", "-m", "weatherglass", "run", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) <= 301
    assert budget[:50] in done.stderr
    assert mentions(done.stderr, "budget", "2s,1GB")  # what is too long for a line is cut in its middle
    assert ("…" in done.stderr) is (len(budget) > 300)


def test_budget_is_seconds_and_memory() -> None:
    budget = parse_budget("0.5s, 300MB")
    assert (budget.seconds, budget.bytes) == (0.5, 300_000_000)
    with pytest.raises(WeatherglassError, match=naming("2 minutes", "2s,1GB")):
        parse_budget("2 minutes")
