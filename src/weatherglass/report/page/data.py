"""What the page's script works with: every result in short, and the blocks of details.

Records of one kind go in as lists of values with their field names once, which the script joins again (`named` in
core.js): the names are written where the values are, and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

from weatherglass.audit.results import Mark, Result, mark_of_row
from weatherglass.audit.run import Run
from weatherglass.catalogue.names import set_name, topic_name
from weatherglass.report import numbers
from weatherglass.report.again import command_options, model_spec, python_arguments
from weatherglass.report.page.blocks import Packer
from weatherglass.report.view import CONTEXTS, Layout

MARKS = (
    (Mark.ROBUST, "robust", "solid"),
    (Mark.LIMITED, "limited", "solid"),
    (Mark.UNCONFIRMED, "unconfirmed", "dash"),
    (Mark.SMALL, "small", ""),
    (Mark.INCONCLUSIVE, "inconclusive", ""),
    (Mark.MEASURED, "measured", ""),
)
"""Each mark of a test with its drawing in symbols.html and the outline of its cell."""
IN_CELLS = 4
"""The first marks are drawn in the cells of the table, too; the others would be in most of them."""
NOT_JUDGED = len(MARKS)
"""The number of the mark of a result whose run is not complete."""
_NUMBER = {mark: number for number, (mark, _, _) in enumerate(MARKS)}


def script_data(
    runs: Sequence[Run],
    layout: Layout,
    comparison: Mapping[str, Any],
    multiverse: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """What the script works with."""
    methods, procedures = _methods(layout), _procedures(layout)
    return {
        "subjects": records(
            {**asdict(subject), "spec": model_spec(runs[subject.run].record, subject.model)}
            for subject in layout.subjects
        ),
        "tests": records(
            {**asdict(test), "categories": [set_name(category) for category in test.categories]}
            for test in layout.tests
        ),
        "contexts": CONTEXTS,
        "topics": [[topic_name(topic), numbers] for topic, numbers in layout.by_topic().items()],
        "marks": [
            *(
                {
                    "symbol": symbol if place < IN_CELLS else "",
                    "dot": symbol,
                    "outline": outline,
                    "words": mark.words,
                }
                for place, (mark, symbol, outline) in enumerate(MARKS)
            ),
            {"symbol": "", "dot": "unconfirmed", "outline": "", "words": "not judged"},
        ],
        "metrics": layout.metrics,
        "poolable": [layout.poolable(metric) for metric in range(len(layout.metrics))],
        "methods": methods,
        "procedures": records(procedure._asdict() for procedure in procedures),
        "runs": [
            {
                "label": run.label,
                "alpha": run.alpha,
                "level": numbers.percent(1 - run.alpha),
                "settings": flatten(run.record.get("settings", {})),
                "hashes": {name: sha[:16] for name, sha in run.record.get("tests", {}).items()},
                "options": command_options(run.record),
                "arguments": python_arguments(run.record),
            }
            for run in runs
        ],
        "failed": {
            f"{number}:{failure['test']}": failure["reason"]
            for number, subject in enumerate(layout.subjects)
            for failure in runs[subject.run].record.get("failures", [])
            if failure["model"] == subject.model
        },
        "pairs": paired_subjects(runs, layout),
        "changes": records(
            {name: change[name] for name in CHANGE_FIELDS} for change in changes(layout, comparison)
        ),
        "multiverse": [curve for entry in multiverse for curve in _curves(entry, runs[0].alpha)],
    }


class Procedure(NamedTuple):
    """How p was tested and d scaled; a profile may differ in it from the rest of its run."""

    permute: str
    alternative: str
    ddof: int


def _procedure(result: Result) -> Procedure:
    return Procedure(result.permute, result.alternative, result.ddof)


def records(listed: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Records with the same fields: the names once, then the values of each.

    >>> records([{"test": 0, "d": 1.2}, {"test": 1, "d": 0.4}])
    {'fields': ['test', 'd'], 'rows': [[0, 1.2], [1, 0.4]]}
    """
    fields: list[str] = []
    rows = []
    for record in listed:
        fields = fields or list(record)
        rows.append([record[field] for field in fields])
    return {"fields": fields, "rows": rows}


def _methods(layout: Layout) -> list[str]:
    return list(dict.fromkeys(result.p_method for result in layout.results))


def _procedures(layout: Layout) -> list[Procedure]:
    return list(dict.fromkeys(_procedure(result) for result in layout.results))


def short_results(layout: Layout) -> dict[str, Any]:
    """Every result in short, as records; they go into a block, since they are most of what the script reads."""
    return records(_results(layout))


