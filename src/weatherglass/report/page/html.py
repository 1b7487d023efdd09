"""report.html: one self-contained file that opens from disk and fetches nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from weatherglass import __version__
from weatherglass.errors import WeatherglassError
from weatherglass.report import numbers
from weatherglass.report.page.blocks import compress, in_json
from weatherglass.report.page.figure import topics_figure
from weatherglass.report.page.hinges import hinges, opposite_metrics
from weatherglass.report.page.payload import (
    MARKS,
    changes,
    detail_blocks,
    flatten,
    for_script,
    paired_subjects,
    script_data,
    short_results,
)
from weatherglass.report.page.subjects import CONTEXTS, Layout, lay_out
from weatherglass.report.page.topics import (
    SYMBOLS,
    Chart,
    chart,
    counts,
    largest,
    percent_of,
    sentence,
    weak_controls,
    weighed,
)
from weatherglass.report.paper import CORRECTIONS, TAILS, bibtex, correction_of, methods_paragraph, model_card
from weatherglass.report.shell import script_hash, shared_asset, template_environment
from weatherglass.report.tables import latex
from weatherglass.report.test_names import capitalised, shortened
from weatherglass.runs.agreement import metric_agreement
from weatherglass.runs.compare import compare_runs
from weatherglass.runs.folder import PAGE as PAGE
from weatherglass.runs.folder import RECORD
from weatherglass.runs.joint import joint_p
from weatherglass.runs.marks import VerdictMark
from weatherglass.runs.stamp import stamped
from weatherglass.runs.stored import StoredRun
from weatherglass.runs.verdict import CONTROL
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.collection import collection_paused

STYLES = ("topics.css", "tests.css", "detail.css", "print.css")
SCRIPTS = (*("core.js", "tests.js", "tables.js", "plots.js", "detail.js", "downloads.js", "start.js"),)


def write_page(run: StoredRun) -> None:
    """Write the page of a run into its folder, atomically, with the stamp of the record that is there.

    Raises:
        OSError: if the page cannot be written.
    """
    with collection_paused():
        written = page([run]).encode()
    write_whole(run.path / PAGE, stamped(written, (run.path / RECORD).read_bytes()))


def page(
    runs: Sequence[StoredRun],
    comparison: Mapping[str, Any] | None = None,
    multiverse: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The page of one or several runs.

    Args:
        runs: read from their folders.
        comparison: of two runs, the changes from `weatherglass compare --json`; computed where it is not given.
        multiverse: the topics of `weatherglass multiverse --json`; their joint p goes into the verdicts.
    """
    layout = lay_out(runs)
    blocks = list(detail_blocks(runs, layout))
    compared = comparison or _comparison(runs)
    verdicts = [_verdicts(run, multiverse) for run in runs]
    shown = chart(runs, verdicts, layout, 0)
    alphas = [run.alpha for run in runs]
    opposed = opposite_metrics(layout, alphas) if len(layout.metrics) > 1 else []
    script = script_of(SCRIPTS)
    environment = _environment()
    html: str = environment.get_template("page.html").render(
        layout=layout,
        runs=[_run_record(run) for run in runs],
        chart=shown,
        sentence=sentence(shown, layout.subjects),
        counts=counts(shown),
        largest=largest(shown),
        weak_controls=weak_controls(shown, layout.subjects),
        marks=[(SYMBOLS[mark], mark.words) for mark in VerdictMark if mark is not VerdictMark.NOT_JUDGED],
        test_marks=[(symbol, outline, mark.words) for mark, symbol, outline in MARKS],
        hinges=hinges(layout, runs, multiverse),
        opposed=opposed,
        changes=changes(layout, compared or {}),
        incomparable=(compared or {}).get("incomparable", []),
        other_verdicts=[one for listed in verdicts for one in listed if one["metric"] in layout.metrics[1:]],
        agreement=metric_agreement(layout.results) if len(layout.metrics) > 1 else None,
        labels=_model_labels(layout),
        contexts=CONTEXTS,
        topics=layout.by_topic(),
        control=CONTROL,
        tails=list(dict.fromkeys(TAILS.get(r.alternative, r.alternative) for r in layout.results)),
        exchanged=list(dict.fromkeys(r.permute for r in layout.results)),
        pairs=paired_subjects(runs, layout),
        citations=_citations(runs),
        data=for_script(script_data(runs, layout, compared or {}, multiverse)),
        compared=compared,
        by_chance=f"{100 * (compared or {}).get('alpha', 0.05):g}",
        compared_level=numbers.percent(1 - compared["alpha"]) if compared and "alpha" in compared else "",
        blocks=[
            ("results", compress(in_json(short_results(runs, layout)))),
            *blocks,
            ("texts", compress(in_json(_texts(runs, layout, shown, verdicts)))),
        ],
        styles="\n".join(_asset(name) for name in STYLES),
        script=script,
        script_hash=script_hash(script),
        version=__version__,
    )
    return html


