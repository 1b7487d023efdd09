"""What a paper or a model card takes over from a run, as text: a methods paragraph, BibTeX, a block of Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weatherglass import __version__
from weatherglass.catalogue.published import bibtex_entries, published_names
from weatherglass.inference import DEFAULT_CORRECTION
from weatherglass.report.numbers import effect, interval, percent
from weatherglass.report.test_names import capitalised
from weatherglass.runs.results import Result
from weatherglass.storage.printable import one_line

CORRECTIONS = {
    "holm": "Holm’s correction",
    "benjamini-hochberg": "Benjamini and Hochberg’s correction",
    "westfall-young": "Westfall and Young’s correction",
}
"""The corrections as sentences name them."""
CORRECTION_PAPERS = {
    "holm": "holm1979",
    "benjamini-hochberg": "benjamini1995",
    "westfall-young": "westfall1993",
}
TAILS = {
    "two-sided": "two-sided",
    "greater": "one-sided (greater)",
    "less": "one-sided (less)",
    "observed": "one-sided in the direction that was observed",
}
"""One-sided or two-sided, as sentences say it."""
METHODS = {
    "auto": "exact or certified bounds where they can be had",
    "exact": "exact",
    "bounds": "certified bounds",
    "sampled": "from random permutations",
    "normal": "from a normal approximation",
}


def bibtex(record: Mapping[str, Any]) -> str:
    """The papers behind a run's tests and correction, and the software; a key without an entry is a comment."""
    entries = bibtex_entries()
    keys = list(dict.fromkeys(record.get("citations", [])))
    if paper := CORRECTION_PAPERS.get(correction_of(record)):
        keys.append(paper)
    known = [entries.get(key) or f"% no entry is known for: {' '.join(str(key).split())}" for key in keys]
    return "\n\n".join([*known, _software(record)]) + "\n"


def _software(record: Mapping[str, Any]) -> str:
    version = record.get("weatherglass", __version__)
    year = str(record.get("finished") or "")[:4]
    lines = [
        "@software{weatherglass,",
        "  title = {weatherglass: social bias in embeddings, and how far each number can be trusted},",
        f"  version = {{{version}}},",
        *([f"  year = {{{year}}}"] if year.isdigit() else []),
    ]
    return "\n".join(lines).rstrip(",") + "\n}"


def methods_paragraph(results: Sequence[Result], record: Mapping[str, Any]) -> str:
    """How the numbers of a run were computed, as a paper's methods section says it; from settings alone."""
    if not results:
        return ""
    return " ".join(_methods(results, record))


def _methods(results: Sequence[Result], record: Mapping[str, Any]) -> Iterator[str]:
    settings = record.get("settings", {})
    alpha = float(settings.get("alpha", 0.05))
    models = list(dict.fromkeys(result.model for result in results))
    tests = list(dict.fromkeys(result.test for result in results))
    metrics = list(dict.fromkeys(result.metric for result in results))
    first = next((result for result in results if result.is_effect_size), results[0])
    yield (
        f"We audited {_counted(models, 'model')} ({_listed(models)}) with {_tests(tests)}, using weatherglass "
        f"{record.get('weatherglass', __version__)} with {_counted(metrics, 'metric')} ({_listed(metrics)})."
    )
    if any(result.is_effect_size for result in results):
        yield (
            "Effect sizes are d, the difference of the mean scores of both target sets in units of the standard "
            f"deviation over both (divided by {'n − 1' if first.ddof else 'n'})."
        )
    if first.permute == "words":
        yield (
            "Where a word stands in several sentences, its scores were averaged first; "
            "p-values exchange whole words between the target sets."
        )
    else:
        yield "p-values exchange single elements, as published; sentences of one word count as independent."
    how = METHODS.get(settings.get("significance", "auto"), "")
    yield f"They are {TAILS.get(first.alternative, first.alternative)}{f' and {how}' if how else ''}."
    if sizes := record.get("correction", {}).get("sizes"):
        family = " or ".join(str(size) for size in sorted(set(sizes.values())))
        name = CORRECTIONS.get(correction_of(record), correction_of(record))
        yield f"{name} was used in a family of {family} at level {alpha:g}."
    if settings.get("ci") in ("jackknife", "bca"):
        kind = "jackknife" if settings["ci"] == "jackknife" else "BCa bootstrap"
        yield f"Intervals are {kind} intervals at level {percent(1 - alpha)} with the attribute words held as they are."
    if any(result.p_attr is not None for result in results):
        yield "A second reading takes the attribute words as a sample of words of their kind."
    if any(verdict.get("verdict") for verdict in record.get("verdicts", [])):
        yield (
            "A verdict per topic and model follows the rule of weatherglass (docs/methods 12): tests of a topic are "
            f"corrected by Bonferroni, topics of a model by Holm at {alpha:g}, controls apart."
        )