def _results(layout: Layout) -> Iterator[dict[str, Any]]:
    """Each result in short; subject, test, metric, method and procedure are numbers in their lists."""
    place = {method: number for number, method in enumerate(_methods(layout))}
    procedure = {one: number for number, one in enumerate(_procedures(layout))}
    digits = partial(numbers.rounded, digits=5)
    for r, (subject, test, metric) in zip(layout.results, layout.places, strict=True):
        yield {
            "subject": subject,
            "test": test,
            "metric": metric,
            "d": digits(r.value),
            "p": digits(r.p_value),
            "mark": _mark(r),
            "ciLow": digits(r.ci_low),
            "ciHigh": digits(r.ci_high),
            "pAdjusted": digits(r.p_adjusted),
            "pElements": digits(r.p_elements),
            "dElements": digits(r.effect_size_elements),
            "pAttr": digits(r.p_random),
            "dAttr": digits(r.effect_size_random),
            "ciAttrLow": digits(r.ci_random_low),
            "ciAttrHigh": digits(r.ci_random_high),
            "units": r.units() if r.units_x else None,
            "targets": r.target_sizes,
            "attributes": r.attribute_sizes,
            "unbiased": digits(r.unbiased),
            "statistic": digits(r.test_statistic),
            "pLow": digits(r.p_low),
            "pHigh": digits(r.p_high),
            "floor": digits(r.p_floor),
            "method": place[r.p_method],
            "procedure": procedure[_procedure(r)],
            "oov": r.oov,
            "lean": r.lean,
            "says": r.direction if r.lean and r.info.leans else None,
        }


def _mark(result: Result) -> int:
    return _NUMBER.get(mark_of_row(result), NOT_JUDGED)


def _curves(entry: Mapping[str, Any], alpha: float) -> Iterator[dict[str, Any]]:
    """The specification curve of each word list of a topic on a model: d in order, with its choices."""
    for block in entry["lists"]:
        own = [
            one
            for one in entry["specifications"]
            if one["target_list"] == block["list"] and one["d"] is not None
        ]
        choices = list(block["choices"])
        yield {
            "model": block["model"],
            "topic": block["topic"],
            "list": block["list"],
            "tests": block["tests"],
            "sentence": block["conclusion"]["sentence"],
            "alpha": alpha,
            "choices": choices,
            "rows": [
                [
                    numbers.rounded(one["d"], 4),
                    numbers.rounded(one["ci_low"], 4),
                    numbers.rounded(one["ci_high"], 4),
                    int(one["p"] <= alpha),
                    int(one["published"]),
                    *(one.get(choice) for choice in choices),
                ]
                for one in sorted(own, key=lambda one: one["d"])
            ],
        }


def paired_subjects(runs: Sequence[Run], layout: Layout) -> list[tuple[int, int]]:
    """Which models of two runs to put side by side: the same model; or the only one of each."""
    if len(runs) != 2:
        return []
    first, second = ([n for n, s in enumerate(layout.subjects) if s.run == run] for run in (0, 1))
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    place = {(layout.subjects[n].model, layout.subjects[n].options): n for n in second}
    keys = [(n, (layout.subjects[n].model, layout.subjects[n].options)) for n in first]
    return [(n, place[key]) for n, key in keys if key in place]


CHANGE_FIELDS = ("test", "metric", "before", "after", "change", "low", "high", "changed")
"""What the script needs of a change; before and after are the models."""


def changes(layout: Layout, comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How d changed from the first run to the second, and whether the interval leaves out 0."""
    tests = {test.name: number for number, test in enumerate(layout.tests)}
    metrics = {metric: number for number, metric in enumerate(layout.metrics)}
    found = []
    for difference in comparison.get("differences", []):
        if difference["test"] in tests and difference["metric"] in metrics:
            before, after = difference["models"]
            change = {name: numbers.rounded(difference[name]) for name in ("change", "low", "high")}
            found.append(
                {
                    "test": tests[difference["test"]],
                    "metric": metrics[difference["metric"]],
                    "before": before,
                    "after": after,
                    **change,
                    "changed": difference["changed"],
                    "d_before": numbers.rounded(difference.get("before")),
                    "d_after": numbers.rounded(difference.get("after")),
                    "size": abs(change["change"] or 0.0),
                }
            )
    return found


def detail_blocks(runs: Sequence[Run], layout: Layout) -> Iterator[tuple[str, str]]:
    """Names and contents of the blocks of details."""
    packer = Packer()
    start = 0
    for run in runs:
        packer.add(run, partial(_number_in_page, start), partial(_block_of, layout, start))
        start += len(run.results)
    return packer.blocks()


def _number_in_page(start: int, position: int) -> int:
    return start + position


def _block_of(layout: Layout, start: int, position: int) -> int:
    subject, _, metric = layout.places[start + position]
    return subject * len(layout.metrics) + metric


def for_script(value: object) -> Any:
    """JSON, escaped so that no text in it can end the script element."""
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def flatten(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings as one level, with names joined by commas."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= {f"{name}, {part}": setting for part, setting in value.items()}
        else:
            flat[name] = value
    return flat
