"""Results of a run, the folder they are kept in, and two runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.runs.compare import Comparison as Comparison
    from weatherglass.runs.compare import Difference as Difference
    from weatherglass.runs.compare import Incomparable as Incomparable
    from weatherglass.runs.compare import compare_models as compare_models
    from weatherglass.runs.compare import compare_runs as compare_runs
    from weatherglass.runs.results import ElementScore as ElementScore
    from weatherglass.runs.results import Failure as Failure
    from weatherglass.runs.stored import read_run as read_run
    from weatherglass.runs.verdict import Verdict as Verdict

_PLACES = {
    "ElementScore": "results",
    "Failure": "results",
    "read_run": "stored",
    "compare_models": "compare",
    "compare_runs": "compare",
    "Comparison": "compare",
    "Difference": "compare",
    "Incomparable": "compare",
    "Verdict": "verdict",
}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
