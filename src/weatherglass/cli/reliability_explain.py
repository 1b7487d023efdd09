"""`weatherglass reliability explain`: which words are measured reliably?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from weatherglass.cli.study_options import Options, study_command
from weatherglass.cli.study_output import interruptible, print_warnings

if TYPE_CHECKING:
    from weatherglass.reliability.regression.explain import Explanation


@study_command("pairs", "targets", "jobs", "scheduler", "demo")
def explain(options: Options) -> None:
    """Which words are measured reliably? Regress the reliability of an assessed study on word features."""
    from weatherglass.api.studies import FIGURES, TABLES, group_warnings
    from weatherglass.cli.bar import Bar
    from weatherglass.reliability.regression.study import explain_study
    from weatherglass.reliability.study import imported_groups, study_folder, trained_groups
    from weatherglass.reliability.tables import read_tables
    from weatherglass.report.study.coefficients import coefficient_drawing
    from weatherglass.report.study.figures import save_drawing

    study, folder = options.chosen_study(), options.folder
    with interruptible(folder), study_folder(folder), Bar(options.quiet) as bar:
        groups = [*trained_groups(study, folder), *imported_groups(study, folder, bar)]
        tables = read_tables(folder / TABLES)
        explanations = explain_study(groups, tables, folder, options.senses, options.parts, bar)
    print_warnings(group_warnings(groups))
    if not options.quiet:
        print_explanations(explanations)
    for pairs, explanation in explanations.items():
        if explanation.parts:
            typer.echo(f"figure: {save_drawing(coefficient_drawing(explanation, pairs), folder / FIGURES)}")
    typer.echo(f"tables: {folder / TABLES}, regression and features")


def print_explanations(explanations: Mapping[str, Explanation]) -> None:
    """Print the estimates of each set of base pairs, what each factor explains, and every warning."""
    from weatherglass.cli.console import screen
    from weatherglass.reliability.regression.tables import terminal_tables

    console, stderr = screen(), screen(stderr=True)
    for pairs, explanation in explanations.items():
        console.print(f"\n{pairs}: which words are measured reliably?")
        for table in terminal_tables(explanation):
            console.print(table)
        for part in explanation.parts:
            for reason, rows in part.dropped.items():
                stderr.print(f"{pairs}, {part.reliability}: {rows} of {part.rows} rows dropped: {reason}")
            for warning in part.warnings:
                stderr.print(f"warning: {pairs}, {part.reliability}: {warning}", soft_wrap=True)
        for line in explanation.missing:
            stderr.print(f"warning: {pairs}: {line}", soft_wrap=True)
