"""How far a bias score can be trusted: corpus × algorithm × seed → scores → agreement (Du et al. 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.reliability.study_file import Study as Study
    from weatherglass.reliability.study_file import read_study as read_study

_PLACES = {"read_study": "study_file", "Study": "study_file"}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
