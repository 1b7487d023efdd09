"""Reproduce Azarpanah & Farhadloo (2021), "Measuring Biases of Word Embeddings", with ten tests and twenty measures.

The tests are the ten word-level tests of Caliskan et al. As in the paper, |d| is reported; p is one-sided in the
observed direction, and ties are not counted (the profile azarpanah2021; docs/methods 2 and 9). The output compares
Tables 3 and 4 and the aggregates with the results of weatherglass, measures how much d depends on the synonyms, which
the paper does not print, and gives a verdict on each claim (`claims`). `readings` tries the other choices that the
paper leaves open.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar

from weatherglass.api.audits import run
from weatherglass.audit.results import Result
from weatherglass.audit.run import Run
from weatherglass.encoders import DEFAULT_MODEL, resolve_spec
from weatherglass.languages.lexicon import Synonyms, load_synonyms
from weatherglass.metrics.weat.association import Association, select_associations
from weatherglass.progress import Progress
from weatherglass.reproduce import specs_by_name
from weatherglass.reproduce.azarpanah2021.readings import Reading, try_readings

TESTS: Final = tuple(f"weat{number}" for number in range(1, 11))
MEASURES: Final = tuple(select_associations(["azarpanah2021"]))
ALPHA: Final = 0.01
PROFILE: Final = "azarpanah2021"
STARS: Final = (0.01, 0.001, 0.0001, 0.00001)
"""The levels of Table 4; a cell has one star for each level that p does not exceed."""

MODELS: Final = {
    "glove": "vectors:glove.840B.300d.txt",
    "word2vec": "vectors:GoogleNews-vectors-negative300.bin",
    "elmo": "elmo:FOLDER?layers=1",
    "bert": "hf:bert-base-cased?pooling=cls&layers=sum:-4..",
    "gpt": "hf:openai-gpt?pooling=last",
    "gpt2": "hf:gpt2?pooling=last",
}
"""The models of the paper, each with its spec (docs/methods 6)."""
CONTEXTUAL: Final = ("elmo", "bert", "gpt", "gpt2")
STATIC: Final = ("glove", "word2vec")

K = TypeVar("K")
Results = Mapping[tuple[str, str, Association], Result]
"""Results by name of the model, test and measure."""


@dataclass(frozen=True, slots=True)
class Summary:
    """|d| over several results."""

    count: int
    significant: int | None
    """The number of results with p ≤ 0.01; None if the paper does not print it."""
    mean: float
    sd: float
    """The standard deviation with n in the denominator, as in the published numbers."""
    smallest: float | None = None
    largest: float | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of Table 4."""

    effect_size: float
    """|d|."""
    stars: int

    @property
    def significant(self) -> bool:
        """Return whether p ≤ 0.01."""
        return self.stars > 0


Cells = Mapping[tuple[str, str, Association], Cell]
"""Cells by name of the model, test and measure."""


