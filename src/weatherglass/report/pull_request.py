"""A run or a comparison as a short Markdown text, for a comment on a pull request or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from weatherglass.report.numbers import effect, interval, percent
from weatherglass.report.paper import in_markdown
from weatherglass.runs.compare import Comparison
from weatherglass.runs.verdict import Verdict

MOST_REASONS = 30
MOST_ROWS = 60


def pull_request_summary(
    verdicts: Sequence[tuple[Verdict | None, Verdict]],
    reasons: Sequence[str],
    gated: bool,
    comparison: Comparison | None = None,
) -> str:
    """A heading that says pass or fail, the reasons, the verdict on each topic, and what changed.

    Args:
        verdicts: of each topic the one before, where there is one, and the one now.
        reasons: why the gate failed.
        gated: whether there was a gate at all.
        comparison: with an earlier run.
    """
    head = "" if not gated else ": the gate failed" if reasons else ": the gate passed"
    lines = [f"### Bias in embeddings{head}", "", *_listed(reasons)]
    if verdicts:
        lines += ["", *_verdict_table(verdicts)]
    if comparison is not None:
        lines += ["", *_changes(comparison)]
    lines += ["", "“Cannot tell” does not say that there is no bias. Made with weatherglass."]
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
        "Verdict",
        "Mean *d*",
        "Interval",
        "Tests",
    ]
    yield _row(heads)
    yield _row(["---"] * len(heads))
    for before, now in verdicts[:MOST_ROWS]:
        earlier = [(before.verdict or "not judged") if before else "–"] if with_before else []
        cells = [
            now.topic,
            now.model,
            *earlier,
            now.verdict or "not judged",
            effect(now.effect_size),
            interval(now.ci_low, now.ci_high) or "–",
            f"{now.significant}/{len(now.tests)}",
        ]
        yield _row(map(in_markdown, cells))
    if len(verdicts) > MOST_ROWS:
        yield f"\n… and {len(verdicts) - MOST_ROWS} more topics"


def _changes(comparison: Comparison) -> Iterator[str]:
    changed = [row for row in comparison.differences if row.changed]
    total = len(comparison.differences)
    yield (
        f"{len(changed)} of {total} effects changed (the {percent(1 - comparison.alpha)} interval of the change leaves "
        f"out 0; chance alone marks about {comparison.alpha * total:.1f})."
    )
    if changed:
        yield ""
        yield _row(["Test", "Metric", "Before", "After", "Change", "Interval"])
        yield _row(["---"] * 6)
    for row in changed[:MOST_ROWS]:
        numbers = effect(row.before), effect(row.after), effect(row.change), interval(row.low, row.high)
        yield _row(map(in_markdown, (row.test, row.metric, *numbers)))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
