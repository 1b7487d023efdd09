"""Write the tables "Against WEFE" of docs/metrics.md: our numbers beside those of WEFE 1.0.1 on the same vectors.

    python -m venv wefe-venv && wefe-venv/bin/pip install wefe==1.0.1
    python -m docs.metrics.write --wefe-python wefe-venv/bin/python [--vectors glove.6B.50d.txt] [--print]

From the root of a checkout. Exit code 1 where a metric whose definition is the same differs by more than 1e-6.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._wefe import PEERS, Case, Peer, Words, cases_of, known_words, measured, word_tests
from benchmarks.metrics import packaged
from tests.oracles.wefe_metrics import Job, answers

from weatherglass.catalogue.test import Test
from weatherglass.metrics import select_metrics

PAGE = Path(__file__).parents[1] / "metrics.md"
BEGIN, END = "<!-- against WEFE: docs/metrics/write.py -->", "<!-- end -->"
EQUAL = 1e-6
SHOWN = "weat7"
"""The test whose numbers are printed."""
SPLITS = 20
"""Random splits of RNSB."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """One metric of the same definition, on all word tests."""

    peer: Peer
    cases: Sequence[Case]
    ours: Sequence[float]
    theirs: Sequence[float]

    @property
    def apart(self) -> float:
        """The largest difference."""
        return max(abs(a - b) for a, b in zip(self.ours, self.theirs, strict=True))

    def line(self) -> str:
        """A line of the table."""
        place = next(n for n, case in enumerate(self.cases) if case.name.split()[0] == SHOWN)
        params = ", ".join(f"{name}={_spelt(value)}" for name, value in self.peer.params.items())
        cells = (
            f"`{self.peer.ours}`",
            f"`{self.peer.theirs}({params})`",
            str(len(self.cases)),
            self.cases[place].name,
            number(self.ours[place]),
            number(self.theirs[place]),
            f"{self.apart:.0e}",
        )
        return f"| {' | '.join(cells)} |"


def _spelt(value: object) -> str:
    return (
        f"{{{', '.join(f'{k}: {v}' for k, v in value.items())}}}" if isinstance(value, dict) else str(value)
    )


def number(value: float) -> str:
    """Seven digits after the point."""
    return f"{value:.7f}".replace("-", "−")


def agreements(python: str, tests: Sequence[Test], vectors: Words) -> list[Agreement]:
    """Every metric that both have, WEFE told to compute what the paper writes."""
    cases = [list(cases_of(peer.metric, tests, vectors)) for peer in PEERS]
    found = answers(python, vectors, [peer.job(own) for peer, own in zip(PEERS, cases, strict=True)])
    return [
        Agreement(peer, own, [measured(peer.metric, case, vectors).value for case in own], answer.values)
        for peer, own, answer in zip(PEERS, cases, found, strict=True)
    ]


def differences(python: str, tests: Sequence[Test], vectors: Words) -> Iterator[str]:
    """Yield a line for each case in which WEFE computes something else by default: both numbers, and the reason."""
    weat, rnsb, ripa = (select_metrics([name])[0] for name in ("weat", "rnsb", "ripa"))
    ((four,), (split,)) = (
        [case for case in cases_of(metric, tests, vectors) if case.name.startswith(f"{SHOWN} ")]
        for metric in (weat, rnsb)
    )
    # A test of which a target word is unknown, so that it has no partner.
    pairs = next(case for case in cases_of(ripa, tests, vectors) if case.name.startswith("weat1 "))
    unpaired = next(
        case for case in cases_of(select_metrics(["rnd"])[0], tests, vectors) if case.name == pairs.name
    )
    seeds = [Job("RNSB", [split.query()], {"random_state": seed}) for seed in range(SPLITS)]
    d, *drawn, liblinear, shifted = answers(
        python,
        vectors,
        [
            Job("WEAT", [four.query()], {"return_effect_size": True}),
            *seeds,
            Job("RNSB", [split.query()], {"holdout": False}),
            Job("RIPA", [unpaired.query()]),
        ],
    )
    ours = measured(rnsb, split, vectors).value
    splits = sorted(answer.values[0] for answer in drawn)
    yield (
        f"- `weat` on {SHOWN}: weatherglass computes {number(measured(weat, four, vectors).value)}, and WEFE's "
        f"`effect_size` is {number(d.values[0])}. WEFE divides by the standard deviation with n, weatherglass with "
        "n − 1; `--profile wefe` gives WEFE's number."
    )
    yield (
        f"- `rnsb` on {SHOWN}: weatherglass computes {number(ours)}. By default WEFE fits on 80 % of the attribute "
        f"words, drawn at random, and computes values from {number(splits[0])} to {number(splits[-1])} over {SPLITS} "
        f"seeds. With `holdout=False` it computes {number(liblinear.values[0])}, because its solver, liblinear, also "
        "penalises the intercept; with another solver it gives our number (see the table)."
    )
    if unpaired.words == pairs.words:
        return
    yield (
        f"- `ripa` on {pairs.name}: weatherglass computes {number(measured(ripa, pairs, vectors).value)}, and WEFE "
        f"{number(shifted.values[0])}. The model does not know one word of X. WEFE drops it from X only, so that each "
        "later word is paired with its neighbour's partner; weatherglass drops the pair and gives a warning."
    )


def main() -> None:
    """Replace the part of the page between the two comments, or print it."""
    parser = argparse.ArgumentParser(prog="python -m docs.metrics.write", description=__doc__)
    parser.add_argument(
        "--wefe-python", metavar="PATH", required=True, help="an interpreter that has WEFE 1.0.1"
    )
    parser.add_argument("--vectors", metavar="FILE", help="GloVe 6B 50d; without it, from a package")
    parser.add_argument("--print", action="store_true", dest="printed", help="print, do not write the page")
    arguments = parser.parse_args()
    tests = word_tests()
    vectors = known_words(f"vectors:{arguments.vectors or packaged()}", tests)
    found = agreements(arguments.wefe_python, tests, vectors)
    lines = [
        BEGIN,
        "",
        "| metric | WEFE | queries | e.g. | ours | WEFE's | largest difference |",
        "|---|---|---|---|---|---|---|",
        *(agreement.line() for agreement in found),
        "",
        "WEFE's definition or default differs in three cases:",
        "",
        *differences(arguments.wefe_python, tests, vectors),
        "",
        END,
    ]
    if arguments.printed:
        sys.stdout.write("\n".join(lines) + "\n")
    else:
        page = PAGE.read_text(encoding="utf-8")
        head, rest = page.split(BEGIN)
        PAGE.write_text(head + "\n".join(lines) + rest.split(END)[1], encoding="utf-8")
    apart = [f"{each.peer.ours}: {each.apart:.1e}" for each in found if not each.apart <= EQUAL]
    if apart:
        sys.exit(f"differ by more than {EQUAL:g}: {', '.join(apart)}")


if __name__ == "__main__":
    main()
