"""What the specifications of one word list on one model say together: curve, joint test, decomposition, hangs on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.inference.decomposition import Decomposition, decompose
from weatherglass.inference.joint import EACH, Specifications, each_specification, joint_test
from weatherglass.inference.westfall_young import westfall_young
from weatherglass.multiverses.knobs import Knobs
from weatherglass.multiverses.lists import SENTENCES, WORD
from weatherglass.multiverses.scores import Known, Scored

FACTORS = ("similarity", "statistic", "template", "list", "pooling", "layers", "seed")
"""The knobs of the factorial, in the order in which they are shown."""
RANDOM_FACTORS = {"template": "templates", "seed": "seeds"}
"""Knobs whose levels are a sample of many."""


def assess(scored: Sequence[Scored], known: Known, knobs: Knobs) -> dict[str, Any]:
    """The record of one list on one model, plain values."""
    ordered = sorted(
        scored, key=lambda some: not some.counted
    )  # stable: the factorial, then what is only listed
    counted = sum(some.counted for some in ordered)
    n_x = len(known.x)
    scores = np.stack([some.scores for some in ordered], axis=1)
    each = each_specification(scores, n_x, knobs.alpha)
    factorial = scores[:, :counted]
    joint = joint_test(factorial, n_x)
    largest = westfall_young(factorial, n_x, seed=knobs.seed)
    levels = _levels(ordered[:counted])
    d = np.nan_to_num(each.d[:counted])
    table = _table(d, ordered[:counted], levels)
    moved = decompose(table, list(levels))
    by_level = _by_level(factorial, ordered[:counted], levels, n_x)
    record = {
        "specification_count": counted,
        "n_x": n_x,
        "n_y": len(known.y),
        "dropped": list(known.dropped),
        "knobs": {knob: list(names) for knob, names in levels.items()},
        "mean_d": joint.mean_d,
        "median_d": float(np.median(d)),
        "joint_p": joint.p,
        "joint_p_method": joint.significance.p_method,
        "max_t_p": float(largest.p.min()),
        "max_t_exact": largest.exact,
        "share_same_sign": same_sign(d),
        "share_significant": float((each.p[:counted] <= knobs.alpha).mean()),
        "positive": int((d > 0).sum()),
        "decomposition": moved.to_json(),
        "squared_standard_errors": _squared_standard_errors(each, ordered[:counted], table, list(levels)),
        "by_level": by_level,
        "word_scores": dict(zip((*known.x, *known.y), map(float, joint.scores), strict=True)),
        "specifications": _specifications(ordered, each, largest.p),
    }
    return {**record, "conclusion": conclusion(record, moved, knobs.alpha)}


def same_sign(d: Vector) -> float:
    """The share of specifications on the side where most are."""
    return float(max((d > 0).mean(), (d < 0).mean()))


def _levels(scored: Sequence[Scored]) -> dict[str, tuple[str, ...]]:
    """The knobs with more than one level; of none, the similarity alone."""
    found = {
        knob: tuple(dict.fromkeys(some.choices[knob] for some in scored if knob in some.choices))
        for knob in FACTORS
    }
    several = {knob: names for knob, names in found.items() if len(names) > 1}
    return several or {"similarity": found["similarity"]}


def _table(d: Vector, scored: Sequence[Scored], levels: dict[str, tuple[str, ...]]) -> Matrix:
    """d with an axis for every knob."""
    table = np.full([len(names) for names in levels.values()], np.nan)
    for value, some in zip(d, scored, strict=True):
        table[tuple(names.index(some.choices[knob]) for knob, names in levels.items())] = value
    assert not np.isnan(table).any(), "the specifications are not a full factorial"
    return table


def _by_level(
    scores: Matrix, scored: Sequence[Scored], levels: dict[str, tuple[str, ...]], n_x: int
) -> dict[str, dict[str, dict[str, float]]]:
    """The mean of d and its p over the specifications of each level: what an auditor who fixes it would conclude."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for knob, names in levels.items():
        for name in names:
            columns = [some.choices[knob] == name for some in scored]
            joint = joint_test(scores[:, columns], n_x, EACH)
            found.setdefault(knob, {})[name] = {"mean_d": joint.mean_d, "joint_p": joint.p}
    return found


