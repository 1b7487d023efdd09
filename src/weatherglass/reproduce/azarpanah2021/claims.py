"""Judge the claims of Azarpanah & Farhadloo (2021), on the given models and on the numbers that the paper prints.

The printed numbers are Table 3, the aggregates and the legible cells of Table 4 (GloVe and word2vec). A claim about
models whose cells are not legible is judged by Table 3, if possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from weatherglass.metrics.weat.association import Association
from weatherglass.reproduce.azarpanah2021 import (
    ALPHA,
    CONTEXTUAL,
    MEASURES,
    STATIC,
    TESTS,
    Cells,
    Results,
    Summary,
    aggregates,
    cells_of,
    grouped,
    published,
    summarise,
    table_3,
)
from weatherglass.reproduce.sheets import PaperClaim

COSINE, EUCLIDEAN = Association("cosine", "mean"), Association("euclidean", "mean")
Judged = tuple[bool | None, str]
ALMOST_NEVER = 0.1
"""The largest share of the tests that still counts as "almost never"."""


def check_claims(results: Results) -> list[PaperClaim]:
    """Judge every claim of the paper, in its order; return an empty list if there are no results."""
    if not results:
        return []
    cells = cells_of(results)
    return [
        _depends_on_the_measure(results),
        _smallest_is_mahalanobis(results),
        _largest_is_euclidean_with_the_mean(results),
        _largest_is_euclidean(results),
        _mean_most_eq2_least(results),
        _on_cells("The mean finds most significant biases and eq2 fewest", cells, _mean_counts_most),
        _on_cells("eq2 is almost never significant", cells, _eq2_hardly_ever),
        _on_cells(
            "Mahalanobis distance finds the fewest significant biases", cells, _mahalanobis_counts_least
        ),
        _on_cells(
            "word2vec: weat3 and weat4 are significant with cosine/mean, but not with cosine/min",
            cells,
            _changes("word2vec", COSINE, Association("cosine", "min"), ("weat3", "weat4"), found=False),
        ),
        _on_cells(
            "GPT: weat3 and weat4 are significant with cosine/median, but not with cosine/mean",
            cells,
            _changes("gpt", COSINE, Association("cosine", "median"), ("weat3", "weat4"), found=True),
        ),
        _on_cells(
            "GloVe and word2vec: weat3 and weat5 are mostly significant with mean and median, but not with Mahalanobis",
            cells,
            _mahalanobis_loses,
        ),
        _fewer_under_any_measure(results),
        _contextual_models_show_less(results),
        _gpt_shows_the_fewest(results),
        _on_cells(
            "With the mean Euclidean distance, weat2, 3 and 5 are significant for GPT, and weat1, 3 and 6 for ELMo",
            cells,
            _significant_tests({"gpt": ("weat2", "weat3", "weat5"), "elmo": ("weat1", "weat3", "weat6")}),
            "Table 3 counts 3 and 3 tests; which tests these are is not legible",
        ),
        _on_cells(
            "With the mean Euclidean distance, no contextual model shows weat7, 9 or 10",
            cells,
            _none_of_three,
        ),
        _confirms_caliskan(results),
    ]


def _on_cells(
    statement: str, ours: Cells, rule: Callable[[Cells], Judged], not_legible: str = "not legible"
) -> PaperClaim:
    """Judge a claim by the same rule on our cells and on the paper's cells of Table 4."""
    holds, numbers = rule(ours)
    theirs_hold, theirs = rule(published().table_4)
    return PaperClaim(
        statement,
        holds,
        numbers,
        not_legible if theirs_hold is None else f"{theirs} (legible cells)",
        theirs_hold,
    )


def _depends_on_the_measure(results: Results) -> PaperClaim:
    means = {str(m): s for m, s in _by_measure(results).items()}
    low, high = _extremes(means)

    def rule(cells: Cells) -> Judged:
        verdicts: dict[tuple[str, str], set[bool]] = {}
        for (model, test, _), cell in cells.items():
            verdicts.setdefault((model, test), set()).add(cell.significant)
        divided = sum(len(verdict) == 2 for verdict in verdicts.values())
        said = f"in {divided} of {len(verdicts)} tests some measures find an effect and others do not"
        return divided > 0, said

    claim = _on_cells("How much bias is revealed depends on the measure", cells_of(results), rule)
    spread = f"mean |d| from {means[low].mean:.2f} ({low}) to {means[high].mean:.2f} ({high})"
    return PaperClaim(
        claim.statement, claim.holds, f"{claim.ours}; {spread}", claim.theirs, claim.theirs_hold
    )


