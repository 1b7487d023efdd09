"""Define `Settings`, which contains every option for evaluating and judging tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from weatherglass.errors import WeatherglassError
from weatherglass.registry import (
    check_number,
    checked_text,
    checked_texts,
    one_of,
    shown,
    suggestion,
    unknown,
    wrong_type,
)
from weatherglass.stats import DEFAULT_CORRECTION, Budget

if TYPE_CHECKING:
    from weatherglass.metrics.weat.profiles import Profile
    from weatherglass.stats import Alternative

PERMUTE = ("elements", "words")
TRUST = ("all", "decisive", "mean", "none")
CI = ("jackknife", "bca", "none")
JUDGING = ("correction", "family", "smallest")
"""Fields that affect how results are judged, but not the results; they are not part of a result's key."""

Synonyms = Mapping[str, Sequence[str]]


HOW_P, MARKS, BESIDE, COVARIANCE = (
    "How p is computed",
    "Marks and correction",
    "What is reported with d",
    "Covariance of mahalanobis",
)
"""The groups of settings in the help."""


def _option(default: Any, group: str, help: str, choices: str | Sequence[str] = (), **range: int) -> Any:
    """Return a field with the metadata for an option of the command line.

    Args:
        default: the default value.
        group: the group of the option in the help.
        help: the help text.
        choices: the allowed names, or "module:attribute" of them, since their module may be slow to import.
        range: the smallest and the largest allowed number, `min` and `max`.
    """
    return field(default=default, metadata={"help": help, "group": group, "choices": choices, "range": range})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every option of a run.

    The same names are keywords of `weatherglass.run` and options of `weatherglass run`.

    >>> Settings(alternative="greater", alpha=0.01).alternative
    'greater'
    >>> Settings(permute="sentences")
    Traceback (most recent call last):
    weatherglass.errors.UnknownNameError: unknown permute 'sentences' (known: elements, words)
    """

    significance: str = _option(
        "auto",
        HOW_P,
        "Method: auto, exact, bounds, sampled or normal ('weatherglass docs methods').",
        "stats.permutation:METHODS",
    )
    alternative: Alternative = _option(
        "two-sided",
        HOW_P,
        "Tail of the test: greater, less, two-sided or observed.",
        "stats.permutation:ALTERNATIVES",
    )
    permute: str = _option(
        "words", HOW_P, "Units to exchange: words, or elements (single sentences, as published).", PERMUTE
    )
    ddof: int = _option(
        1, HOW_P, "Divide the variance by n - 1 (1, as in the papers) or by n (0).", min=0, max=1
    )
    alpha: float = _option(0.05, MARKS, "Significance level; intervals are at 1 - alpha.")
    smallest: float | None = _option(
        None, MARKS, "Smallest |d| of interest; results shown to be below it are called small."
    )
    correction: str = _option(
        DEFAULT_CORRECTION,
        MARKS,
        "Correction for multiple tests: holm, benjamini-hochberg or westfall-young.",
        "stats.multiplicity:CORRECTIONS",
    )
    family: int | None = _option(None, MARKS, "Number of tests to correct for, if this run has fewer.", min=1)
    seed: int = _option(0, HOW_P, "Seed of random draws.", min=0)
    precision: float = _option(0.01, HOW_P, "Relative gap of certified bounds.")
    budget: Budget = _option(Budget(), HOW_P, "Limit of time and memory for one p-value: seconds,memory.")
    covariance: str = _option(
        "glasso",
        COVARIANCE,
        "Covariance estimator: glasso or ledoit-wolf.",
        "metrics.weat.covariance:ESTIMATORS",
    )
    synonyms: str | Synonyms | None = _option(
        None, COVARIANCE, "Synonyms for estimating the covariance: a TOML file, catalogue or wordnet."
    )
    ci: str = _option(
        "jackknife", BESIDE, "Interval of d: jackknife (agrees with p), bca (bootstrap) or none.", CI
    )
    trust: str = _option(
        "all",
        BESIDE,
        "Metrics with random attributes and leave-one-out: all, decisive (all, with p only without the word that "
        "raises it most), mean (only the statistic mean) or none.",
        TRUST,
    )
    profile: str | None = _option(
        None,
        BESIDE,
        "Compute d and p as another paper or tool does: may2019, wefe, … ('weatherglass docs profiles').",
        "metrics.weat.profiles:PROFILES",
    )

    def __post_init__(self) -> None:
        # Imported here, so that a command's help can list the options without loading numpy.
        from weatherglass.metrics.weat.covariance import ESTIMATORS
        from weatherglass.metrics.weat.profiles import PROFILES
        from weatherglass.stats.multiplicity import CORRECTIONS
        from weatherglass.stats.permutation import ALTERNATIVES, METHODS

        one_of("significance", self.significance, METHODS)
        one_of("alternative", self.alternative, ALTERNATIVES)
        one_of("permute", self.permute, PERMUTE)
        one_of("correction", self.correction, CORRECTIONS)
        if self.covariance not in ESTIMATORS:  # all names only for the message: other packages may add some
            raise unknown("covariance estimator", self.covariance, ESTIMATORS.names())
        one_of("trust", self.trust, TRUST)
        one_of("ci", self.ci, CI)
        if self.profile is not None:
            one_of("profile", self.profile, list(PROFILES))
        check_number("alpha", self.alpha, between=(0, 0.5))
        check_number("precision", self.precision, between=(0, 1))
        if not isinstance(self.ddof, int) or self.ddof not in (0, 1):
            raise WeatherglassError(f"ddof is {shown(repr(self.ddof))}, but should be 0 or 1")
        if not isinstance(self.budget, Budget):
            raise WeatherglassError(f"budget is {self.budget!r}, but should be a Budget(seconds, bytes)")
        check_number("budget.seconds", self.budget.seconds)
        check_number("budget.bytes", self.budget.bytes)
        check_number("seed", self.seed, whole=True, least=0)
        if self.smallest is not None:
            check_number("smallest", self.smallest, between=(0, 2))
        if self.family is not None:
            check_number("family", self.family, whole=True, least=1)
        if self.synonyms is not None and not isinstance(self.synonyms, str):
            _check_synonyms(self.synonyms)

    def changed(self, **changes: Any) -> Settings:
        """Return these settings with some fields replaced.

        Raises:
            WeatherglassError: if a field is unknown; the message names the nearest field.
        """
        check_setting_names(changes)
        return replace(self, **changes)

    def in_key(self) -> dict[str, Any]:
        """Return the settings that a result depends on; the plan adds the content of the synonyms."""
        values = asdict(self)
        return {name: value for name, value in values.items() if name not in (*JUDGING, "synonyms")}


def default_settings() -> dict[str, Any]:
    """Return the default of each setting by name, without building or checking a `Settings`.

    >>> default_settings()["permute"]
    'words'
    """
    return {each.name: each.default for each in fields(Settings)}


def check_setting_names(given: Iterable[str], function: Callable[..., Any] | None = None) -> None:
    """Refuse a name that is not a setting.

    Args:
        given: names of settings.
        function: the function that takes the settings by name; the user may have meant another of its arguments.

    Raises:
        WeatherglassError: if a name is unknown; the message names the nearest setting or argument.
    """
    settings = [f.name for f in fields(Settings)]
    for name in given:
        if name not in settings:
            parameters = signature(function).parameters.values() if function else ()
            arguments = [each.name for each in parameters if each.kind is not Parameter.VAR_KEYWORD]
            raise WeatherglassError(f"unknown setting '{name}'{suggestion(name, [*arguments, *settings])}")


def _check_synonyms(given: object) -> None:
    """Refuse synonyms unless they are a mapping from words to lists of words."""
    if not isinstance(given, Mapping):
        raise wrong_type("synonyms", "a file, catalogue, wordnet, or a dict of lists of words", given)
    for word, others in given.items():
        checked_texts(f"synonyms of {checked_text('a word of synonyms', word)!r}", others)


def chosen_settings(
    settings: Settings | None, given: Mapping[str, Any], function: Callable[..., Any] | None = None
) -> Settings:
    """Return the settings with some fields given by name; a profile sets the tail, unit and level of its paper or
    tool.

    Args:
        settings: the settings to start from; the defaults if None.
        given: fields by name.
        function: the function that the user called; another of its arguments may have been meant.

    Raises:
        WeatherglassError: if a setting is unknown, or its value is not allowed.
    """
    check_setting_names(given, function)
    if settings is not None and not isinstance(settings, Settings):
        raise wrong_type("settings", "a Settings(…)", settings)
    if settings is not None:
        return settings.changed(**given) if given else settings
    published = {}
    if profile := given.get("profile"):
        from weatherglass.metrics.weat.profiles import profile_of

        published = published_settings(profile_of(profile))
    return Settings(**{**published, **given})


def published_settings(profile: Profile) -> dict[str, Any]:
    """Return the defaults of a paper or tool: single elements are exchanged, and alpha is 0.01."""
    return {
        "profile": profile.name,
        "alternative": profile.alternatives[0],
        "permute": "elements",
        "alpha": 0.01,
    }


def check_profile(profile: Profile, settings: Settings) -> None:
    """Refuse settings that contradict a profile.

    Raises:
        WeatherglassError: if a setting contradicts the profile; the message names the setting to omit.
    """
    if settings.significance != "auto":
        raise WeatherglassError(
            f"profile '{profile.name}' computes p in its own way; omit significance '{settings.significance}'"
        )
    if settings.ddof not in (1, profile.ddof):
        raise WeatherglassError(f"profile '{profile.name}' divides by n - {profile.ddof}; omit ddof")
    if settings.profile == profile.name:
        profile.tail(settings.alternative)
