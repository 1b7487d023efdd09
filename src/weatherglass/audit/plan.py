"""Plan a run: models × tests × metrics, the settings, and a key for each result."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import glob
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from weatherglass.audit.settings import Settings, Synonyms, check_profile
from weatherglass.catalogue import load_tests
from weatherglass.catalogue.test import ElementSet, Test
from weatherglass.encoders import base, load_encoder
from weatherglass.errors import SpecError, WeatherglassError
from weatherglass.metrics import METRICS
from weatherglass.metrics.base import Metric, Shape
from weatherglass.metrics.weat.profiles import Profile, profile_of
from weatherglass.mitigation import Transform, read_model
from weatherglass.mitigation.base import words_of
from weatherglass.storage.reading import exists

if TYPE_CHECKING:
    from weatherglass.audit.contexts import Contexts

KEY_VERSION = 4
"""The version of the computation; it is increased when a change of the code changes numbers, so that old results are
not reused.
"""


@dataclass(frozen=True, slots=True)
class PlannedModel:
    """A model of the plan, its transforms, and their identity."""

    encoder: base.Model
    name: str
    """The NAME of NAME=SPEC, or the spec."""
    options: str
    identity: str
    transforms: tuple[Transform, ...] = ()
    resumable: bool = True
    """Whether a later run can recognise the same model."""
    spelling: str = ""
    """The text that the user gave; empty for an object."""

    @classmethod
    def of(cls, given: Any) -> PlannedModel:
        """Return the planned model of a spec or an encoder; `models_in` converts other objects."""
        if not isinstance(given, str):
            encoder: base.Model = base.adapted(given)
            known = encoder.identity()
            # Weights that cannot be hashed are unknown, so that results of this model are never reused.
            identity, name = known or uuid.uuid4().hex, ""
            transforms: tuple[Transform, ...] = ()
        else:
            spelling = read_model(given)
            encoder = load_encoder(spelling.spec)
            known = identity = encoder.identity()
            name, transforms = spelling.name, spelling.transforms
        options = ";".join(f"{option}={value}" for option, value in encoder.options.items())
        model = cls(encoder, encoder.name, options, identity, resumable=known is not None)
        if transforms:
            model = model.followed_by(transforms)
        return replace(model, name=name or model.name, spelling=given if isinstance(given, str) else "")

    def followed_by(self, transforms: tuple[Transform, ...]) -> PlannedModel:
        """Return this model, which has no transforms, followed by the given ones."""
        if not transforms:
            return self
        steps = [transform.name for transform in transforms]
        return replace(
            self,
            name=" | ".join([self.name, *steps]),
            options=";".join([self.options, *(f"|{step}" for step in steps)]),
            identity=combined_hash([self.identity, *(transform.identity() for transform in transforms)]),
            transforms=transforms,
            spelling="",
        )

    def texts(self) -> list[str]:
        """Return the texts that the model's transforms are fitted on."""
        return [text for transform in self.transforms for text in transform.texts()]

    def seen_of(self, test: Test) -> tuple[str, ...]:
        """Return the words of a test that the model's transforms were fitted on."""
        seen = frozenset().union(*map(words_of, self.transforms))
        return tuple(dict.fromkeys(word for s in test.sets for word in s.words if word in seen))


