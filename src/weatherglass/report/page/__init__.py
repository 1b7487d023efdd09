"""report.html: one self-contained file that opens from disk and fetches nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from weatherglass.audit.folder import PAGE as PAGE
from weatherglass.audit.folder import RECORD, stamped
from weatherglass.audit.results import mark_of_row, mark_of_topic
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import CONTROL, Verdict
from weatherglass.catalogue.names import model_name, topic_name
from weatherglass.errors import WeatherglassError
from weatherglass.report import numbers, statements
from weatherglass.report.kit import compress, environment, in_json, render
from weatherglass.report.page.data import (
    MARKS,
    changes,
    detail_blocks,
    flatten,
    for_script,
    paired_subjects,
    script_data,
    short_results,
)
from weatherglass.report.page.figure import topics_figure
from weatherglass.report.page.sensitivity import hinges, opposite_metrics
from weatherglass.report.page.topics import Chart, chart, groups, largest, overview, percent_of, x_of
from weatherglass.report.tables import latex
from weatherglass.report.view import CONTEXTS, Layout, lay_out
from weatherglass.report.writing import (
    CORRECTIONS,
    TAILS,
    bibtex,
    correction_of,
    methods_paragraph,
    model_card,
)
from weatherglass.storage.atomic import gc_paused, write_whole
from weatherglass.warnings import as_warnings, count_line, folded

if TYPE_CHECKING:
    from weatherglass.audit.agreement import MetricAgreement

STYLES = ("topics.css", "tests.css", "detail.css", "print.css")
SCRIPTS = (*("core.js", "tests.js", "tables.js", "plots.js", "detail.js", "downloads.js", "start.js"),)


def write_page(run: Run) -> None:
    """Write the page of a run into its folder, atomically, with the stamp of the record that is there.

    Raises:
        OSError: if the page cannot be written.
    """
    with gc_paused():
        written = page([run]).encode()
    write_whole(run.path / PAGE, stamped(written, (run.path / RECORD).read_bytes()))


def page(
    runs: Sequence[Run],
    comparison: Mapping[str, Any] | None = None,
    multiverse: Sequence[Mapping[str, Any]] = (),
    agreement: MetricAgreement | None = None,
) -> str:
    """The page of one or several runs; it shows what is known, and computes nothing.

    Args:
        runs: read from their folders, or in memory.
        comparison: of two runs, the changes from `weatherglass compare --json`.
        multiverse: the topics of `weatherglass multiverse --json`.
        agreement: of several runs, how far the metrics agree over all of them; of one run, its record says so.
    """
    layout = lay_out(runs)
    blocks = list(detail_blocks(runs, layout))
    compared = comparison
    verdicts = [[Verdict.from_json(one) for one in run.record.get("verdicts") or []] for run in runs]
    shown = chart(runs, verdicts, layout, 0)
    names = [subject.short for subject in layout.subjects]
    alphas = [run.alpha for run in runs]
    opposed = opposite_metrics(layout, alphas) if len(layout.metrics) > 1 else []
    _add_filters()
    values = {
        "layout": layout,
        "runs": [_run_record(run) for run in runs],
        "chart": shown,
        "groups": groups(shown, names),
        "overview": overview(shown, names) if len(names) > 1 else [],
        "sentence": statements.headline(shown.verdicts),
        "counts": statements.counts(shown.verdicts),
        "failed_checks": statements.failed_check_notice(shown.verdicts),
        "quotable": statements.quotable(shown.verdicts, shown.alpha),
        "caveats": list(statements.caveats(shown.verdicts, shown.alpha)),
        "largest": largest(shown, names),
        "words": [
            (outcome, word, word.explained(_family(shown), shown.alpha))
            for outcome, word in statements.WORDS.items()
        ],
        "test_marks": [(symbol, outline, mark.words) for mark, symbol, outline in MARKS],
        "hinges": hinges(layout, runs, multiverse),
        "opposed": opposed,
        "changes": changes(layout, compared or {}),
        "incomparable": (compared or {}).get("incomparable", []),
        "other_verdicts": [one for listed in verdicts for one in listed if one.metric in layout.metrics[1:]],
        "agreement": runs[0].agreement if len(runs) == 1 else agreement,
        "labels": _model_labels(layout),
        "contexts": CONTEXTS,
        "topics": layout.by_topic(),
        "control": CONTROL,
        "tails": list(dict.fromkeys(TAILS.get(r.alternative, r.alternative) for r in layout.results)),
        "exchanged": list(dict.fromkeys(r.permute for r in layout.results)),
        "pairs": paired_subjects(runs, layout),
        "citations": _citations(runs),
        "data": for_script(script_data(runs, layout, compared or {}, multiverse)),
        "compared": compared,
        "by_chance": f"{100 * (compared or {}).get('alpha', 0.05):g}",
        "compared_level": numbers.percent(1 - compared["alpha"]) if compared and "alpha" in compared else "",
        "blocks": [
            ("results", compress(in_json(short_results(layout)))),
            *blocks,
            ("texts", compress(in_json(_texts(runs, layout, shown, verdicts)))),
        ],
    }
    return render(__package__, "page.html", values, styles=STYLES, scripts=SCRIPTS)


def _family(shown: Chart) -> int:
    """Return the number of topics that were corrected together; the largest where models have several."""
    return max((one.family for one in shown.verdicts if one.outcome), default=0)


def _texts(
    runs: Sequence[Run], layout: Layout, shown: Chart, verdicts: Sequence[Sequence[Verdict]]
) -> dict[str, str]:
    """What the buttons of the page save: text that was made when the page was."""
    records = [run.record for run in runs]
    merged = {**records[0], "citations": [key for record in records for key in record.get("citations", [])]}
    judged = zip(runs, verdicts, strict=True)
    return {
        "latex": latex(runs),
        "bibtex": bibtex(merged),
        "methods": "\n\n".join(methods_paragraph(run.results, run.record) for run in runs) + "\n",
        "model-card": "\n".join(model_card(run.results, run.record, listed) for run, listed in judged),
        "figure": topics_figure(shown, layout.subjects),
    }


@cache
def _add_filters() -> None:
    made = environment(__package__)
    made.filters |= {
        "x": percent_of,
        "at": x_of,
        "topic": topic_name,
        "model": model_name,
        "mark": mark_of_topic,
        "breakable": breakable,
        "small": lambda value: (
            numbers.effect(value) if abs(value) >= 0.1 else f"{value:.3f}".replace("-", "−")
        ),
    }
    made.globals |= {"mark_of_row": mark_of_row}


def breakable(name: str) -> Any:
    """A name, escaped, that may be wrapped after _ / ? & and :."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_/?&:])", name))


