"""Pack the data of the page's script, with a short form of every result and compressed blocks with the details.

Records of one kind are stored as one list of field names and lists of values, which the script joins again (`named` in
core.js).

A block is compressed JSON in base64, which the browser decompresses when a result is opened. There is one block for
each model and metric, and a shared one with every text once and the lists by which results refer to them. Numbers are
rounded to the precision of a plot: scores to four digits (of sentences three), effect sizes to three decimals, the
null distribution to two. Printed numbers come from the results, not from these blocks.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from weatherglass.audit.results import Mark, Result, mark_of, plain_value
from weatherglass.audit.run import Run
from weatherglass.audit.settings import default_settings
from weatherglass.catalogue.names import set_name, topic_name
from weatherglass.report import numbers
from weatherglass.report.kit import compress, in_json
from weatherglass.report.numbers import rounded
from weatherglass.report.view import CONTEXTS, ReportLayout
from weatherglass.warnings import folded

if TYPE_CHECKING:
    from weatherglass.stats.robustness import Robustness

MARKS = (
    (Mark.ROBUST, "robust", "solid"),
    (Mark.LIMITED, "limited", "solid"),
    (Mark.UNCONFIRMED, "unconfirmed", "dash"),
    (Mark.SMALL, "small", ""),
    (Mark.INCONCLUSIVE, "inconclusive", ""),
    (Mark.MEASURED, "measured", ""),
)
"""Each mark of a test with its drawing in kit.html and the outline of its cell."""
IN_CELLS = 4
"""The number of marks that are also drawn in the cells of the table; the other marks would be in most cells."""
NOT_JUDGED = len(MARKS)
"""The mark number of a result whose run is not complete."""
WORD_STEPS, SENTENCE_STEPS = 9999, 999
"""The divisors of the largest |s| that give the step of stored scores, which are integers. Words have four digits. The
sentences of a word, which are ticks in a plot, have three digits, so that their mean still has four.
"""
EFFECT_STEPS, NULL_STEPS, NULL_EVERY = 1000, 100, 2
"""The rounding steps of effect sizes and of the null distribution, of which every second quantile is drawn."""
PROCEDURE = ("permute", "alternative", "ddof")
"""Fields of the procedure for p and d, in which a profile may differ from the rest of its run."""
CHANGE_FIELDS = ("test", "metric", "before", "after", "change", "low", "high", "changed")
"""Fields of a change that the script uses; before and after are the models."""


def script_data(
    runs: Sequence[Run],
    layout: ReportLayout,
    pairs: Sequence[tuple[int, int]],
    changes: Sequence[Mapping[str, Any]],
    multiverse: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the data of the script, except the results."""
    results = layout.results
    marks = [
        {"symbol": symbol if place < IN_CELLS else "", "dot": symbol, "outline": outline, "words": mark.words}
        for place, (mark, symbol, outline) in enumerate(MARKS)
    ]
    return {
        "subjects": records(
            {**asdict(subject), "spec": _spec(runs[subject.run].record, subject.model)}
            for subject in layout.subjects
        ),
        "tests": records(
            {**asdict(test), "categories": [set_name(category) for category in test.categories]}
            for test in layout.tests
        ),
        "contexts": CONTEXTS,
        "topics": [[topic_name(topic), tests] for topic, tests in layout.topics.items()],
        "marks": [
            *marks,
            {"symbol": "", "dot": "unconfirmed", "outline": "", "words": "no verdict for this row"},
        ],
        "metrics": layout.metrics,
        "poolable": [info.poolable for info in layout.infos],
        "methods": list(dict.fromkeys(result.p_method for result in results)),
        "procedures": {
            "fields": PROCEDURE,
            "rows": list(dict.fromkeys(map(attrgetter(*PROCEDURE), results))),
        },
        "runs": [
            {
                "label": run.label,
                "alpha": run.alpha,
                "level": numbers.percent(1 - run.alpha),
                "settings": flatten(run.record.get("settings", {})),
                "hashes": {name: sha[:16] for name, sha in run.record.get("tests", {}).items()},
                **rerun_command(run.record),
            }
            for run in runs
        ],
        "failed": {
            f"{number}:{failure['test']}": failure["reason"]
            for number, subject in enumerate(layout.subjects)
            for failure in runs[subject.run].record.get("failures", [])
            if failure["model"] == subject.model
        },
        "pairs": pairs,
        "changes": records({name: change[name] for name in CHANGE_FIELDS} for change in changes),
        "multiverse": [curve for entry in multiverse for curve in _curves(entry, runs[0].alpha)],
    }


