"""Write docs/study/seeds.md: are 32 seeds enough? No number is typed by hand.

python docs/study/seeds.py --corpora CORPORA DIR
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from markup import bullets, fill, table
from matplotlib.figure import Figure
from scipy.stats import t

from weatherglass.api.studies import audit_study, study_facts
from weatherglass.reliability.agreement.assess_study import target_lists
from weatherglass.reliability.agreement.claims import CONSISTENCY
from weatherglass.reliability.agreement.icc import FEWEST, Tables
from weatherglass.reliability.agreement.seeds import BOX_WIDTH, Movement, box_of, box_width_error, movements
from weatherglass.reliability.lists import base_pairs
from weatherglass.reliability.scoring import raters
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.reliability.study import Group, score_study, trained_groups
from weatherglass.reliability.study_file import Study, read_study
from weatherglass.reliability.tables import StudyCondition, read_tables
from weatherglass.report.study.plots import COLOURS, label
from weatherglass.storage.atomic import whole_file, write_whole

HERE = Path(__file__).parent
SIZES = (8, 16, 32)
TOLERANCE = 0.02
"""A batch is large enough for a number if 95 of 100 batches of other seeds move it by no more than this."""
PARTS = ("low_whisker", "lower_quartile", "median", "upper_quartile", "high_whisker", BOX_WIDTH)
NAMES = {
    "low_whisker": "low whisker",
    "lower_quartile": "lower quartile",
    "median": "median",
    "upper_quartile": "upper quartile",
    "high_whisker": "high whisker",
    BOX_WIDTH: "box width",
}
PICTURE = "seeds-movement.png"
TICKS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
LEAST_DRAWN = 0.0004
"""A whisker at 1 does not move at all; its line is left out."""
GENDER, ORIENTATION = "gender", "sexual_orientation"
TESTS = ("weat6", "weat7", "weat8")


@dataclass(frozen=True)
class Moved:
    """How far batches move the numbers of one condition and rule."""

    condition: StudyCondition
    rule: str
    parts: tuple[Movement, ...]

    def get(self, part: str, size: int) -> Movement:
        return next(one for one in self.parts if (one.part, one.size) == (part, size))


@dataclass(frozen=True)
class Judged:
    """A difference with its interval, and whether a statement about it holds."""

    name: str
    difference: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Return whether the statement that the difference is above 0 holds."""
        if self.low > 0:
            return "holds"
        return "does not hold" if self.high < 0 else "undecided"

    def row(self) -> list[str]:
        return [self.name, f"{self.difference:+.3f}", f"{self.low:+.3f} to {self.high:+.3f}", self.verdict]


def blocks(
    study: Study, scored: Sequence[tuple[Group, ScoreTensor]]
) -> Iterator[tuple[StudyCondition, str, Tables]]:
    """Yield each condition and rule with the scores of its frequent words, word × pair × seed."""
    for group, tensor in scored:
        frequent = set(target_lists(study, tensor.words)[-2].words)
        rows = np.array([row for row, word in enumerate(tensor.words) if word in frequent])
        for name in study.pairs:
            pairs = base_pairs(name)
            places = [tensor.pairs.index(pair) for pair in pairs.pairs if pair in tensor.pairs]
            if len(places) < FEWEST:
                continue
            selected = tensor.select_pairs(places)
            condition = StudyCondition(group.corpus, group.algorithm, pairs.name)
            for rule in raters(tensor.rules):
                yield condition, rule, selected.block(rule, rows)


def reach(sd: float) -> float:
    """Return the distance that 95 of 100 batches stay within."""
    return 1.96 * sd


def enough(movement: Movement) -> str:
    """Return whether batches of this size keep the number within the tolerance, at both ends of the sd's interval."""
    if reach(movement.sd_high) <= TOLERANCE:
        return "enough"
    return "not enough" if reach(movement.sd_low) > TOLERANCE else "undecided"


