"""A run or a comparison as a short Markdown text, for a comment on a pull request or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from weatherglass.catalogue.names import capitalised, topic_name
from weatherglass.report import statements
from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.report.paper import in_markdown

if TYPE_CHECKING:
    from weatherglass.audit.compare import Comparison
    from weatherglass.audit.verdict import Verdict

MOST_REASONS = 30
MOST_ROWS = 60


def pull_request_summary(
    verdicts: Sequence[tuple[Verdict | None, Verdict]],
    reasons: Sequence[str],
    gated: bool,
    comparison: Comparison | None = None,
    rises: Sequence[str] = (),
    alpha: float = 0.05,
) -> str:
    """A heading that says pass or fail, the reasons, the verdict on each topic, and what changed.

    Args:
        verdicts: of each topic the one before, where there is one, and the one now.
        reasons: why the gate failed.
        gated: whether there was a gate at all.
        comparison: with an earlier run.
        rises: verdicts that rose without being a reason to fail.
        alpha: the level of the run.
    """
    head = "" if not gated else ": the gate failed" if reasons else ": the gate passed"
    lines = [f"### Bias in embeddings{head}", "", *_listed(reasons)]
    now = [one for _, one in verdicts]
    if now:
        lines += ["", *(in_markdown(text) for text in _said(now)), "", *_verdict_table(verdicts)]
        lines += ["", *(f"- {in_markdown(text)}" for text in _caveats(now, alpha))]
    if comparison is not None:
        lines += ["", *_changes(comparison)]
    if rises:
        lines += ["", *_listed(rises)]
    lines += ["", "“Inconclusive” does not mean “unbiased”. Made with weatherglass."]
    return "\n".join(lines) + "\n"


def _said(verdicts: Sequence[Verdict]) -> Iterator[str]:
    metrics = list(dict.fromkeys(one.metric for one in verdicts))
    for metric in metrics:
        said = statements.headline_text([one for one in verdicts if one.metric == metric])
        yield f"{metric}: {said}" if len(metrics) > 1 else said


def _caveats(verdicts: Sequence[Verdict], alpha: float) -> list[str]:
    metrics = dict.fromkeys(one.metric for one in verdicts)
    said = (
        text
        for metric in metrics
        for text in statements.caveats([one for one in verdicts if one.metric == metric], alpha)
    )
    return list(dict.fromkeys(said))


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
    yield _row(heads)
    yield _row(["---"] * len(heads))
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
        yield _row(map(in_markdown, cells))
    if len(verdicts) > MOST_ROWS:
        yield f"\n… and {len(verdicts) - MOST_ROWS} more topics"


def _changes(comparison: Comparison) -> Iterator[str]:
    changed = [row for row in comparison.differences if row.changed]
    total = len(comparison.differences)
    yield (
        f"{len(changed)} of {total} effects changed (the {percent(1 - comparison.alpha)} interval of the change leaves "
        f"out 0; chance alone marks about {comparison.alpha * total:.1f}). {len(comparison.worse)} grew significantly "
        f"(adjusted *p* ≤ {comparison.alpha:g}, Holm over {comparison.corrected} rows, controls left out)."
    )
    if changed:
        yield ""
        yield _row(["Test", "Metric", "Before", "After", "Change", "Interval", "*p*", "Adjusted *p*"])
        yield _row(["---"] * 8)
    for row in changed[:MOST_ROWS]:
        numbers = effect(row.before), effect(row.after), effect(row.change), interval(row.low, row.high)
        p = p_value(row.p_value), "control" if row.control else p_value(row.p_adjusted)
        yield _row(map(in_markdown, (row.test, row.metric, *numbers, *p)))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
