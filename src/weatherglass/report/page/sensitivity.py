"""Show which words, templates and choices would change the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weatherglass.audit.results import Result
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import CONTROL
from weatherglass.catalogue.names import capitalised, list_name
from weatherglass.report.numbers import counted, effect, p_value
from weatherglass.report.view import ReportLayout


@dataclass(frozen=True, slots=True)
class Alternative:
    """A choice that another careful reader could have made differently, and its effect on the findings."""

    title: str
    before: str
    after: str
    text: str
    result: int | None
    """The number of the result that shows the effect; None if it concerns many results."""


@dataclass(frozen=True, slots=True)
class Found:
    """A result and its place in the page."""

    number: int
    result: Result
    model: str
    topic: str
    title: str
    alpha: float


@dataclass(frozen=True, slots=True)
class Opposed:
    """A test on one model for which two metrics have opposite signs."""

    test: int
    subject: int
    metrics: tuple[str, str]
    values: tuple[float, float]
    numbers: tuple[int, int]
    strongly: bool
    """Whether p ≤ alpha under both metrics."""
    compared: int
    """The number of results that have several signed metrics."""


def alternatives(
    layout: ReportLayout,
    runs: Sequence[Run],
    opposed: Sequence[Opposed],
    multiverse: Sequence[Mapping[str, Any]] = (),
) -> list[Alternative]:
    """Return the choices that the findings of the first metric depend on.

    Args:
        layout: the layout of the page.
        runs: the runs of the page.
        opposed: results for which two metrics have opposite signs.
        multiverse: the topics of a multiverse, if there is one.
    """
    found = []
    for number, (s, t, m) in enumerate(layout.places):
        result, test, subject = layout.results[number], layout.tests[t], layout.subjects[s]
        if m == 0 and result.info.poolable and test.topic != CONTROL:
            alpha = runs[subject.run].alpha
            found.append(Found(number, result, subject.short, test.topic, test.title, alpha))
    significant = [one for one in found if one.result.p_value <= one.alpha]
    shown = [
        _one_left_out("word", significant),
        _one_left_out("template", significant),
        _other_attributes(significant),
        _other_targets(significant),
        _single_sentences(found),
        _another_metric(layout, opposed) if opposed else None,
        _multiverse(multiverse) if multiverse else None,
    ]
    return [one for one in shown if one]


def _one_left_out(kind: str, significant: Sequence[Found]) -> Alternative | None:
    """Return the result with the largest leave-one-out p, without one word or one template."""
    depending = [
        (one, decisive)
        for one in significant
        if one.result.robustness and (decisive := one.result.robustness.decisive(kind, one.alpha))
    ]
    if not depending:
        return None
    one, decisive = max(depending, key=lambda pair: pair[1].p_value)
    left_out = one.result.robustness.left_out if one.result.robustness else ()
    words = {(w.kind, w.role, w.name): w.effect_size for w in left_out}
    without = words.get((kind, decisive.role, decisive.name))
    moved = f" Without it, d goes from {effect(one.result.effect_size)} to {effect(without)}."
    return Alternative(
        f"One {kind}",
        f"p {p_value(one.result.p_value)}",
        p_value(decisive.p_value),
        f"{one.title} in {one.model} ({one.result.test}) depends on “{decisive.name}”."
        f"{moved if without is not None else ''} In all, {len(depending)} of {counted(len(significant), 'result')} "
        f"with p ≤ {one.alpha:g} {'depends' if len(depending) == 1 else 'depend'} on a single {kind}.",
        one.number,
    )


def _other_attributes(significant: Sequence[Found]) -> Alternative | None:
    """Return how many results remain significant for random attribute words."""
    asked = [one for one in significant if one.result.robustness]
    if not asked:
        return None
    lost = [one for one in asked if one.result.p_random is None or one.result.p_random > one.alpha]
    example = max(lost, key=lambda one: abs(one.result.effect_size), default=None)
    kept = len(asked) - len(lost)
    text = (
        f"If the attribute words count as a random sample, {kept} of {counted(len(asked), 'result')} "
        f"{('keeps' if kept == 1 else 'keep')} p ≤ {asked[0].alpha:g}."
    )
    if example:
        p = (
            "p cannot be estimated"
            if example.result.p_random is None
            else f"p {p_value(example.result.p_random)}"
        )
        d = effect(example.result.effect_size)
        text += f" The largest effect that does not: {example.title} in {example.model}, d {d}, {p}."
    number = example.number if example else None
    return Alternative("Other attribute words", str(len(asked)), counted(kept, "result"), text, number)


def _other_targets(significant: Sequence[Found]) -> Alternative | None:
    """Return two significant tests of one topic and model with opposite directions, choosing the pair farthest
    apart.
    """
    by_topic: dict[tuple[str, str], list[Found]] = {}
    for one in significant:
        if one.result.lean:
            by_topic.setdefault((one.topic, one.model), []).append(one)
    flipped = []
    for group in by_topic.values():
        first = max(group, key=lambda one: one.result.effect_size)
        last = min(group, key=lambda one: one.result.effect_size)
        if first.result.effect_size > 0 > last.result.effect_size:
            flipped.append((first, last))
    if not flipped:
        return None
    first, last = max(flipped, key=lambda pair: pair[0].result.effect_size - pair[1].result.effect_size)
    said = [
        f"{effect(r.effect_size)} for “{list_name(r.test, r.categories, r.context)}” ({r.test})"
        for r in (first.result, last.result)
    ]
    return Alternative(
        "Other words for the same question",
        f"d {effect(first.result.effect_size)}",
        effect(last.result.effect_size),
        f"{capitalised(first.topic)} in {first.model} changes direction: d is {said[0]}, {said[1]}.",
        last.number,
    )


def _single_sentences(found: Sequence[Found]) -> Alternative | None:
    """Return how many more results would be significant if the sentences of a word counted as independent."""
    several = [one for one in found if one.result.p_elements is not None]
    by_words = sum(one.result.p_value <= one.alpha for one in several)
    gained = [
        one
        for one in several
        if one.result.p_elements is not None and one.result.p_elements <= one.alpha < one.result.p_value
    ]
    by_sentences = sum(
        one.result.p_elements is not None and one.result.p_elements <= one.alpha for one in several
    )
    if not gained:
        return None
    one = min(gained, key=lambda one: (one.result.p_elements or 0.0, one.number))
    return Alternative(
        "Counting sentences as independent",
        str(by_words),
        f"{by_sentences} of {len(several)}",
        f"Sentence tests with p ≤ {one.alpha:g} by words, and by single sentences as published. {one.title} in "
        f"{one.model} ({one.result.test}) goes from {p_value(one.result.p_value)} to {p_value(one.result.p_elements)}.",
        one.number,
    )


def _another_metric(layout: ReportLayout, opposed: Sequence[Opposed]) -> Alternative:
    """Return the result on which two metrics differ most."""
    widest = opposed[0]
    return Alternative(
        "The metric",
        f"d {effect(widest.values[0])}",
        effect(widest.values[1]),
        f"{len(opposed)} of {widest.compared} results have the opposite direction under another metric; the largest "
        f"difference is for {layout.tests[widest.test].title} in {layout.subjects[widest.subject].short}, between "
        f"{widest.metrics[0]} and {widest.metrics[1]}.",
        widest.numbers[1],
    )


def opposite_metrics(layout: ReportLayout, alphas: Sequence[float] = ()) -> list[Opposed]:
    """Return the results for which two metrics give d of opposite signs, starting with the pair farthest apart."""
    by_place: dict[tuple[int, int], list[int]] = {}
    for number, (s, t, _) in enumerate(layout.places):
        if layout.results[number].info.poolable and layout.results[number].lean is not None:
            by_place.setdefault((t, s), []).append(number)
    several = {place: numbers for place, numbers in by_place.items() if len(numbers) > 1}
    found = []
    for (t, s), numbers in several.items():
        high = max(numbers, key=lambda n: layout.results[n].bias)
        low = min(numbers, key=lambda n: layout.results[n].bias)
        if layout.results[high].bias > 0 > layout.results[low].bias:
            one, other = sorted((high, low), key=lambda n: layout.places[n][2])
            alpha = alphas[layout.subjects[s].run] if alphas else 0.0
            pair = layout.results[one], layout.results[other]
            found.append(
                Opposed(
                    t,
                    s,
                    (pair[0].metric, pair[1].metric),
                    (pair[0].bias, pair[1].bias),
                    (one, other),
                    all(r.p_value <= alpha for r in pair),
                    len(several),
                )
            )
    return sorted(found, key=lambda one: -abs(one.values[0] - one.values[1]))


def _multiverse(topics: Sequence[Mapping[str, Any]]) -> Alternative | None:
    """Return the choice that changes d most, for the topic in which d varies most."""
    entries = [entry for entry in topics if entry.get("specifications")]
    if not entries:
        return None
    entry = max(entries, key=lambda entry: entry["decomposition"]["variance"])
    ds = [one["d"] for one in entry["specifications"] if one["d"] is not None]
    shares = entry["decomposition"].get("shares") or {}
    mover, share = max(shares.items(), key=lambda item: item[1], default=("", 0.0))
    moved = (
        f" {100 * share:.0f} % of the variance of d is explained by the choice of {mover}." if mover else ""
    )
    return Alternative(
        "Other reasonable choices (multiverse)",
        f"d {effect(min(ds))}",
        effect(max(ds)),
        f"{capitalised(entry['topic'])} in {entry['model']}: {entry['specification_count']} specifications, "
        f"{100 * entry['share_same_sign']:.0f} % share the sign, multiverse p {p_value(entry['multiverse_p'])}.{moved}",
        None,
    )
