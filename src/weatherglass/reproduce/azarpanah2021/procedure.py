"""Azarpanah & Farhadloo (2021), "Measuring Biases of Word Embeddings": ten tests under twenty measures.

The ten word-level tests of Caliskan et al., |d| and the one-sided p in the direction observed, as the paper took them
(docs/methods 2); its Tables 3 and 4 and its aggregates, theirs beside ours; how far d depends on the synonyms that the
paper does not print; and a verdict on each of its claims (`claims`).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, TypeVar

from weatherglass.api.audits import run
from weatherglass.encoders import DEFAULT_MODEL, resolve_spec
from weatherglass.languages.lexicon.synonyms import Synonyms, load_synonyms
from weatherglass.metrics.weat.measure import GROUPS, Measure
from weatherglass.progress import Progress
from weatherglass.reproduce.models import specs_by_name
from weatherglass.runs.results import Result, Run

TESTS: Final = tuple(f"weat{number}" for number in range(1, 11))
MEASURES: Final = GROUPS["azarpanah2021"]
ALPHA: Final = 0.01
STARS: Final = (0.01, 0.001, 0.0001, 0.00001)
"""The levels of Table 4: one star for each that p does not exceed."""

MODELS: Final = {
    "glove": "vectors:glove.840B.300d.txt",
    "word2vec": "vectors:GoogleNews-vectors-negative300.bin",
    "elmo": "elmo:FOLDER?layers=1",
    "bert": "hf:bert-base-cased?pooling=cls&layers=sum:-4..",
    "gpt": "hf:openai-gpt?pooling=last",
    "gpt2": "hf:gpt2?pooling=last",
}
"""The models of the paper, and the spec of each as docs/methods 6 reads it."""
CONTEXTUAL: Final = ("elmo", "bert", "gpt", "gpt2")
STATIC: Final = ("glove", "word2vec")

K = TypeVar("K")
Results = Mapping[tuple[str, str, Measure], Result]
"""Results by model's name, test and measure."""


@dataclass(frozen=True, slots=True)
class Summary:
    """|d| over several results."""

    count: int
    significant: int | None
    """How many have p ≤ 0.01; None where that was not printed."""
    mean: float
    sd: float
    """Divided by n, which is what gives the published figures."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the paper prints."""

    table_3: Mapping[tuple[str, Measure], Summary]
    """By model and measure."""
    aggregates: Mapping[tuple[str, str], Summary]
    """By "statistic", "similarity" or "all", and the value."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How d of the Mahalanobis measures changes with what their covariances are estimated from."""

    model: str
    variant: str
    compared: int
    mean_change: float
    """Mean of the absolute change of |d|."""
    largest_change: float
    where: str
    """Test and measure that changed most."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The run, and what it says of the paper."""

    run: Run
    results: Results
    models: Mapping[str, str]
    """Spec by name, as given."""
    sensitivity: list[Sensitivity]
    not_given: list[str]
    """The paper's models for which no spec is given."""


@cache
def published() -> Published:
    """Table 3 and the aggregates."""
    text = files(__package__).joinpath("published.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return Published(
        {
            (model, Measure.parse(measure)): Summary(len(TESTS), significant, mean, sd)
            for model, row in data["table_3"].items()
            for measure, (significant, mean, sd) in row.items()
        },
        {
            (over, value): Summary(0, None, mean, sd)
            for over, row in data["aggregates"].items()
            for value, (mean, sd) in row.items()
        },
    )


def parse_models(entries: Iterable[str]) -> dict[str, str]:
    """`glove=vectors:glove.txt` and so on, as specs by name; the embedded model if there are none.

    A name that is none of the paper's is allowed: it is measured and has no published figures beside it.

    Raises:
        WeatherglassError: for an entry without a spec, or a name twice.
    """
    return specs_by_name(entries, f"glove={MODELS['glove']}") or {DEFAULT_MODEL: DEFAULT_MODEL}


