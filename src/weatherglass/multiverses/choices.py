"""List the choices that another auditor could have made differently, such as measures, word lists and model views.

Specifications can be tested together only if they permute the same words, so every list of target words has its own
curve and p. A sentence test, or a test with other attribute words, belongs to the same list as its word test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from itertools import product
from pathlib import Path

import numpy as np

from weatherglass.audit.encode import Encodings, encode_in_views, encode_texts
from weatherglass.audit.plan import PlannedModel, combined_hash
from weatherglass.catalogue import load_tests
from weatherglass.catalogue.published import SENTENCE_PREFIX, catalogue_test, published_names
from weatherglass.catalogue.select import checked_pattern
from weatherglass.catalogue.test import Element, Test
from weatherglass.encoders import base
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.views import TruncatedEncoder, View, layered
from weatherglass.errors import SpecError, WeatherglassError
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS, Association
from weatherglass.mitigation import read_model
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.registry import check_number, checked_texts, checked_whole_number, one_of, unknown
from weatherglass.storage.reading import exists

CHOICES = (
    *("similarity", "statistic", "template", "pooling", "layers", "contexts", "length"),
    *("casing", "pieces", "score", "words", "seed", "list"),
)
"""All choices that can be varied; `words` means halves of the word lists, and `list` means other lists of the same
topic. `casing`, `pieces` and `score` are choices of log-probabilities; `contexts`, which means halves of the sentences,
`length` and `pieces` are choices of words in contexts.
"""
LOG_PROBABILITY = "log-probability"
"""The similarity of a word and an attribute word in a language model; it is not combined with others."""
STATISTIC_NAMES = ("mean", "median", "nearest", "farthest", "eq2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The choices that are varied, and their levels; a choice that is not varied keeps its first level."""

    varied: tuple[str, ...] = CHOICES
    similarities: tuple[str, ...] = ("cosine", "euclidean", "manhattan")
    statistics: tuple[str, ...] = ("mean", "median", "nearest", "farthest")
    """The statistics; eq2 may be added, but has no direction, so it is listed and not included in any mean."""
    covariance: str = "ledoit-wolf"
    """The estimator of the covariances in Mahalanobis distance; the graphical lasso takes minutes per model."""
    alpha: float = 0.05
    seed: int = 0
    """The seed of random halves and random labellings."""

    def __post_init__(self) -> None:
        from weatherglass.metrics.weat.covariance import ESTIMATORS

        for name in ("varied", "similarities", "statistics"):
            checked_texts(name, getattr(self, name))
        if self.covariance not in ESTIMATORS:
            raise unknown("covariance estimator", self.covariance, ESTIMATORS.names())
        check_number("alpha", self.alpha)
        checked_whole_number("seed", self.seed, 0)
        for choice in self.varied:
            one_of("choice", choice, CHOICES)
        if LOG_PROBABILITY in self.similarities and len(self.similarities) > 1:
            raise WeatherglassError(
                f"{LOG_PROBABILITY} cannot be combined with another similarity; vary it alone"
            )
        for name in self.similarities:
            SIMILARITIES.get(raw_similarity(name))
        for name in self.statistics:
            one_of("statistic", name, STATISTIC_NAMES)
        if not self.similarities or self.statistics in ((), ("eq2",)):
            raise WeatherglassError(
                "a multiverse needs at least one similarity and one statistic with a direction"
            )
        if not 0 < self.alpha <= 0.5:
            raise WeatherglassError(f"alpha is {self.alpha:g}, but must be above 0 and at most 0.5")

    @property
    def of_language_models(self) -> bool:
        """Return whether log-probabilities take the place of similarities of vectors."""
        return self.similarities == (LOG_PROBABILITY,)

    def varies(self, choice: str) -> bool:
        return choice in self.varied

    def levels(self, choice: str, levels: Sequence[str]) -> tuple[str, ...]:
        """Return the levels in use: all of them, or the first if the choice is not varied."""
        return tuple(levels) if self.varies(choice) else tuple(levels[:1])


def raw_similarity(name: str) -> str:
    """Return the registered similarity; log-probabilities are dot products (`multiverses/language_models.py`)."""
    return "dot" if name == LOG_PROBABILITY else name


def measure(similarity: str, statistic: str) -> Association:
    """Return the measure for a statistic whose name refers to nearness, such as nearest.

    The nearest attribute is the one with the largest similarity, or with the smallest distance.

    >>> str(measure("cosine", "nearest")), str(measure("euclidean", "nearest"))
    ('cosine/max', 'euclidean/min')
    """
    if statistic not in ("nearest", "farthest"):
        STATISTICS.get(statistic)
        return Association(raw_similarity(similarity), statistic)
    is_similarity = SIMILARITIES.get(raw_similarity(similarity)).orientation == 1
    return Association(
        raw_similarity(similarity), "max" if (statistic == "nearest") == is_similarity else "min"
    )


