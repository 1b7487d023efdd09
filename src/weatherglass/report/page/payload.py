"""What the page's script works with: every result in short, and the blocks of details."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from weatherglass.report import numbers
from weatherglass.report.page.blocks import Packer
from weatherglass.report.page.subjects import CONTEXTS, Layout
from weatherglass.runs.stored import StoredRun


def script_data(runs: Sequence[StoredRun], layout: Layout, comparison: Mapping[str, Any]) -> dict[str, Any]:
    """What the script works with; a result is a short list, in the order of `fields` in core.js."""
    methods = list(dict.fromkeys(result.p_method for result in layout.results))
    place = {method: number for number, method in enumerate(methods)}
    digits = partial(numbers.rounded, digits=5)
    rows = [
        [
            *where,
            *(digits(r.value), digits(r.p_value), len(r.significance)),
            *(digits(r.ci_low), digits(r.ci_high), digits(r.p_adjusted)),
            *(digits(r.p_words), digits(r.effect_size_words)),
            *(r.num_targ1, r.num_targ2, r.num_attr1, r.num_attr2, digits(r.test_statistic)),
            *(digits(r.p_low), digits(r.p_high), digits(r.p_floor), place[r.p_method], r.oov, r.lean),
        ]
        for r, where in zip(layout.results, layout.places, strict=True)
    ]
    settings = [next(((r.permute, r.alternative, r.ddof) for r in run.results), ("", "", 1)) for run in runs]
    return {
        "subjects": [[s.label, s.model, s.options, s.run] for s in layout.subjects],
        "tests": [
            [t.name, t.context, t.group, [numbers.spaced(c) for c in t.categories]] for t in layout.tests
        ],
        "contexts": CONTEXTS,
        "measures": layout.measures,
        "methods": methods,
        "runs": [
            {
                "label": run.label,
                "alpha": run.alpha,
                "permute": permute,
                "alternative": alternative,
                "ddof": ddof,
                "settings": flat(run.record.get("settings", {})),
                "hashes": run.record.get("tests", {}),
            }
            for run, (permute, alternative, ddof) in zip(runs, settings, strict=True)
        ],
        "pairs": pairs(runs, layout),
        "changes": _changes(layout, comparison),
        "rows": rows,
    }


def pairs(runs: Sequence[StoredRun], layout: Layout) -> list[tuple[int, int]]:
    """Which models of two runs to put side by side: the same model; or the only one of each."""
    if len(runs) != 2:
        return []
    first, second = ([n for n, s in enumerate(layout.subjects) if s.run == run] for run in (0, 1))
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    place = {(layout.subjects[n].model, layout.subjects[n].options): n for n in second}
    keys = [(n, (layout.subjects[n].model, layout.subjects[n].options)) for n in first]
    return [(n, place[key]) for n, key in keys if key in place]


def _changes(layout: Layout, comparison: Mapping[str, Any]) -> list[list[Any]]:
    """Test, measure, both models, the change of d, its interval, and whether that leaves out 0."""
    tests = {test.name: number for number, test in enumerate(layout.tests)}
    measures = {measure: number for number, measure in enumerate(layout.measures)}
    return [
        [
            *(tests[each["test"]], measures[each["measure"]], *each["models"]),
            *(numbers.rounded(each[name]) for name in ("change", "low", "high")),
            each["changed"],
        ]
        for each in comparison.get("differences", [])
        if each["test"] in tests and each["measure"] in measures
    ]


def blocks_of(runs: Sequence[StoredRun], layout: Layout) -> Iterator[tuple[str, str]]:
    """Names and contents of the blocks of details."""
    packer = Packer()
    start = 0
    for run in runs:
        packer.add(run, partial(_after, start), partial(_block_of, layout, start))
        start += len(run.results)
    return packer.blocks()


def _after(start: int, position: int) -> int:
    return start + position


def _block_of(layout: Layout, start: int, position: int) -> int:
    subject, _, measure = layout.places[start + position]
    return subject * len(layout.measures) + measure


def for_script(value: object) -> Any:
    """JSON that stays inside a script element whatever text it carries."""
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without depth."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= {f"{name}, {part}": each for part, each in value.items()}
        else:
            flat[name] = value
    return flat
