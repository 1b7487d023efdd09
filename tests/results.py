"""Results that were never computed, for tests of what is made of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from weatherglass.audit.folder import RECORD
from weatherglass.audit.results import Result
from weatherglass.audit.stored import read_record
from weatherglass.metrics.base import MetricInfo, Shape, exactly
from weatherglass.metrics.weat.association import STATISTICS
from weatherglass.metrics.weat.metric import Weat
from weatherglass.storage.checksum import write_checked_json


def info_of(metric: str, **changes: Any) -> MetricInfo:
    """Return what WEAT declares, with the sign of the measure `similarity/statistic` and some changes."""
    statistic = metric.partition("/")[2]
    signed = STATISTICS.get(statistic).signed if statistic in STATISTICS else True
    return replace(Weat().info, **{"signed": signed, **changes})


def other_info(**changes: Any) -> MetricInfo:
    """Return the info of a metric whose value is not an effect size."""
    return MetricInfo(**{"shape": Shape(exactly(2), exactly(2)), **changes})


def made_result(p_value: float = 0.5, effect_size: float = 1.0, **given: Any) -> Result:
    """A result of which only what is given matters; p is exact."""
    return Result(
        p_value=p_value,
        value=effect_size,
        **{
            "target_sizes": (8, 8),
            "attribute_sizes": (8, 8),
            **dict.fromkeys(("p_low", "p_high", "p_middle"), p_value),
            "metric": "cosine/mean",
            "permute": "elements",
            "alternative": "greater",
            "ddof": 1,
            "test_statistic": effect_size,
            "p_method": "enumerate",
            "p_floor": 1e-9,
            "certified": True,
            "info": info_of(given.get("metric", "cosine/mean")),
            **given,
        },
    )


def change_record(folder: Path, **changes: Any) -> None:
    """Write run.json with some entries changed, and the checksum that it then has."""
    write_checked_json(folder / RECORD, {**read_record(folder), **changes})
