"""What a paper or a model card takes over from a run, as text: a methods paragraph, BibTeX, a block of Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weatherglass import __version__
from weatherglass.audit.results import Result
from weatherglass.audit.settings import default_settings
from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue.names import capitalised, model_name, topic_name
from weatherglass.catalogue.published import bibtex_entries, published_names
from weatherglass.report import statements
from weatherglass.report.numbers import effect, interval, percent
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
    models = [model_name(model) for model in dict.fromkeys(result.model for result in results)]
    tests = list(dict.fromkeys(result.test for result in results))
    metrics = list(dict.fromkeys(result.metric for result in results))
    first = next((result for result in results if result.info.poolable), results[0])
    yield (
        f"We audited {_counted(models, 'model')} ({_listed(models)}) with {_tests(tests)}, using weatherglass "
        f"{record.get('weatherglass', __version__)} with {_counted(metrics, 'metric')} ({_listed(metrics)})."
    )
    if any(result.info.poolable for result in results):
        yield (
            "Effect sizes are d, the difference of the mean scores of both target sets in units of the standard "
            f"deviation over both (divided by {'n − 1' if first.ddof else 'n'})."
        )
    if first.permute == "words":
        yield (
            "Where a word appears in several sentences, its scores were averaged first; "
            "p-values are computed by exchanging whole words between the target sets."
        )
    else:
        yield (
            "p-values are computed by exchanging single elements, as published; "
            "sentences of one word count as independent."
        )
    how = METHODS.get(settings.get("significance", "auto"), "")
    yield f"They are {TAILS.get(first.alternative, first.alternative)}{f' and {how}' if how else ''}."
    if sizes := record.get("correction", {}).get("sizes"):
        family = " or ".join(str(size) for size in sorted(set(sizes.values())))
        name = CORRECTIONS.get(correction_of(record), correction_of(record))
        yield f"{name} was used in a family of {family} at level {alpha:g}."
    if settings.get("ci") in ("jackknife", "bca"):
        kind = "jackknife" if settings["ci"] == "jackknife" else "BCa bootstrap"
        yield f"Intervals are {kind} intervals at level {percent(1 - alpha)} with the attribute words held as they are."
    if any(result.p_random is not None for result in results):
        yield "A second p treats the attribute words as a random sample of words of their kind."
    if any(verdict.get("outcome") for verdict in record.get("verdicts", [])):
        yield (
            "Each topic has one outcome per model, by the rule of weatherglass (docs/methods 12): the mean d of its "
            f"tests is tested by exchanging words, corrected by Holm over the topics of a model (level {alpha:g}); "
            "sanity checks are not in the family."
        )


def model_card(
    results: Sequence[Result], record: Mapping[str, Any], verdicts: Sequence[Verdict] | None = None
) -> str:
    """Return Markdown for a model card: the answer, an outcome per topic, what must be said with it, the method.

    Args:
        results: of one run.
        record: what its run.json says.
        verdicts: those in the record where none are given.
    """
    if verdicts is None:
        verdicts = [Verdict.from_json(one) for one in record.get("verdicts", [])]
    alpha = float(record.get("settings", {}).get("alpha", 0.05))
    lines = ["## Bias: associations in the embedding", ""]
    for metric in dict.fromkeys(one.metric for one in verdicts):
        own = [one for one in verdicts if one.metric == metric]
        by = f" (by {metric})" if len({one.metric for one in verdicts}) > 1 else ""
        lines += [in_markdown(statements.headline_text(own) + by), "", *_card_table(own, alpha), ""]
        lines += [f"- {in_markdown(caveat)}" for caveat in statements.caveats(own, alpha)]
        lines.append("")
    if not verdicts:
        lines += ["The run has no verdicts: they need a complete run and a metric with p-values.", ""]
    lines += [
        "“Inconclusive” does not mean “unbiased”: these tests have few words. An association between vectors is not "
        "evidence of harm in use.",
        "",
        in_markdown(methods_paragraph(results, record)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _card_table(verdicts: Sequence[Verdict], alpha: float) -> Iterator[str]:
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    names = dict(zip(models, statements.labels(models), strict=True))
    several = len(models) > 1
    heads = ["Topic", *(["Model"] if several else [])]
    heads += [
        "Outcome",
        "Mean *d*",
        f"{percent(1 - alpha)} interval",
        "Tests that differ",
        "Among reference models",
    ]
    yield _row(heads)
    yield _row(["---"] * len(heads))
    for one in [*statements.topics(verdicts), *(one for one in verdicts if one.check)]:
        standing = one.reference
        cells = [
            capitalised(statements.check_name(one) if one.check else topic_name(one.topic)),
            *([names[one.model, one.options]] if several else []),
            statements.outcome_text(one),
            effect(one.effect_size),
            interval(one.ci_low, one.ci_high) or "–",
            f"{len(one.marked)} of {len(one.tests)}" if one.tests and not one.check else "–",
            f"higher than {standing.above} of {standing.models}" if standing else "–",
        ]
        yield _row([in_markdown(cell) for cell in cells])


def in_markdown(text: str) -> str:
    """The text, escaped for Markdown, in one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$])", r"\\\1", " ".join(one_line(text).split()))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def correction_of(record: Mapping[str, Any]) -> str:
    """Return the correction that a run used."""
    return str(record.get("correction", {}).get("method", default_settings()["correction"]))


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