def verdict_table(moved: Sequence[Moved], sizes: Sequence[int]) -> str:
    """Count for each size and number the conditions in which it is enough, and show how far the worst one moves."""
    rows = []
    for size in sizes:
        for part in PARTS:
            own = [one.get(part, size) for one in moved]
            verdicts = [enough(movement) for movement in own]
            worst = max(own, key=lambda movement: movement.sd)
            typical = float(np.median([reach(movement.sd) for movement in own]))
            shift = max((movement.mean - movement.whole for movement in own), key=abs)
            rows.append(
                [
                    str(size),
                    NAMES[part],
                    f"±{typical:.3f}",
                    f"±{reach(worst.sd):.3f} ({reach(worst.sd_low):.3f} to {reach(worst.sd_high):.3f})",
                    f"{shift:+.3f}",
                    f"{verdicts.count('enough')} / {verdicts.count('undecided')} / {verdicts.count('not enough')}",
                ]
            )
    header = ["seeds", "number", "moves by, typical", "moves by, worst (95 %)", "largest shift"]
    return table([*header, "enough / undecided / not"], rows)


def answer(moved: Sequence[Moved], size: int) -> str:
    """Say for each number in how many conditions this many seeds are enough."""
    counts = {part: [enough(one.get(part, size)) for one in moved] for part in PARTS}
    settled = [NAMES[part] for part, verdicts in counts.items() if set(verdicts) == {"enough"}]
    lines = [
        f"In all {len(moved)} conditions, {size} seeds are enough for: {', '.join(settled) or 'no number'}."
    ]
    lines += [
        f"For the {NAMES[part]}, {size} seeds are enough in {verdicts.count('enough')} of {len(verdicts)} conditions, "
        f"not enough in {verdicts.count('not enough')}, and undecided in {verdicts.count('undecided')}."
        for part, verdicts in counts.items()
        if NAMES[part] not in settled
    ]
    return bullets(lines)


def draw(moved: Sequence[Moved], sizes: Sequence[int], path: Path) -> None:
    """Draw a panel for each number: how far batches of each size move it, a line for every condition."""
    figure = Figure(figsize=(9.2, 5.4), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True, sharey=True)
    algorithms = list(dict.fromkeys(one.condition.algorithm for one in moved))
    for axis, part in zip(axes.flat, PARTS, strict=True):
        for one in moved:
            own = [one.get(part, size) for size in sizes]
            colour = COLOURS[algorithms.index(one.condition.algorithm)]
            axis.plot(sizes, [reach(m.sd) for m in own], color=colour, alpha=0.7, linewidth=1)
            ends = [reach(m.sd_low) for m in own], [reach(m.sd_high) for m in own]
            axis.fill_between(sizes, *ends, color=colour, alpha=0.08, linewidth=0)
        axis.axhline(TOLERANCE, color="#444444", linestyle="--", linewidth=0.9)
        axis.set_title(NAMES[part], fontsize=10)
        axis.set_xscale("log", base=2)
        axis.set_xticks(sizes, [str(size) for size in sizes])
        axis.set_yscale("log")
        axis.set_ylim(LEAST_DRAWN, 0.12)
        axis.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axis.minorticks_off()
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    for number, name in enumerate(algorithms):
        axes[0, 0].plot([], [], color=COLOURS[number], label=label(name))
    axes[0, 0].plot([], [], color="#444444", linestyle="--", linewidth=0.9, label=f"tolerance {TOLERANCE:g}")
    figure.legend(loc="outside upper center", ncols=1 + len(algorithms), frameon=False)
    figure.supxlabel("seeds in a batch", fontsize=9)
    figure.supylabel("95 of 100 batches stay within ± this of the ICC", fontsize=9)
    with whole_file(path) as unfinished:
        figure.savefig(unfinished, format="png", dpi=110, metadata={"Software": None})