def _run_record(run: Run) -> dict[str, Any]:
    """What the page shows about one run, from run.json; missing entries are empty."""
    record = run.record
    missing = {model: tests for model, tests in record.get("missing_words", {}).items() if tests}
    warnings = folded(as_warnings(record.get("warnings", [])))
    return {
        "label": run.label,
        "notices": [*run.notices, *_other_metrics(run)],
        "alpha": f"{run.alpha:g}",
        "level": numbers.percent(1 - run.alpha),
        "correction": CORRECTIONS.get(correction_of(record), correction_of(record)),
        "sizes": record.get("correction", {}).get("sizes", {}),
        "from_python": record.get("called") == "python",
        "command": _call(record),
        "started": _time(record.get("started")),
        "finished": _time(record.get("finished")),
        "status": record.get("status", ""),
        "versions": {name: record[name] for name in ("weatherglass", "python", "platform") if name in record}
        | record.get("packages", {}),
        "models": record.get("models", []),
        "tests": record.get("tests", {}),
        "settings": flatten(record.get("settings", {})),
        "missing": missing,
        "warnings": warnings,
        "warning_count": count_line(warnings),
        "failures": record.get("failures", []),
        "failed": {
            (failure["model"], failure["test"]): failure["reason"] for failure in record.get("failures", [])
        },
    }


def _other_metrics(run: Run) -> list[str]:
    """What the numbers are where they are no effect sizes."""
    metrics = {r.metric: r for r in run.results if not r.info.poolable}
    return [
        f"Numbers of {name} are its own values, not d; without bias the value is {r.unbiased:g}."
        + (f" They have no p: {r.why_no_p}." if r.why_no_p else "")
        for name, r in metrics.items()
    ]


def _call(record: Mapping[str, Any]) -> str:
    """How the run was called: the command line, or the call as Python writes it."""
    if record.get("called") == "python":
        arguments = (f"{name}={value!r}" for name, value in record.get("arguments", {}).items())
        return f"{record.get('function', '')}({', '.join(arguments)})"
    command = record.get("command")
    return shlex.join(command) if command else ""


def _time(text: str | None) -> str:
    if not text:
        return ""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def _model_labels(layout: Layout) -> dict[str, str]:
    """How the page calls the models that are ranked, which carry their options."""
    return {f"{s.model} [{s.options}]" if s.options else s.model: s.label for s in layout.subjects}


def _citations(runs: Sequence[Run]) -> list[str]:
    from weatherglass.catalogue.published import reference

    cited = []
    for key in dict.fromkeys(key for run in runs for key in run.record.get("citations", [])):
        try:
            cited.append(reference(key))
        except (KeyError, WeatherglassError):
            cited.append(key)
    return cited