def _spec(record: Mapping[str, Any], model: str) -> str:
    """Return the user's spelling of a model: NAME=SPEC if it was named, otherwise its name, which is the spec."""
    arguments = record.get("arguments", {}).get("models", [])
    written = record.get("command") or ([arguments] if isinstance(arguments, str) else arguments)
    return next((word for word in written if isinstance(word, str) and word.startswith(f"{model}=")), model)


def rerun_command(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that differ from the defaults, as options of the command and as arguments in Python.

    >>> rerun_command({"settings": {"alpha": 0.01, "alternative": "greater", "permute": "words"}})
    {'options': '--alternative greater --alpha 0.01', 'arguments': 'alternative="greater", alpha=0.01'}
    """
    settings = record.get("settings", {})
    options: list[str] = []
    arguments: list[str] = []
    for name, default in default_settings().items():
        value = settings.get(name, default)
        if name not in settings or value == plain_value(default):
            continue
        if name == "budget":
            value = f"{value['seconds']:g}s,{value['bytes'] / 1e9:g}GB"
        elif isinstance(value, str):
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            arguments.append(f'{name}="{quoted}"')
        else:
            arguments.append(f"{name}={value!r}")
        if value is not None and not isinstance(value, Mapping):
            options += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    if found := record.get("contexts"):
        options += ["--contexts", found["file"], "--per-word", str(found["per_word"])]
        arguments += [f'contexts="{found["file"]}"', f"per_word={found['per_word']}"]
    return {"options": shlex.join(options), "arguments": ", ".join(arguments)}


def records(listed: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return records with the same fields as one list of names and a list of values per record.

    >>> records([{"test": 0, "d": 1.2}, {"test": 1, "d": 0.4}])
    {'fields': ['test', 'd'], 'rows': [[0, 1.2], [1, 0.4]]}
    """
    fields: list[str] = []
    rows = []
    for record in listed:
        fields = fields or list(record)
        rows.append([record[field] for field in fields])
    return {"fields": fields, "rows": rows}


def flatten(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested settings as one level, with names joined by commas."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= {f"{name}, {part}": setting for part, setting in value.items()}
        else:
            flat[name] = value
    return flat


def short_results(layout: ReportLayout) -> Iterator[dict[str, Any]]:
    """Yield a short form of each result; subject, test, metric, mark, method and procedure are numbers in their
    lists.
    """
    marks = {mark: number for number, (mark, _, _) in enumerate(MARKS)}
    methods: dict[str, int] = {}
    procedures: dict[tuple[str, str, int], int] = {}
    procedure = attrgetter(*PROCEDURE)
    digits = partial(rounded, digits=5)
    for r, (subject, test, metric) in zip(layout.results, layout.places, strict=True):
        yield {
            "subject": subject,
            "test": test,
            "metric": metric,
            "d": digits(r.value),
            "p": digits(r.p_value),
            "mark": marks.get(mark_of(r), NOT_JUDGED),
            "ciLow": digits(r.ci_low),
            "ciHigh": digits(r.ci_high),
            "pAdjusted": digits(r.p_adjusted),
            "pElements": digits(r.p_elements),
            "dElements": digits(r.effect_size_elements),
            "pAttr": digits(r.p_random),
            "dAttr": digits(r.effect_size_random),
            "ciAttrLow": digits(r.ci_random_low),
            "ciAttrHigh": digits(r.ci_random_high),
            "units": (r.units_x, r.units_y) if r.units_x else None,
            "targets": r.target_sizes,
            "attributes": r.attribute_sizes,
            "unbiased": digits(r.unbiased),
            "statistic": digits(r.test_statistic),
            "pLow": digits(r.p_low),
            "pHigh": digits(r.p_high),
            "floor": digits(r.p_floor),
            "method": methods.setdefault(r.p_method, len(methods)),
            "procedure": procedures.setdefault(procedure(r), len(procedures)),
            "oov": r.oov,
            "lean": r.lean,
            "says": r.direction if r.lean and r.info.leans else None,
        }


def _curves(entry: Mapping[str, Any], alpha: float) -> Iterator[dict[str, Any]]:
    """Yield the specification curve of each word list of a topic on a model, with sorted d and its choices."""
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
                    *(rounded(one[name], 4) for name in ("d", "ci_low", "ci_high")),
                    int(one["p"] <= alpha),
                    int(one["published"]),
                    *(one.get(choice) for choice in choices),
                ]
                for one in sorted(own, key=lambda one: one["d"])
            ],
        }


