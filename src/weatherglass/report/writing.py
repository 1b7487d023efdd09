"""Write the texts that people copy from a run: methods, references, sentences, a model card and a pull-request
summary.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING, Any

from weatherglass import __version__
from weatherglass.audit.results import Result
from weatherglass.audit.settings import default_settings
from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue import load_test, reference
from weatherglass.catalogue.names import capitalised, model_name, topic_name
from weatherglass.catalogue.published import bibtex_entries, published_names
from weatherglass.errors import WeatherglassError
from weatherglass.report import statements
from weatherglass.report.numbers import counted, effect, interval, p_value, percent
from weatherglass.storage.printable import one_line, printable_json
from weatherglass.warnings import shortened_list

if TYPE_CHECKING:
    from weatherglass.audit.compare import Comparison

CORRECTIONS = {
    "holm": "Holm’s correction",
    "benjamini-hochberg": "Benjamini and Hochberg’s correction",
    "westfall-young": "Westfall and Young’s correction",
}
"""Names of corrections in sentences."""
CORRECTION_PAPERS = {
    "holm": "holm1979",
    "benjamini-hochberg": "benjamini1995",
    "westfall-young": "westfall1993",
}
TAILS = {
    "two-sided": "two-sided",
    "greater": "one-sided (greater)",
    "less": "one-sided (less)",
    "observed": "one-sided in the observed direction",
}
"""Names of tails in sentences."""
METHODS = {
    "auto": "exact, or with certified bounds, where possible",
    "exact": "exact",
    "bounds": "certified bounds",
    "sampled": "from random permutations",
    "normal": "from a normal approximation",
}

START, END = "<!-- weatherglass:start -->", "<!-- weatherglass:end -->"
"""The comments around the block, so that a later run can replace it."""
FORMAT = 2
"""The version of the JSON format; increase it when the meaning of a field changes."""
OF_VERDICT = (
    *("topic", "model", "metric", "outcome", "limit", "check", "found", "effect_size", "ci_low", "ci_high"),
    *("p", "p_adjusted", "p_random", "tests", "measured", "marked", "fragile", "family"),
)
MOST_LISTED = 6
"""The maximum number of models, tests or metrics listed in a methods paragraph; for further ones, only the number is
given.
"""
MOST_REASONS, MOST_ROWS = 30, 60
"""The maximum number of reasons and of rows in a pull-request summary; for further ones, only the number is given."""


def bibtex(record: Mapping[str, Any]) -> str:
    """Return the papers behind a run's tests and correction, and the software; a key without an entry becomes a
    comment.
    """
    entries = bibtex_entries()
    keys = list(dict.fromkeys(record.get("citations", [])))
    if paper := CORRECTION_PAPERS.get(correction_of(record)):
        keys.append(paper)
    known = [entries.get(key) or f"% no entry is known for: {' '.join(str(key).split())}" for key in keys]
    year = str(record.get("finished") or "")[:4]
    fields = [
        "author = {{The weatherglass authors}}",
        "title = {weatherglass: social bias in embeddings, and how far each number can be trusted}",
        f"version = {{{record.get('weatherglass', __version__)}}}",
        *([f"year = {{{year}}}"] if year.isdigit() else []),
        *(f"url = {{{address}}}" for address in addresses()[:1]),
    ]
    software = "@software{weatherglass,\n  " + ",\n  ".join(fields) + "\n}"
    return "\n\n".join([*known, software]) + "\n"


def addresses() -> list[str]:
    """Return the web addresses of the project that the metadata of the installed package states."""
    try:
        stated = metadata("weatherglass").get_all("Project-URL") or []
    except PackageNotFoundError:
        return []
    found = (str(line).partition(",")[2].strip() for line in stated)
    return [address for address in found if re.fullmatch(r"https?://[^\s{}%\\]+", address)]


def methods_paragraph(results: Sequence[Result], record: Mapping[str, Any]) -> str:
    """Return a methods paragraph on how the numbers of a run were computed; empty if there are no results."""
    if not results:
        return ""
    said: list[str] = []
    settings = record.get("settings", {})
    alpha = float(settings.get("alpha", 0.05))
    models = [model_name(model) for model in dict.fromkeys(result.model for result in results)]
    tests = list(dict.fromkeys(result.test for result in results))
    metrics = list(dict.fromkeys(result.metric for result in results))
    first = next((result for result in results if result.info.poolable), results[0])
    asked = f"{counted(len(tests), 'association test')} ({shortened_list(tests, MOST_LISTED)})"
    if set(tests) == set(published_names()):
        asked = "the 46 association tests of May et al. (2019)"
    named_models, named_metrics = (shortened_list(names, MOST_LISTED) for names in (models, metrics))
    said.append(
        f"We audited {counted(len(models), 'model')} ({named_models}) with {asked}, using weatherglass "
        f"{record.get('weatherglass', __version__)} with {counted(len(metrics), 'metric')} ({named_metrics})."
    )
    if any(result.info.poolable for result in results):
        said.append(
            "Effect sizes are d, the difference of the mean scores of both target sets in units of the standard "
            f"deviation over both (divided by {'n − 1' if first.ddof else 'n'})."
        )
    if first.permute == "words":
        said.append(
            "Where a word appears in several sentences, its scores were averaged first; "
            "p-values are computed by exchanging whole words between the target sets."
        )
    else:
        said.append(
            "p-values are computed by exchanging single elements, as published; "
            "sentences made from the same word are treated as independent."
        )
    how = METHODS.get(settings.get("significance", "auto"), "")
    said.append(f"They are {TAILS.get(first.alternative, first.alternative)}{f' and {how}' if how else ''}.")
    if sizes := record.get("correction", {}).get("sizes"):
        family = " or ".join(str(size) for size in sorted(set(sizes.values())))
        name = CORRECTIONS.get(correction_of(record), correction_of(record))
        said.append(f"{name} was applied over the rows, with a family of {family} at level {alpha:g}.")
    if settings.get("ci") in ("jackknife", "bca"):
        kind = "jackknife" if settings["ci"] == "jackknife" else "BCa bootstrap"
        said.append(
            f"Intervals are {kind} intervals at level {percent(1 - alpha)} with fixed attribute words."
        )
    if any(result.p_random is not None for result in results):
        said.append("A second p treats the attribute words as a random sample.")
    if any(verdict.get("outcome") for verdict in record.get("verdicts", [])):
        said.append(
            "Each topic has one outcome per model, by the rule of weatherglass (docs/methods 12): the mean "
            "d of its tests is tested by exchanging words, with Holm's correction over the topics of a "
            f"model (level {alpha:g}); sanity checks are not in the family."
        )
        if sizes:
            said.append(
                "Outcomes depend only on this correction over topics; the correction over rows gives "
                "p_adjusted, which is meant for comparison with published tables."
            )
    return " ".join(said)


def model_card(
    results: Sequence[Result], record: Mapping[str, Any], verdicts: Sequence[Verdict] | None = None
) -> str:
    """Return Markdown for a model card, with the headline, an outcome per topic, caveats, and the method.

    Args:
        results: the results of one run.
        record: the content of its run.json.
        verdicts: the verdicts; by default, those in the record.
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
        lines += ["The run has no verdicts, which need a complete run and a metric with p-values.", ""]
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
    yield markdown_row(heads)
    yield markdown_row(["---"] * len(heads))
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
        yield markdown_row([in_markdown(cell) for cell in cells])


