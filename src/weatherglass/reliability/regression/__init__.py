"""Explain which words are measured reliably, with a multilevel regression on word features (docs/methods 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

# Not imported lazily, because the module of the same name would replace the function once it is imported.
from weatherglass.reliability.regression.explain import explain as explain

if TYPE_CHECKING:
    from weatherglass.reliability.regression.explain import Explanation as Explanation
    from weatherglass.reliability.regression.features import word_features as word_features
    from weatherglass.reliability.regression.tables import filled_table as filled_table
    from weatherglass.reliability.regression.tables import regression_table as regression_table
    from weatherglass.reliability.regression.tables import to_latex as to_latex

_PLACES = {
    "Explanation": "explain",
    "word_features": "features",
    "regression_table": "tables",
    "filled_table": "tables",
    "to_latex": "tables",
}
__all__ = ["explain", *_PLACES]
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
