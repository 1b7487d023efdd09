"""Define gates: conditions on results that make a run fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.gate.junit import write_junit as write_junit
    from weatherglass.gate.rules import Breach as Breach
    from weatherglass.gate.rules import Gate as Gate
    from weatherglass.gate.rules import Rule as Rule
    from weatherglass.gate.rules import gate_of as gate_of
    from weatherglass.gate.rules import load_rules as load_rules

_PLACES = {
    "gate_of": "rules",
    "Gate": "rules",
    "Rule": "rules",
    "Breach": "rules",
    "load_rules": "rules",
    "write_junit": "junit",
}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
