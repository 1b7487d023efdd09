"""What a gate leaves behind besides its exit code: JUnit XML and a Markdown summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weatherglass.cli.console import complain
from weatherglass.errors import OutputError, output_error

if TYPE_CHECKING:
    from weatherglass.gate.rules import Breach
    from weatherglass.gate.worse import Judged
    from weatherglass.runs.results import Run


def check_places(*files: Path | None) -> None:
    """Refuse a file in a folder that does not exist, and what cannot be a file, before hours of work.

    Raises:
        OutputError: naming the folder, or what the path is instead of a file.
    """
    from weatherglass.storage.atomic import check_output

    for file in files:
        if file is not None and not file.parent.is_dir():
            raise OutputError(f"{file}: there is no folder '{file.parent}'; make it first")
        if file is not None:
            check_output(file)


def write_gate_files(
    run: Run,
    breaches: Sequence[Breach],
    gated: bool,
    judged: Judged | None,
    junit: Path | None,
    summary: Path | None,
) -> None:
    """Print the reasons to stderr and write the files that were asked for."""
    for breach in breaches:
        complain(f"gate: {breach}")
    if junit:
        from weatherglass.gate.junit import write_junit

        write_junit(junit, run, breaches)
    if summary:
        from weatherglass.report.pull_request import pull_request_summary
        from weatherglass.storage.atomic import write_whole

        verdicts = judged.verdicts if judged else [(None, one) for one in run.verdicts() if not one.control]
        reasons = [str(breach) for breach in breaches]
        comparison = judged.comparison if judged else None
        try:
            write_whole(summary, pull_request_summary(verdicts, reasons, gated, comparison))
        except OSError as error:
            raise output_error(summary, error) from error
