"""Send values that a user registered to other processes, whose registries contain only installed values."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.metrics.base import Metric
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS
from weatherglass.metrics.weat.covariance import ESTIMATORS
from weatherglass.registry import Registry

REGISTRIES: dict[str, Registry[Any]] = {table.noun: table for table in (SIMILARITIES, STATISTICS, ESTIMATORS)}


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered value, pickled by reference, that is, with the location of its functions instead of their code."""

    noun: str
    """The noun of the value's registry: similarity, statistic or covariance estimator."""
    name: str
    pickled: bytes

    def register(self) -> None:
        """Register the value in this process.

        Raises:
            UnitError: if this process cannot import it.
        """
        try:
            value = pickle.loads(self.pickled)
        except (ImportError, AttributeError) as error:
            raise UnitError(
                f"{self.noun} '{self.name}' cannot be imported by another process ({error}); "
                "define it in a module that the process can import, or use jobs=1"
            ) from None
        REGISTRIES[self.noun].register(self.name, value)


def registrations_for(metrics: Sequence[Metric], estimator: str) -> tuple[Registration, ...]:
    """Return the registrations that other processes need to compute these metrics.

    Raises:
        WeatherglassError: if a value cannot be pickled, such as a lambda.
    """
    needed = [pair for metric in metrics for pair in getattr(metric, "registered", ())]
    return registrations_of([*needed, (ESTIMATORS, estimator)])


def registrations_of(names: Iterable[tuple[Registry[Any], str]]) -> tuple[Registration, ...]:
    """Return the registrations that other processes need for the given names of registries.

    Raises:
        WeatherglassError: if a value cannot be pickled, such as a lambda.
    """
    by_noun: dict[str, list[str]] = {}
    for registry, name in names:
        by_noun.setdefault(registry.noun, []).append(name)
    return tuple(
        registration
        for noun, registry in REGISTRIES.items()
        for registration in _registrations(registry, by_noun.get(noun, []))
    )


def _registrations(registry: Registry[Any], names: Iterable[str]) -> Iterable[Registration]:
    for name, value in registry.registered(names).items():
        try:
            pickled = pickle.dumps(value)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise WeatherglassError(_not_importable(registry.noun, name, str(error))) from None
        if b"__main__" in pickled and not hasattr(sys.modules["__main__"], "__file__"):
            raise WeatherglassError(
                _not_importable(registry.noun, name, "it is defined in a notebook or prompt")
            )
        yield Registration(registry.noun, name, pickled)


def _not_importable(noun: str, name: str, why: str) -> str:
    return (
        f"{noun} '{name}' cannot be sent to other processes ({why}); "
        "write it as a function in a module instead of a lambda, or use jobs=1"
    )