def reproduce(
    models: Mapping[str, str],
    *,
    synonyms: str = "catalogue",
    covariance: str = "glasso",
    sensitivity: bool = True,
    folder: Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> Reproduction:
    """Run the paper's ten tests and twenty measures on the given models.

    Args:
        models: spec by name.
        synonyms: what enlarges the attribute sets before their covariance is estimated.
        covariance: glasso (the paper's) or ledoit-wolf.
        sensitivity: whether to run the Mahalanobis measures again with other synonyms and the other estimator.
        folder: where the runs are stored.
        seed: of random draws, where there are any.
        jobs: processes to use.
        progress: receives the progress of the work.
        command: the command line, for the records of its runs.
    """
    specs = {name: str(resolve_spec(spec)) for name, spec in models.items()}

    def run_measures(measures: Sequence[str], words: Synonyms, estimator: str, name: str, p: str) -> Run:
        return run(
            list(dict.fromkeys(specs.values())),
            TESTS,
            measures,
            significance=p,
            alternative="observed",
            alpha=ALPHA,
            synonyms=words,
            covariance=estimator,
            trust="none",
            seed=seed,
            jobs=jobs,
            folder=folder / name if folder else None,
            progress=progress,
            command=command,
        )

    synonym_lists = load_synonyms(synonyms)
    main = run_measures(["azarpanah2021"], synonym_lists, covariance, "", "auto")
    results = by_model(main, specs)
    changes: list[Sensitivity] = []
    if sensitivity:
        for variant, (words, estimator) in variants(synonym_lists, covariance).items():
            # Only d is read, so the cheapest p will do.
            rerun = run_measures(["mahalanobis/*"], words, estimator, f"sensitivity/{variant}", "normal")
            changes += compare(variant, results, by_model(rerun, specs))
    not_given = [name for name in MODELS if name not in specs]
    return Reproduction(main, results, specs, changes, not_given)


def variants(listed: Synonyms, covariance: str) -> dict[str, tuple[Synonyms, str]]:
    """Other synonyms, and the other estimator: what a choice that the paper leaves open can change."""
    other = "ledoit-wolf" if covariance == "glasso" else "glasso"
    return {
        "no synonyms": ({}, covariance),
        "every other synonym": ({word: others[::2] for word, others in listed.items()}, covariance),
        other: (listed, other),
    }


def by_model(finished: Run, specs: Mapping[str, str]) -> dict[tuple[str, str, Measure], Result]:
    """The results of a run under the names that the user gave."""
    return {
        (name, result.test, Measure.parse(result.metric)): result
        for name, spec in specs.items()
        for result in finished.results
        if result.model == spec
    }


def compare(variant: str, results: Results, rerun: Results) -> list[Sensitivity]:
    """How far |d| moved, for each model."""
    changes = []
    for model in dict.fromkeys(name for name, _, _ in rerun):
        moved = {
            f"{test} {measure}": abs(abs(result.effect_size) - abs(results[name, test, measure].effect_size))
            for (name, test, measure), result in rerun.items()
            if name == model and (name, test, measure) in results
        }
        known = {where: change for where, change in moved.items() if not math.isnan(change)}
        if known:
            most = max(known, key=known.__getitem__)
            mean = math.fsum(known.values()) / len(known)
            changes.append(Sensitivity(model, variant, len(known), mean, known[most], most))
    return changes


def summarise(results: Iterable[Result]) -> Summary | None:
    """Mean and sd of |d| and the number significant; None where there is no d."""
    listed = [result for result in results if not math.isnan(result.effect_size)]
    if not listed:
        return None
    effects = [abs(result.effect_size) for result in listed]
    mean = math.fsum(effects) / len(effects)
    sd = math.sqrt(math.fsum((effect - mean) ** 2 for effect in effects) / len(effects))
    return Summary(len(effects), sum(result.p_value <= ALPHA for result in listed), mean, sd)


def table_3(results: Results) -> dict[tuple[str, Measure], Summary]:
    """For each model and measure: the ten tests together."""
    return grouped(results, lambda model, measure: (model, measure))


def aggregates(results: Results) -> dict[tuple[str, str], Summary]:
    """For each statistic, for each similarity and for all: all models and tests together."""
    return {
        **grouped(results, lambda _, measure: ("statistic", measure.statistic)),
        **grouped(results, lambda _, measure: ("similarity", measure.similarity)),
        **grouped(results, lambda _, __: ("all", "all")),
    }


def stars(p: float) -> str:
    """The marks of Table 4.

    >>> stars(0.02), stars(0.0005), stars(1e-9)
    ('', '**', '****')
    """
    return "*" * sum(p <= level for level in STARS)


def grouped(results: Results, key: Callable[[str, Measure], K]) -> dict[K, Summary]:
    """Summaries of the results that share what `key` makes of model and measure."""
    groups: dict[K, list[Result]] = {}
    for (model, _, measure), result in results.items():
        groups.setdefault(key(model, measure), []).append(result)
    summaries = {name: summarise(results) for name, results in groups.items()}
    return {name: summary for name, summary in summaries.items() if summary is not None}
