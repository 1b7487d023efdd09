"""What is printed of a family of models: d of each test over its members, and what the seed moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weatherglass.reliability.families import FamilyReport

LIMITS = (
    "Words are taken as drawn one by one: synonyms, or forms of one word, make the seed's share too large; a few words "
    "far from the others make the interval of test–retest too narrow (docs/methods, 11)."
)
"""What coverage in simulations showed (`python -m benchmarks.planted_seeds`)."""


def print_families(report: FamilyReport) -> None:
    """A table for each family and metric, and the agreement over tests under it."""
    from weatherglass.cli.console import plain_table, screen

    console = screen()
    for agreement in report.agreements:
        table = plain_table(
            "test",
            "mean",
            "95 %",
            "sd over seeds",
            "seed's share",
            "95 %",
            "test–retest of words",
            "seeds needed",
        )
        own = [e for e in report.effects if (e.family, e.metric) == (agreement.family, agreement.metric)]
        for effect in own:
            table.add_row(
                effect.test,
                _number(effect.mean),
                f"{_number(effect.low)} … {_number(effect.high)}",
                _number(effect.sd),
                _percent(effect.share),
                f"{_percent(effect.share_low)} … {_percent(effect.share_high)}",
                _number(effect.icc),
                "–" if effect.seeds_needed is None else str(effect.seeds_needed),
            )
        console.print(f"\n{agreement.family}   {agreement.metric}   {agreement.members} models")
        console.print(table)
        said = agreement.note or (
            f"{_number(agreement.icc)} ({_number(agreement.low)} … {_number(agreement.high)})"
        )
        console.print(f"test–retest over {agreement.tests} tests: {said}", soft_wrap=True)
    console.print(
        "seed's share: of the variance of one model's value for another seed and other target words; seeds needed: "
        f"for a mean within ±{report.precision:g}.",
        soft_wrap=True,
    )
    console.print(LIMITS, soft_wrap=True)


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.2f}".replace("-", "−")


def _percent(value: float) -> str:
    return "–" if value != value else f"{value:.0%}"
