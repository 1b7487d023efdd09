"""`weatherglass reliability explain`: which words are measured reliably?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from weatherglass.cli.console import print_json
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
    with interruptible(folder), study_folder(folder), Bar(options.silent) as bar:
        groups = [*trained_groups(study, folder), *imported_groups(study, folder, bar)]
        tables = read_tables(folder / TABLES)
        explanations = explain_study(groups, tables, folder, options.senses, options.parts, bar)
    figures = [
        save_drawing(coefficient_drawing(explanation, pairs), folder / FIGURES)
        for pairs, explanation in explanations.items()
        if explanation.parts
    ]
    if options.as_json:
        missing = {pairs: list(explanation.missing) for pairs, explanation in explanations.items()}
        regression = read_tables(folder / TABLES).get("regression")
        rows = [] if regression is None else regression.to_dicts()
        print_json(
            {"regression": rows, "figures": figures, "missing": missing, "warnings": group_warnings(groups)}
        )
        return
    if not options.quiet:
        print_explanations(explanations, options.table)
    print_warnings(group_warnings(groups), explanations, options.verbose)
    for figure in figures:
        typer.echo(f"figure: {figure}")
    typer.echo(f"tables: {folder / TABLES}, regression and features")


def print_explanations(explanations: Mapping[str, Explanation], every_row: bool = False) -> None:
    """Print what the regressions of each set of base pairs explain; with `every_row`, every estimate."""
    from weatherglass.cli.console import say, width_of
    from weatherglass.report.study.terminal import explanation_lines

    say(explanation_lines(explanations, width_of(), every_row))
