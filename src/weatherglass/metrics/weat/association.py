"""Define associations, written `similarity/statistic`; this text is both the identity and the spelling of an
association.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from weatherglass.errors import UnknownNameError
from weatherglass.registry import Registry, checked_text, did_you_mean, shown

if TYPE_CHECKING:
    from weatherglass.metrics.weat.scores import Similarity, Statistic

SIMILARITIES: Registry[Similarity] = Registry(
    "similarity",
    {
        "cosine": "weatherglass.metrics.weat.scores:COSINE",
        "euclidean": "weatherglass.metrics.weat.scores:EUCLIDEAN",
        "manhattan": "weatherglass.metrics.weat.scores:MANHATTAN",
        "mahalanobis": "weatherglass.metrics.weat.scores:MAHALANOBIS",
        "dot": "weatherglass.metrics.weat.scores:DOT",
    },
    entry_points="weatherglass.similarities",
)

STATISTICS: Registry[Statistic] = Registry(
    "statistic",
    {
        "mean": "weatherglass.metrics.weat.scores:MEAN",
        "median": "weatherglass.metrics.weat.scores:MEDIAN",
        "min": "weatherglass.metrics.weat.scores:MIN",
        "max": "weatherglass.metrics.weat.scores:MAX",
        "eq2": "weatherglass.metrics.weat.scores:EQ2",
    },
    entry_points="weatherglass.statistics",
)


@dataclass(frozen=True, slots=True, order=True)
class Association:
    """The measure of an element's association with A and B (docs/methods 1).

    >>> str(Association.parse("euclidean/median"))
    'euclidean/median'
    """

    similarity: str = "cosine"
    statistic: str = "mean"

    def __post_init__(self) -> None:
        if self.similarity not in SIMILARITIES or self.statistic not in STATISTICS:
            raise _unknown(str(self))

    def __str__(self) -> str:
        return f"{self.similarity}/{self.statistic}"

    @property
    def signed(self) -> bool:
        """Return whether the sign of d is a direction."""
        return STATISTICS.get(self.statistic).signed

    @classmethod
    def parse(cls, text: str) -> Association:
        """Return the association of the text `similarity/statistic`.

        Raises:
            UnknownNameError: if a part is unknown; the message suggests the nearest name.
        """
        similarity, slash, statistic = checked_text("a measure", text).partition("/")
        if not slash:
            raise _unknown(text)
        return cls(similarity, statistic)


GLOB = frozenset("*?[")
GROUPS: dict[str, tuple[str, ...]] = {
    "azarpanah2021": tuple(
        f"{similarity}/{statistic}"
        for similarity in ("cosine", "euclidean", "manhattan", "mahalanobis")
        for statistic in ("mean", "median", "min", "max", "eq2")
    ),
}
"""Groups of associations by name; Azarpanah & Farhadloo (2021) use all similarities except `dot`."""


def known_associations() -> list[Association]:
    """Return every registered similarity with every registered statistic, in the order of the tables."""
    return [Association(sim, stat) for sim in SIMILARITIES.names() for stat in STATISTICS.names()]


def select_associations(patterns: Sequence[str]) -> list[Association]:
    """Return the associations that match names, groups and globs, in the order of the request and without repeats.

    `*` means every registered association, `*/mean` every similarity with the mean, and `azarpanah2021` the twenty
    associations of that paper.

    >>> [str(one) for one in select_associations(["cosine/m*n", "dot/eq2"])]
    ['cosine/mean', 'cosine/median', 'cosine/min', 'dot/eq2']

    Raises:
        UnknownNameError: if a pattern matches nothing.
    """
    selected: dict[Association, None] = {}
    for pattern in patterns:
        if GLOB & set(pattern):
            matches = [one for one in known_associations() if fnmatchcase(str(one), pattern)]
        else:
            matches = [Association.parse(spelling) for spelling in GROUPS.get(pattern, (pattern,))]
        if not matches:
            raise _unknown(pattern)
        selected |= dict.fromkeys(matches)
    return list(selected)


def _unknown(text: str) -> UnknownNameError:
    names = [*map(str, known_associations()), *GROUPS]
    # For a similarity alone, such as "cosine", its default statistic is suggested.
    hint = f"; did you mean '{text}/mean'?" if text in SIMILARITIES else did_you_mean(text, names)
    return UnknownNameError(
        f"unknown metric '{shown(text)}'{hint} (an association is similarity/statistic, a glob over "
        f"associations, or {', '.join(GROUPS)}; similarities: {', '.join(SIMILARITIES.names())}; "
        f"statistics: {', '.join(STATISTICS.names())})"
    )