def _squared_standard_errors(
    each: Specifications, scored: Sequence[Scored], table: Matrix, knobs: list[str]
) -> dict[str, float | None]:
    """How much a single d would vary with other words, attributes, templates and seeds of this kind."""
    found: dict[str, float | None] = {
        "words": _mean(each.word_variance[: len(scored)]),
        "attributes": _mean(np.array([some.attribute_variance for some in scored])),
    }
    for knob, plural in RANDOM_FACTORS.items():
        if knob in knobs:
            found[plural] = float(table.var(axis=knobs.index(knob), ddof=1).mean())
    return found


def _mean(values: Vector) -> float | None:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else None


def _specifications(
    ordered: Sequence[Scored], each: Specifications, adjusted: Vector
) -> list[dict[str, Any]]:
    rows = []
    for place, some in enumerate(ordered):
        rows.append(
            {
                **some.choices,
                "d": _plain(each.d[place]),
                "ci_low": _plain(each.low[place]),
                "ci_high": _plain(each.high[place]),
                "p": float(each.p[place]),
                "p_max_t": float(adjusted[place]) if some.counted else None,
                "counted": some.counted,
                "published": _is_published(some),
            }
        )
    return rows


def _is_published(some: Scored) -> bool:
    """Cosine and mean, on bare words (Caliskan et al.) or on all sentences of a word (May et al.)."""
    choices = some.choices
    usual = choices["similarity"] == "cosine" and choices["statistic"] == "mean"
    return usual and choices["template"] in (WORD, SENTENCES)


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def conclusion(record: dict[str, Any], moved: Decomposition, alpha: float) -> dict[str, Any]:
    """Whether the mean effect is shown, and the knob on which it hangs, if it hangs on one.

    A conclusion hangs on a knob if the levels of that knob do not agree: some show the effect by their own joint p and
    others do not, or they show it in opposite directions. It is asked only where there is something to hang: the
    joint p or the smallest maxT p is at most alpha. Of several such knobs the one that moves d most is named first.
    """
    on_the_whole = record["joint_p"] <= alpha
    somewhere = record["max_t_p"] <= alpha
    hanging = []
    if on_the_whole or somewhere:
        shares = sorted(moved.main.items(), key=lambda item: -item[1])
        hanging = [knob for knob, _ in shares if _disagree(record["by_level"].get(knob, {}), alpha)]
    kind = (
        ("robust" if not hanging else "hangs")
        if on_the_whole
        else ("somewhere" if somewhere else "not shown")
    )
    return {"kind": kind, "hangs_on": hanging, "sentence": _sentence(kind, hanging, record, alpha)}


def _disagree(levels: dict[str, dict[str, float]], alpha: float) -> bool:
    signs = {np.sign(level["mean_d"]) if level["joint_p"] <= alpha else 0.0 for level in levels.values()}
    return len(signs) > 1


def _sentence(kind: str, hanging: Sequence[str], record: dict[str, Any], alpha: float) -> str:
    if kind == "robust":
        return "shown on the whole, and at every level of every knob"
    if kind == "not shown":
        return "not shown: neither on the whole nor in any single specification"
    start = "shown on the whole" if kind == "hangs" else "not shown on the whole, only somewhere"
    if not hanging:
        return f"{start}; no single knob tells where"
    knob = hanging[0]
    levels = record["by_level"][knob]
    seen = [name for name, level in levels.items() if level["joint_p"] <= alpha]
    others = [name for name in levels if name not in seen]
    detail = f"seen with {_listed(seen)}" if seen else "no level shows it alone"
    detail += f", not with {_listed(others)}" if seen and others else ""
    if seen and len({math.copysign(1, levels[name]["mean_d"]) for name in seen}) > 1:
        detail += ", in opposite directions"
    more = f"; also on {_listed(hanging[1:])}" if hanging[1:] else ""
    return f"{start}; hangs on {knob} ({detail}){more}"


def _listed(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def halves_record(found: Any) -> dict[str, Any] | None:
    """A `Halves` as plain values."""
    return None if found is None else asdict(found)
