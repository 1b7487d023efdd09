"""What a run is to compute: models × tests × measures, under which settings, and the key of each result."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from weatherglass.audit.parts import Part, parts_of, why_not
from weatherglass.audit.profile import check_profiles
from weatherglass.audit.settings import Settings, Synonyms
from weatherglass.catalogue import load_tests
from weatherglass.catalogue.test import Test
from weatherglass.encoders import load_encoder
from weatherglass.encoders.base import Encoder, IdentifiedEncoder
from weatherglass.encoders.in_memory import spec_or_encoder
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.base import Metric
from weatherglass.mitigation import Transform, read_model
from weatherglass.runs.judge import Correction

KEY_VERSION = 2
"""Raised when a change of ours gives other numbers for the same input, so that old results are not taken for new."""


@dataclass(frozen=True, slots=True)
class Model:
    """An encoder of the plan, the transforms behind it, and what identifies them."""

    encoder: Encoder
    name: str
    """NAME of NAME=SPEC, or the spelling that runs it again."""
    options: str
    identity: str
    transforms: tuple[Transform, ...] = ()
    resumable: bool = True
    """Whether a later run can tell that this is the same model."""

    @classmethod
    def of(cls, given: Any) -> Model:
        """The model that a spelling, an encoder or an object of another library stands for."""
        found = spec_or_encoder(given)
        if not isinstance(found, str):
            encoder = found
            known = encoder.identity() if isinstance(encoder, IdentifiedEncoder) else None
            # What cannot be hashed has weights that we cannot know: its results are never taken for another's.
            identity = known or uuid.uuid4().hex
            return cls(encoder, encoder.name, _options(encoder), identity, resumable=known is not None)
        spelling = read_model(found)
        encoder = load_encoder(spelling.spec)
        steps = [transform.name for transform in spelling.transforms]
        identities = [encoder.identity(), *(transform.identity() for transform in spelling.transforms)]
        return cls(
            encoder,
            spelling.name or " | ".join([encoder.name, *steps]),
            ";".join([_options(encoder), *(f"|{step}" for step in steps)]),
            identities[0] if len(identities) == 1 else combined_hash(identities),
            spelling.transforms,
        )

    def texts(self) -> list[str]:
        """What its transforms are fitted on."""
        return [text for transform in self.transforms for text in transform.texts()]


def _options(encoder: Encoder) -> str:
    return ";".join(f"{name}={value}" for name, value in encoder.options.items())


def combined_hash(identities: Sequence[str]) -> str:
    """One identity of several in their order."""
    return hashlib.sha256(json.dumps(list(identities)).encode()).hexdigest()


@dataclass(frozen=True)
class Plan:
    """What is to be computed, and how."""

    models: list[Model]
    tests: list[Test]
    metrics: list[Metric]
    settings: Settings
    synonyms: Synonyms = field(default_factory=dict)
    """Other words for attribute words, which enlarge the samples of covariances."""
    optional: frozenset[str] = frozenset()
    """Names of metrics that were not asked for one by one: tests of another shape are no failure of theirs."""
    _parts: dict[tuple[str, str], list[Part]] = field(default_factory=dict, repr=False)

    @property
    def correction(self) -> Correction:
        """How p-values are corrected for being many, and which effects are of interest."""
        settings = self.settings
        return Correction(settings.correction, settings.alpha, settings.family, settings.smallest)

    def keys(self) -> Iterator[str]:
        """The key of every result, in the order of the table."""
        for model in self.models:
            for test in self.tests:
                for metric in self.metrics:
                    yield from (self.key(model, test, metric.name, part) for part in self.parts(test, metric))

    def parts(self, test: Test, metric: Metric) -> list[Part]:
        """What a metric measures of a test; empty where its shape does not fit."""
        found = self._parts.get((test.name, metric.name))
        if found is None:
            found = self._parts[test.name, metric.name] = parts_of(test, metric)
        return found

    def key(self, model: Model, test: Test, metric: str, part: Part) -> str:
        """A hash of everything that one result depends on."""
        parts = [KEY_VERSION, test.fingerprint(), model.name, model.identity, metric, self._settings_in_key]
        if not part.whole:
            parts.append(part.sets)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @cached_property
    def _settings_in_key(self) -> dict[str, Any]:
        return {**self.settings.in_key(), "synonyms": synonyms_fingerprint(self.synonyms)}

    def check(self) -> None:
        """Refuse a family smaller than the plan, before any work is done."""
        rows = len(self.models) * len(self.tests)
        family = self.settings.family
        if family is not None and family < rows:
            raise WeatherglassError(f"family is {family}, but this run alone has {rows} tests")
        check_profiles(self.metrics, self.settings)
        for metric in self.metrics:
            if metric.name not in self.optional and not any(self.parts(test, metric) for test in self.tests):
                raise WeatherglassError(self._no_test_fits(metric))

    def _no_test_fits(self, metric: Metric) -> str:
        """What a metric takes, and which published tests have it."""
        from weatherglass.catalogue import list_tests, load_test

        fitting = [name for name in list_tests() if parts_of(load_test(name), metric)]
        listed = f"{', '.join(fitting[:8])}{', …' if len(fitting) > 8 else ''}" if fitting else "none"
        return f"{why_not(self.tests[0], metric)}. Published tests that have it: {listed}"


def choose_models(given: Iterable[Any]) -> list[Model]:
    """Each model once, however it is spelt.

    Raises:
        WeatherglassError: for two models that no row of the results could tell apart, or that the user gave one name.
    """
    models: dict[tuple[str, str], Model] = {}
    spelt: dict[str, str] = {}
    for item in {item if isinstance(item, str) else id(item): item for item in given}.values():
        model = Model.of(item)
        if isinstance(item, str) and spelt.setdefault(model.name, model.identity) != model.identity:
            raise WeatherglassError(f"two different models are called '{model.name}'; rename one of them")
        if models.setdefault((model.name, model.options), model).identity != model.identity:
            raise WeatherglassError(
                f"two different models are called '{model.name}' and have the same options; rename one of them: "
                "NAME=SPEC, or weatherglass.model(object, name=NAME)"
            )
    return list(models.values())


def choose_tests(given: Iterable[str | Test]) -> list[Test]:
    tests: dict[str, Test] = {}
    for item in given:
        for test in [item] if isinstance(item, Test) else load_tests([item]):
            if tests.setdefault(test.name, test).fingerprint() != test.fingerprint():
                raise WeatherglassError(f"two different tests are called '{test.name}'; rename one of them")
    if not tests:
        raise WeatherglassError("no test is asked for; leave out -t for all of them")
    return list(tests.values())


def choose_synonyms(given: str | Synonyms | None) -> Synonyms:
    if not isinstance(given, str):
        return given or {}
    from weatherglass.languages.lexicon.synonyms import load_synonyms

    return load_synonyms(given)


def synonyms_fingerprint(synonyms: Synonyms) -> str:
    if not synonyms:
        return ""
    listed = sorted((word, list(others)) for word, others in synonyms.items())
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()
