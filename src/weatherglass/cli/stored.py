"""Define commands that read finished runs: `weatherglass report`, `explain`, `compare` and `verdict`."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from weatherglass.cli.command import argument, command, file_option, flag, option
from weatherglass.cli.console import complain, print_json, say, send, width_of
from weatherglass.cli.options import (
    DIR,
    FILE,
    METRIC,
    Choice,
    Completed,
    alpha_option,
    complete_tests_of_run,
    json_option,
    listed,
    run_argument,
    size_option,
)
from weatherglass.cli.run import check_places, gate_files, write_gate_files
from weatherglass.errors import OutputError, WeatherglassError, output_error
from weatherglass.storage.documents import json_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weatherglass.audit.run import Run

FIGURES = ("png", "svg", "pdf")
FORMATS = ("html", "md", "latex", "csv", "methods", "sentences", "bibtex", "model-card", *FIGURES)
SHOWN_DIGITS = 4
"""The number of digits of numbers on the terminal; JSON has all digits."""


@command("report", examples=("weatherglass report weatherglass-run -f latex -o table.tex",))
@argument(
    "folders",
    type=DIR,
    nargs=-1,
    required=True,
    metavar="RUN...",
    help="Folders of runs, or of one ranking audit.",
)
@option(
    "-f",
    "--format",
    "form",
    type=Choice(FORMATS),
    default="html",
    help=f"What to write: {', '.join(FORMATS)}.",
)
@file_option(
    "--comparison",
    help="For a page of two runs, a file with the output of 'weatherglass compare RUN RUN --json'.",
)
@file_option(
    "--multiverse",
    help=(
        "For a page, a file with the output of 'weatherglass multiverse --json', or multiverse.json from "
        "its folder."
    ),
)
@size_option
@option(
    "-o",
    "--output",
    type=FILE,
    metavar="PATH",
    help="File for a page or text; folder for figures. In an existing model card, the block of an earlier "
    "report is replaced. By default, the page and figures are written into the run's folder, or into "
    "the current folder for several runs, and text is printed.",
)
@json_option
def report(
    folders: Sequence[Path],
    form: str,
    comparison: Path | None,
    multiverse: Path | None,
    size: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Make a page, a table for a paper, or figures from one or more runs, or from a ranking audit.

    A report only reads folders and computes nothing. Two runs are also shown side by side.
    """
    from weatherglass.audit.stored import labelled, read_whole_run
    from weatherglass.cli.rank import has_ranking, report_ranking
    from weatherglass.storage.atomic import is_stream

    if any(map(has_ranking, folders)):
        if comparison or multiverse or size or len(folders) > 1:
            raise WeatherglassError(
                "a report of a ranking audit takes one folder, without --comparison, --multiverse and --size"
            )
        report_ranking(folders[0], form, output, as_json)
        return

    runs = labelled(read_whole_run(folder) for folder in folders)
    home = folders[0] if len(folders) == 1 else Path()
    text = ""
    try:
        if form == "html":
            path = output or home / "report.html"
            written = _page(runs, path, _comparison(comparison), _multiverse(multiverse))
        elif form in FIGURES:
            written = _figures(runs, output or home, form, size)
        else:
            with _rendering(runs):
                text = _text(runs, form)
            written = _write_text(text, output, form)
    except OSError as error:
        raise output_error(error.filename or output or home, error) from error
    notices = [f"{run.label}: {notice}" for run in runs for notice in run.notices]
    if as_json:
        shown = None if written else text
        print_json({"format": form, "written": written, "text": shown, "warnings": notices})
        return
    if not written:
        send(text)
    for path in written:
        if not is_stream(path):  # standard output should contain only the content
            click.echo(str(path))
    for notice in notices:
        complain(f"warning: {notice}")