def _smallest_is_mahalanobis(results: Results) -> PaperClaim:
    ours, theirs = _both_aggregated(results, "similarity")
    return _by_extremes("Mahalanobis distance reveals the smallest bias", ours, theirs, 0, "mahalanobis")


def _largest_is_euclidean_with_the_mean(results: Results) -> PaperClaim:
    ours = {m.similarity: s for m, s in _by_measure(results).items() if m.statistic == "mean"}
    printed: dict[str, list[float]] = {}
    for (_, measure), summary in published().table_3.items():
        if measure.statistic == "mean":
            printed.setdefault(measure.similarity, []).append(summary.mean)
    theirs = {name: Summary(len(v), None, sum(v) / len(v), 0.0) for name, v in printed.items()}
    statement = "Euclidean distance reveals the largest bias (statistic mean, as in Table 3)"
    return _by_extremes(statement, ours, theirs, 1, "euclidean")


def _largest_is_euclidean(results: Results) -> PaperClaim:
    ours, theirs = _both_aggregated(results, "similarity")
    return _by_extremes(
        "Euclidean distance reveals the largest bias (all statistics)", ours, theirs, 1, "euclidean"
    )


def _mean_most_eq2_least(results: Results) -> PaperClaim:
    ours, theirs = _both_aggregated(results, "statistic")
    return PaperClaim(
        "The mean is the statistic that reveals most bias, eq2 the one that reveals least",
        _extremes(ours) == ("eq2", "mean"),
        _means(ours, 3),
        _means(theirs),
        _extremes(theirs) == ("eq2", "mean"),
    )


def _by_extremes(
    statement: str, ours: Mapping[str, Summary], theirs: Mapping[str, Summary], which: int, name: str
) -> PaperClaim:
    """Judge whether `name` has the smallest (`which` = 0) or the largest (1) mean |d|."""
    holds, theirs_hold = (_extremes(summaries)[which] == name for summaries in (ours, theirs))
    return PaperClaim(statement, holds, _means(ours, 3), _means(theirs), theirs_hold)


def _counts(cells: Cells, key: Callable[[Association], str]) -> dict[str, tuple[int, int]]:
    """Count the significant cells and all cells by `key(measure)`, its similarity or its statistic."""
    found, of = Counter[str](), Counter[str]()
    for (_, _, measure), cell in cells.items():
        found[key(measure)] += cell.significant
        of[key(measure)] += 1
    return {name: (found[name], of[name]) for name in of}


def _shares(counts: Mapping[str, tuple[int, int]]) -> dict[str, float]:
    return {name: found / of for name, (found, of) in counts.items()}


