"""The frozen numbers: d, S and exact p to 1e-12, every other number of a table to 1e-12 too."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from pathlib import Path

import pytest
from tests.golden.parts import PARTS, Row, associations_of, frozen, journal_embedded, journal_vectors

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
        elif name in ("scores", "trust", "notes", "numbers"):
            agree = same(cell, now.get(name, ""), OF_SUMS)
        elif name == "cells" and cell:
            agree = same(json.loads(cell), json.loads(now[name]), of_tables)
        else:
            agree = same(cell, now.get(name, ""), TOLERANCE)
        if not agree:
            found.append(f"{name}: {cell} became {now.get(name)}")
    return found


JOURNALS = ("journal_embedded", "journal_vectors", "journal_transformer")
MINUTES = ("associations", "may2019", "azarpanah2021", "profiles", "mitigation", *JOURNALS)
"""Parts that take long; a few of their rows are checked by the tests below in any run."""
OF_SUMS = 1e-9
"""Sums over hundreds of numbers of a line, relative."""
FAMILY = ("p_adjusted", "p_max_t", "outcome", "limit", "marked", "notes")
"""Columns that depend on which other tests are in the run."""
FEW = ("weat7", "sent-weat8", "heilman_double_bind_competent_one_word")


def changed_rows(was: Sequence[Row], now: Sequence[Row], of_tables: float = TOLERANCE) -> str:
    """Return how many rows differ and the first ten of them; empty if none does."""
    assert len(was) == len(now)
    changed = [
        f"{list(old.values())[:4]}: {'; '.join(found)}"
        for old, new in zip(was, now, strict=True)
        if (found := differences(old, new, of_tables))
    ]
    return f"{len(changed)} of {len(was)} rows: " + "\n".join(changed[:10]) if changed else ""


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(name, marks=pytest.mark.large) if name in MINUTES else name
        for name in PARTS
        if name not in ("du2021", "journal_transformer")
    ],
)
def test_the_numbers_are_the_frozen_ones(part: str, tmp_path: Path) -> None:
    of_tables = OF_SCORES if part == "study" else TOLERANCE
    assert not changed_rows(frozen(part), list(PARTS[part](tmp_path)), of_tables)


@pytest.mark.large
def test_the_numbers_of_a_transformer_are_the_frozen_ones(tmp_path: Path) -> None:
    was, now = frozen("journal_transformer"), list(PARTS["journal_transformer"](tmp_path))
    if was[0] == now[0]:
        assert not changed_rows(was, now)
    else:  # another processor: its vectors differ in the last bits
        assert not changed_rows(_effect_sizes(was), _effect_sizes(now), OF_SCORES)


@pytest.mark.parametrize("test", FEW)
@pytest.mark.parametrize("part", [journal_embedded, journal_vectors])
def test_every_metric_gives_the_frozen_numbers_for_a_few_tests(
    part: Callable[[Path, str], Iterable[Row]], test: str, tmp_path: Path
) -> None:
    was = [row for row in frozen(part.__name__) if row["test"] == test]
    now = [row for row in part(tmp_path, test) if row["test"] == test]
    assert not changed_rows(_without_family(was), _without_family(now))


def test_associations_of_a_few_tests_are_the_frozen_ones() -> None:
    was = [row for row in frozen("associations") if row["test"] in FEW]
    now = list(associations_of(list(FEW)))
    by = itemgetter("measure", "permute", "alternative", "test")
    assert not changed_rows(sorted(was, key=by), sorted(now, key=by))


def _without_family(rows: Iterable[Row]) -> list[Row]:
    return [{name: cell for name, cell in row.items() if name not in FAMILY} for row in rows]


def _effect_sizes(rows: Iterable[Row]) -> list[Row]:
    """Return d, S and the value of each row as a table's cells, which are compared with a tolerance."""
    names = ("value", "effect_size", "test_statistic")
    return [
        {
            "test": row["test"],
            "metric": row["metric"],
            "cells": json.dumps({n: row.get(n, "") for n in names}),
        }
        for row in list(rows)[1:]
    ]


@pytest.mark.large
def test_du2021_prints_the_frozen_correlations(tmp_path: Path) -> None:
    was, now = frozen("du2021"), list(PARTS["du2021"](tmp_path))
    assert [row["line"] for row in was] == [row["line"] for row in now]
    tolerance = TOLERANCE if was[0] == now[0] else TRAINED
    for old, new in zip(was[1:], now[1:], strict=True):
        assert same(old["number"], new["number"], 0 if old["number"] == "–" else tolerance), old