@dataclass(frozen=True, slots=True)
class AzarpanahPublished:
    """The numbers that the paper prints."""

    table_3: Mapping[tuple[str, Association], Summary]
    """The summary of Table 3, by model and measure."""
    aggregates: Mapping[tuple[str, str], Summary]
    """The aggregates, by kind ("statistic", "similarity" or "all") and name."""
    table_4: Cells
    """The legible cells."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The number of cells of Table 4 of one model that agree with the published ones."""

    model: str
    what: str
    """The measures."""
    cells: int
    equal: int
    """The number of cells whose |d| agrees to two digits."""
    mean_difference: float
    """The mean absolute difference of |d|."""
    equal_stars: int


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The sensitivity of d of the Mahalanobis measures to the words from which the covariances are estimated."""

    model: str
    variant: str
    compared: int
    mean_change: float
    """The mean absolute change of |d|."""
    largest_change: float
    where: str
    """The test and measure with the largest change."""


@dataclass(frozen=True, slots=True)
class AzarpanahReproduction:
    """The run, and its comparison with the paper."""

    run: Run
    results: Results
    models: Mapping[str, str]
    """The spec of each model by name, as the user gave it."""
    sensitivity: list[Sensitivity]
    readings: list[Reading]
    """The Mahalanobis cells of Table 4 under other readings of the paper, nearest first."""
    not_given: list[str]
    """The models of the paper for which the user gave no spec."""


@cache
def published() -> AzarpanahPublished:
    """Read Table 3, the aggregates and the legible cells of Table 4."""
    text = files(__package__).joinpath("published.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return AzarpanahPublished(
        {
            (model, Association.parse(measure)): Summary(len(TESTS), significant, mean, sd)
            for model, row in data["table_3"].items()
            for measure, (significant, mean, sd) in row.items()
        },
        {
            (over, value): Summary(0, None, mean, sd, *data["range"].get(value, ()))
            for over, row in data["aggregates"].items()
            for value, (mean, sd) in row.items()
        },
        {
            (model, test, Association.parse(measure)): Cell(float(cell.rstrip("*")), cell.count("*"))
            for model, tests in data["table_4"].items()
            for test, row in tests.items()
            for measure, cell in row.items()
        },
    )


def parse_models(entries: Iterable[str]) -> dict[str, str]:
    """Return specs by name from entries such as `glove=vectors:glove.txt`; by default, the embedded model.

    Names that are not in the paper are allowed; models with such a name have no published numbers.

    Raises:
        WeatherglassError: if an entry has no spec, or two entries have the same name.
    """
    return specs_by_name(entries, f"glove={MODELS['glove']}") or {"embedded": DEFAULT_MODEL}


def reproduce(
    models: Mapping[str, str],
    *,
    synonyms: str = "catalogue",
    covariance: str = "glasso",
    sensitivity: bool = True,
    readings: bool = True,
    folder: Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> AzarpanahReproduction:
    """Run the paper's ten tests and twenty measures on the given models.

    Args:
        models: spec by name.
        synonyms: the source of the synonyms that are added to the attribute sets to estimate their covariance.
        covariance: the estimator: glasso, as in the paper, or ledoit-wolf.
        sensitivity: whether to run the Mahalanobis measures again with other synonyms and the other estimator.
        readings: whether to try all definitions of the Mahalanobis distance that fit the paper, on models whose cells
            of Table 4 are legible.
        folder: the folder for the runs.
        seed: the seed of random draws.
        jobs: the number of processes.
        progress: an object that receives the progress of the work.
        command: the command line, for the records of the runs.
    """
    specs = {name: str(resolve_spec(spec)) for name, spec in models.items()}

    def run_measures(measures: Sequence[str], words: Synonyms, estimator: str, name: str, **how: Any) -> Run:
        return run(
            [f"{name}={spec}" for name, spec in specs.items()],
            TESTS,
            measures,
            **how,
            permute="elements",
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
    main = run_measures(["azarpanah2021"], synonym_lists, covariance, "", profile=PROFILE)
    results = by_model(main)
    changes: list[Sensitivity] = []
    if sensitivity:
        for variant, (words, estimator) in variants(synonym_lists, covariance).items():
            # Only d is used, so p is computed by the cheapest method.
            where = f"sensitivity/{variant}"
            rerun = run_measures(["mahalanobis/*"], words, estimator, where, significance="normal")
            changes += compare(variant, results, by_model(rerun))
    tried = try_readings(specs, published().table_4, synonym_lists, jobs, progress) if readings else []
    not_given = [name for name in MODELS if name not in specs]
    return AzarpanahReproduction(main, results, specs, changes, tried, not_given)


def variants(listed: Synonyms, covariance: str) -> dict[str, tuple[Synonyms, str]]:
    """Return variants by name, each with other synonyms or the other estimator, which the paper leaves open."""
    other = "ledoit-wolf" if covariance == "glasso" else "glasso"
    return {
        "no synonyms": ({}, covariance),
        "every other synonym": ({word: others[::2] for word, others in listed.items()}, covariance),
        other: (listed, other),
    }


def by_model(finished: Run) -> dict[tuple[str, str, Association], Result]:
    """Return the results of a run by the user's name of the model, test and measure."""
    return {(r.model, r.test, measure_of(r.metric)): r for r in finished.results}


