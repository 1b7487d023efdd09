"""Run a calibration: plant every dose with every seed, train, evaluate every metric, and fit the responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from weatherglass.calibration.language_model import (
    language_model_values,
    of_language_models,
    open_model,
    pairs_of_sentences,
)
from weatherglass.calibration.plant import Stereotype, agreement, plant
from weatherglass.calibration.response import Response, check_design, fit_response
from weatherglass.catalogue.test import Test
from weatherglass.errors import CorpusError
from weatherglass.metrics.base import Context, Metric
from weatherglass.metrics.sets import VectorSet, check
from weatherglass.parallel import Backend, InProcess
from weatherglass.progress import Progress, Silent
from weatherglass.reliability.corpus import Corpus
from weatherglass.reliability.study import CORPORA, EMBEDDINGS, encoded_corpora, study_folder
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.training.embedding import Embedding, load_embedding
from weatherglass.reliability.training.masked import MaskedSettings, model_folder
from weatherglass.reliability.training.train import (
    TrainingUnit,
    check_installed,
    embedding_path,
    train_all,
)
from weatherglass.stats.multiplicity import adjust
from weatherglass.storage.atomic import write_whole

DOSES = tuple(step / 10 for step in range(11))
RECORD = "calibration.json"
FORMAT = 1
PLANTED, CONTROL = "planted", "control"
LEAST_WORDS = 2
"""The number of words that every set of a test must have in the vocabulary."""


@dataclass(frozen=True, kw_only=True)
class MetricResponse:
    """The response of one metric on one test, for one corpus and algorithm."""

    corpus: str
    algorithm: str
    test: str
    kind: str
    """The kind of test: PLANTED if its stereotype was planted, otherwise CONTROL."""
    metric: str
    sets: str
    """The sets that were measured, such as "X Y A B"."""
    signed: bool
    """Whether a larger dose has a direction in the value; if not, the value should grow with the distance from ½."""
    unbiased: float
    contrasts: bool
    """Whether the metric compares the two groups, so that dose ½ should give its value without bias."""
    response: Response
    p_adjusted: float
    """p of the slope after Holm's correction over the rows of this corpus, algorithm and kind."""
    outcome: str
    """The outcome: follows, saturates, reversed, weak or blind for a planted test; flat or moves for a control."""


@dataclass(frozen=True)
class Calibration:
    """The responses of all metrics, and how they were computed."""

    rows: tuple[MetricResponse, ...]
    values: tuple[Mapping[str, Any], ...]
    """One record for each embedding, test and metric."""
    record: Mapping[str, Any] = field(default_factory=dict)
    failures: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON."""
        return {
            "format": FORMAT,
            **self.record,
            "responses": [asdict(row) for row in self.rows],
            "values": list(self.values),
            "failures": list(self.failures),
        }

    def to_frame(self, table: str = "responses", library: str | None = None) -> Any:
        """Return a data frame of the responses, one row for each dose, or of the `values` of the embeddings."""
        from weatherglass.report import show

        return show.to_frame(list(self.values) if table == "values" else list(self.curves()), library)

    def curves(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each response and dose."""
        for row in self.rows:
            given = {name: value for name, value in asdict(row).items() if name != "response"}
            fitted = asdict(row.response)
            points = zip(*(fitted.pop(name) for name in ("doses", "means", "lows", "highs")), strict=True)
            for dose, mean, low, high in points:
                yield {**given, "dose": dose, "mean": mean, "ci_low": low, "ci_high": high, **fitted}


