"""`weatherglass explain`: the steps from scores to p for one result of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weatherglass.cli.completion import complete_metric, complete_test_of_run


def explain(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", show_default=False)],
    test: Annotated[
        str,
        typer.Argument(
            metavar="TEST",
            help="Name of a test in it.",
            show_default=False,
            autocompletion=complete_test_of_run,
        ),
    ],
    model: Annotated[str | None, typer.Option(help="Which model, if the run has several.")] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--metric",
            "--measure",
            help="Which metric, if the run has several.",
            autocompletion=complete_metric,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the steps from scores to effect size and p for one test, and what other tools would report."""
    from weatherglass.audit.explain import explain as explanation
    from weatherglass.cli.console import say

    explained = explanation(run, test, model, metric)
    if as_json:
        from dataclasses import asdict

        from weatherglass.cli.console import print_json

        result = explained.result
        names = {"test": result.row, "model": result.model, "metric": result.metric}
        profiles = [asdict(profile) for profile in explained.profiles]
        print_json({**names, "steps": list(explained.steps), "profiles": profiles})
        return
    say(explained.steps)
