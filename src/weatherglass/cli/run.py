"""`weatherglass run`: put models through tests."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weatherglass.cli.command_line import command_line
from weatherglass.errors import InterruptedRunError, WeatherglassError

if TYPE_CHECKING:
    from weatherglass.inference.significance.base import Budget
    from weatherglass.runs.results import Run

DEFAULT_FOLDER = Path("weatherglass-run")
NUMBER = r"(\d{0,12}\.?\d{1,12})"
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def run(
    context: typer.Context,
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]…",
            help="A path to word vectors, or kind:target?option=value; see 'weatherglass models'. "
            "Default: the embedded model.",
            show_default=False,
        ),
    ] = None,
    tests: Annotated[
        list[str],
        typer.Option("-t", "--test", help="Name, glob, file or folder; repeat for several.", metavar="TEST"),
    ] = ["*"],  # noqa: B006 - typer reads it, nobody changes it
    measures: Annotated[
        list[str],
        typer.Option("-m", "--measure", help="similarity/statistic, or a glob; repeat.", metavar="MEASURE"),
    ] = ["cosine/mean"],  # noqa: B006
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for journal, table and record.", metavar="DIR")
    ] = DEFAULT_FOLDER,
    significance: Annotated[
        str,
        typer.Option(help="auto, exact, enumerate, meet-in-the-middle, lattice, bounds, sampled, normal."),
    ] = "auto",
    alternative: Annotated[str, typer.Option(help="greater, less, two-sided or observed.")] = "greater",
    permute: Annotated[str, typer.Option(help="What is exchanged: elements or words.")] = "elements",
    ddof: Annotated[
        int, typer.Option(help="1: the papers' standard deviation; 0: WEFE's.", min=0, max=1)
    ] = 1,
    alpha: Annotated[float, typer.Option(help="Level of the marks * and **.")] = 0.01,
    correction: Annotated[str, typer.Option(help="holm or benjamini-hochberg.")] = "holm",
    family: Annotated[
        int | None, typer.Option(help="Tests that the correction counts, if more than this run's.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random draws, where there are any.", min=0)] = 0,
    precision: Annotated[float, typer.Option(help="Relative gap of certified bounds.")] = 0.01,
    budget: Annotated[str, typer.Option(help="What one p-value may cost, as seconds,memory.")] = "2s,1GB",
    covariance: Annotated[
        str, typer.Option(help="Estimator for mahalanobis: glasso or ledoit-wolf.")
    ] = "glasso",
    synonyms: Annotated[
        str | None,
        typer.Option(help="For that covariance: a TOML file, catalogue or wordnet.", metavar="FILE"),
    ] = None,
    ci: Annotated[
        str, typer.Option(help="Intervals and leave-one-out for: mean (the statistic), all, none.")
    ] = "mean",
    resamples: Annotated[int, typer.Option(help="Of the bootstrap.", min=100)] = 2000,
    profile: Annotated[
        str | None,
        typer.Option(
            help="d and p as others have them: may2019, caliskan2017, azarpanah2021, bias-bench, wefe, responsibly."
        ),
    ] = None,
    fail_if: Annotated[
        list[str],
        typer.Option(
            help="Exit with 1 if this holds for a result: 'abs(effect_size) > 0.8 and p_adjusted < 0.01'; repeat.",
            metavar="CONDITION",
        ),
    ] = [],  # noqa: B006
    gate: Annotated[
        Path | None, typer.Option(help="A TOML file of such conditions for groups of tests.", metavar="FILE")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write the gate's verdicts as JUnit XML.", metavar="FILE")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes to use.", min=1)] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="A Dask cluster: tcp://HOST:PORT or a scheduler file; or ENGINE:ADDRESS of another package.",
            metavar="ADDRESS",
        ),
    ] = None,
    shared_dir: Annotated[
        Path | None, typer.Option(help="A folder that all its machines see.", metavar="DIR")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print results for machines.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")] = False,
) -> None:
    """Put models through association tests: effect sizes, p-values, correction, a table and a record.

    Without arguments: the embedded model and all 46 published tests. Running the same command again does only what
    is missing. Exit code 0: done; 1: the gate failed; 2: a mistake in the command or its files; 3: some tests could
    not be run.
    """
    from weatherglass.api.audits import run as audit
    from weatherglass.cli.bar import Bar
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.gate.rules import gate_of
    from weatherglass.inference.significance.base import ALTERNATIVES
    from weatherglass.registry import one_of

    rules = gate_of(fail_if, gate)
    try:
        with Bar(quiet or as_json) as bar:
            finished = audit(
                models or [DEFAULT_MODEL],
                tests,
                measures,
                significance=significance,
                alternative=one_of("alternative", alternative, ALTERNATIVES),
                permute=permute,
                ddof=ddof,
                seed=seed,
                precision=precision,
                budget=parse_budget(budget),
                covariance=covariance,
                synonyms=synonyms,
                trust=ci,
                resamples=resamples,
                profile=profile,
                alpha=alpha,
                correction=correction,
                family=family,
                jobs=jobs,
                scheduler=scheduler,
                shared_dir=shared_dir,
                folder=folder,
                progress=bar,
                command=command_line(context),
            )
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"stopped; what was finished is in {folder}, and the same command goes on from there"
        ) from None
    breaches = rules.judge(finished.results) if rules else []
    if as_json:
        results = [result.to_json() for result in finished.results]
        verdict = {"gate": [str(breach) for breach in breaches]} if rules else {}
        typer.echo(json.dumps({**finished.record, **verdict, "results": results}, ensure_ascii=False))
    elif not quiet:
        show(finished, folder)
    for breach in breaches:
        typer.echo(f"gate: {breach}", err=True)
    if junit:
        from weatherglass.gate.junit import write_junit

        write_junit(junit, finished, breaches)
    if breaches:
        raise typer.Exit(1)
    if finished.failures:
        raise typer.Exit(3)


def show(finished: Run, folder: Path) -> None:
    """The table on stdout; warnings and failures on stderr."""
    from weatherglass.cli.console import screen
    from weatherglass.report.terminal import caption, results_tables

    console = screen()
    for table in results_tables(finished):
        console.print(table)
    for line in [*caption(finished), f"Results, record and page (report.html): {folder}"]:
        console.print(line, soft_wrap=True)
    notices = [f"warning: {warning}" for warning in finished.warnings]
    notices += [f"failed: {f.test} on {f.model}: {f.reason}" for f in finished.failures]
    for notice in notices:
        typer.echo(notice, err=True)


def parse_budget(text: str) -> Budget:
    """`2s,1GB` as seconds and bytes.

    >>> parse_budget("0.5s,300MB")
    Budget(seconds=0.5, bytes=300000000)

    Raises:
        WeatherglassError: for any other text.
    """
    from weatherglass.inference.significance.base import Budget

    match = re.fullmatch(rf"\s*{NUMBER}\s*s?\s*,\s*{NUMBER}\s*([KMG]?)B?\s*", text, re.IGNORECASE)
    if match is None:
        raise WeatherglassError(f"budget '{text}' should read seconds,memory, such as 2s,1GB")
    return Budget(float(match[1]), int(float(match[2]) * UNITS[match[3].upper()]))
