"""`weatherglass verdict`: what the tests of each topic show together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verdict(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", show_default=False)],
    multiverse: Annotated[
        Path | None,
        typer.Option(
            help="A file with the output of 'weatherglass multiverse --json': shown then also asks its joint p.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what the tests of each topic show together, and why: shown, suggested, cannot tell, …

    The rule is in docs/methods, section 12. A test shows an association; no verdict says that there is none.
    """
    from weatherglass.cli.console import complain, print_json, say, width_of
    from weatherglass.report.verdicts import reasons, verdict_charts, verdict_notes
    from weatherglass.runs.joint import read_joint_p
    from weatherglass.runs.stored import read_whole_run

    run = read_whole_run(folder)
    metrics = dict.fromkeys(result.metric for result in run.results)
    verdicts = run.verdicts(read_joint_p(multiverse, metrics) if multiverse else None)
    for notice in run.notices:
        complain(f"warning: {notice}")
    if as_json:
        print_json([one.to_json() for one in verdicts])
        return
    width = width_of()
    say(verdict_charts(verdicts, width))
    say(["", *reasons(verdicts), "", *verdict_notes(verdicts, run.alpha, width)])