def paired_subjects(layout: ReportLayout) -> list[tuple[int, int]]:
    """Return the pairs of models of two runs that are shown side by side: equal models, or the only model of each
    run.
    """
    first, second = ([n for n, s in enumerate(layout.subjects) if s.run == run] for run in (0, 1))
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    place = {(layout.subjects[n].model, layout.subjects[n].options): n for n in second}
    keys = [(n, (layout.subjects[n].model, layout.subjects[n].options)) for n in first]
    return [(n, place[key]) for n, key in keys if key in place]


def changes_between(layout: ReportLayout, comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return how d changed from the first run to the second, and whether the interval excludes 0."""
    tests = {test.name: number for number, test in enumerate(layout.tests)}
    found = []
    for difference in comparison.get("differences", []):
        if difference["test"] in tests and difference["metric"] in layout.metrics:
            before, after = difference["models"]
            change = {name: rounded(difference[name]) for name in ("change", "low", "high")}
            found.append(
                {
                    "test": tests[difference["test"]],
                    "metric": layout.metrics.index(difference["metric"]),
                    "before": before,
                    "after": after,
                    **change,
                    "changed": difference["changed"],
                    "d_before": rounded(difference.get("before")),
                    "d_after": rounded(difference.get("after")),
                    "size": abs(change["change"] or 0.0),
                }
            )
    return found


class ElementText(NamedTuple):
    """A target element, shared by all results that score it."""

    text: str
    word: str
    template: str | None


class PlacedText(NamedTuple):
    """A text in the list of a result."""

    role: str
    element: int
    """The index of the text's ElementText."""


class Omitted(NamedTuple):
    """A word or template that is left out for a leave-one-out effect of a result."""

    kind: str
    role: str
    name: str


class Shared(NamedTuple):
    """Texts and lists that results refer to by number, in the order of their first appearance."""

    texts: dict[ElementText, int]
    elements: dict[tuple[PlacedText, ...], int]
    left_out: dict[tuple[Omitted, ...], int]
    known: dict[Hashable, int]
    """The number of a list, by a key that is quick to compare, since most results of a test have the same list."""


def detail_blocks(runs: Sequence[Run], layout: ReportLayout) -> Iterator[tuple[str, str]]:
    """Yield the name and content of each block: first the shared block, then one for each model and metric."""
    shared = Shared({}, {}, {}, {})
    blocks: dict[int, list[str]] = {}
    for number, (result, (subject, _, metric)) in enumerate(zip(layout.results, layout.places, strict=True)):
        packed = in_json(_details(result, runs[layout.subjects[subject].run].alpha, shared))
        member = (
            f"{json.dumps(str(number))}:{packed}"  # as text, which takes much less memory than the numbers
        )
        blocks.setdefault(subject * len(layout.metrics) + metric, []).append(member)
    if not blocks:
        return
    content = {
        "texts": {"fields": ElementText._fields, "rows": list(shared.texts)},
        "lists": {
            "elements": {"fields": PlacedText._fields, "lists": list(shared.elements)},
            "left_out": {"fields": Omitted._fields, "lists": list(shared.left_out)},
        },
    }
    yield "shared", compress(in_json(content))
    for block, members in blocks.items():
        yield str(block), compress("{" + ",".join(members) + "}")


def _details(result: Result, alpha: float, shared: Shared) -> dict[str, Any]:
    """Return the details of one result."""
    packed: dict[str, Any] = {"p_middle": rounded(result.p_middle, 17), "certified": result.certified}
    if result.warnings:
        packed["warnings"] = [w.text for line in folded(result.warnings) for w in line.warnings]
    # The tokens of sentence pairs are for `explain`, and would make the page large.
    if notes := {name: note for name, note in result.notes.items() if name != "tokens"}:
        packed["notes"] = notes
    if result.scores:
        packed |= _packed_scores(result, shared)
    if result.robustness:
        packed |= _packed_robustness(result.robustness, result.value, alpha, shared)
    if result.power:
        packed["power"] = dict(result.power)
    for name in ("score_reliability", "minimum_detectable"):
        if (value := rounded(getattr(result, name), 3)) is not None:
            packed[name] = value
    return packed


def _packed_scores(result: Result, shared: Shared) -> dict[str, Any]:
    """Return the scores as whole numbers of steps (None if undefined), and the number of the list of their texts."""
    scores = np.array([s.score for s in result.scores])
    steps = WORD_STEPS if result.p_elements is None else SENTENCE_STEPS
    undefined = ~np.isfinite(scores)
    defined = np.where(undefined, 0.0, scores)
    step = float(f"{np.abs(defined).max() / steps or 1:.6g}")
    in_steps: list[int | None] = np.rint(defined / step).astype(int).tolist()
    for place in np.flatnonzero(undefined).tolist():
        in_steps[place] = None
    key = ("elements", result.test, tuple([(s.text, s.word) for s in result.scores]))
    if key not in shared.known:
        texts = [ElementText(s.text, s.word, s.template) for s in result.scores]
        placed = tuple(
            PlacedText(s.role, shared.texts.setdefault(text, len(shared.texts)))
            for s, text in zip(result.scores, texts, strict=True)
        )
        shared.known[key] = shared.elements.setdefault(placed, len(shared.elements))
    return {"step": step, "elements": shared.known[key], "scores": in_steps}


def _packed_robustness(robustness: Robustness, d: float, alpha: float, shared: Shared) -> dict[str, Any]:
    """Return the robustness of a result: leave-one-out effects, null distribution, bootstrap, decisive words."""
    packed: dict[str, Any] = {
        "random_corrected": robustness.random_corrected,
        "templates_random": robustness.templates_random,
        "fixed_reason": robustness.fixed_reason,
        "random_reason": robustness.random_reason,
        "excluded_above": rounded(robustness.excluded_above, 3),
    }
    if robustness.left_out:
        key = ("left out", tuple([(w.kind, w.role, w.name) for w in robustness.left_out]))
        if key not in shared.known:
            omitted = tuple(Omitted(w.kind, w.role, w.name) for w in robustness.left_out)
            shared.known[key] = shared.left_out.setdefault(omitted, len(shared.left_out))
        packed["left_out"] = shared.known[key]
        packed["without"] = [  # the change of d, which has fewer digits than d itself
            None if w.effect_size is None or math.isnan(d) else round((w.effect_size - d) * EFFECT_STEPS)
            for w in robustness.left_out
        ]
        p_values = ((n, w.p_value) for n, w in enumerate(robustness.left_out))
        packed["p_without"] = {str(n): p for n, p in p_values if p is not None}
    if robustness.null:
        null = [round(q * NULL_STEPS) for q in robustness.null[::NULL_EVERY]]
        packed["null"] = [
            null[0],
            *(after - before for before, after in pairwise(null)),
        ]  # differences are small, so they compress well
    if robustness.bootstrap:
        packed["bootstrap"] = {
            name: rounded(value, 5) for name, value in asdict(robustness.bootstrap).items()
        }
    by_kind = (robustness.decisive(kind, alpha) for kind in ("word", "template"))
    if hangs_on := [asdict(support) for support in by_kind if support]:
        packed["hangs_on"] = hangs_on
    return packed
