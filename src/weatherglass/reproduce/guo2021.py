"""Reproduce Table 2 of Guo & Caliskan (2021), "Detecting Emergent Intersectional Biases" (CEAT), on given models and a
corpus.

The paper draws one sentence per word 1 000 times and combines the effect sizes. The published numbers are printed
beside those of the same procedure on the user's models and corpus, and beside d and p by words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import weatherglass
from weatherglass.audit.run import Run
from weatherglass.errors import WeatherglassError
from weatherglass.progress import Progress
from weatherglass.report.numbers import format_p
from weatherglass.reproduce.sheets import PaperTable, write_sheets
from weatherglass.storage.documents import shipped_toml

TITLE: Final = "Guo & Caliskan (2021), Contextualized Embedding Association Test"
PROFILE: Final = "ceat2021"
MISSING: Final = {
    "corpus": "the comments of Reddit from which the sentences were drawn; they are not distributed with the paper",
    "draws": "the drawn sentences and the seed; as far as we know, they were not released",
    "p": "the stored Table 2 contains effect sizes only",
    "I1 to I4": "the word lists of the intersectional groups are not in the catalogue; 'tests import' reads the "
    "authors' code",
    "models": "elmo:FOLDER, hf:bert-base-cased, hf:openai-gpt and hf:gpt2, each with span_pooling=last",
}
"""The inputs of the paper that cannot be obtained from it."""


@dataclass(frozen=True, slots=True)
class GuoPublished:
    """The published combined effect sizes."""

    models: tuple[str, ...]
    tests: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class GuoReproduction:
    """The published table, and the runs of given models."""

    published: GuoPublished
    models: tuple[str, ...]
    corpus: str
    combined: Run | None
    """The run by the procedure of the paper."""
    by_words: Run | None
    """The run with vectors averaged over contexts, and with p by words."""


def published() -> GuoPublished:
    """Return Table 2."""
    content: dict[str, Any] = shipped_toml("weatherglass.reproduce", "guo2021")
    return GuoPublished(
        tuple(content["models"]), {name: tuple(row) for name, row in content["tests"].items()}
    )


def reproduce(
    specs: Mapping[str, str],
    corpus: Path | None,
    per_word: int,
    folder: Path,
    seed: int,
    jobs: int,
    progress: Progress,
    command: Sequence[str] | None = None,
) -> GuoReproduction:
    """Run weat1 to weat10 by the paper's procedure and by words, if models and a corpus are given.

    Raises:
        WeatherglassError: if only one of models and corpus is given.
    """
    if bool(specs) != (corpus is not None):
        raise WeatherglassError(
            "models and a corpus belong together; add --contexts CORPUS"
            if specs
            else "a corpus is given, but no model; add --model NAME=SPEC"
        )
    if corpus is None:
        return GuoReproduction(published(), (), "", None, None)
    tests = [f"weat{number}" for number in range(1, 11)]
    models = [f"{name}={spec}" for name, spec in specs.items()]
    by_words = weatherglass.run(
        models,
        tests,
        contexts=corpus,
        per_word=per_word,
        folder=folder / "by-words",
        seed=seed,
        jobs=jobs,
        progress=progress,
        command=command,
    )
    combined = weatherglass.run(
        models,
        tests,
        contexts=folder / "by-words",
        per_word=per_word,
        profile=PROFILE,
        folder=folder / PROFILE,
        seed=seed,
        jobs=jobs,
        progress=progress,
        command=command,
    )
    return GuoReproduction(published(), tuple(specs), corpus.name, combined, by_words)


def sheets(reproduction: GuoReproduction) -> Iterator[PaperTable]:
    """Yield the published table, the same table of the given models, and the inputs that are not available."""
    table = reproduction.published
    rows = [[name, *(f"{value:.2f}" for value in row)] for name, row in table.tests.items()]
    yield PaperTable("table2", "Published: CES with 1 000 draws", [["test", *table.models], *rows])
    if reproduction.combined and reproduction.by_words:
        words = {(r.model, r.test): r for r in reproduction.by_words.results}
        lines = [["test", "model", "published", "CES", "p of CES", "d by words", "p by words"]]
        for result in reproduction.combined.results:
            name = f"C{result.test.removeprefix('context-weat')}"
            theirs = dict(zip(table.models, table.tests[name], strict=True)).get(result.model)
            own = words.get((result.model, result.test))
            lines.append(
                [
                    *(name, result.model, "–" if theirs is None else f"{theirs:.2f}"),
                    *(f"{result.value:.2f}", format_p(result.p_value)),
                    *((f"{own.value:.2f}", format_p(own.p_value)) if own else ("–", "–")),
                ]
            )
        yield PaperTable("here", f"Here: sentences of {reproduction.corpus}", lines, (0, 1))
    missing = [["what", "why"], *([name, why] for name, why in MISSING.items())]
    yield PaperTable("missing", "Not available: what the paper used", missing, (0, 1))


def lines(reproduction: GuoReproduction) -> list[str]:
    """Return the findings as sentences."""
    table = reproduction.published
    columns = zip(table.models, zip(*table.tests.values(), strict=True), strict=True)
    means = ", ".join(f"{name} {sum(column) / len(column):.2f}" for name, column in columns)
    said = [f"Mean of the {len(table.tests)} published combined effect sizes: {means}."]
    if reproduction.combined and reproduction.by_words:
        alpha = 0.05
        counts = [
            sum(r.p_value <= alpha for r in run.results)
            for run in (reproduction.combined, reproduction.by_words)
        ]
        number = len(reproduction.combined.results)
        said.append(
            f"p ≤ {alpha:g} in {counts[0]} of {number} tests by draws, as published, and in {counts[1]} by words."
        )
    said.append(
        "Draws of sentences are not independent observations of words, so the published p depends on their number."
    )
    return said


def write_reproduction(reproduction: GuoReproduction, folder: Path) -> None:
    """Write the tables and a page."""
    write_sheets(folder, TITLE, list(sheets(reproduction)), [], lines(reproduction))
