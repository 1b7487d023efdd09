"""Read an effect size on the scale of our own calibration: the dose of a planted stereotype that gives this d."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from weatherglass.storage.documents import shipped_toml

NOT_THEIRS = (
    "These doses are for our corpus, our words and our training. They do not show how biased the "
    "training texts of your model were."
)


@dataclass(frozen=True)
class ResponseCurve:
    """The mean d at each dose, for one corpus and algorithm."""

    corpus: str
    algorithm: str
    doses: tuple[float, ...]
    means: tuple[float, ...]
    sd: float
    """The standard deviation between seeds at one dose."""

    def dose(self, d: float) -> float:
        """Return the dose whose mean response is d, from 0 to 1.

        The curve is linear between doses; where a mean falls below the one before it, the larger one counts.
        """
        rising = np.maximum.accumulate(self.means)
        return float(np.interp(d, rising, self.doses))


def curves() -> list[ResponseCurve]:
    """Return the curves of the calibration that weatherglass ships (docs/calibration.md)."""
    return [
        ResponseCurve(
            entry["corpus"], entry["algorithm"], tuple(entry["doses"]), tuple(entry["means"]), entry["sd"]
        )
        for entry in shipped_toml(__package__, "scale")["curves"]
    ]


def scale_lines(d: float, low: float | None, high: float | None) -> Iterator[str]:
    """Yield a line for each curve: the dose that gives d, and the doses that give the ends of its interval.

    Args:
        d: the effect size.
        low: the lower end of its interval, if there is one.
        high: the upper end.
    """
    for curve in curves():
        where = f"on our {curve.corpus} corpus ({curve.algorithm})"
        if not min(curve.means) <= d <= max(curve.means):
            yield f"d = {d:.2f} is beyond the mean response to every dose {where}."
            continue
        ends = ""
        if low is not None and high is not None:
            ends = f" [{curve.dose(low):.2f}, {curve.dose(high):.2f}]"
        yield (
            f"d = {d:.2f} is the mean response to a dose of {curve.dose(d):.2f}{ends} {where}. In a corpus with "
            f"this dose, about {100 * curve.dose(d):.0f} % of the sentences with a group word and an attribute word "
            "agree with the stereotype (50 %: no stereotype)."
        )
    yield NOT_THEIRS
