"""The options that say where a command computes: the same everywhere, and mistakes in them are one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests import engines
from tests.cli.commands import LEAVES
from tests.messages import mentions, naming

from weatherglass.cli import app
from weatherglass.errors import InterruptedRunError, WeatherglassError

WHERE = ("--jobs", "--scheduler", "--shared-dir")
DISTRIBUTED = {
    words: found
    for words, command in LEAVES.items()
    if (found := {o: p for p in command.params for o in p.opts if o in WHERE})
}
"""By command: those of the options that it has, in the order of its help."""
TESTS = ("-t", "weat8", "-t", "weat9")


def described(option: Any) -> tuple[Any, ...]:
    return option.opts, option.help, option.metavar, option.default, option.group


def test_the_commands_that_take_long_take_the_options() -> None:
    whole = {" ".join(words) for words, found in DISTRIBUTED.items() if tuple(found) == WHERE}
    assert whole == {"run", "multiverse", "mitigate", "words", "rank", "calibrate"}
    assert ("reliability", "run") in DISTRIBUTED


@pytest.mark.parametrize("words", DISTRIBUTED, ids=" ".join)
def test_the_options_have_the_same_help_and_order_everywhere(words: tuple[str, ...]) -> None:
    found, of_run = DISTRIBUTED[words], DISTRIBUTED["run",]
    assert tuple(found) == WHERE[: len(found)]
    assert [described(option) for option in found.values()] == [described(of_run[name]) for name in found]


@pytest.mark.parametrize("words", DISTRIBUTED, ids=" ".join)
@pytest.mark.parametrize("jobs", ["0", "-1"])
def test_fewer_than_one_process_is_a_mistake_that_names_the_option(words: tuple[str, ...], jobs: str) -> None:
    given = ["x"] if words in (("mitigate",), ("reproduce", "du2021"), ("reliability", "audit")) else []
    done = CliRunner().invoke(app, [*words, *given, "--jobs", jobs])
    assert done.exit_code == 2
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("Error"))
    assert mentions(line, "--jobs", 1)


@pytest.mark.parametrize(
    "command", [("multiverse",), ("words",), ("mitigate", "wordllama", "--with", "centre")]
)
def test_a_shared_folder_without_a_cluster_is_refused_before_anything_is_written(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    output = tmp_path / "out.transform"
    with pytest.raises(WeatherglassError, match="--shared-dir needs --scheduler"):
        CliRunner().invoke(
            app, [*command, "-o", str(output), "--shared-dir", str(tmp_path)], catch_exceptions=False
        )
    assert not output.exists()


def test_words_and_multiverse_print_the_same_wherever_they_compute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = engines.register(monkeypatch)
    for number, command in enumerate((["words"], ["multiverse", *TESTS, "--choices", "similarity"])):
        printed = []
        for where in ([], ["--scheduler", engines.NAME]):
            output = ["-o", str(tmp_path / f"{number}{len(where)}")] if "-t" in command else []
            done = CliRunner().invoke(app, [*command, *where, *output, "--json"], catch_exceptions=False)
            printed.append(json.loads(done.stdout))
            for name in ("command", "started", "finished"):
                printed[-1].pop(name, None)
        assert printed[0] == printed[1]
    assert len(engine.seen) == 3  # the 16 words of weat7, then two lists


@pytest.mark.parametrize(
    "command",
    [("multiverse", *TESTS, "-o"), ("mitigate", "wordllama", "--with", "leace", "--judge", "--folder")],
)
def test_an_interrupt_says_where_finished_work_is_and_how_to_continue(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(_: object) -> bool:
        raise KeyboardInterrupt

    engines.register(monkeypatch).dies_with = interrupt
    folder = tmp_path / "out"
    with pytest.raises(InterruptedRunError, match=naming(str(folder), "same command")):
        CliRunner().invoke(app, [*command, str(folder), "--scheduler", engines.NAME], catch_exceptions=False)
