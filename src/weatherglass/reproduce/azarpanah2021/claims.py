"""The claims of Azarpanah & Farhadloo (2021), each with a verdict on the given models and the numbers behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from weatherglass.metrics.weat.measure import Measure
from weatherglass.reproduce.azarpanah2021.procedure import (
    ALPHA,
    CONTEXTUAL,
    STATIC,
    Results,
    Summary,
    aggregates,
    grouped,
    published,
    summarise,
    table_3,
)
from weatherglass.reproduce.claims import Claim


def check_claims(results: Results) -> list[Claim]:
    """Every claim of the paper, in its order; none where there is no result."""
    if not results:
        return []
    return [
        _depends_on_the_measure(results),
        _smallest_is_mahalanobis(results),
        _largest_is_euclidean_with_the_mean(results),
        _largest_is_euclidean(results),
        _mean_most_eq2_least(results),
        _contextual_models_show_less(results),
        _gpt_shows_the_fewest(results),
        _loses(results, Measure("cosine", "min"), ("weat3", "weat4")),
        _loses(results, Measure("mahalanobis", "mean"), ("weat3", "weat5")),
    ]


def _depends_on_the_measure(results: Results) -> Claim:
    verdicts: dict[tuple[str, str], set[bool]] = {}
    for (model, test, _), result in results.items():
        verdicts.setdefault((model, test), set()).add(result.p_value <= ALPHA)
    divided = sum(len(verdict) == 2 for verdict in verdicts.values())
    means = {str(m): s for m, s in _by_measure(results).items()}
    low, high = _extremes(means)
    ours = (
        f"in {divided} of {len(verdicts)} tests some measures find an effect and others do not; mean |d| from "
        f"{means[low].mean:.2f} ({low}) to {means[high].mean:.2f} ({high})"
    )
    theirs = _means(_aggregated_by(published().aggregates, "statistic"))
    return Claim("How much bias is revealed depends on the measure", divided > 0, ours, theirs)


def _smallest_is_mahalanobis(results: Results) -> Claim:
    ours, theirs = (
        _aggregated_by(aggregates(results), "similarity"),
        _aggregated_by(published().aggregates, "similarity"),
    )
    holds = _extremes(ours)[0] == "mahalanobis"
    return Claim("Mahalanobis distance reveals the smallest bias", holds, _means(ours, 3), _means(theirs))


def _largest_is_euclidean_with_the_mean(results: Results) -> Claim:
    ours = {m.similarity: s for m, s in _by_measure(results).items() if m.statistic == "mean"}
    printed: dict[str, list[float]] = {}
    for (_, measure), summary in published().table_3.items():
        if measure.statistic == "mean":
            printed.setdefault(measure.similarity, []).append(summary.mean)
    theirs = {name: Summary(len(v), None, sum(v) / len(v), 0.0) for name, v in printed.items()}
    holds = _extremes(ours)[1] == "euclidean"
    statement = "Euclidean distance reveals the largest bias (statistic mean, as in Table 3)"
    return Claim(statement, holds, _means(ours, 3), _means(theirs))


def _largest_is_euclidean(results: Results) -> Claim:
    ours, theirs = (
        _aggregated_by(aggregates(results), "similarity"),
        _aggregated_by(published().aggregates, "similarity"),
    )
    holds = _extremes(ours)[1] == "euclidean"
    statement = (
        "Euclidean distance reveals the largest bias (all statistics; the paper's own means put cosine first)"
    )
    return Claim(statement, holds, _means(ours, 3), _means(theirs))


def _mean_most_eq2_least(results: Results) -> Claim:
    ours, theirs = (
        _aggregated_by(aggregates(results), "statistic"),
        _aggregated_by(published().aggregates, "statistic"),
    )
    holds = _extremes(ours) == ("eq2", "mean")
    return Claim(
        "Of the statistics, the mean reveals most and eq2 least", holds, _means(ours, 3), _means(theirs)
    )


def _contextual_models_show_less(results: Results) -> Claim:
    statement = "Contextual models reveal less severe biases than the others"
    # Table 3 is what is printed by model, so theirs is its mean over the four measures there.
    theirs = f"contextual {_table_3_mean(CONTEXTUAL):.2f}, others {_table_3_mean(STATIC):.2f} (measures of Table 3)"
    contextual = summarise(result for (name, _, _), result in results.items() if name in CONTEXTUAL)
    others = summarise(result for (name, _, _), result in results.items() if name in STATIC)
    if contextual is None or others is None:
        need = f"needs one of {', '.join(CONTEXTUAL)} and one of {', '.join(STATIC)}"
        return Claim(statement, None, need, theirs)
    ours = f"contextual {contextual.mean:.2f}, others {others.mean:.2f}"
    return Claim(statement, contextual.mean < others.mean, ours, theirs)


def _gpt_shows_the_fewest(results: Results) -> Claim:
    statement = "GPT shows the fewest biases (tests significant with cosine/mean)"
    measure = Measure("cosine", "mean")

    def counts(table: Mapping[tuple[str, Measure], Summary]) -> dict[str, int]:
        return {model: s.significant or 0 for (model, m), s in table.items() if m == measure}

    ours, theirs = counts(table_3(results)), counts(published().table_3)
    theirs_in_words = ", ".join(f"{model} {count}" for model, count in theirs.items())
    if "gpt" not in ours or len(ours) < 2:
        return Claim(statement, None, "needs gpt and another model", theirs_in_words)
    holds = ours["gpt"] == min(ours.values())
    return Claim(statement, holds, ", ".join(f"{m} {count}" for m, count in ours.items()), theirs_in_words)


def _loses(results: Results, instead: Measure, tests: tuple[str, str]) -> Claim:
    """A statement about single cells of word2vec: what cosine/mean finds and this measure does not."""
    usual = Measure("cosine", "mean")
    statement = f"word2vec: from {usual} to {instead}, {' and '.join(tests)} are no longer significant"
    cells = {
        (test, measure): results.get(("word2vec", test, measure))
        for test in tests
        for measure in (usual, instead)
    }
    known = {key: result.p_value for key, result in cells.items() if result is not None}
    theirs = "significant, then not, in both"
    if len(known) < len(cells):
        return Claim(statement, None, "needs word2vec", theirs)
    holds = all(known[test, usual] <= ALPHA < known[test, instead] for test in tests)
    ours = ", ".join(f"{test} p {known[test, usual]:.2g} to {known[test, instead]:.2g}" for test in tests)
    return Claim(statement, holds, ours, theirs)


def _by_measure(results: Results) -> dict[Measure, Summary]:
    """|d| of each measure over all models and tests."""
    return grouped(results, lambda _, measure: measure)


def _table_3_mean(models: Iterable[str]) -> float:
    means = [summary.mean for (model, _), summary in published().table_3.items() if model in models]
    return sum(means) / len(means)


def _aggregated_by(table: Mapping[tuple[str, str], Summary], over: str) -> dict[str, Summary]:
    return {value: summary for (kind, value), summary in table.items() if kind == over}


def _extremes(summaries: Mapping[str, Summary]) -> tuple[str, str]:
    """Which has the smallest and which the largest mean."""
    mean: Callable[[str], float] = lambda name: summaries[name].mean  # noqa: E731
    return min(summaries, key=mean), max(summaries, key=mean)


def _means(summaries: Mapping[str, Summary], digits: int = 2) -> str:
    return ", ".join(f"{name} {summary.mean:.{digits}f}" for name, summary in summaries.items())
