"""weatherglass: how biased is an embedding, and how far can that number be trusted?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from weatherglass.api.audits import run as run
    from weatherglass.audit.evaluate import associate as associate
    from weatherglass.catalogue import list_tests as list_tests
    from weatherglass.catalogue import load_test as load_test
    from weatherglass.catalogue.association_test import AssociationTest as AssociationTest
    from weatherglass.encoders import load_encoder as load_encoder
    from weatherglass.errors import WeatherglassError as WeatherglassError
    from weatherglass.metrics.weat.measure import Measure as Measure
    from weatherglass.runs.results import Result as Result
    from weatherglass.runs.results import Run as Run

_PLACES = {
    "associate": "weatherglass.audit.evaluate",
    "AssociationTest": "weatherglass.catalogue.association_test",
    "list_tests": "weatherglass.catalogue",
    "load_encoder": "weatherglass.encoders",
    "load_test": "weatherglass.catalogue",
    "Measure": "weatherglass.metrics.weat.measure",
    "Result": "weatherglass.runs.results",
    "Run": "weatherglass.runs.results",
    "run": "weatherglass.api.audits",
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