def model_card(
    results: Sequence[Result], record: Mapping[str, Any], verdicts: Sequence[Mapping[str, Any]] | None = None
) -> str:
    """A block of Markdown for a model card: a verdict and a number per topic, how to read them, how they were made.

    Args:
        results: of one run.
        record: what its run.json says.
        verdicts: as `Verdict.to_json` gives them; those in the record where none are given.
    """
    judged = list(record.get("verdicts", []) if verdicts is None else verdicts)
    alpha = float(record.get("settings", {}).get("alpha", 0.05))
    several_models = len({verdict["model"] for verdict in judged}) > 1
    several_metrics = len({verdict["metric"] for verdict in judged}) > 1
    heads = [
        "Topic",
        *(["Model"] if several_models else []),
        *(["Metric"] if several_metrics else []),
        *(
            "Verdict",
            "Mean *d*",
            f"{percent(1 - alpha)} interval",
            f"Tests with p ≤ {alpha:g}",
            "Among reference models",
        ),
    ]
    lines = ["## Bias: associations in the embedding", ""]
    if judged:
        lines += [_row(heads), _row(["---"] * len(heads))]
        for verdict in judged:
            standing = verdict.get("reference")
            cells = [
                capitalised(str(verdict["topic"])) + (" (no bias is meant)" if verdict["control"] else ""),
                *([str(verdict["model"])] if several_models else []),
                *([str(verdict["metric"])] if several_metrics else []),
                str(verdict["verdict"] or "not judged"),
                effect(verdict["effect_size"]),
                interval(verdict["ci_low"], verdict["ci_high"]) or "–",
                f"{verdict['significant']} of {len(verdict['tests'])}",
                f"higher than {standing['above']} of {standing['models']}" if standing else "–",
            ]
            lines.append(_row([in_markdown(cell) for cell in cells]))
    else:
        lines.append("The run has no verdicts: they are given on effect sizes *d*, when a run is complete.")
    lines += [
        "",
        "“Cannot tell” does not say that there is no bias: these tests have few words. An association in vectors "
        "is not yet harm in use.",
        "",
        in_markdown(methods_paragraph(results, record)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def in_markdown(text: str) -> str:
    """The text, escaped for Markdown, in one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$])", r"\\\1", " ".join(one_line(text).split()))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def correction_of(record: Mapping[str, Any]) -> str:
    """Return the correction that a run used."""
    return str(record.get("correction", {}).get("method", DEFAULT_CORRECTION))


def _counted(items: Sequence[str], noun: str) -> str:
    return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}"


def _listed(items: Sequence[str], most: int = 6) -> str:
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _tests(tests: Sequence[str]) -> str:
    """The tests by name, or by the collection where it is whole."""
    published = set(published_names())
    counts = Counter(test in published for test in tests)
    if counts[True] == len(published) and not counts[False]:
        return "the 46 association tests of May et al. (2019)"
    return f"{_counted(tests, 'association test')} ({_listed(tests)})"