def _said(counts: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(f"{name} {found} of {of}" for name, (found, of) in counts.items())


def _mean_counts_most(cells: Cells) -> Judged:
    counts = _counts(cells, lambda measure: measure.statistic)
    shares = _shares(counts)
    if not {"mean", "eq2"} <= set(shares):
        return None, _said(counts)
    return shares["mean"] == max(shares.values()) and shares["eq2"] == min(shares.values()), _said(counts)


def _eq2_hardly_ever(cells: Cells) -> Judged:
    found, of = _counts(cells, lambda measure: measure.statistic).get("eq2", (0, 0))
    return (found <= ALMOST_NEVER * of if of else None), f"{found} of {of}"


def _mahalanobis_counts_least(cells: Cells) -> Judged:
    counts = _counts(cells, lambda measure: measure.similarity)
    shares = _shares(counts)
    if "mahalanobis" not in shares or len(shares) < 2:
        return None, _said(counts)
    least = min(share for name, share in shares.items() if name != "mahalanobis")
    return shares["mahalanobis"] < least, _said(counts)


def _changes(
    model: str, usual: Association, instead: Association, tests: Sequence[str], *, found: bool
) -> Callable[[Cells], Judged]:
    """Return a rule on single cells, which requires that the tests are significant with `usual` and not with
    `instead`.

    If `found` is true, the rule is reversed, and the tests must be significant only with `instead`.
    """

    def rule(cells: Cells) -> Judged:
        listed = {(test, m): cells.get((model, test, m)) for test in tests for m in (usual, instead)}
        known = {key: cell.significant for key, cell in listed.items() if cell is not None}
        said = ", ".join(f"{test} {m} {_star(significant)}" for (test, m), significant in known.items())
        if len(known) < len(listed):
            return None, f"needs {model}" if not known else f"{said}; the others are missing"
        return all(known[t, usual] is not found and known[t, instead] is found for t in tests), said

    return rule


def _star(significant: bool) -> str:
    return "significant" if significant else "not"


def _mahalanobis_loses(cells: Cells) -> Judged:
    counts = Counter[tuple[bool, bool]]()
    for (model, test, measure), cell in cells.items():
        if model in STATIC and test in ("weat3", "weat5") and measure.statistic in ("mean", "median"):
            counts[measure.similarity == "mahalanobis", cell.significant] += 1
    if not counts:
        return None, f"needs {' or '.join(STATIC)}"
    others, of = counts[False, True], counts[False, True] + counts[False, False]
    left, of_mahalanobis = counts[True, True], counts[True, True] + counts[True, False]
    said = f"other similarities {others} of {of} significant, Mahalanobis {left} of {of_mahalanobis}"
    return (others > of / 2 and left == 0 if of and of_mahalanobis else None), said


def _fewer_under_any_measure(results: Results) -> PaperClaim:
    statement = (
        "With any measure, every contextual model has fewer significant biases than GloVe and word2vec"
    )

    def rule(table: Mapping[tuple[str, Association], Summary]) -> Judged:
        fewer, compared, against = 0, 0, []
        for measure in MEASURES:
            counts = {model: s.significant or 0 for (model, m), s in table.items() if m == measure}
            contextual = [count for model, count in counts.items() if model in CONTEXTUAL]
            static = [count for model, count in counts.items() if model in STATIC]
            if contextual and static:
                compared += 1
                fewer += max(contextual) < min(static)
                against += [] if max(contextual) < min(static) else [str(measure)]
        if not compared:
            return None, f"needs one of {', '.join(CONTEXTUAL)} and one of {', '.join(STATIC)}"
        said = f"fewer with {fewer} of {compared} measures"
        return fewer == compared, f"{said}; not with {', '.join(against)}" if against else said

    holds, ours = rule(table_3(results))
    theirs_hold, theirs = rule(published().table_3)
    return PaperClaim(statement, holds, ours, f"{theirs} (Table 3)", theirs_hold)


def _contextual_models_show_less(results: Results) -> PaperClaim:
    statement = "Contextual models reveal less severe biases than the others"
    # Of the numbers by model, only Table 3 is printed, so theirs is the mean over its four measures.
    means = [_table_3_mean(models) for models in (CONTEXTUAL, STATIC)]
    theirs = f"contextual {means[0]:.2f}, others {means[1]:.2f} (measures of Table 3)"
    contextual = summarise(result for (name, _, _), result in results.items() if name in CONTEXTUAL)
    others = summarise(result for (name, _, _), result in results.items() if name in STATIC)
    if contextual is None or others is None:
        need = f"needs one of {', '.join(CONTEXTUAL)} and one of {', '.join(STATIC)}"
        return PaperClaim(statement, None, need, theirs, means[0] < means[1])
    ours = f"contextual {contextual.mean:.2f}, others {others.mean:.2f}"
    return PaperClaim(statement, contextual.mean < others.mean, ours, theirs, means[0] < means[1])


def _gpt_shows_the_fewest(results: Results) -> PaperClaim:
    def rule(table: Mapping[tuple[str, Association], Summary]) -> Judged:
        counts = {model: s.significant or 0 for (model, m), s in table.items() if m == COSINE}
        if "gpt" not in counts or len(counts) < 2:
            return None, "needs gpt and another model"
        said = ", ".join(f"{model} {count}" for model, count in counts.items())
        return counts["gpt"] == min(counts.values()), said

    holds, ours = rule(table_3(results))
    theirs_hold, theirs = rule(published().table_3)
    statement = "GPT shows the fewest biases (number of tests significant with cosine/mean)"
    return PaperClaim(statement, holds, ours, theirs, theirs_hold)


def _significant_tests(expected: Mapping[str, tuple[str, ...]]) -> Callable[[Cells], Judged]:
    """Return the rule that exactly the given tests of each model are significant with euclidean/mean."""

    def rule(cells: Cells) -> Judged:
        found = {}
        for model in expected:
            tests = [
                test for test in TESTS if (cell := cells.get((model, test, EUCLIDEAN))) and cell.significant
            ]
            if any((model, test, EUCLIDEAN) in cells for test in TESTS):
                found[model] = tuple(tests)
        said = "; ".join(f"{model}: {', '.join(tests) or 'none'}" for model, tests in found.items())
        if len(found) < len(expected):
            return None, f"needs {', '.join(model for model in expected if model not in found)}"
        return found == dict(expected), said

    return rule


def _none_of_three(cells: Cells) -> Judged:
    listed = {
        f"{model} {test}": cell.significant
        for (model, test, measure), cell in cells.items()
        if model in CONTEXTUAL and measure == EUCLIDEAN and test in ("weat7", "weat9", "weat10")
    }
    if not listed:
        return None, f"needs one of {', '.join(CONTEXTUAL)}"
    found = [where for where, significant in listed.items() if significant]
    return not found, f"significant: {', '.join(found) or 'none'}, of {len(listed)}"


def _confirms_caliskan(results: Results) -> PaperClaim:
    """Judge whether every test that is significant with cosine/mean is also significant with euclidean/mean, with p
    not larger.
    """
    statement = "GloVe and word2vec: euclidean/mean confirms all results of Caliskan et al., with smaller p"
    both = [
        (results[model, test, COSINE].p_value, results[model, test, EUCLIDEAN].p_value)
        for model in STATIC
        for test in TESTS
        if (model, test, COSINE) in results and (model, test, EUCLIDEAN) in results
    ]
    table = published().table_3
    counts = ", ".join(
        f"{model} {table[model, COSINE].significant} and {table[model, EUCLIDEAN].significant}"
        for model in STATIC
    )
    theirs = (
        f"of 10 tests significant with cosine and with Euclidean: {counts}; p of each test is not legible"
    )
    if not both:
        return PaperClaim(statement, None, f"needs {' or '.join(STATIC)}", theirs)
    kept = [(cosine, euclidean) for cosine, euclidean in both if cosine <= ALPHA]
    confirmed = sum(euclidean <= ALPHA for _, euclidean in kept)
    smaller = sum(euclidean <= cosine for cosine, euclidean in kept)
    ours = f"{confirmed} of {len(kept)} confirmed; p is as small or smaller in {smaller}"
    return PaperClaim(statement, confirmed == smaller == len(kept), ours, theirs)


def _by_measure(results: Results) -> dict[Association, Summary]:
    """Summarise |d| over all models and tests, by measure."""
    return grouped(results, lambda _, measure: measure)


def _table_3_mean(models: Iterable[str]) -> float:
    means = [summary.mean for (model, _), summary in published().table_3.items() if model in models]
    return sum(means) / len(means)


def _both_aggregated(results: Results, over: str) -> tuple[dict[str, Summary], dict[str, Summary]]:
    """Return our summaries and the published ones, both by similarity or by statistic."""
    ours, theirs = (
        {value: summary for (kind, value), summary in table.items() if kind == over}
        for table in (aggregates(results), published().aggregates)
    )
    return ours, theirs


def _extremes(summaries: Mapping[str, Summary]) -> tuple[str, str]:
    """Return the names with the smallest and with the largest mean."""
    mean: Callable[[str], float] = lambda name: summaries[name].mean  # noqa: E731
    return min(summaries, key=mean), max(summaries, key=mean)


def _means(summaries: Mapping[str, Summary], digits: int = 2) -> str:
    return ", ".join(f"{name} {summary.mean:.{digits}f}" for name, summary in summaries.items())
