"""Write the page of a run, report.html, as one self-contained file that opens from disk and fetches nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from weatherglass.audit.folder import PAGE as PAGE
from weatherglass.audit.folder import RECORD, stamped
from weatherglass.audit.results import mark_of
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue import reference
from weatherglass.report import statements
from weatherglass.report.kit import compress, in_json, render
from weatherglass.report.numbers import effect, percent
from weatherglass.report.page.data import (
    MARKS,
    changes_between,
    detail_blocks,
    flatten,
    paired_subjects,
    records,
    script_data,
    short_results,
)
from weatherglass.report.page.sensitivity import alternatives, opposite_metrics
from weatherglass.report.page.topics import (
    Chart,
    chart,
    groups,
    largest,
    overview,
    topics_figure,
    x_of,
)
from weatherglass.report.tables import latex
from weatherglass.report.view import CONTEXTS, ReportLayout, lay_out
from weatherglass.report.writing import (
    CORRECTIONS,
    TAILS,
    bibtex,
    correction_of,
    methods_paragraph,
    model_card,
)
from weatherglass.storage.atomic import gc_paused, write_whole
from weatherglass.warnings import as_warning, count_line, folded

if TYPE_CHECKING:
    from weatherglass.audit.agreement import MetricAgreement

STYLES = ("topics.css", "tests.css", "detail.css", "print.css")
SCRIPTS = (*("core.js", "tests.js", "tables.js", "plots.js", "detail.js", "downloads.js", "start.js"),)


def write_page(run: Run) -> None:
    """Write the page of a run into its folder atomically, with a line that identifies the record.

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
    """Return the page of one or several runs, without computing any number.

    Args:
        runs: the runs, read from their folders or in memory.
        comparison: the changes between two runs, from `weatherglass compare --json`.
        multiverse: the topics in the output of `weatherglass multiverse --json`.
        agreement: the agreement of the metrics over several runs; the record of a single run contains its own.
    """
    layout = lay_out(runs)
    verdicts = [run.verdicts() for run in runs]
    compared = comparison or {}
    changes = changes_between(layout, compared) if compared else []
    pairs = paired_subjects(layout) if len(runs) == 2 else []
    opposed = opposite_metrics(layout, [run.alpha for run in runs]) if len(layout.metrics) > 1 else []
    shown = chart(runs, verdicts, layout, 0)
    cited = [key for run in runs for key in run.record.get("citations", [])]
    values = {
        "layout": layout,
        "runs": [_run_record(run) for run in runs],
        **_first_screen(shown, [subject.short for subject in layout.subjects]),
        "pieces_note": statements.pieces_note(layout.results),
        "test_marks": [(symbol, outline, mark.words) for mark, symbol, outline in MARKS],
        "alternatives": alternatives(layout, runs, opposed, multiverse),
        "opposed": opposed,
        "changes": changes,
        "incomparable": compared.get("incomparable", []),
        "other_verdicts": [one for listed in verdicts for one in listed if one.metric in layout.metrics[1:]],
        "agreement": agreement if len(runs) > 1 or len(layout.metrics) < 2 else runs[0].agreement,
        "labels": {f"{s.model} [{s.options}]" if s.options else s.model: s.label for s in layout.subjects},
        "contexts": CONTEXTS,
        "tails": list(dict.fromkeys(TAILS.get(r.alternative, r.alternative) for r in layout.results)),
        "exchanged": list(dict.fromkeys(r.permute for r in layout.results)),
        "pairs": pairs,
        "citations": [reference(key) or key for key in dict.fromkeys(cited)],
        "data": script_data(runs, layout, pairs, changes, multiverse),
        "compared": comparison,
        "by_chance": f"{100 * compared.get('alpha', 0.05):g}",
        "compared_level": percent(1 - compared["alpha"]) if "alpha" in compared else "",
        "blocks": [
            ("results", compress(in_json(records(short_results(layout))))),
            *detail_blocks(runs, layout),
            ("texts", compress(in_json(_texts(runs, layout, shown, verdicts)))),
        ],
        "mark_of": mark_of,
    }
    filters: dict[str, Callable[..., str]] = {"at": x_of, "small": _small}
    return render(__package__, "page.html", values, styles=STYLES, scripts=SCRIPTS, filters=filters)


def _first_screen(shown: Chart, names: Sequence[str]) -> dict[str, Any]:
    """Return the content of the first screen: chart, headline, sentences, caveats and the meaning of the outcomes."""
    verdicts, alpha = shown.verdicts, shown.alpha
    corrected = max((one.family for one in verdicts if one.outcome), default=0)
    return {
        "chart": shown,
        "groups": groups(shown, names),
        "overview": overview(shown, names) if len(names) > 1 else [],
        "sentence": statements.headline(verdicts),
        "counts": statements.counts(verdicts),
        "failed_checks": statements.failed_check_notice(verdicts),
        "quotable": statements.quotable(verdicts, alpha),
        "caveats": list(statements.caveats(verdicts, alpha)),
        "largest": largest(shown, names),
        "words": [
            (outcome, word, word.explained(corrected, alpha)) for outcome, word in statements.WORDS.items()
        ],
    }


def _texts(
    runs: Sequence[Run], layout: ReportLayout, shown: Chart, verdicts: Sequence[Sequence[Verdict]]
) -> dict[str, str]:
    """Return the texts that the buttons of the page save."""
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


def _run_record(run: Run) -> dict[str, Any]:
    """Return what the page shows about one run, from run.json; missing entries are empty."""
    record = run.record
    warnings = folded(map(as_warning, record.get("warnings", [])))
    correction = correction_of(record)
    call = shlex.join(record.get("command") or [])
    if record.get("called") == "python":
        arguments = (f"{name}={value!r}" for name, value in record.get("arguments", {}).items())
        call = f"{record.get('function', '')}({', '.join(arguments)})"
    other_values = [
        f"The numbers of {name} are its own values, not d; without bias, the value is {r.unbiased:g}."
        + (f" They have no p: {r.why_no_p}." if r.why_no_p else "")
        for name, r in {r.metric: r for r in run.results if not r.info.poolable}.items()
    ]
    versions = {name: record[name] for name in ("weatherglass", "python", "platform") if name in record}
    return {
        "label": run.label,
        "notices": [*run.notices, *other_values],
        "alpha": f"{run.alpha:g}",
        "level": percent(1 - run.alpha),
        "correction": CORRECTIONS.get(correction, correction),
        "sizes": record.get("correction", {}).get("sizes", {}),
        "from_python": record.get("called") == "python",
        "command": call,
        "started": _time(record.get("started")),
        "finished": _time(record.get("finished")),
        "status": run.state,
        "versions": versions | record.get("packages", {}),
        "models": record.get("models", []),
        "tests": record.get("tests", {}),
        "settings": flatten(record.get("settings", {})),
        "missing": {model: tests for model, tests in record.get("missing_words", {}).items() if tests},
        "warnings": warnings,
        "warning_count": count_line(warnings),
        "failures": record.get("failures", []),
    }


def _time(text: str | None) -> str:
    """Return a time for readers; a text that is not a time is returned unchanged."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return text or ""
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def _small(value: float) -> str:
    """Return a number with two decimals, or with three if it is small."""
    return effect(value) if abs(value) >= 0.1 else f"{value:.3f}".replace("-", "−")
