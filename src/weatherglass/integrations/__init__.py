"""Use weatherglass inside other packages, as a metric of `evaluate` or a task of `mteb`; both are optional."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["evaluate_module"]


def evaluate_module() -> str:
    """Return the path of the metric, for `evaluate.load`."""
    return str(files(__name__).joinpath("evaluate_metric.py"))
