"""Define `weatherglass calibrate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from weatherglass.cli.command import argument, command, flag, option
from weatherglass.cli.options import (
    FILE,
    OUTPUT,
    TEST,
    Choice,
    alpha_option,
    folder_option,
    json_option,
    listed,
    quiet_option,
    repeated_metrics,
    where_it_runs,
)
from weatherglass.cli.study import OPTIONS
from weatherglass.errors import WeatherglassError

WHAT = "What is planted"


def _doses(_: click.Context, __: click.Parameter, text: str | None) -> list[float] | None:
    """Return numbers separated by commas.

    Raises:
        WeatherglassError: if one is not a number.
    """
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise WeatherglassError(
            f"--doses '{text}' should be numbers separated by commas, such as 0,0.5,1"
        ) from None


@command(
    "calibrate",
    examples=(
        "weatherglass calibrate --demo",
        "weatherglass calibrate study.toml -t weat6 --control weat1 --jobs 2",
        "weatherglass calibrate --demo --algorithm masked --doses 0,0.5,1",
        "weatherglass calibrate study.toml -t weat7 --groups attributes --pairs gender",
    ),
)
@argument(
    "study",
    type=FILE,
    required=False,
    metavar="[STUDY.toml]",
    help="Study file with corpora, algorithms and seeds; 'reliability init' writes one.",
)
@OPTIONS["demo"]
@option(
    "-t", "--test", "test", type=TEST, metavar="TEST",
    help="Test of the stereotype: two target and two attribute sets; X goes with A, Y with B. By default, men "
    "and work, women and home.", group=WHAT,
)  # fmt: skip
@option(
    "--control", "controls", type=TEST, multiple=True, metavar="TEST",
    help="Test of other words, which should not respond; repeat for several.", group=WHAT,
)  # fmt: skip
@option(
    "--groups", type=Choice("api.calibrations:GROUPS"), default="targets",
    help="The sets of the test that are groups of people.", group=WHAT,
)  # fmt: skip
@option(
    "--pairs", metavar="NAME|FILE",
    help="Words that replace each other, such as he and she: a built-in set, or a file with two words per line. Other "
    "words of the groups are drawn at random.", group=WHAT,
)  # fmt: skip
@option(
    "--doses", callback=_doses, metavar="N,...",
    help="Probabilities that a sentence agrees with the stereotype; 0.5 means no stereotype. By default, 0 to 1 in "
    "steps of 0.1.", group=WHAT,
)  # fmt: skip
@option(
    "--algorithm", "algorithms", type=listed("reliability.training.train:ALGORITHMS"), multiple=True,
    help="Algorithm instead of the study's; repeat for several. 'masked' trains a tiny masked language model.",
)  # fmt: skip
@option("--seeds", type=int, metavar="N", help="Number of seeds instead of the study's; at least 2.")
@repeated_metrics("", "Metric or glob; repeat for several.", "*")
@alpha_option
@folder_option("weatherglass-calibration", "Folder for corpora, embeddings and results.")
@flag("--table", help="Also print the responses of control tests.", group=OUTPUT)
@json_option
@quiet_option
@where_it_runs
def calibrate(
    study: Path | None,
    demo: bool,
    test: str | None,
    controls: Sequence[str],
    groups: str,
    pairs: str | None,
    doses: Sequence[float] | None,
    algorithms: Sequence[str],
    seeds: int | None,
    metrics: Sequence[str],
    alpha: float,
    folder: Path,
    table: bool,
    as_json: bool,
    quiet: bool,
    **where: Any,
) -> None:
    """Plant doses of a stereotype in a corpus, train on it, and show which metrics respond.

    The group words of every sentence are drawn again, so that a known share of sentences agrees with the stereotype. If
    the command is stopped, the same command continues.
    """
    from weatherglass.api.calibrations import calibrate as run
    from weatherglass.cli.console import print_json, say, width_of
    from weatherglass.cli.progress import progress
    from weatherglass.report.calibration import lines_of

    if demo == (study is not None):
        raise WeatherglassError(
            "give a study file or --demo; 'weatherglass reliability init' writes a study file"
        )
    if test is None and (controls or pairs):
        raise WeatherglassError("--control and --pairs need -t TEST; the built-in stereotype has its own")
    with progress(quiet or as_json, folder) as bar:
        found = run(
            study, test, list(controls), list(metrics), pairs=pairs or (), groups=groups, doses=doses,
            algorithms=list(algorithms), seeds=seeds, alpha=alpha, folder=folder, progress=bar, **where,
        )  # fmt: skip
    if as_json:
        print_json(found.to_json(), indent=None)
    elif not quiet:
        say(lines_of(found, width_of(), table))
        say(["", f"Page: {folder / 'index.html'}"], whole=True)
