"""What a result without effect excludes (docs/methods 10.5)."""

from __future__ import annotations

from weatherglass.inference.such import SuchAttributes


def excluded_above(reading: SuchAttributes) -> float | None:
    """U: |d| above it is excluded, by the 90 % interval over words and attributes of this kind; None without one.

    Two one-sided tests at 5 % make the 90 % interval. The reading of *these* attributes would not do: their noise
    shrinks d, and would let an effect pass for small.
    """
    return None if reading.interval_90 is None else reading.interval_90.largest


def smaller_than(bound: float | None, smallest: float) -> bool | None:
    """Whether U shows the effect to be below the smallest that the user cares about; None where U is unknown."""
    return None if bound is None else bound < smallest