WORD = "word"
SENTENCES = "sentences"
LEAST_TEMPLATES = 2
"""The smallest number of templates that all target words must share; with fewer, the sentences of each word are
averaged.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """The elements of a test that represent its target words: single words, one template, or all sentences."""

    name: str
    test: Test
    template: str | None = None
    """The template whose sentences are used; None for all elements."""

    def has(self, element: Element) -> bool:
        """Return whether the element belongs to the setting."""
        return self.template is None or element.template == self.template


@dataclass(slots=True)
class WordList:
    """One list of target words, with all tests that use it."""

    topic: str
    name: str
    """The name of the first test with this list."""
    tests: list[Test] = field(default_factory=list)

    @property
    def targets(self) -> str:
        return " and ".join(self.tests[0].categories[:2])

    @property
    def words(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the words of X and of Y that every test has."""
        x, y = (
            tuple(
                word
                for word in dict.fromkeys(self.tests[0].targets[side].words)
                if all(word in test.targets[side].words for test in self.tests)
            )
            for side in (0, 1)
        )
        return x, y

    def attribute_lists(self) -> dict[str, list[Test]]:
        """Return the tests by attribute list, named after the first test of each."""
        lists: dict[tuple[frozenset[str], ...], list[Test]] = {}
        for test in self.tests:
            key = tuple(frozenset(attributes.words) for attributes in test.attributes)
            place = next((known for known in lists if _same_attributes(lists[known][0], test)), key)
            lists.setdefault(place, []).append(test)
        return {tests[0].name.removeprefix(SENTENCE_PREFIX): tests for tests in lists.values()}

    def settings(self) -> dict[str, dict[str, Setting]]:
        """Return the settings of each attribute list by name, restricted to those that all lists have, so that all
        levels cross.
        """
        everywhere = {
            name: {setting.name: setting for test in tests for setting in self._settings_of(test)}
            for name, tests in self.attribute_lists().items()
        }
        common = [
            level
            for level in next(iter(everywhere.values()))
            if all(level in others for others in everywhere.values())
        ]
        if not common:  # for example, words with one attribute list and sentences with another
            first = next(iter(everywhere))
            return {first: everywhere[first]}
        return {name: {level: found[level] for level in common} for name, found in everywhere.items()}

    def published_sentences(self) -> dict[str, Setting]:
        """Return the settings that average over all sentences, as in papers, by attribute list, if templates are
        settings.
        """
        found = {}
        for name, tests in self.attribute_lists().items():
            for test in tests:
                if test.context == "sent" and len(self._shared_templates(test)) >= LEAST_TEMPLATES:
                    found[name] = Setting(SENTENCES, test)
        return found

    def _settings_of(self, test: Test) -> Iterator[Setting]:
        if test.context == "word":
            yield Setting(WORD, test)
        elif test.context == "sent":
            templates = self._shared_templates(test)
            if len(templates) < LEAST_TEMPLATES:
                yield Setting(SENTENCES, test)
            else:
                yield from (Setting(template, test, template) for template in templates)
        else:
            yield Setting(test.name, test)

    def _shared_templates(self, test: Test) -> list[str]:
        """Return the templates in which every target word occurs."""
        x, y = self.words
        by_word: dict[str, set[str]] = {word: set() for word in (*x, *y)}
        order: dict[str, None] = {}
        for element in (*test.targets[0].elements, *test.targets[1].elements):
            if element.template is not None and element.word in by_word:
                by_word[element.word].add(element.template)
                order[element.template] = None
        return [template for template in order if all(template in some for some in by_word.values())]


def _same_attributes(one: Test, other: Test) -> bool:
    """Return whether two tests have the same attribute words; a sentence test may lack some of its word test."""
    if _base(one) == _base(other):
        return True
    return all(set(a.words) == set(b.words) for a, b in zip(one.attributes, other.attributes, strict=True))


def _base(test: Test) -> str:
    return test.name.removeprefix(SENTENCE_PREFIX)


def select_tests(selected: Sequence[str]) -> list[Test]:
    """Return tests by topic, name, glob or path; a topic selects all its published tests."""
    published = [catalogue_test(name) for name in published_names()]
    tests: dict[str, Test] = {}
    for given in map(checked_pattern, selected):
        found = [test for test in published if test.topic == given] or load_tests([given])
        tests |= {test.name: test for test in found}
    return list(tests.values())


def word_lists(tests: Sequence[Test]) -> list[WordList]:
    """Group tests by topic and target words, in their order; a test without a topic is its own topic.

    Raises:
        WeatherglassError: if a test does not have the shape of WEAT.
    """
    lists: list[WordList] = []
    for test in tests:
        if test.shape != (2, 2):
            raise WeatherglassError(
                f"'{test.name}' has {test.shape[0]} target and {test.shape[1]} attribute sets, but a "
                "multiverse takes 2 of each"
            )
        topic = test.topic or _base(test)
        home = next((known for known in lists if known.topic == topic and _same_targets(known, test)), None)
        if home is None:
            home = WordList(topic, _base(test))
            lists.append(home)
        home.tests.append(test)
    return lists


