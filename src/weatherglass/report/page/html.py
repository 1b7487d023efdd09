"""report.html: one self-contained file that opens from disk and fetches nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from weatherglass import __version__
from weatherglass.errors import WeatherglassError
from weatherglass.report import numbers
from weatherglass.report.page.findings import findings
from weatherglass.report.page.payload import detail_blocks, flatten, for_script, paired_subjects, script_data
from weatherglass.report.page.subjects import CONTEXTS, Layout, lay_out
from weatherglass.report.paper import CORRECTIONS
from weatherglass.report.shell import template_environment
from weatherglass.runs.agreement import metric_agreement
from weatherglass.runs.folder import PAGE as PAGE
from weatherglass.runs.results import Result
from weatherglass.runs.stored import StoredRun, labelled, read_run
from weatherglass.storage.atomic import write_whole

STYLES = ("colours.css", "style.css", "detail.css", "print.css")
SCRIPTS = ("core.js", "matrix.js", "forest.js", "tables.js", "plots.js", "detail.js", "start.js")
INTERVALS = {"jackknife": "jackknife", "bca": "BCa bootstrap"}


def write_page(folders: Sequence[Path], path: Path) -> None:
    """Write the page of one or several runs, atomically.

    Raises:
        OutputError: if a folder holds no table of results.
        OSError: if the page cannot be written.
    """
    write_whole(path, page(labelled(read_run(folder) for folder in folders)))


def page(runs: Sequence[StoredRun], comparison: Mapping[str, Any] | None = None) -> str:
    """The page of one or several runs; of two, with the changes from `weatherglass compare --json`."""
    layout = lay_out(runs)
    blocks = list(detail_blocks(runs, layout))  # first, since it may add to what the runs lack
    environment = _environment()
    html: str = environment.get_template("page.html").render(
        layout=layout,
        runs=[_run_record(run) for run in runs],
        cells=layout.cells(0) if layout.metrics else {},
        findings=findings(layout, 0, [run.alpha for run in runs]) if layout.metrics else [],
        by_metric=_by_metric(layout),
        agreement=metric_agreement(layout.results) if len(layout.metrics) > 1 else None,
        labels=_model_labels(layout),
        contexts=CONTEXTS,
        groups=list(dict.fromkeys(test.group for test in layout.tests)),
        pairs=paired_subjects(runs, layout),
        citations=_citations(runs),
        data=for_script(script_data(runs, layout, comparison or {})),
        compared=comparison,
        compared_level=numbers.percent(1 - comparison["alpha"])
        if comparison and "alpha" in comparison
        else "",
        blocks=blocks,
        styles="\n".join(_asset(name) for name in STYLES),
        script="\n".join(_asset(name) for name in SCRIPTS),
        version=__version__,
    )
    return html


def _environment() -> Any:
    environment = template_environment(__package__, "templates")
    environment.filters |= {
        "effect": numbers.effect,
        "p": numbers.p_value,
        "cell_class": cell_class,
        "screen_reader_text": screen_reader_text,
        "breakable": breakable,
        "spaced": numbers.spaced,
        "small": lambda value: (
            numbers.effect(value) if abs(value) >= 0.1 else f"{value:.3f}".replace("-", "−")
        ),
    }
    environment.globals["interval"] = numbers.interval
    return environment


def cell_class(result: Result) -> str:
    """The CSS classes of a cell: significance and direction."""
    level = {"": "k0", "*": "k1", "**": "k2"}[result.significance]
    return f"{level} {'negative' if result.lean == -1 else 'positive'}"


def screen_reader_text(result: Result) -> str:
    """The text of a cell for screen readers."""
    judged = {"": "not significant", "*": "significant", "**": "significant after correction"}
    mark = judged[result.significance] if result.p_adjusted is not None else "not judged"
    name = "d" if result.is_effect_size else result.metric
    p = f"no p: {result.why_no_p}" if result.why_no_p else f"p {numbers.p_value(result.p_value)}, {mark}"
    return f"{name} {numbers.effect(result.value)}, {p}"


def breakable(name: str) -> Any:
    """A name, escaped, that may be wrapped after _ / ? & and :."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_/?&:])", name))


def _asset(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _run_record(run: StoredRun) -> dict[str, Any]:
    """What the page shows about one run, from run.json; missing entries are empty."""
    record = run.record
    correction = record.get("correction", {})
    missing = {model: tests for model, tests in record.get("missing_words", {}).items() if tests}
    return {
        "label": run.label,
        "notices": [*run.notices, *_other_metrics(run)],
        "verdicts": record.get("verdicts", []),
        "alpha": f"{run.alpha:g}",
        "level": numbers.percent(1 - run.alpha),
        "interval": INTERVALS.get(record.get("settings", {}).get("ci"), ""),
        "correction": CORRECTIONS.get(correction.get("method", "holm"), correction.get("method")),
        "family": correction.get("family"),
        "sizes": correction.get("sizes", {}),
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


def _by_metric(layout: Layout) -> list[tuple[str, list[tuple[int, int, int]]]]:
    """For each model and metric: results, marked before, and marked after correction."""
    counts = [[[0, 0, 0] for _ in layout.metrics] for _ in layout.subjects]
    for result, (subject, _, metric) in zip(layout.results, layout.places, strict=True):
        cell = counts[subject][metric]
        cell[0] += 1
        cell[1] += result.significance != ""
        cell[2] += result.significance == "**"
    return [
        (subject.label, [(cell[0], cell[1], cell[2]) for cell in cells])
        for subject, cells in zip(layout.subjects, counts, strict=True)
    ]


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
