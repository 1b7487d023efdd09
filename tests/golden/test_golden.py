"""The frozen numbers: d, S and exact p to 1e-12, every other number of a table to 1e-12 too."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tests.golden.parts import PARTS, Row, frozen

EXACT = {"enumerate", "meet-in-the-middle", "lattice"}
TOLERANCE = 1e-12
OF_COUNTS = 1e-11
"""Exact p, relative: which of 1e14 exchanges lie beyond the observed one hangs on the last bits of the scores, which
the BLAS of another processor rounds otherwise; two machines differed by 5e-12."""
OF_BOUNDS = 1e-9
"""Bounds sum thousands of cosines, whose last bits differ between libraries."""
OF_SCORES = 1e-5
"""Tables of a study: its scores are products of matrices in single precision, whose sums BLAS orders by the processor;
two machines differed by 1e-7."""
TRAINED = 0.05
"""Pearson's r of embeddings that another processor trained from the same text and seeds."""


def same(was: object, now: object, tolerance: float) -> bool:
    """Whether two cells agree: text as it is, numbers within the tolerance, relative above 1."""
    if isinstance(was, dict) and isinstance(now, dict):
        return was.keys() <= now.keys() and all(same(was[name], now[name], tolerance) for name in was)
    try:
        a, b = float(str(was)), float(str(now))
    except ValueError:
        return was == now
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(a) and math.isnan(b))


def differences(was: Row, now: Row, of_tables: float) -> list[str]:
    """The names of the cells that differ."""
    found = []
    for name, cell in was.items():
        if name.startswith("p_") and was.get("p_method") in EXACT:
            agree = cell == now.get(name, "") or math.isclose(
                float(cell), float(now[name]), rel_tol=OF_COUNTS
            )
        elif name in ("p_value", "p_low", "p_high") and was.get("p_method") == "bounds":
            agree = math.isclose(float(cell), float(now[name]), rel_tol=OF_BOUNDS)
        elif name == "cells" and cell:
            agree = same(json.loads(cell), json.loads(now[name]), of_tables)
        else:
            agree = same(cell, now.get(name, ""), TOLERANCE)
        if not agree:
            found.append(f"{name}: {cell} became {now.get(name)}")
    return found


@pytest.mark.parametrize("part", [name for name in PARTS if name != "du2021"])
def test_the_numbers_are_the_frozen_ones(part: str, tmp_path: Path) -> None:
    was, now = frozen(part), list(PARTS[part](tmp_path))
    assert len(was) == len(now)
    of_tables = OF_SCORES if part == "study" else TOLERANCE
    changed = [
        f"{list(old.values())[:4]}: {'; '.join(found)}"
        for old, new in zip(was, now, strict=True)
        if (found := differences(old, new, of_tables))
    ]
    assert not changed, f"{len(changed)} of {len(was)} rows: " + "\n".join(changed[:10])


def test_du2021_prints_the_frozen_correlations(tmp_path: Path) -> None:
    was, now = frozen("du2021"), list(PARTS["du2021"](tmp_path))
    assert [row["line"] for row in was] == [row["line"] for row in now]
    tolerance = TOLERANCE if was[0] == now[0] else TRAINED
    for old, new in zip(was[1:], now[1:], strict=True):
        assert same(old["number"], new["number"], 0 if old["number"] == "–" else tolerance), old
