"""What would change the findings: the words, templates and choices they hang on, strongest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weatherglass.audit.results import Result
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import CONTROL
from weatherglass.catalogue.names import capitalised, list_name
from weatherglass.report.numbers import effect, p_value
from weatherglass.report.view import Layout


@dataclass(frozen=True, slots=True)
class Hinge:
    """A choice that another careful reader could have made otherwise, and what it would do."""

    title: str
    before: str
    after: str
    text: str
    result: int | None
    """The number of the result that shows it; None where it is about many."""


@dataclass(frozen=True, slots=True)
class Found:
    """A significant result and its place in the page."""

    number: int
    result: Result
    model: str
    topic: str
    title: str
    alpha: float


def hinges(layout: Layout, runs: Sequence[Run], multiverse: Sequence[Mapping[str, Any]] = ()) -> list[Hinge]:
    """What the findings of the first metric hang on.

    Args:
        layout: of the page.
        runs: those of the page.
        multiverse: the topics of a multiverse, where there is one.
    """
    all_found = list(_found(layout, runs))
    significant = [one for one in all_found if one.result.p_value <= one.alpha]
    makers: tuple[Callable[[], Iterator[Hinge]], ...] = (
        lambda: _one_left_out("word", significant),
        lambda: _one_left_out("template", significant),
        lambda: _other_attributes(significant),
        lambda: _other_targets(significant),
        lambda: _single_sentences(all_found),
        lambda: _another_metric(layout),
        lambda: _multiverse(multiverse),
    )
    return [hinge for maker in makers for hinge in maker()]


def _found(layout: Layout, runs: Sequence[Run]) -> Iterator[Found]:
    for number, (s, t, m) in enumerate(layout.places):
        result, test, subject = layout.results[number], layout.tests[t], layout.subjects[s]
        if m == 0 and result.info.poolable and test.topic != CONTROL:
            yield Found(number, result, subject.short, test.topic, test.title, runs[subject.run].alpha)


def _one_left_out(kind: str, significant: Sequence[Found]) -> Iterator[Hinge]:
    """The result with the largest p without one word, or one template."""
    hanging = [
        (one, hangs_on)
        for one in significant
        if one.result.trust and (hangs_on := one.result.trust.hangs_on(kind, one.alpha))
    ]
    if not hanging:
        return
    one, hangs_on = max(hanging, key=lambda pair: pair[1].p_value)
    without = next(
        (
            w.effect_size
            for w in one.result.trust.left_out
            if (w.kind, w.role, w.name) == (kind, hangs_on.role, hangs_on.name)
        )
        if one.result.trust
        else iter(()),
        None,
    )
    moved = (
        f"d goes from {effect(one.result.effect_size)} to {effect(without)}; in"
        if without is not None
        else "in"
    )
    yield Hinge(
        f"One {kind}",
        f"p {p_value(one.result.p_value)}",
        p_value(hangs_on.p_value),
        f"{one.title} in {one.model} ({one.result.test}) rests on “{hangs_on.name}”. Without it {moved} all, "
        f"{len(hanging)} of {len(significant)} results with p ≤ {one.alpha:g} hang on a single {kind}.",
        one.number,
    )


def _other_attributes(significant: Sequence[Found]) -> Iterator[Hinge]:
    """How many results hold if the attribute words stand for others like them."""
    asked = [one for one in significant if one.result.trust]
    if not asked:
        return
    lost = [one for one in asked if one.result.p_random is None or one.result.p_random > one.alpha]
    example = max(lost, key=lambda one: abs(one.result.effect_size), default=None)
    held = len(asked) - len(lost)
    text = (
        f"Of {len(asked)} results with p ≤ {asked[0].alpha:g}, {held} still {'leaves' if held == 1 else 'leave'} out 0 "
        "if the attribute words stand for others like them."
    )
    if example:
        p = (
            "cannot be told"
            if example.result.p_random is None
            else f"has p {p_value(example.result.p_random)}"
        )
        d = effect(example.result.effect_size)
        text += f" The largest that does not: {example.title} in {example.model}, d {d}, {p}."
    number = example.number if example else None
    yield Hinge(
        "Other attribute words", str(len(asked)), f"{held} result{'' if held == 1 else 's'}", text, number
    )


def _other_targets(significant: Sequence[Found]) -> Iterator[Hinge]:
    """Two significant tests of one topic and model that point in opposite directions, those farthest apart."""
    by_topic: dict[tuple[str, str], list[Found]] = {}
    for one in significant:
        if one.result.lean:
            by_topic.setdefault((one.topic, one.model), []).append(one)
    turned = []
    for group in by_topic.values():
        first = max(group, key=lambda one: one.result.effect_size)
        last = min(group, key=lambda one: one.result.effect_size)
        if first.result.effect_size > 0 > last.result.effect_size:
            turned.append((first, last))
    if not turned:
        return
    first, last = max(turned, key=lambda pair: pair[0].result.effect_size - pair[1].result.effect_size)
    yield Hinge(
        "Other words for the same question",
        f"d {effect(first.result.effect_size)}",
        effect(last.result.effect_size),
        f"{capitalised(first.topic)} in {first.model} turns round: d is {effect(first.result.effect_size)} for "
        f"“{_words(first)}” ({first.result.test}), {effect(last.result.effect_size)} for “{_words(last)}” "
        f"({last.result.test}).",
        last.number,
    )


def _words(one: Found) -> str:
    return list_name(one.result.test, one.result.categories, one.result.context)


def _single_sentences(found: Sequence[Found]) -> Iterator[Hinge]:
    """How many more results would be significant if the sentences of a word counted as independent."""
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
        return
    one = min(gained, key=lambda one: (one.result.p_elements or 0.0, one.number))
    yield Hinge(
        "Counting sentences as independent",
        str(by_words),
        f"{by_sentences} of {len(several)}",
        f"Sentence tests with p ≤ {one.alpha:g} by words, and by single sentences as published. {one.title} in "
        f"{one.model} ({one.result.test}) goes from {p_value(one.result.p_value)} to {p_value(one.result.p_elements)}.",
        one.number,
    )


def _another_metric(layout: Layout) -> Iterator[Hinge]:
    apart = opposite_metrics(layout)
    if not apart:
        return
    widest = apart[0]
    yield Hinge(
        "The metric",
        f"d {effect(widest.values[0])}",
        effect(widest.values[1]),
        f"{len(apart)} of {widest.compared} results point the other way under another metric; widest apart: "
        f"{layout.tests[widest.test].title} in {layout.subjects[widest.subject].short}, {widest.metrics[0]} and "
        f"{widest.metrics[1]}.",
        widest.numbers[1],
    )


@dataclass(frozen=True, slots=True)
class Opposed:
    """One test on one model of which two metrics say the opposite."""

    test: int
    subject: int
    metrics: tuple[str, str]
    values: tuple[float, float]
    numbers: tuple[int, int]
    strongly: bool
    """Whether both have p ≤ alpha."""
    compared: int
    """How many results have several metrics with a sign."""


def opposite_metrics(layout: Layout, alphas: Sequence[float] = ()) -> list[Opposed]:
    """Where two metrics with a sign point in opposite directions, the widest apart first; effect sizes d alone."""
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


def _multiverse(topics: Sequence[Mapping[str, Any]]) -> Iterator[Hinge]:
    """The choice that moves d most, in the topic where choices move it most."""
    entries = [entry for entry in topics if entry.get("specifications")]
    if not entries:
        return
    entry = max(entries, key=lambda entry: entry["decomposition"]["variance"])
    ds = [one["d"] for one in entry["specifications"] if one["d"] is not None]
    shares = entry["decomposition"].get("shares") or {}
    mover, share = max(shares.items(), key=lambda item: item[1], default=("", 0.0))
    moved = f" {100 * share:.0f} % of the spread goes with the choice of {mover}." if mover else ""
    yield Hinge(
        "Any sensible choice (multiverse)",
        f"d {effect(min(ds))}",
        effect(max(ds)),
        f"{capitalised(entry['topic'])} in {entry['model']}: {entry['specification_count']} specifications, "
        f"{100 * entry['share_same_sign']:.0f} % share the sign, joint p {p_value(entry['multiverse_p'])}.{moved}",
        None,
    )
