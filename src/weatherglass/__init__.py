"""weatherglass: how biased is an embedding, and how far can that number be trusted?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

__version__ = "0.3.0"

if TYPE_CHECKING:
    from weatherglass.api.audits import run as run
    from weatherglass.api.calibrations import calibrate as calibrate
    from weatherglass.api.mitigation import mitigate as mitigate
    from weatherglass.api.multiverses import multiverse as _multiverse
    from weatherglass.api.rankings import rank as rank
    from weatherglass.api.studies import StudyResult as StudyResult
    from weatherglass.api.studies import load_study as load_study
    from weatherglass.api.studies import run_study as _study
    from weatherglass.audit.evaluate import associate as associate
    from weatherglass.audit.evaluate import measure as measure
    from weatherglass.audit.intersection import intersection as _intersection
    from weatherglass.audit.results import Result as Result
    from weatherglass.audit.run import Run as Run
    from weatherglass.audit.settings import Settings as Settings
    from weatherglass.audit.stored import load_run as load_run
    from weatherglass.audit.word_map import word_map as _words
    from weatherglass.audit.word_map import word_map as word_map
    from weatherglass.catalogue import list_tests as list_tests
    from weatherglass.catalogue import load_test as load_test
    from weatherglass.catalogue.from_words import make_test as _test
    from weatherglass.catalogue.test import Test as Test
    from weatherglass.encoders import load_encoder as load_encoder
    from weatherglass.encoders.in_memory import model as model
    from weatherglass.errors import WeatherglassError as WeatherglassError
    from weatherglass.multiverses.multiverse import Multiverse as Multiverse
    from weatherglass.ranking.ranking import Ranking as Ranking

    intersection = _intersection
    multiverse = _multiverse
    words = _words
    test = _test
    study = _study  # Type checkers treat an import under another name as private.

_PLACES = {
    "associate": "audit.evaluate",
    "calibrate": "api.calibrations",
    "Test": "catalogue.test",
    "intersection": "audit.intersection",
    "list_tests": "catalogue",
    "load_encoder": "encoders",
    "load_run": "audit.stored",
    "load_study": "api.studies",
    "load_test": "catalogue",
    "measure": "audit.evaluate",
    "Multiverse": "multiverses.multiverse",
    "Result": "audit.results",
    "Run": "audit.run",
    "Settings": "audit.settings",
    "StudyResult": "api.studies",
    "model": "encoders.in_memory",
    "mitigate": "api.mitigation",
    "multiverse": "api.multiverses",
    "rank": "api.rankings",
    "Ranking": "ranking.ranking",
    "run": "api.audits",
    "study": "api.studies:run_study",
    "test": "catalogue.from_words:make_test",
    "word_map": "audit.word_map",
    "words": "audit.word_map:word_map",
    "WeatherglassError": "errors",
}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
