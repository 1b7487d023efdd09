"""What you may write in a paper for each verdict: a sentence with its numbers, its limits, and what to cite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weatherglass.catalogue import load_test, reference
from weatherglass.errors import WeatherglassError
from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.runs.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Wording:
    """What a verdict allows and what it does not."""

    may: str
    """With {direction}, {topic}, {model} and {numbers}."""
    may_not: str


NOT_JUDGED = "not judged"
WORDINGS: Mapping[str, Wording] = {
    "shown": Wording(
        "On {topic}, {model} shows an association ({direction}; {numbers}). It survives the correction for all topics, "
        "holds for other attribute words of this kind, and does not hang on any one word.",
        "that the model harms anyone in use, or how it behaves in a task: an association in vectors is neither",
    ),
    "shown for these words": Wording(
        "On {topic}, {model} shows an association with the attribute words of these tests ({direction}; {numbers}). "
        "That other attribute words of this kind would show it is not established.",
        "that the model has this bias in general: only these attribute words were shown",
    ),
    "suggested": Wording(
        "On {topic}, there is a sign of an association in {model} ({direction}; {numbers}), which does not survive the "
        "correction for the topics that were tested.",
        "that the association was found, or that it is significant",
    ),
    "mixed": Wording(
        "On {topic}, tests of {model} disagree: some are significant in one direction and some in the other "
        "({numbers}).",
        "an average of them, or one direction alone",
    ),
    "small": Wording(
        "On {topic}, associations of {model} are small: every test excludes a larger |d| than was set as the smallest "
        "of interest ({numbers}).",
        "that there is no association, or that the model is unbiased",
    ),
    "cannot tell": Wording(
        "On {topic}, these tests neither show nor exclude an association in {model} ({numbers}).",
        "that there is no bias: a test of few words does not find effects of this size",
    ),
    NOT_JUDGED: Wording(
        "On {topic}, no verdict on {model} can be given: {why}.",
        "any conclusion from the sign or size of its effects",
    ),
}
"""By verdict, in the order in which the rule tries them (docs/methods 12)."""


def sentences(verdicts: Sequence[Verdict], alpha: float) -> list[str]:
    """For each verdict the sentence that may be written, what may not, and the papers of its tests."""
    return [sentence(verdict, alpha) for verdict in verdicts]


def sentence(verdict: Verdict, alpha: float) -> str:
    """What may be written of one verdict, what may not, and what to cite."""
    wording = WORDINGS[verdict.verdict or NOT_JUDGED]
    written = wording.may.format(
        topic=verdict.topic,
        model=verdict.model,
        direction=verdict.direction or "without a direction",
        numbers=_numbers(verdict, alpha),
        why=verdict.why,
    )
    cited = citations(verdict.tests)
    cite = f" Cite: {'; '.join(cited)}." if cited else " Cite: the source of your words."
    return f"{written} Not: {wording.may_not}.{cite}"


def citations(tests: Sequence[str]) -> list[str]:
    """The papers of these tests, each once; a test of one's own has none that we know."""
    found: dict[str, None] = {}
    for test in tests:
        try:
            key = load_test(test).citation
        except WeatherglassError:
            continue
        if key:
            found[f"{reference(key) or key} [{key}]"] = None
    return list(found)


def _numbers(verdict: Verdict, alpha: float) -> str:
    tests = f"{verdict.significant} of {len(verdict.tests)} tests with p ≤ {alpha:g}"
    parts = [f"mean d = {effect(verdict.effect_size)}"] if verdict.effect_size is not None else []
    if shown := interval(verdict.ci_low, verdict.ci_high):
        parts.append(f"{percent(1 - alpha)} interval {shown}")
    p = verdict.p_both if verdict.verdict == "shown" else verdict.p_these
    if p is not None:
        parts.append(f"corrected p = {p_value(p)}")
    if verdict.verdict == "small" and verdict.excluded_above is not None:
        parts.append(f"|d| above {effect(verdict.excluded_above)} is excluded")
    if verdict.verdict == "cannot tell" and verdict.minimum_detectable is not None:
        parts.append(
            f"a test of this size finds d = {effect(verdict.minimum_detectable)} with a chance of 80 %"
        )
    return ", ".join([*parts, tests])
