"""weatherglass: how biased is an embedding, and how far can that number be trusted?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from weatherglass.association.measure import Measure as Measure
    from weatherglass.audit import run as run
    from weatherglass.catalogue import list_tests as list_tests
    from weatherglass.catalogue import load_test as load_test
    from weatherglass.catalogue.association_test import AssociationTest as AssociationTest
    from weatherglass.encoders import load_encoder as load_encoder
    from weatherglass.errors import WeatherglassError as WeatherglassError
    from weatherglass.evaluate import associate as associate
    from weatherglass.results import Result as Result
    from weatherglass.results import Run as Run

_PLACES = {
    "associate": "weatherglass.evaluate",
    "AssociationTest": "weatherglass.catalogue.association_test",
    "list_tests": "weatherglass.catalogue",
    "load_encoder": "weatherglass.encoders",
    "load_test": "weatherglass.catalogue",
    "Measure": "weatherglass.association.measure",
    "Result": "weatherglass.results",
    "Run": "weatherglass.results",
    "run": "weatherglass.audit",
    "WeatherglassError": "weatherglass.errors",
}
__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import weatherglass` stays light."""
    if name not in _PLACES:
        raise AttributeError(f"module 'weatherglass' has no attribute '{name}'")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