def in_markdown(text: str) -> str:
    """Return the text, escaped for Markdown, in one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$])", r"\\\1", " ".join(one_line(text).split()))


def markdown_row(cells: Iterable[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def correction_of(record: Mapping[str, Any]) -> str:
    """Return the correction that a run used."""
    return str(record.get("correction", {}).get("method", default_settings()["correction"]))


def sentences(verdicts: Sequence[Verdict], alpha: float) -> list[str]:
    """Return what may be written for each verdict, what may not, and the papers of its tests; the strongest verdict
    comes first.
    """
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    names = dict(zip(models, statements.labels(models), strict=True))
    said = []
    for one in [*statements.topics(verdicts), *(one for one in verdicts if one.check)]:
        cited = citations((*one.tests, *one.measured))
        cite = f"Cite: {'; '.join(cited)}." if cited else "Cite: the source of your words."
        said.append(f"{statements.written(one, alpha, names[one.model, one.options])} {cite}")
    return said


def citations(tests: Sequence[str]) -> list[str]:
    """Return the papers of some tests, without repeats; tests outside the catalogue are skipped."""
    found: dict[str, None] = {}
    for test in tests:
        try:
            key = load_test(test.partition(" (")[0]).citation
        except WeatherglassError:
            continue
        if key:
            found[f"{reference(key) or key} [{key}]"] = None
    return list(found)


def model_card_block(
    results: Sequence[Result], record: Mapping[str, Any], verdicts: Sequence[Verdict] | None = None
) -> str:
    """Return Markdown between two comments; its last part is a fenced block of JSON (docs/gate.md)."""
    if verdicts is None:
        verdicts = [Verdict.from_json(one) for one in record.get("verdicts", [])]
    alpha = float(record.get("settings", {}).get("alpha", 0.05))
    content = {
        "weatherglass": record.get("weatherglass"),
        "format": FORMAT,
        "date": record.get("finished"),
        "alpha": record.get("settings", {}).get("alpha"),
        "models": [
            {name: entry.get(name) for name in ("model", "options", "identity", "resumable")}
            for entry in record.get("models", [])
        ],
        "verdicts": [
            {
                **{name: getattr(one, name) for name in OF_VERDICT},
                "sentence": statements.sentence(one, alpha),
            }
            for one in verdicts
        ],
    }
    machine = printable_json(json.dumps(content, indent=1, ensure_ascii=False))
    # Escaped, so that a name can end neither the fence nor the block.
    machine = machine.replace("`", "\\u0060").replace("<", "\\u003c")
    people = model_card(results, record, verdicts)
    return f"{START}\n{people}\n```json weatherglass\n{machine}\n```\n{END}\n"


def put_into(card: str, block: str) -> str:
    """Return the text of a model card with the block in place of an earlier one, or at its end.

    The first and the last line of the block are the comments around it.
    """
    opening, *_, closing = block.rstrip("\n").split("\n")
    before, start, rest = card.partition(opening)
    _, end, after = rest.partition(closing)
    if start and end:
        return before + block.rstrip("\n") + after
    return (card.rstrip("\n") + "\n\n" if card.strip() else "") + block


def pull_request_summary(
    verdicts: Sequence[tuple[Verdict | None, Verdict]],
    reasons: Sequence[str],
    gated: bool,
    comparison: Comparison | None = None,
    rises: Sequence[str] = (),
    alpha: float = 0.05,
) -> str:
    """Return Markdown for a comment or a CI job, with pass or fail, the reasons, the verdict on each topic, and the
    changes.

    Args:
        verdicts: for each topic, the earlier verdict if there is one, and the current one.
        reasons: the reasons why the gate failed. gated: whether there was a gate.
        comparison: a comparison with an earlier run.
        rises: verdicts that rose without being a reason to fail.
        alpha: the significance level of the run.
    """
    head = "" if not gated else ": the gate failed" if reasons else ": the gate passed"
    lines = [f"### Bias in embeddings{head}", "", *_listed(reasons)]
    now = [one for _, one in verdicts]
    metrics = list(dict.fromkeys(one.metric for one in now))
    caveats: dict[str, None] = {}
    lines += [""] if now else []
    for metric in metrics:
        own = [one for one in now if one.metric == metric]
        by = f"{metric}: " if len(metrics) > 1 else ""
        lines.append(in_markdown(by + statements.headline_text(own)))
        caveats |= dict.fromkeys(statements.caveats(own, alpha))
    if now:
        lines += ["", *_verdict_table(verdicts), "", *(f"- {in_markdown(text)}" for text in caveats)]
    if comparison is not None:
        lines += ["", *_changes(comparison)]
    if rises:
        lines += ["", *_listed(rises)]
    lines += ["", "“Inconclusive” does not mean “unbiased”. Made with weatherglass."]
    return "\n".join(lines) + "\n"


def _listed(reasons: Sequence[str]) -> Iterator[str]:
    yield from (f"- {in_markdown(reason)}" for reason in reasons[:MOST_REASONS])
    if len(reasons) > MOST_REASONS:
        yield f"- … and {len(reasons) - MOST_REASONS} more"


def _verdict_table(verdicts: Sequence[tuple[Verdict | None, Verdict]]) -> Iterator[str]:
    with_before = any(before for before, _ in verdicts)
    heads = [
        "Topic",
        "Model",
        *(["Before"] if with_before else []),
        "Outcome",
        "Mean *d*",
        "Interval",
        "Tests that differ",
    ]
    yield markdown_row(heads)
    yield markdown_row(["---"] * len(heads))
    models = list(dict.fromkeys((now.model, now.options) for _, now in verdicts))
    names = dict(zip(models, statements.labels(models), strict=True))
    for before, now in verdicts[:MOST_ROWS]:
        earlier = [statements.outcome_text(before) if before else "–"] if with_before else []
        cells = [
            capitalised(statements.check_name(now) if now.check else topic_name(now.topic)),
            names[now.model, now.options],
            *earlier,
            statements.outcome_text(now),
            effect(now.effect_size),
            interval(now.ci_low, now.ci_high) or "–",
            f"{len(now.marked)} of {len(now.tests)}",
        ]
        yield markdown_row(map(in_markdown, cells))
    if len(verdicts) > MOST_ROWS:
        yield f"\n… and {len(verdicts) - MOST_ROWS} more topics"


def _changes(comparison: Comparison) -> Iterator[str]:
    changed = [row for row in comparison.differences if row.changed]
    total = len(comparison.differences)
    yield (
        f"{len(changed)} of {total} effects changed (the {percent(1 - comparison.alpha)} interval of the "
        f"change excludes 0; by chance alone, about {comparison.alpha * total:.1f} would). "
        f"{len(comparison.worse)} grew significantly (adjusted *p* ≤ {comparison.alpha:g}, Holm correction "
        f"over {comparison.corrected} rows; sanity checks are not counted)."
    )
    if changed:
        yield ""
        yield markdown_row(["Test", "Metric", "Before", "After", "Change", "Interval", "*p*", "Adjusted *p*"])
        yield markdown_row(["---"] * 8)
    for row in changed[:MOST_ROWS]:
        numbers = effect(row.before), effect(row.after), effect(row.change), interval(row.low, row.high)
        p = p_value(row.p_value), "control" if row.control else p_value(row.p_adjusted)
        yield markdown_row(map(in_markdown, (row.test, row.metric, *numbers, *p)))