def calibrate(
    study: Study,
    test: Test,
    stereotype: Stereotype,
    metrics: Sequence[Metric],
    folder: Path,
    controls: Sequence[Test] = (),
    doses: Sequence[float] = DOSES,
    groups: str = "targets",
    alpha: float = 0.05,
    backend: Backend | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Measure how metrics respond to a planted stereotype.

    Corpora and embeddings are kept in `folder`; a stopped calibration continues where it stopped.

    Args:
        study: the study with the corpora, algorithms and seeds.
        test: the test that measures the stereotype.
        stereotype: the stereotype that is planted.
        metrics: the metrics; those of language models are computed for the algorithm "masked" alone.
        folder: where corpora, embeddings and the result are stored.
        controls: tests of other words, which should not respond.
        doses: the doses; they must contain 0.5, one below and one above it.
        groups: which sets of the test are the groups of people: "targets" or "attributes".
        alpha: the significance level.
        backend: where embeddings are trained.
        progress: an object that receives progress updates.

    Raises:
        CorpusError: if the design is too small, words do not occur, or no metric can be computed.
        MissingExtraError: if an algorithm needs packages that are missing.
    """
    ordered = check_design(doses, study.seeds)
    check_installed(study.algorithms)
    progress = progress or Silent()
    backend = backend or InProcess()
    measured = [
        metric for metric in metrics if metric.info.needs == "vectors" and not metric.info.covariances
    ]
    if "masked" in study.algorithms:
        measured += of_language_models(metrics)
    if not measured:
        raise CorpusError(
            f"{', '.join(metric.name for metric in metrics)}: needs more than vectors; name a metric of vectors, or "
            'for a metric of language models the algorithm "masked"'
        )
    rows: list[MetricResponse] = []
    values: list[Mapping[str, Any]] = []
    failures: list[str] = []
    facts: dict[str, Any] = {}
    with study_folder(folder):
        for corpus in encoded_corpora(study, folder, progress):
            for one in (test, *controls):
                # a mistake is reported before hours of training
                _known_sets(one, set(corpus.words[: _tokens(study)]))
            sentences, agreeing = agreement(corpus, stereotype)
            facts[corpus.name] = {"sentences": sentences, "agreeing": agreeing, "hash": corpus.hash}
            units = _planned(study, corpus, stereotype, ordered, folder, progress)
            failures += train_all(list(units.values()), backend, progress)
            for algorithm in study.algorithms:
                trained = {
                    (dose, seed): unit.target
                    for (name, dose, seed), unit in units.items()
                    if name == algorithm and unit.target.is_file()
                }
                if not trained:
                    raise CorpusError(failures[0])
                found = _evaluate(
                    corpus.name,
                    algorithm,
                    trained,
                    {PLANTED: [test], CONTROL: list(controls)},
                    measured,
                    stereotype.pairs,
                    groups,
                    progress,
                )
                values += found
                rows += _fitted(found, ordered, alpha)
        calibration = Calibration(
            tuple(rows),
            tuple(values),
            _record(study, test, stereotype, controls, ordered, alpha, facts),
            tuple(failures),
        )
        write_whole(folder / RECORD, json.dumps(calibration.to_json(), indent=1, allow_nan=False) + "\n")
    return calibration


def _tokens(study: Study) -> int | None:
    """Return the number of words that a masked language model reads; None if the study trains none."""
    settings = study.algorithms.get("masked")
    return settings.vocabulary if isinstance(settings, MaskedSettings) else None


def _record(
    study: Study,
    test: Test,
    stereotype: Stereotype,
    controls: Sequence[Test],
    doses: Sequence[float],
    alpha: float,
    corpora: Mapping[str, Any],
) -> dict[str, Any]:
    from weatherglass import __version__

    return {
        "version": __version__,
        "name": study.name,
        "test": test.name,
        "controls": [control.name for control in controls],
        "stereotype": asdict(stereotype),
        "doses": list(doses),
        "seeds": list(study.seeds),
        "algorithms": {name: asdict(settings) for name, settings in study.algorithms.items()},
        "alpha": alpha,
        "corpora": dict(corpora),
    }


def _planned(
    study: Study,
    corpus: Corpus,
    stereotype: Stereotype,
    doses: Sequence[float],
    folder: Path,
    progress: Progress,
) -> dict[tuple[str, float, int], TrainingUnit]:
    """Plant every dose with every seed, and return the embeddings to train; those of the first seed come first."""
    progress.stage("planting", len(doses) * len(study.seeds))
    units: dict[tuple[str, float, int], TrainingUnit] = {}
    for seed in study.seeds:
        for dose in doses:
            planted = plant(corpus, stereotype, dose, seed, folder / CORPORA)
            progress.advance()
            for algorithm, settings in study.algorithms.items():
                target = embedding_path(folder / EMBEDDINGS, planted, algorithm, settings, seed)
                units[algorithm, dose, seed] = TrainingUnit(planted.folder, algorithm, settings, seed, target)
    return units


def _evaluate(
    corpus: str,
    algorithm: str,
    trained: Mapping[tuple[float, int], Path],
    tests: Mapping[str, Sequence[Test]],
    metrics: Sequence[Metric],
    pairs: Sequence[tuple[str, str]],
    groups: str,
    progress: Progress,
) -> list[Mapping[str, Any]]:
    """Return the value of each metric and test for each embedding, on the words that all embeddings have."""
    models = of_language_models(metrics)
    of_vectors = [metric for metric in metrics if metric not in models]
    progress.stage("evaluating", len(trained))
    vocabulary: set[str] | None = None
    for path in trained.values():
        words = set(load_embedding(path).words)
        vocabulary = words if vocabulary is None else vocabulary & words
    known = {
        kind: [(test, _known_sets(test, vocabulary or set())) for test in some]
        for kind, some in tests.items()
    }
    found: list[Mapping[str, Any]] = []
    for (dose, seed), path in trained.items():
        embedding = load_embedding(path)
        model = open_model(model_folder(path)) if models and model_folder(path).is_dir() else None
        for kind, some in known.items():
            for test, known_words in some:
                values = list(_values(embedding, test, known_words, of_vectors))
                if model:
                    people = pairs if kind == PLANTED else ()
                    sentences = pairs_of_sentences(test, known_words, people, groups)
                    values += language_model_values(model, test, known_words, sentences, models)
                for name, sets, info, value in values:
                    found.append(
                        {
                            "corpus": corpus,
                            "algorithm": algorithm,
                            "dose": dose,
                            "seed": seed,
                            "test": test.name,
                            "kind": kind,
                            "metric": name,
                            "sets": sets,
                            "signed": info.signed and info.contrasts != "",
                            "unbiased": info.unbiased,
                            "contrasts": info.signed
                            and kind == PLANTED
                            and (info.contrasts in (groups, "both") or info.exchanges == "pairs"),
                            "value": value,
                        }
                    )
        progress.advance()
    return found


def _known_sets(test: Test, vocabulary: set[str]) -> list[list[str]]:
    """Return the words of each set in the vocabulary.

    Raises:
        CorpusError: if a set has fewer than two of them.
    """
    known = []
    for role, one in zip(test.roles, test.sets, strict=True):
        words = list(dict.fromkeys(element.word for element in one.elements))
        cased = [word if word in vocabulary else word.lower() for word in words]
        kept = list(dict.fromkeys(word for word in cased if word in vocabulary))
        if len(kept) < LEAST_WORDS:
            raise CorpusError(
                f"{test.name}: only {len(kept)} of the {len(words)} words of {role} ({one.category}) occur in the "
                f"corpus often enough; at least {LEAST_WORDS} are needed"
            )
        known.append(kept)
    return known


def _values(
    embedding: Embedding, test: Test, words: Sequence[Sequence[str]], metrics: Sequence[Metric]
) -> Iterator[tuple[str, str, Any, float]]:
    """Yield name, sets, facts and value of every metric that can measure the test."""
    from weatherglass.catalogue.test import Element

    sets = [
        VectorSet(
            role,
            np.asarray(embedding.vectors[[embedding.index[word] for word in some]], dtype=np.float64),
            tuple(Element(word, word) for word in some),
        )
        for role, some in zip(test.roles, words, strict=True)
    ]
    check(sets)
    context = Context(metrics)
    n_targets, n_attributes = test.shape
    for metric in metrics:
        shape = metric.info.shape
        for targets, attributes in shape.selections(n_targets, n_attributes):
            chosen = [*(sets[place] for place in targets), *(sets[n_targets + place] for place in attributes)]
            if shape.paired and len({len(one) for one in chosen[: len(targets)]}) > 1:
                continue
            value = float(metric.evaluate(chosen, context).value)
            if np.isfinite(value):
                yield metric.name, " ".join(one.role for one in chosen), metric.info, value


KEY = ("corpus", "algorithm", "test", "kind", "metric", "sets", "signed", "unbiased", "contrasts")


def _fitted(
    values: Sequence[Mapping[str, Any]], doses: Sequence[float], alpha: float
) -> list[MetricResponse]:
    """Return the response of each metric, with the correction over the metrics of each kind."""
    by_key: dict[tuple[Any, ...], dict[tuple[float, int], float]] = {}
    for row in values:
        by_key.setdefault(tuple(row[name] for name in KEY), {})[row["dose"], row["seed"]] = row["value"]
    fitted = []
    for key, cells in by_key.items():
        seeds = [
            seed
            for seed in dict.fromkeys(seed for _, seed in cells)
            if all((dose, seed) in cells for dose in doses)
        ]
        if len(seeds) > 1:
            table = np.array([[cells[dose, seed] for seed in seeds] for dose in doses])
            given = dict(zip(KEY, key, strict=True))
            fitted.append(
                (
                    given,
                    fit_response(
                        doses,
                        table,
                        given["signed"],
                        given["unbiased"] if given["contrasts"] else None,
                        alpha,
                    ),
                )
            )
    rows = []
    for kind in (PLANTED, CONTROL):
        some = [(given, response) for given, response in fitted if given["kind"] == kind]
        adjusted = adjust([response.p for _, response in some], "holm")
        for (given, response), p in zip(some, adjusted, strict=True):
            rows.append(
                MetricResponse(
                    **given,
                    response=response,
                    p_adjusted=float(p),
                    outcome=_outcome(given, response, float(p), alpha),
                )
            )
    return rows


def _outcome(given: Mapping[str, Any], response: Response, p: float, alpha: float) -> str:
    if given["kind"] == CONTROL:
        return "moves" if p <= alpha else "flat"
    if response.smallest is None:  # no dose shows in a single embedding
        return "blind" if p > alpha else "weak"
    if not given["signed"] and response.nears(given["unbiased"]):
        return "reversed"
    return "saturates" if response.saturates else "follows"