def box_differences(study_blocks: Mapping[tuple[str, str, str], Tables]) -> list[Judged]:
    """Return the box of the sexual-orientation pairs minus that of gender, for every algorithm and rule."""
    judged = []
    for (algorithm, pairs, rule), scores in study_blocks.items():
        if pairs != ORIENTATION or (algorithm, GENDER, rule) not in study_blocks:
            continue
        scores, other = scores.astype(np.float64), study_blocks[algorithm, GENDER, rule].astype(np.float64)
        difference = box_of(scores)[BOX_WIDTH] - box_of(other)[BOX_WIDTH]
        error = (box_width_error(scores) ** 2 + box_width_error(other) ** 2) ** 0.5
        half = float(t.ppf(0.975, scores.shape[1] - 1)) * error
        judged.append(Judged(f"{algorithm}, {rule}", difference, difference - half, difference + half))
    return judged


def alpha_rows(tables: Mapping[str, pl.DataFrame], rules: Sequence[str]) -> list[list[str]]:
    """Return alpha of the base pairs over the frequent words, and what it would be with as many pairs as gender has."""
    rows = []
    alphas = tables["consistency_pairs"].filter((pl.col("list") == "frequent") & pl.col("rule").is_in(rules))
    for own in alphas.filter(pl.col("pairs") == ORIENTATION).iter_rows(named=True):
        (gender,) = alphas.filter(
            (pl.col("pairs") == GENDER)
            & (pl.col("algorithm") == own["algorithm"])
            & (pl.col("rule") == own["rule"])
        ).to_dicts()
        verdict = "undecided"
        if own["high"] < gender["low"]:
            verdict = "holds"
        elif own["low"] > gender["high"]:
            verdict = "does not hold"
        rows.append(
            [
                f"{own['algorithm']}, {own['rule']}",
                f"{own['alpha']:.3f} ({own['low']:.3f} to {own['high']:.3f}), {own['items']} pairs",
                f"{gender['alpha']:.3f} ({gender['low']:.3f} to {gender['high']:.3f}), {gender['items']} pairs",
                _as_long(own["alpha"], gender["items"] / own["items"]),
                verdict,
            ]
        )
    return rows


def _as_long(alpha: float, times: float) -> str:
    return f"{lengthened(alpha, times):.3f}" if alpha > 0 else "–"


def lengthened(alpha: float, times: float) -> float:
    """Return alpha with `times` as many items (Spearman 1910, Brown 1910)."""
    return times * alpha / (1 + (times - 1) * alpha)


def query_rows(tables: Mapping[str, pl.DataFrame]) -> list[list[str]]:
    """Return whether the interval of the queries' median alpha is lower for sexual orientation than for gender."""
    claims = tables["claims"].filter(
        (pl.col("claim") == CONSISTENCY) & (pl.col("verdict") != "not estimable")
    )
    rows = []
    for own in claims.filter(pl.col("pairs") == ORIENTATION).iter_rows(named=True):
        (gender,) = claims.filter(
            (pl.col("pairs") == GENDER)
            & (pl.col("algorithm") == own["algorithm"])
            & (pl.col("by") == own["by"])
        ).to_dicts()
        verdict = "undecided"
        if own["high"] < gender["low"]:
            verdict = "holds"
        elif own["low"] > gender["high"]:
            verdict = "does not hold"
        rows.append([f"{own['algorithm']}, {own['by']}", verdict])
    return rows


def alike_rows(tables: Mapping[str, pl.DataFrame]) -> list[list[str]]:
    """Return whether the interval of Pearson's r of DB/WA and RIPA is above those of the other rules."""
    rows = []
    own = tables["pearson"].filter(pl.col("corpus") != "all corpora")
    for (pairs, algorithm), part in own.group_by("pairs", "algorithm", maintain_order=True):
        by_rules = {row["rules"]: row for row in part.iter_rows(named=True)}
        first = by_rules["dbwa-ripa"]
        others = [row for rules, row in by_rules.items() if rules != "dbwa-ripa"]
        verdict = "undecided"
        if all(first["low"] > row["high"] for row in others):
            verdict = "holds"
        elif any(first["high"] < row["low"] for row in others):
            verdict = "does not hold"
        rows.append([str(pairs), str(algorithm), verdict])
    return rows


