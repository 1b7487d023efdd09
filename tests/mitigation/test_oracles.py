"""Hard debiasing as WEFE 1.0.1 does it, LEACE as concept-erasure 0.2.4 does; tests/oracles/mitigation.py has how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weatherglass.arrays import unit_length
from weatherglass.mitigation.debiasing import HardDebias
from weatherglass.mitigation.erasure import erasure

ORACLES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "oracles" / "mitigation.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("result", "equalises"), [("hard", True), ("neutralised", False)])
def test_hard_debiasing_is_that_of_wefe(result: str, equalises: bool) -> None:
    wefe = ORACLES["wefe"]
    pairs, equalise = (tuple((a, b) for a, b in wefe[name]) for name in ("pairs", "equalise"))
    transform = HardDebias("hard", pairs, equalise if equalises else (), tuple(wefe["keep"]))
    vectors = dict(zip(wefe["words"], np.array(wefe["vectors"]), strict=True))
    unknown = np.full(6, np.nan)
    change = transform.fit(np.array([vectors.get(text, unknown) for text in transform.texts()]))
    changed = change(np.array(wefe["vectors"]), wefe["words"])
    # WEFE divides equalised words by the lengths that they had before; directions are what can be compared.
    assert np.abs(changed - unit_length(np.array(wefe[result]))).max() < 1e-5


@pytest.mark.parametrize("case", ORACLES["leace"])
def test_leace_is_that_of_concept_erasure(case: dict[str, Any]) -> None:
    labels = np.array(case["labels"])
    step = erasure(np.array(case["rows"]), np.eye(labels.max() + 1)[labels], case["shrinkage"])
    erased = step(np.array(case["new"]), ["new"] * len(case["new"]))
    assert erased == pytest.approx(np.array(case["erased"]), abs=1e-8)
