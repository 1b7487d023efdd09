"""Show a study in the terminal: the answer, the published claims that hold, and what the regressions explain."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from weatherglass.progress import spoken_duration
from weatherglass.report.layout import MOST_ROWS, SIZES_FROM, Column, Row, table_lines, wrapped
from weatherglass.report.numbers import effect
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    import polars as pl

    from weatherglass.reliability.regression.explain import Explanation, Part
    from weatherglass.reliability.study_file import Study
    from weatherglass.reliability.tables import Claim, PairCoverage, SetComparison
    from weatherglass.reliability.training.train import TrainingEstimate


def answer_lines(study: Study, tables: Mapping[str, pl.DataFrame], width: int) -> Iterator[str]:
    """Yield lines on whether scores are reliable, starting with the study's own lists, and whether seeds are
    enough.
    """
    from weatherglass.report.study.page import seed_groups
    from weatherglass.report.study.words import STABLE, answer, summarise

    summary = summarise(study, tables)
    yield from wrapped(" ".join(answer(summary)), width)
    if summary is not None and summary.lists:
        columns = [
            Column("  word list", shorten="end", least=10, most=30),
            Column("differ from 0", right=True),
            Column("with these seeds only", right=True),
            Column("median test–retest", right=True),
        ]
        own = [one for one in summary.lists if one in summary.targets]
        cells: list[Row] = [
            [
                f"  {_spoken(one.name)}",
                f"{len(one.shown)} of {one.words}",
                str(one.these_seeds),
                "–" if one.retest is None else effect(one.retest),
            ]
            for one in [*own, *(one for one in summary.lists if one not in own)]
        ]
        yield from table_lines(columns, cells, width)
        where = ", ".join([*summary.condition.columns().values(), summary.rule])
        more = f", the first of {len(summary.others)} conditions" if len(summary.others) > 1 else ""
        yield from wrapped(f"({where}{more})", width, "  ")
    for group in seed_groups(tables):
        enough = (
            "yes" if group.lowest >= STABLE else "in some conditions" if group.highest >= STABLE else "no"
        )
        number = f"{len(group.sentences)} condition{'s' if len(group.sentences) > 1 else ''}"
        line = (
            f"Are the seeds enough ({_spoken(group.pairs)} pairs)? {enough.capitalize()}: the median "
            f"test–retest is {effect(group.lowest)} to {effect(group.highest)} over {number}; {STABLE} or "
            "more means that seeds hardly change the scores."
        )
        yield from wrapped(line, width)


def claim_lines(tables: Mapping[str, pl.DataFrame], width: int, every_row: bool = False) -> Iterator[str]:
    """Yield lines on how many base pairs occur, and on each claim with its median and verdict, or the number of claims
    that hold.

    Args:
        tables: the tables of the study.
        width: the width of the terminal.
        every_row: whether to show all claims, even more than MOST_ROWS.
    """
    from weatherglass.reliability.agreement.claims import concepts
    from weatherglass.reliability.tables import Claim, PairCoverage, SetComparison, read_rows

    yield from _base_pairs(read_rows(tables["pairs"], PairCoverage))
    claims = read_rows(tables["claims"], Claim)
    if len(claims) > MOST_ROWS and not every_row:
        yield from _claims_in_short(claims, width)
        yield f"Add --table to list each of the {len(claims)} claims by corpus, algorithm and rule"
    else:
        yield from _claims(claims, width)
    yield from (f"{_spoken(concept.pairs)} pairs: {concept}" for concept in concepts(tables["claims"]))
    yield from _set_comparisons(read_rows(tables["pair_sets"], SetComparison), width)


def _set_comparisons(rows: Sequence[SetComparison], width: int) -> Iterator[str]:
    """Yield two sets of base pairs side by side; yield nothing if no condition has both."""
    for first, second in dict.fromkeys((row.first, row.second) for row in rows):
        columns = [
            Column("  measure"),
            Column(_spoken(first), right=True, shorten="end", least=6, most=20),
            Column("range"),
            Column("box", right=True, from_width=SIZES_FROM),
            Column(_spoken(second), right=True, shorten="end", least=6, most=20),
            Column("range"),
            Column("box", right=True, from_width=SIZES_FROM),
            Column("higher", right=True, from_width=SIZES_FROM),
        ]
        both = f"{_spoken(first)} and {_spoken(second)} pairs"
        cells: list[Row] = [f"{both}, medians over the conditions that have both sets"]
        cells += [
            [
                f"  {row.measure} of {row.unit}",
                effect(row.first_median),
                f"{effect(row.first_low)} … {effect(row.first_high)}",
                _or_dash(row.first_width),
                effect(row.second_median),
                f"{effect(row.second_low)} … {effect(row.second_high)}",
                _or_dash(row.second_width),
                f"{row.higher} of {row.conditions}",
            ]
            for row in rows
            if (row.first, row.second) == (first, second)
        ]
        yield ""
        yield from table_lines(columns, cells, width)


def _or_dash(value: float) -> str:
    return "–" if math.isnan(value) else effect(value)


def _base_pairs(rows: Sequence[PairCoverage]) -> Iterator[str]:
    for name in dict.fromkeys(row.pairs for row in rows):
        own = [row for row in rows if row.pairs == name]
        least, most = min(row.present for row in own), max(row.present for row in own)
        number = f"{least} to {most}" if least < most else f"{most}"
        yield f"{_spoken(name)}: {number} of {own[0].of} base pairs occur"


def _claims(claims: Sequence[Claim], width: int) -> Iterator[str]:
    """Yield each claim in a block per set of base pairs, so that corpus, rule and verdict fit next to the median."""
    from weatherglass.reliability.agreement.claims import NAMES

    columns = [
        Column("  corpus", shorten="end", least=8, most=30),
        Column("algorithm", shorten="end", least=5, most=16),
        Column("by", shorten="end", least=4, most=24),
        Column("median", right=True),
        Column("95 % CI"),
        Column("verdict"),
        Column("", shorten="end", from_width=SIZES_FROM),
    ]
    rows: list[Row] = []
    order = [
        list(dict.fromkeys(row.claim for row in claims)),
        list(dict.fromkeys(row.pairs for row in claims)),
    ]
    for claim, pairs in product(*order):
        rows.append(f"{NAMES.get(claim, claim)}, {_spoken(pairs)} pairs")
        for row in claims:
            if (row.claim, row.pairs) == (claim, pairs):
                names = (f"  {row.corpus}", row.algorithm, row.by)
                interval = "–" if math.isnan(row.low) else f"{effect(row.low)} … {effect(row.high)}"
                rows.append([*names, effect(row.median), interval, row.verdict, row.size])
    yield from table_lines(columns, rows, width)


def _spoken(pairs: str) -> str:
    """Return the readable name of a set of base pairs."""
    return pairs.replace("_", " ")


_IN_SHORT = {
    "holds": "hold",
    "does not hold": "do not",
    "undecided": "undecided",
    "not estimable": "not known",
}


def _claims_in_short(claims: Sequence[Claim], width: int) -> Iterator[str]:
    """Yield, for each claim and set of base pairs, the range of the medians and the number of each verdict."""
    from weatherglass.reliability.agreement.claims import NAMES

    columns = [
        Column("  base pairs", shorten="end", least=10, most=40),
        Column("medians"),
        Column("verdicts", shorten="end", least=20),
    ]
    rows: list[Row] = []
    for claim in dict.fromkeys(row.claim for row in claims):
        rows.append(NAMES.get(claim, claim))
        of_claim = [row for row in claims if row.claim == claim]
        for pairs in dict.fromkeys(row.pairs for row in of_claim):
            own = [row for row in of_claim if row.pairs == pairs]
            medians = [row.median for row in own if not math.isnan(row.median)]
            reach = f"{effect(min(medians))} … {effect(max(medians))}" if medians else "–"
            words = [row.verdict for row in own]
            counted = [f"{words.count(word)} {said}" for word, said in _IN_SHORT.items() if word in words]
            rows.append([f"  {_spoken(pairs)}", reach, ", ".join(counted)])
    yield from table_lines(columns, rows, width)


def estimate_lines(estimate: TrainingEstimate, jobs: int, width: int) -> Iterator[str]:
    """Yield lines on how long training would take, by corpus and algorithm and then in total."""
    if not estimate.parts:
        yield "Every embedding has been trained."
        return
    columns = [
        Column("corpus", shorten="end", least=6, most=30),
        Column("algorithm", shorten="end", least=5, most=16),
        Column("tokens", right=True),
        Column("co-occurrences", right=True),
        Column("embeddings", right=True),
        Column("each", right=True),
    ]
    rows: list[Row] = [
        [
            part.corpus,
            part.algorithm,
            f"{part.tokens:,}",
            f"{part.cooccurrences:,}" if part.cooccurrences else "–",
            str(part.embeddings),
            spoken_duration(part.seconds),
        ]
        for part in estimate.parts
    ]
    yield from table_lines(columns, rows, width)
    processes = "one process on an idle core" if jobs == 1 else f"{jobs} processes, each on an idle core"
    yield f"Training would take about {estimate.spoken(jobs)} in {processes} (calibrated on this machine just now)."


def explanation_lines(
    explanations: Mapping[str, Explanation], width: int, every_row: bool = False
) -> Iterator[str]:
    """Yield what the regression for each set of base pairs explains and, with `every_row`, all its estimates."""
    from weatherglass.reliability.regression.tables import estimate_cells, variance_cells

    for pairs, explanation in explanations.items():
        for part in explanation.parts:
            yield _in_short(pairs, part)
            if not every_row:
                continue
            for heads, cells in (estimate_cells(explanation, part), variance_cells(part)):
                columns = [
                    Column(
                        head, right=place > 0, shorten=None if place else "end", from_width=_shown_from(place)
                    )
                    for place, head in enumerate(heads)
                ]
                yield from table_lines(columns, cells, width)
                yield ""
        if every_row:
            yield from explanation.missing
    if explanations and not every_row and any(one.parts for one in explanations.values()):
        yield "Add --table to see, feature by feature, which words are measured reliably"


def _shown_from(place: int) -> int:
    """Return the smallest terminal width at which a column is shown; the first four columns are always shown."""
    return 0 if place < 4 else SIZES_FROM


def _in_short(pairs: str, part: Part) -> str:
    model, first = next(iter(part.models.items()))
    names = [c.name for c in first.fit.coefficients]
    signs = [same for name in names if (same := part.same_sign(model, name)) is not None]
    agreeing = f"; {sum(signs)} of {len(signs)} estimates have the published sign" if signs else ""
    return (
        f"{pairs}, {part.reliability}: {first.fit.rows} of {part.rows} rows; R² {first.fit.r2.marginal:.2f} by the "
        f"features (published {part.published.r2['marginal']:.2f}){agreeing}"
    )


def explanation_warnings(explanations: Mapping[str, Explanation]) -> list[Warning]:
    """Return warnings about rows and estimates that are missing from the regressions."""
    found = []
    for pairs, explanation in explanations.items():
        for part in explanation.parts:
            where = f"{pairs}, {part.reliability}"
            found += [
                Warning.of("rows-dropped", rows=rows, total=part.rows, reason=reason).about(where)
                for reason, rows in part.dropped.items()
            ]
            found += [warning.about(where) for warning in part.warnings]
        found += [Warning.of("not-installed", what=line).about(pairs) for line in explanation.missing]
    return found