def counted(rows: Sequence[Sequence[str]]) -> str:
    """Count the rows in which a statement holds."""
    verdicts = [row[-1] for row in rows]
    return (
        f"holds in {verdicts.count('holds')} of {len(verdicts)} conditions, "
        f"does not hold in {verdicts.count('does not hold')}, and is undecided in {verdicts.count('undecided')}"
    )


def without_verdicts(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of rows without their last cell, the verdict, which the page counts in words."""
    return table(header, [row[:-1] for row in rows])


def effects_table(folder: Path) -> str:
    """Summarise d of the tests over the seeds of each algorithm."""
    run, report = audit_study(folder, TESTS)
    alpha = run.record["settings"]["alpha"]
    rows = []
    for effect in report.effects:
        significant = sum(
            result.p_value <= alpha
            for result in run.results
            if result.test == effect.test and result.model in effect.members
        )
        rows.append(
            [
                effect.family,
                effect.test,
                f"{effect.mean:+.2f} ({effect.low:+.2f} to {effect.high:+.2f})",
                f"{effect.sd:.2f}",
                f"{min(effect.values):+.2f} to {max(effect.values):+.2f}",
                f"{significant} of {len(effect.members)}",
                f"{effect.share:.0%} ({effect.share_low:.0%} to {effect.share_high:.0%})".replace("%", " %"),
                f"{effect.icc:.2f} ({effect.icc_low:.2f} to {effect.icc_high:.2f})",
                str(effect.seeds_needed),
            ]
        )
    header = ["embeddings", "test", "mean d (95 %)", "sd", "lowest to highest", f"p ≤ {alpha:g}"]
    return table([*header, "seed's share (95 %)", "test–retest of words (95 %)", "seeds for ±0.1"], rows)


def main(corpora: Path, folder: Path, study: Path, sizes: Sequence[int], batches: int, output: Path) -> None:
    chosen = read_study(study, corpora)
    groups = trained_groups(chosen, folder)
    tables = read_tables(folder / "tables")
    scored = score_study(chosen, groups, folder)
    moved, of_two_sets = [], {}
    for condition, rule, scores in blocks(chosen, scored):
        moved.append(Moved(condition, rule, tuple(movements(scores, sizes, batches))))
        if condition.pairs in (GENDER, ORIENTATION):
            of_two_sets[condition.algorithm, condition.pairs, rule] = scores.astype(np.float32)
    wider = [one.row() for one in box_differences(of_two_sets)]
    alphas, of_queries, alike = (
        alpha_rows(tables, raters(chosen.rules)),
        query_rows(tables),
        alike_rows(tables),
    )
    draw(moved, sizes, output.with_name(PICTURE))
    values = {
        "facts": table(["", ""], [list(fact) for fact in study_facts(chosen, groups)]),
        "random": str(batches),
        "tolerance": f"{TOLERANCE:g}",
        "answer": answer(moved, sizes[-1]),
        "verdicts": verdict_table(moved, sizes[-1:]),
        "alpha_counted": counted(alphas),
        "alpha": without_verdicts(["", ORIENTATION, GENDER, "with as many pairs as gender"], alphas),
        "queries_counted": counted(of_queries),
        "wider_counted": counted(wider),
        "alike_counted": counted(alike),
        "effects": effects_table(folder),
    }
    write_whole(output, fill((HERE / "seeds.md.in").read_text(encoding="utf-8"), values))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write docs/study/seeds.md.")
    parser.add_argument(
        "--corpora", metavar="CORPORA", type=Path, required=True, help="folder of the corpora"
    )
    parser.add_argument("--study", type=Path, default=HERE / "seeds.toml", help="the study's file")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="seeds in a batch")
    parser.add_argument("--batches", type=int, default=50, help="random batches of each size")
    parser.add_argument("--output", type=Path, default=HERE / "seeds.md")
    parser.add_argument("folder", metavar="DIR", type=Path, help="the study's folder")
    main(**vars(parser.parse_args()))
