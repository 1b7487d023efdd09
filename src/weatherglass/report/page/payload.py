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

from weatherglass.report import numbers
from weatherglass.report.page.blocks import Packer
from weatherglass.report.page.subjects import CONTEXTS, Layout
from weatherglass.runs.results import Result
from weatherglass.runs.stored import StoredRun


def script_data(runs: Sequence[StoredRun], layout: Layout, comparison: Mapping[str, Any]) -> dict[str, Any]:
    """What the script works with."""
    methods = list(dict.fromkeys(result.p_method for result in layout.results))
    procedures = list(dict.fromkeys(_procedure(result) for result in layout.results))
    return {
        "subjects": records(asdict(subject) for subject in layout.subjects),
        "tests": records(
            {**asdict(test), "categories": [numbers.spaced(category) for category in test.categories]}
            for test in layout.tests
        ),
        "contexts": CONTEXTS,
        "metrics": layout.metrics,
        "isEffectSize": [layout.is_effect_size(metric) for metric in range(len(layout.metrics))],
        "methods": methods,
        "procedures": records(procedure._asdict() for procedure in procedures),
        "runs": [
            {
                "label": run.label,
                "alpha": run.alpha,
                "level": numbers.percent(1 - run.alpha),
                "settings": flatten(run.record.get("settings", {})),
                "hashes": run.record.get("tests", {}),
            }
            for run in runs
        ],
        "pairs": paired_subjects(runs, layout),
        "changes": records(_changes(layout, comparison)),
        "results": records(_results(layout, methods, procedures)),
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


def _results(
    layout: Layout, methods: Sequence[str], procedures: Sequence[Procedure]
) -> Iterator[dict[str, Any]]:
    """Each result in short; subject, test, metric, method and procedure are numbers in their lists."""
    place = {method: number for number, method in enumerate(methods)}
    digits = partial(numbers.rounded, digits=5)
    for r, (subject, test, metric) in zip(layout.results, layout.places, strict=True):
        yield {
            "subject": subject,
            "test": test,
            "metric": metric,
            "d": digits(r.value),
            "p": digits(r.p_value),
            "mark": len(r.significance),
            "ciLow": digits(r.ci_low),
            "ciHigh": digits(r.ci_high),
            "pAdjusted": digits(r.p_adjusted),
            "pElements": digits(r.p_elements),
            "dElements": digits(r.effect_size_elements),
            "pAttr": digits(r.p_attr),
            "dAttr": digits(r.effect_size_attr),
            "ciAttrLow": digits(r.ci_attr_low),
            "ciAttrHigh": digits(r.ci_attr_high),
            "units": r.units() if r.units_x else None,
            "targets": r.target_sizes,
            "attributes": r.attribute_sizes,
            "unbiased": digits(r.unbiased),
            "statistic": digits(r.test_statistic),
            "pLow": digits(r.p_low),
            "pHigh": digits(r.p_high),
            "floor": digits(r.p_floor),
            "method": place[r.p_method],
            "procedure": procedures.index(_procedure(r)),
            "oov": r.oov,
            "lean": r.lean,
            "says": None if r.is_effect_size or not r.lean else r.direction,
        }


def paired_subjects(runs: Sequence[StoredRun], layout: Layout) -> list[tuple[int, int]]:
    """Which models of two runs to put side by side: the same model; or the only one of each."""
    if len(runs) != 2:
        return []
    first, second = ([n for n, s in enumerate(layout.subjects) if s.run == run] for run in (0, 1))
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    place = {(layout.subjects[n].model, layout.subjects[n].options): n for n in second}
    keys = [(n, (layout.subjects[n].model, layout.subjects[n].options)) for n in first]
    return [(n, place[key]) for n, key in keys if key in place]


def _changes(layout: Layout, comparison: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """How d changed from the first run to the second, and whether the interval leaves out 0."""
    tests = {test.name: number for number, test in enumerate(layout.tests)}
    metrics = {metric: number for number, metric in enumerate(layout.metrics)}
    for difference in comparison.get("differences", []):
        if difference["test"] in tests and difference["metric"] in metrics:
            before, after = difference["models"]
            yield {
                "test": tests[difference["test"]],
                "metric": metrics[difference["metric"]],
                "before": before,
                "after": after,
                **{name: numbers.rounded(difference[name]) for name in ("change", "low", "high")},
                "changed": difference["changed"],
            }


def detail_blocks(runs: Sequence[StoredRun], layout: Layout) -> Iterator[tuple[str, str]]:
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
