"""What the study commands print: claims, warnings, failures, and how to continue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.errors import InterruptedRunError, UnitError

if TYPE_CHECKING:
    import polars as pl

    from weatherglass.api.study_results import StudyResult
    from weatherglass.reliability.regression.explain import Explanation


def print_claims(tables: Mapping[str, pl.DataFrame], every_row: bool = False) -> None:
    """Print how many base pairs occur, and the claims with their medians and verdicts."""
    from weatherglass.cli.console import say, width_of
    from weatherglass.report.study.terminal import claim_lines

    say(claim_lines(tables, width_of(), every_row))


def study_json(result: StudyResult) -> dict[str, Any]:
    """The claims and the summary of a finished study, and where its page is."""
    tables = {name: result.tables[name].to_dicts() for name in ("claims", "summary", "pairs")}
    said = {"warnings": list(result.warnings), "failures": list(result.failures)}
    return {"page": result.page, **tables, **said}


def print_warnings(
    warnings: Sequence[str], explanations: Mapping[str, Explanation] | None = None, verbose: bool = False
) -> None:
    """Print warnings to stderr, also with --quiet: one line per kind, or all of them."""
    from weatherglass.cli.console import warn_about
    from weatherglass.report.folded import Placed
    from weatherglass.report.study.terminal import explanation_warnings

    placed = [*(Placed("", warning) for warning in warnings), *explanation_warnings(explanations or {})]
    warn_about(placed, [str(warning) for warning in placed] if verbose else None, where="with --verbose")


def report_failures(failures: Sequence[str]) -> None:
    """Raise an error if an embedding could not be trained."""
    if failures:
        number = f"{len(failures)} embedding{'s' if len(failures) > 1 else ''}"
        raise UnitError(f"{number} could not be trained; the first: {failures[0]}")


@contextmanager
def interruptible(folder: Path) -> Iterator[None]:
    """Turn Ctrl-C into one line that says how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"stopped; finished work is in {folder}, and the same command continues from there"
        ) from None