def _comparison(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    comparison = json_document(path, OutputError)
    if not _is_comparison(comparison):
        raise OutputError(f"{path}: not the output of 'weatherglass compare --json'")
    return cast(dict[str, Any], comparison)


def _is_comparison(content: object) -> bool:
    differences = content.get("differences") if isinstance(content, dict) else None
    return isinstance(differences, list) and all(
        isinstance(difference, dict) and "metric" in difference for difference in differences
    )


def _multiverse(path: Path | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    from weatherglass.audit.multiverse_p import read_multiverse

    topics = read_multiverse(path)
    if not topics or not all("specifications" in entry for entry in topics):
        raise OutputError(f"{path}: not the output of 'weatherglass multiverse --json'")
    return topics


def _page(
    runs: Sequence[Run], path: Path, comparison: dict[str, Any] | None, multiverse: list[dict[str, Any]]
) -> list[Path]:
    from weatherglass.audit.agreement import metric_agreement
    from weatherglass.report.page import page
    from weatherglass.storage.atomic import write_whole

    with _rendering(runs):
        judged = [run.with_multiverse(multiverse) for run in runs] if multiverse else runs
        agreement = metric_agreement([r for run in runs for r in run.results]) if len(runs) > 1 else None
        content = page(judged, comparison or _changes(runs), multiverse, agreement)
    write_whole(path, content)
    return [path]


def _changes(runs: Sequence[Run]) -> dict[str, Any] | None:
    """Return the changes between two runs; None if they cannot be compared."""
    if len(runs) != 2:
        return None
    try:
        return runs[0].compare(runs[1]).to_json()
    except WeatherglassError:
        return None


@contextmanager
def _rendering(runs: Sequence[Run]) -> Iterator[None]:
    """Report any exception in one line that names the edited files while they are rendered."""
    from weatherglass.storage.reading import errors_in_one_line

    with errors_in_one_line(
        ", ".join(str(run.path) for run in runs),
        "a record, comparison or multiverse contains an entry that weatherglass does not write",
        "write the file again with the command that made it",
        OutputError,
    ):
        yield


def _figures(runs: Sequence[Run], folder: Path, kind: str, size: str | None) -> list[Path]:
    from weatherglass.report.figures import write_figures

    if folder.is_file():
        raise WeatherglassError(f"{folder} is a file; there are several figures, so -o should be a folder")
    folder.mkdir(parents=True, exist_ok=True)
    return write_figures(runs, folder, kind, size)


def _text(runs: Sequence[Run], form: str) -> str:
    from weatherglass.report import tables
    from weatherglass.report.writing import bibtex, methods_paragraph, model_card_block, sentences

    if form == "methods":
        return "\n\n".join(methods_paragraph(run.results, run.record) for run in runs) + "\n"
    if form == "sentences":
        return "\n\n".join(line for run in runs for line in sentences(run.verdicts(), run.alpha)) + "\n"
    if form == "bibtex":
        return bibtex(_joined_record(runs))
    if form == "model-card":
        return "\n".join(model_card_block(run.results, run.record, run.verdicts()) for run in runs)
    return {"md": tables.markdown, "latex": tables.latex, "csv": tables.comma_separated}[form](runs)


def _joined_record(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the first record with the citations of all runs."""
    citations = dict.fromkeys(key for run in runs for key in run.record.get("citations", []))
    return {**runs[0].record, "citations": list(citations)}


def _write_text(text: str, path: Path | None, form: str) -> list[Path]:
    from weatherglass.report.writing import put_into
    from weatherglass.storage.atomic import is_stream, write_whole

    if path is None:
        return []
    if form == "model-card" and path.is_file() and not is_stream(path):
        text = put_into(path.read_text(encoding="utf-8"), text)
    write_whole(path, text)
    return [path]


@command("explain", examples=("weatherglass explain weatherglass-run weat6",))
@run_argument
@argument("test", type=Completed(complete_tests_of_run), metavar="TEST", help="Name of a test in the run.")
@option("--model", metavar="MODEL", help="The model, if the run has several.")
@option(
    "-m",
    "--metric",
    "metric",
    type=METRIC,
    metavar="METRIC",
    help="The metric, if the run has several.",
)
@option(
    "--about",
    default="",
    metavar="TEXT",
    help="Show the tokens of all sentence pairs that contain this text. By default, the tokens of the five pairs with "
    "the largest difference are shown.",
)
@option(
    "--scale",
    type=Choice(("calibration",)),
    help="Also print the dose of a planted stereotype that gives this d on our own corpus ('weatherglass docs "
    "calibration').",
)
@json_option
def explain(
    run: Path,
    test: str,
    model: str | None,
    metric: str | None,
    about: str,
    scale: str | None,
    as_json: bool,
) -> None:
    """Print the steps from scores to effect size and p for one test, and what other tools would report."""
    from weatherglass.audit.explain import ALL_DIGITS
    from weatherglass.audit.explain import explain as explanation

    explained = explanation(run, test, model, metric, ALL_DIGITS if as_json else SHOWN_DIGITS, about)
    result = explained.result
    scaled: list[str] = []
    if scale:
        from weatherglass.calibration.scale import scale_lines
        from weatherglass.metrics import DEFAULT_METRIC

        if result.metric != DEFAULT_METRIC:
            raise WeatherglassError(
                f"--scale calibration is known for {DEFAULT_METRIC} only, not for {result.metric}"
            )
        scaled = list(scale_lines(result.value, result.ci_low, result.ci_high))
    if not as_json:
        say(explained.steps)
        if scaled:
            from weatherglass.report.layout import wrapped

            say(["", *(line for text in scaled for line in wrapped(text, min(width_of(), 100)))])
        return
    names = {"test": result.row, "model": result.model, "metric": result.metric}
    profiles = [asdict(profile) for profile in explained.profiles]
    shown = {"scale": scaled} if scale else {}
    print_json({**names, "steps": list(explained.steps), "profiles": profiles, **shown})


@command("compare", examples=("weatherglass compare before after",))
@run_argument
@argument(
    "after",
    type=DIR,
    required=False,
    metavar="[RUN]",
    help=(
        "Folder of the run to compare with. By default, the models of the run are compared with its first "
        "model."
    ),
)
@alpha_option
@flag(
    "--table",
    help=("Print every effect. By default, if there are more than 60, only those that changed are printed."),
)
@flag("--verbose", help="Name every test that has no counterpart.")
@option(
    "--fail-if",
    type=listed(("worse",)),
    metavar="worse",
    help="Exit with 1 if an effect has grown significantly, after correction over all compared effects, or "
    "if an effect cannot be compared.",
)
@gate_files
@json_option
def compare(
    run: Path,
    after: Path | None,
    alpha: float,
    table: bool,
    verbose: bool,
    fail_if: str | None,
    junit: Path | None,
    summary: Path | None,
    as_json: bool,
) -> None:
    """Show which effects changed between two runs, or between the models of one.

    Every difference has its interval; tests without a counterpart are listed. Two ranking audits of the same texts are
    compared, too.
    """
    from weatherglass.audit.stored import read_whole_run
    from weatherglass.cli.rank import compare_stored_rankings, has_ranking
    from weatherglass.gate.worse import check_word, judge_models, judge_runs
    from weatherglass.report.rows import answer, caption, comparison_lines

    if fail_if:
        check_word(fail_if)
    check_places(junit, summary)
    if has_ranking(run) or (after is not None and has_ranking(after)):
        compare_stored_rankings(
            run, after, alpha, table=table, gated=bool(fail_if), junit=junit, summary=summary, as_json=as_json
        )
        return
    first = read_whole_run(run)
    second = first if after is None else read_whole_run(after)
    judged = judge_models(first, alpha) if after is None else judge_runs(first, second, alpha)
    comparison, breaches = judged.comparison, judged.breaches if fail_if else []
    if as_json:
        gate = {"gate": [str(breach) for breach in breaches]} if fail_if else {}
        print_json({**comparison.to_json(), "verdicts_that_rose": judged.rises, **gate})
    else:
        width = width_of()
        say(answer(comparison))
        say([*comparison_lines(comparison, width, table), *caption(comparison, width, verbose)])
    write_gate_files(second, breaches, bool(fail_if), judged, junit, summary)
    if breaches:
        raise click.exceptions.Exit(1)


@command("verdict", examples=("weatherglass verdict weatherglass-run",))
@run_argument
@file_option(
    "--multiverse",
    help=(
        "File with the output of 'weatherglass multiverse --json'. A robust verdict then also requires a "
        "significant p in the multiverse."
    ),
)
@json_option
def verdict(run: Path, multiverse: Path | None, as_json: bool) -> None:
    """Print what the tests of each topic show together, and why.

    A verdict is, for example, robust, limited or inconclusive; section 12 of docs/methods states the rule. A test can
    show an association, but no verdict states that there is none.
    """
    from weatherglass.audit.multiverse_p import read_multiverse_p
    from weatherglass.audit.stored import read_whole_run
    from weatherglass.report.terminal import reasons, screen_lines

    stored = read_whole_run(run)
    metrics = dict.fromkeys(result.metric for result in stored.results)
    verdicts = stored.verdicts(read_multiverse_p(multiverse, metrics) if multiverse else None)
    for notice in stored.notices:
        complain(f"warning: {notice}")
    if as_json:
        print_json([one.to_json() for one in verdicts])
    else:
        say([*screen_lines(stored, verdicts, width_of()), "", *reasons(verdicts, stored.alpha)])