def _same_targets(known: WordList, test: Test) -> bool:
    if any(_base(member) == _base(test) for member in known.tests):
        return True
    return any(
        all(set(a.words) == set(b.words) for a, b in zip(member.targets, test.targets, strict=True))
        for member in known.tests
    )


@dataclass(frozen=True, slots=True)
class ModelViews:
    """One model of the multiverse, or a group of models that differ only in their seed."""

    name: str
    members: dict[str, PlannedModel]
    """The models by seed; a single model has an empty seed."""
    poolings: tuple[str, ...]
    """The poolings and layers; empty if the model has no such choice."""
    layers: tuple[str, ...]

    @property
    def identity(self) -> str:
        return combined_hash([self.name, *(model.identity for model in self.members.values())])

    def content_of(self, word_list: WordList) -> str:
        """Return a hash of what the numbers of a list depend on besides its tests; empty if there is nothing else."""
        del word_list
        return ""

    def of_lists(
        self, lists: Sequence[WordList], workers: Backend, progress: Progress
    ) -> Iterator[tuple[dict[str, str], Encodings]]:
        """Yield every view with the vectors of the texts of some lists; each model encodes each text once."""
        texts = [text for one in lists for test in one.tests for text in test.texts]
        for seed, model in self.members.items():
            for levels, encodings in _views(model, self.poolings, self.layers, texts, workers, progress):
                level = {"seed": seed} if len(self.members) > 1 else {}
                yield {**level, **levels}, encodings.transformed(model.transforms)


def _views(
    model: PlannedModel,
    poolings: Sequence[str],
    layers: Sequence[str],
    texts: Sequence[str],
    workers: Backend,
    progress: Progress,
) -> Iterator[tuple[dict[str, str], Encodings]]:
    encoder = layered(model.encoder)
    distinct = list(dict.fromkeys([*texts, *model.texts()]))
    if encoder is None or not poolings:
        yield {}, encode_texts(model.encoder, distinct, workers, progress)
        return
    from weatherglass.encoders.pooling import Layers

    levels = list(product(poolings, layers))
    views = [View(pooling, Layers.parse(layer)) for pooling, layer in levels]
    progress.stage(f"encoding with {model.name}, {len(views)} views", len(distinct))
    matrices, coverage = encode_in_views(encoder, distinct, views, workers, progress)
    rows = {text: row for row, text in enumerate(distinct)}
    for (pooling, layer), matrix in zip(levels, matrices, strict=True):
        vectors = matrix.astype(np.float64)
        if isinstance(model.encoder, TruncatedEncoder):
            vectors = model.encoder.truncate(vectors)
        chosen = {"pooling": pooling} if len(poolings) > 1 else {}
        chosen |= {"layers": layer} if len(layers) > 1 else {}
        yield chosen, Encodings(rows, vectors, coverage)


def model_views(given: str | base.Model, choices: Choices) -> ModelViews:
    """Return the views of a model or of a seed group, such as `vectors:study/forum-sgns-*.safetensors`."""
    members = _members(given)
    first = next(iter(members.values()))
    if not choices.varies("seed"):
        members = {next(iter(members)): first}
    name = str(given) if isinstance(given, str) and len(members) > 1 else first.name
    if isinstance(given, str) and (label := read_model(given).name):
        name = label
    poolings, layers = _choices(first.encoder, choices)
    return ModelViews(name, members, poolings, layers)


def _choices(encoder: base.Model, choices: Choices) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the poolings and layers of a model, its own first; empty if it has no hidden states."""
    model = layered(encoder)
    if model is None:
        return (), ()
    own = model.view
    poolings, layers = model.other_views()
    return (
        choices.levels("pooling", list(dict.fromkeys([own.pooling, *poolings]))),
        choices.levels("layers", list(dict.fromkeys([str(own.layers), *map(str, layers)]))),
    )


def _members(given: str | base.Model) -> dict[str, PlannedModel]:
    if not isinstance(given, str) or not has_magic(given):
        return {"": PlannedModel.of(given)}
    spelling = read_model(given)
    kind, _, rest = spelling.spec.partition(":")
    target = Spec.of_kind(kind, rest).target
    if not has_magic(target) or exists(Path(target)):
        return {"": PlannedModel.of(given)}
    paths = sorted(glob(target))  # noqa: PTH207 - Path.glob refuses absolute patterns
    if len(paths) < 2:
        raise SpecError(f"'{given}': {len(paths)} files match, but a seed group needs at least two")
    start, end = _shared_letters(paths), _shared_letters([path[::-1] for path in paths])
    return {path[start : len(path) - end]: PlannedModel.of(given.replace(target, path)) for path in paths}


def _shared_letters(paths: Sequence[str]) -> int:
    """Return the length of the common prefix of all paths."""
    return next(
        (place for place, letters in enumerate(zip(*paths, strict=False)) if len(set(letters)) > 1),
        min(map(len, paths)),
    )
