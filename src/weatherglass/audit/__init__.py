"""Run an audit: plan, encode, evaluate and judge; store, read, compare and explain runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.audit.compare import Comparison as Comparison
    from weatherglass.audit.compare import Difference as Difference
    from weatherglass.audit.compare import Incomparable as Incomparable
    from weatherglass.audit.compare import compare_models as compare_models
    from weatherglass.audit.compare import compare_runs as compare_runs
    from weatherglass.audit.results import ElementScore as ElementScore
    from weatherglass.audit.results import Failure as Failure
    from weatherglass.audit.stored import read_run as read_run
    from weatherglass.audit.verdict import Verdict as Verdict

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