def script_of(names: Sequence[str]) -> str:
    """The script of the page: one function, so that nothing of it is in sight of other scripts."""
    parts = [shared_asset("theme.js"), *map(_asset, names)]
    return '\n(async () => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


def _verdicts(run: StoredRun, multiverse: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The verdicts in the run's record; judged anew where it has none, or where a multiverse was run since."""
    if multiverse:
        metrics = dict.fromkeys(result.metric for result in run.results)
        return [verdict.to_json() for verdict in run.verdicts(joint_p(multiverse, metrics))]
    recorded = run.record.get("verdicts")
    return recorded if recorded is not None else [verdict.to_json() for verdict in run.verdicts()]


def _comparison(runs: Sequence[StoredRun]) -> dict[str, Any] | None:
    """What changed between two runs; None where they cannot be compared."""
    if len(runs) != 2:
        return None
    try:
        return compare_runs(runs[0].path, runs[1].path, alpha=runs[0].alpha).to_json()
    except WeatherglassError:
        return None


def _texts(
    runs: Sequence[StoredRun], layout: Layout, shown: Chart, verdicts: Sequence[Sequence[Mapping[str, Any]]]
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
def _environment() -> Any:
    """Made once: compiling the templates takes ten times as long as filling them."""
    environment = template_environment(__package__, "templates")
    environment.filters |= {
        "effect": numbers.effect,
        "p": numbers.p_value,
        "x": percent_of,
        "capitalised": capitalised,
        "shortened": shortened,
        "breakable": breakable,
        "small": lambda value: (
            numbers.effect(value) if abs(value) >= 0.1 else f"{value:.3f}".replace("-", "−")
        ),
    }
    environment.globals |= {"interval": numbers.interval, "weighed": weighed}
    return environment


def breakable(name: str) -> Any:
    """A name, escaped, that may be wrapped after _ / ? & and :."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_/?&:])", name))


def _asset(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _run_record(run: StoredRun) -> dict[str, Any]:
    """What the page shows about one run, from run.json; missing entries are empty."""
    record = run.record
    missing = {model: tests for model, tests in record.get("missing_words", {}).items() if tests}
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
        "warnings": record.get("warnings", []),
        "failures": record.get("failures", []),
        "failed": {
            (failure["model"], failure["test"]): failure["reason"] for failure in record.get("failures", [])
        },
    }


def _other_metrics(run: StoredRun) -> list[str]:
    """What the numbers are where they are no effect sizes."""
    metrics = {r.metric: r for r in run.results if not r.is_effect_size}
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


def _citations(runs: Sequence[StoredRun]) -> list[str]:
    from weatherglass.catalogue.published import reference

    cited = []
    for key in dict.fromkeys(key for run in runs for key in run.record.get("citations", [])):
        try:
            cited.append(reference(key))
        except (KeyError, WeatherglassError):
            cited.append(key)
    return cited