def measure_of(metric: str) -> Association:
    """Return the measure of a metric, with or without a profile.

    >>> str(measure_of("weat(cosine/mean, profile=azarpanah2021)"))
    'cosine/mean'
    """
    return Association.parse(metric.removeprefix("weat(").partition(",")[0].removesuffix(")"))


def cells_of(results: Results) -> dict[tuple[str, str, Association], Cell]:
    """Return Table 4 with our numbers."""
    return {
        key: Cell(abs(result.effect_size), len(stars(result.p_value)))
        for key, result in results.items()
        if not math.isnan(result.effect_size)
    }


def agreements(results: Results) -> list[Agreement]:
    """Count the legible cells of Table 4 that agree with ours, for the Mahalanobis distance and for other
    similarities.
    """
    ours, found = cells_of(results), []
    for model in dict.fromkeys(model for model, _, _ in ours):
        for what, whitened in (("cosine, euclidean, manhattan", False), ("mahalanobis", True)):
            both = [
                (ours[key], theirs)
                for key, theirs in published().table_4.items()
                if key in ours and key[0] == model and (key[2].similarity == "mahalanobis") is whitened
            ]
            if both:
                apart = [abs(own.effect_size - theirs.effect_size) for own, theirs in both]
                equal = sum(f"{own.effect_size:.2f}" == f"{theirs.effect_size:.2f}" for own, theirs in both)
                stars_equal = sum(own.stars == theirs.stars for own, theirs in both)
                mean = math.fsum(apart) / len(apart)
                found.append(Agreement(model, what, len(both), equal, mean, stars_equal))
    return found


def compare(variant: str, results: Results, rerun: Results) -> list[Sensitivity]:
    """Return the change of |d| for each model."""
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
    """Return the mean, sd and range of |d| and the number of significant results; None if no result has a d."""
    listed = [result for result in results if not math.isnan(result.effect_size)]
    if not listed:
        return None
    effects = [abs(result.effect_size) for result in listed]
    mean = math.fsum(effects) / len(effects)
    sd = math.sqrt(math.fsum((effect - mean) ** 2 for effect in effects) / len(effects))
    significant = sum(result.p_value <= ALPHA for result in listed)
    return Summary(len(effects), significant, mean, sd, min(effects), max(effects))


def table_3(results: Results) -> dict[tuple[str, Association], Summary]:
    """Summarise the ten tests of each model and measure."""
    return grouped(results, lambda model, measure: (model, measure))


def aggregates(results: Results) -> dict[tuple[str, str], Summary]:
    """Summarise all models and tests by statistic, by similarity, and overall."""
    return {
        **grouped(results, lambda _, measure: ("statistic", measure.statistic)),
        **grouped(results, lambda _, measure: ("similarity", measure.similarity)),
        **grouped(results, lambda _, __: ("all", "all")),
    }


def stars(p: float) -> str:
    """Return the stars of Table 4.

    >>> stars(0.02), stars(0.0005), stars(1e-9)
    ('', '**', '****')
    """
    return "*" * sum(p <= level for level in STARS)


def grouped(results: Results, key: Callable[[str, Association], K]) -> dict[K, Summary]:
    """Summarise the results in groups that have the same `key(model, measure)`."""
    groups: dict[K, list[Result]] = {}
    for (model, _, measure), result in results.items():
        groups.setdefault(key(model, measure), []).append(result)
    summaries = {name: summarise(results) for name, results in groups.items()}
    return {name: summary for name, summary in summaries.items() if summary is not None}