def combined_hash(identities: Sequence[str]) -> str:
    """Return one hash of several identities in their order."""
    return hashlib.sha256(json.dumps(list(identities)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PlannedResult:
    """One result of a plan."""

    model: PlannedModel
    test: Test
    metric: Metric
    part: PartOfTest
    """The sets of the test that the metric takes."""
    key: str
    """A hash of everything that the result depends on."""


@dataclass(frozen=True)
class Plan:
    """The models, tests, metrics and settings of a run; contradictions are refused before any work starts."""

    models: list[PlannedModel]
    tests: list[Test]
    metrics: list[Metric]
    settings: Settings
    synonyms: Synonyms = field(default_factory=dict)
    """Synonyms of attribute words, which enlarge the samples for covariances."""
    optional: frozenset[str] = frozenset()
    """Names of metrics that only a glob selected; it is not a failure if they cannot measure a test."""
    contexts: Contexts | None = None
    """The sentences of a corpus in which words are encoded; None if texts are encoded as they are."""
    profiles: list[Profile] = field(init=False, repr=False)
    """The profiles of the metrics, without repeats."""
    packages: dict[str, str] = field(init=False, repr=False)
    """The package and version of each metric from another package, since another version may change numbers."""
    parts: dict[tuple[str, str], list[PartOfTest]] = field(init=False, repr=False)
    """The parts of each test that each metric measures; empty if the shape does not fit."""
    fingerprints: dict[str, str] = field(init=False, repr=False)
    """A hash of the content of each test, by name."""
    rows: list[PlannedResult] = field(init=False, repr=False)
    """Every planned result, in the order of the table."""

    def __post_init__(self) -> None:
        settings, known = self.settings, self.__dict__  # frozen, so that a plain assignment is refused
        least = len(self.models) * len(self.tests)
        if settings.family is not None and settings.family < least:
            raise WeatherglassError(f"family is {settings.family}, but this run alone has {least} tests")
        names = dict.fromkeys(getattr(metric, "profile", "") for metric in self.metrics)
        known["profiles"] = [profile_of(name) for name in names if name]
        for profile in self.profiles:
            check_profile(profile, settings)
        known["packages"] = {m.name: package for m in self.metrics if (package := package_of(m))}
        known["parts"] = {(t.name, m.name): parts_of(t, m) for t in self.tests for m in self.metrics}
        for metric in self.metrics:
            fits = any(self.parts[test.name, metric.name] for test in self.tests)
            if not fits and metric.name not in self.optional:
                raise WeatherglassError(self._no_test_fits(metric))
        in_key = settings.in_key()
        in_key["synonyms"] = synonyms_fingerprint(self.synonyms) if self.synonyms else ""
        known["rows"] = rows = []
        known["fingerprints"] = {test.name: test.fingerprint() for test in self.tests}
        for model, test, metric in product(self.models, self.tests, self.metrics):
            identity = [
                KEY_VERSION,
                self.fingerprints[test.name],
                model.name,
                model.identity,
                metric.name,
                in_key,
            ]
            if self.contexts:
                identity.append({"contexts": self.contexts.fingerprint(test.texts)})
            of_package = [{"package": self.packages[metric.name]}] if metric.name in self.packages else []
            for part in self.parts[test.name, metric.name]:
                whole = [*identity, *([] if part.whole else [part.sets]), *of_package]
                key = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
                rows.append(PlannedResult(model, test, metric, part, key))

    def texts(self, model: PlannedModel, rows: Sequence[PlannedResult]) -> list[str]:
        """Return the texts that these results of a model need."""
        texts = [text for test in {row.test.name: row.test for row in rows}.values() for text in test.texts]
        texts += [text for row in rows for text in row.metric.texts(row.test)]
        if any(row.metric.info.covariances for row in rows):
            from weatherglass.audit.covariances import enlarged

            sets = (attributes for row in rows for attributes in row.test.attributes)
            texts += [text for attributes in sets for text in enlarged(attributes, self.synonyms)]
        return list(dict.fromkeys([*texts, *model.texts()]))

    def _no_test_fits(self, metric: Metric) -> str:
        """Return an error message with the shape that a metric takes, and the published tests with this shape."""
        from weatherglass.catalogue import list_tests, load_test
        from weatherglass.catalogue.pairs import pair_names

        names = (*list_tests(), *pair_names())
        fitting = [name for name in names if parts_of(load_test(name), metric)]
        listed = f"{', '.join(fitting[:8])}{', …' if len(fitting) > 8 else ''}" if fitting else "none"
        return f"{why_not(self.tests[0], metric)}. Published tests with this shape: {listed}"


def package_of(metric: Metric) -> str:
    """Return the package and version that adds a metric; empty for a built-in metric and for one registered in
    Python.
    """
    root = type(metric).__module__.partition(".")[0]
    if root == "weatherglass":
        return ""
    from importlib.metadata import entry_points

    added = entry_points(group=METRICS.group) if METRICS.group else ()
    owners = (point.dist for point in added if point.value.partition(":")[0].partition(".")[0] == root)
    return next((f"{owner.name} {owner.version}" for owner in owners if owner is not None), "")


def choose_models(given: Iterable[Any]) -> list[PlannedModel]:
    """Return the models without repeats, even if one is given in several spellings.

    Raises:
        WeatherglassError: for two models with the same name and options, or two that the user gave the same name.
    """
    models: dict[tuple[str, str], PlannedModel] = {}
    spelt: dict[str, str] = {}
    for item in {item if isinstance(item, str) else id(item): item for item in given}.values():
        model = PlannedModel.of(item)
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
            known = tests.setdefault(test.name, test)
            if known is not test and known.fingerprint() != test.fingerprint():
                raise WeatherglassError(f"two different tests are called '{test.name}'; rename one of them")
    if not tests:
        raise WeatherglassError("no test is given; remove -t to run all of them")
    return list(tests.values())


def synonyms_fingerprint(synonyms: Synonyms) -> str:
    """Return a hash of the synonyms."""
    listed = sorted((word, list(others)) for word, others in synonyms.items())
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PartOfTest:
    """Some sets of a test, or all of them."""

    roles: tuple[str, ...]
    sets: str
    """The roles as written in the column `sets`."""
    whole: bool


def parts_of(test: Test, metric: Metric) -> list[PartOfTest]:
    """Return the parts of a test that a metric measures, with one result each; empty if its shape does not fit."""
    shape = metric.info.shape
    if shape.paired and _unequal(test, shape):
        return []
    (targets, attributes), roles = test.shape, test.roles
    parts = []
    for chosen, chosen_attributes in shape.selections(targets, attributes):
        taken = (
            *(roles[place] for place in chosen),
            *(roles[targets + place] for place in chosen_attributes),
        )
        parts.append(PartOfTest(taken, " ".join(taken), len(taken) == len(roles)))
    return parts


def why_not(test: Test, metric: Metric) -> str:
    """Return one line that explains why a metric cannot measure a test and names the shape that it takes."""
    targets, attributes = test.shape
    takes = f"{metric.name} takes {metric.info.shape}"
    if metric.info.shape.selections(targets, attributes):
        sizes = " and ".join(str(_words(element_set)) for element_set in test.targets)
        return f"{takes}, but the target sets of this test have {sizes} words"
    return f"{takes}, but this test has {targets} and {attributes}"


def _unequal(test: Test, shape: Shape) -> bool:
    return bool(shape.selections(*test.shape)) and len({_words(each) for each in test.targets}) > 1


def _words(element_set: ElementSet) -> int:
    return len(set(element_set.words))


_FAMILY = re.compile(
    r"(?:(?P<name>[^\s:/?=|\\*][^:/?=|\\*]*)=)?(?P<kind>[a-z0-9_-]+:)?(?P<pattern>[^?|]*\*[^?|]*?)(?P<rest>\s*[?|].*)?",
    re.DOTALL,
)
_BREAK = re.compile(r"[^A-Za-z0-9]+")

T = TypeVar("T")


def expand_families(given: Iterable[str | T]) -> tuple[list[str | T], Mapping[str, tuple[str, ...]]]:
    """Expand `NAME=kind:folder/*.safetensors` into one model per file, `NAME[member]=kind:folder/…`.

    Returns:
        The models, with one per member of a family, and the names of each family's members.

    Raises:
        SpecError: if nothing matches, or two families have the same name.
    """
    models: list[str | T] = []
    families: dict[str, tuple[str, ...]] = {}
    for model in given:
        family = _FAMILY.fullmatch(model) if isinstance(model, str) and not exists(Path(model)) else None
        if family is None:
            models.append(model)
            continue
        kind, rest = family["kind"] or "", family["rest"] or ""
        paths = sorted(glob(family["pattern"]))  # noqa: PTH207 - the pattern may be absolute
        if not paths:
            raise SpecError(f"'{model}': no file or folder matches {family['pattern']}")
        name = family["name"] or Path(family["pattern"]).name
        if name in families:
            raise SpecError(f"two families of models are called '{name}'; name them: NAME={model}")
        members = [f"{name}[{part}]" for part in distinct_parts(paths)]
        families[name] = tuple(members)
        models += [f"{member}={kind}{path}{rest}" for member, path in zip(members, paths, strict=True)]
    return models, families


def distinct_parts(paths: list[str]) -> list[str]:
    """Return, in whole words, the part of each path in which the paths differ.

    >>> distinct_parts(["run/sgns-seed001.npz", "run/sgns-seed002.npz"])
    ['seed001', 'seed002']
    >>> distinct_parts(["out/checkpoint-500", "out/checkpoint-1000"])
    ['500', '1000']
    """
    words = [_BREAK.split(path) for path in paths]
    if len(words) == 1:
        return [Path(paths[0]).stem]
    for end in (0, -1):
        while all(own and own[end] == words[0][end] for own in words):
            for own in words:
                own.pop(end)
    return ["-".join(own) for own in words]
