"""Define `weatherglass run`, and write the output files of a gate."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weatherglass.audit.settings import Settings
from weatherglass.cli.command import command, command_line, file_option, flag, option, together
from weatherglass.cli.options import (
    DIR,
    OUTPUT,
    contexts_options,
    folder_option,
    json_option,
    models_argument,
    quiet_option,
    repeated_metrics,
    repeated_tests,
    settings_options,
    verbose_option,
    where_it_runs,
)
from weatherglass.errors import OutputError, output_error
from weatherglass.storage.reading import is_regular_file

if TYPE_CHECKING:
    from weatherglass.audit.run import Run
    from weatherglass.gate.rules import Breach
    from weatherglass.gate.worse import Judged
    from weatherglass.reliability.agreement.seeds import FamilyReport

WHAT, GATE = "What to test", "Gate"
"""Groups of the options in the help."""
MOST_RISES = 10
FAMILY_LIMITS = (
    "The words are treated as independent draws. Synonyms and forms of one word make the seed's share too large; a few "
    "outlying words make the interval of the test–retest reliability too narrow (docs/methods, 11)."
)
"""Limits that simulations showed (`python -m benchmarks.planted_seeds`)."""
gate_files = together(
    file_option("--junit", help="Write the results of the gate as JUnit XML.", group=GATE),
    file_option("--summary", help="Write a Markdown summary for a pull request.", group=GATE),
)


@command(
    "run",
    examples=(
        "weatherglass run",
        "weatherglass run old=vectors:old.txt new=vectors:new.txt -t 'weat*' -o both",
        "weatherglass run hf:bert-base-uncased -t weat6 --fail-if 'p_adjusted < 0.05'",
    ),
)
@models_argument(
    "A path to word vectors, or kind:target?option=value; 'weatherglass models' lists the kinds. By default, the "
    "embedded model is tested."
)
@repeated_tests(group=WHAT)
@repeated_metrics(
    WHAT, "SIMILARITY/STATISTIC for WEAT, a name from 'weatherglass metrics', or a glob; repeat for several."
)
@contexts_options(WHAT)
@folder_option("weatherglass-run", "Folder for the results.")
@flag(
    "--add",
    help="Keep the results that the folder already has, and judge all of them together.",
    group=OUTPUT,
)
@flag("--table", help="Print every result in a table before the verdicts.", group=OUTPUT)
@json_option
@verbose_option
@quiet_option
@option(
    "--fail-if",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 1 if a result meets this condition, such as 'abs(effect_size) > 0.8 and p_adjusted < 0.01'; repeat "
    "for several.",
    group=GATE,
)
@file_option("--gate", help="TOML file with conditions for groups of tests.", group=GATE)
@option(
    "--baseline",
    type=DIR,
    metavar="DIR",
    help="Folder of an earlier run. Exit with 1 if an effect has grown significantly since, after "
    "correction over all compared effects.",
    group=GATE,
)
@gate_files
@where_it_runs
@settings_options
def run(
    settings: Settings,
    models: Sequence[str],
    tests: Sequence[str],
    metrics: Sequence[str],
    contexts: Path | None,
    per_word: int,
    folder: Path,
    add: bool,
    table: bool,
    as_json: bool,
    verbose: bool,
    quiet: bool,
    fail_if: Sequence[str],
    gate: Path | None,
    baseline: Path | None,
    junit: Path | None,
    summary: Path | None,
    **where: Any,
) -> None:
    """Run association tests on models, and write effect sizes, p-values, a table and a report.

    Without arguments, the embedded model is tested with all 46 published tests. If you repeat the command, it computes
    only what is missing.
    """
    from weatherglass.api.audits import run as audit
    from weatherglass.audit.stored import record_if_readable
    from weatherglass.cli.progress import progress
    from weatherglass.encoders import DEFAULT_MODEL

    if any(map(is_regular_file, tests)):
        from weatherglass.cli.tables import check_expanded

        check_expanded(models)
    rules = earlier = judged = None
    if fail_if or gate:
        from weatherglass.gate.rules import gate_of

        rules = gate_of(list(fail_if), gate)
    if junit or summary:
        check_places(junit, summary)
    if baseline:
        from weatherglass.audit.compare import check_common
        from weatherglass.audit.plan import choose_tests
        from weatherglass.gate.worse import judge_runs, read_baseline

        earlier = read_baseline(baseline)
        if not add:
            check_common(earlier, [test.name for test in choose_tests(tests)], "this run")
    held = None if quiet or as_json else record_if_readable(folder)
    if not quiet and not as_json:
        from weatherglass.cli.tables import show_tables

        show_tables(tests)
    with progress(quiet or as_json, folder) as bar:
        finished = audit(
            list(models) or [DEFAULT_MODEL],
            tests,
            metrics,
            settings,
            folder=folder,
            add=add,
            contexts=contexts,
            per_word=per_word,
            progress=bar,
            command=command_line(),
            **where,
        )
    breaches = rules.judge(finished.results, finished.verdicts()) if rules else []
    if earlier:
        judged = judge_runs(earlier, finished, settings.alpha)
        breaches += judged.breaches
    if as_json:
        from weatherglass.cli.console import print_json
        from weatherglass.report.view import view

        gated: dict[str, Any] = {"gate": [str(breach) for breach in breaches]} if rules or judged else {}
        gated |= {"verdicts_that_rose": judged.rises} if judged else {}
        print_json({**view(finished), **gated}, indent=None)
    elif not quiet:
        show(finished, folder, table, verbose, replaced(held, finished.record, folder))
    if rules or judged or junit or summary:
        write_gate_files(finished, breaches, bool(rules or judged), judged, junit, summary)
    if breaches:
        raise click.exceptions.Exit(1)
    if finished.failures:
        raise click.exceptions.Exit(3)


def replaced(held: Mapping[str, Any] | None, record: Mapping[str, Any], folder: Path) -> list[str]:
    """Return a line about results that the folder showed before but no longer shows."""
    from weatherglass.report.numbers import counted

    gone = len(set(held["keys"]) - set(record["keys"])) if held else 0
    if not gone:
        return []
    return [
        f"{folder} had {counted(gone, 'other result')}; its table and page now show only this run. To keep "
        "both, use another folder with -o, or --add."
    ]


def show(finished: Run, folder: Path, table: bool, verbose: bool, before: Sequence[str] = ()) -> None:
    """Print the summary, every result if requested, warnings, and the paths of the report."""
    from weatherglass.audit.folder import PAGE
    from weatherglass.cli.console import say, set_apart, warn_about, width_of
    from weatherglass.report.rows import results_lines, spread_lines
    from weatherglass.report.terminal import screen_lines
    from weatherglass.report.warning_summary import Placed, text_lines, warning_line

    width = width_of()
    if table:
        say([*results_lines(finished, width), *spread_lines(finished.results), ""])
    say(screen_lines(finished, finished.verdicts(), width))
    if verbose:
        warn_about(finished.warnings, verbose)
    else:
        set_apart(warning_line(finished.warnings, width_of(sys.stderr)))
    failures = [Placed(f"{f.test} on {f.model}", f.reason) for f in finished.failures]
    set_apart(text_lines(failures, width_of(sys.stderr), noun="failure", verbose=verbose))
    say(["", *before])
    tests = len(finished.results)
    places = {
        "Reasons": f"weatherglass verdict {folder}",
        "For a paper": f"weatherglass report {folder} -f sentences",
        "": "(or -f methods, bibtex, latex, model-card)",
        "Full report": str(folder / PAGE),
    }
    if tests and not table:
        places = {f"All {tests} results" if tests > 1 else "The result": "add --table", **places}
    say([f"{name:17}{where}" for name, where in places.items()], whole=True)
    if "families" in finished.record:
        from weatherglass.reliability.agreement.seeds import FamilyReport

        say(family_lines(FamilyReport.from_json(finished.record["families"])))


def family_lines(report: FamilyReport) -> Iterator[str]:
    """Yield a table for each family of models and metric, with d of each test over its members and the seed's
    share.
    """
    from weatherglass.cli.console import table

    headings = ("test", "mean", "95 % CI", "sd over seeds", "seed's share", "95 % CI", "test–retest of words")
    for agreement in report.agreements:
        yield ""
        yield f"{agreement.family}   {agreement.metric}   {agreement.members} models"
        own = [e for e in report.effects if (e.family, e.metric) == (agreement.family, agreement.metric)]
        rows = [
            [
                effect.test,
                _number(effect.mean),
                f"{_number(effect.low)} … {_number(effect.high)}",
                _number(effect.sd),
                _percent(effect.share),
                f"{_percent(effect.share_low)} … {_percent(effect.share_high)}",
                _number(effect.icc),
                "–" if effect.seeds_needed is None else str(effect.seeds_needed),
            ]
            for effect in own
        ]
        yield from table([*headings, "seeds needed"], rows)
        interval = f"{_number(agreement.icc)} ({_number(agreement.low)} … {_number(agreement.high)})"
        yield f"test–retest over {agreement.tests} tests: {agreement.note or interval}"
    yield (
        "seed's share: the share of the variance of one model's value that is due to the seed rather than "
        f"the target words. seeds needed: the number of seeds for a mean within ±{report.precision:g}."
    )
    yield FAMILY_LIMITS


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.2f}".replace("-", "−")


def _percent(value: float) -> str:
    return "–" if value != value else f"{value:.0%}"


def check_places(*files: Path | None) -> None:
    """Check before hours of work that files can be written.

    Raises:
        OutputError: if a folder is missing, or a path is not a file.
    """
    from weatherglass.storage.atomic import check_output

    for file in filter(None, files):
        if not file.parent.is_dir():
            raise OutputError(f"{file}: there is no folder '{file.parent}'; create it first")
        check_output(file)


def write_gate_files(
    run: Run,
    breaches: Sequence[Breach],
    gated: bool,
    judged: Judged | None,
    junit: Path | None,
    summary: Path | None,
) -> None:
    """Print to stderr why a gate failed, and write the requested files."""
    from weatherglass.cli.console import complain, say

    for breach in breaches:
        complain(f"gate: {breach}")
    rises = judged.rises if judged else []
    say([f"note: {rise}" for rise in rises[:MOST_RISES]], err=True)
    if len(rises) > MOST_RISES:
        say([f"note: {len(rises) - MOST_RISES} more verdicts rose; --json lists them"], err=True)
    if junit:
        from weatherglass.gate.junit import write_junit

        write_junit(junit, run, breaches)
    if summary:
        from weatherglass.report.writing import pull_request_summary
        from weatherglass.storage.atomic import write_whole

        verdicts = judged.verdicts if judged else [(None, one) for one in run.verdicts()]
        reasons = [str(breach) for breach in breaches]
        comparison = judged.comparison if judged else None
        try:
            text = pull_request_summary(verdicts, reasons, gated, comparison, rises, run.alpha)
            write_whole(summary, text)
        except OSError as error:
            raise output_error(summary, error) from error
