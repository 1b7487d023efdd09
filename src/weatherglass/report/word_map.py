"""Show the words of a map as a table for the terminal, as a TSV file, and as a figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from weatherglass.audit.results import cell
from weatherglass.catalogue.names import model_name, set_name
from weatherglass.errors import output_error
from weatherglass.registry import one_of
from weatherglass.report.layout import Column, shortened, table_lines
from weatherglass.report.measures import BLUE, GREY, INK, LINE, ORANGE, SOFT
from weatherglass.report.numbers import format_effect, format_p
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.printable import tsv_line
from weatherglass.warnings import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from weatherglass.audit.word_map import MappedWord, WordMap

FIGURES = ("svg", "png", "pdf")
ROW = 0.17
"""The height of a word in inches."""


def word_table(found: WordMap, alpha: float, width: int) -> Iterator[str]:
    """Yield one row per word, from the one nearest to A to the one nearest to B."""
    rest = f"   {set_name(found.a)} – {set_name(found.b)}"
    yield shortened(shortened(model_name(found.model), max(12, width - len(rest)), "front") + rest, width)
    with_facts = found.facts is not None
    columns = [
        Column("   word", shorten="middle", least=10),
        Column("d", right=True),
        Column("p", right=True),
        *([Column("fact", right=True)] if with_facts else []),
        Column("leans to", shorten="end"),
    ]
    rows = []
    for word in found.words:
        fact = [] if not with_facts else ["" if word.fact is None else f"{word.fact:g}"]
        leans = _leans(found, word, alpha)
        named = f"{_mark(word, alpha):2} {word.word}"
        rows.append([named, format_effect(word.effect_size), format_p(word.p_value, alpha), *fact, leans])
    yield from table_lines(columns, rows, width)


def _leans(found: WordMap, word: MappedWord, alpha: float) -> str:
    """Return the set that a word leans to; a dash if p is above alpha, since the leaning may be chance."""
    if not word.p_value <= alpha:
        return "–"
    return set_name(found.a if word.effect_size > 0 else found.b)


def _mark(word: MappedWord, alpha: float) -> str:
    return ("**" if word.p_adjusted <= alpha else "*") if word.p_value <= alpha else ""


def word_lines(found: WordMap, alpha: float) -> Iterator[str]:
    """Yield lines on the meaning of the marks, the correlation with facts, and the words that the model does not
    know.
    """
    marked = [word for word in found.words if word.p_value <= alpha]
    kept = sum(word.p_adjusted <= alpha for word in marked)
    yield (
        f"* p ≤ {alpha:g}: {counted(len(marked), 'word')}; ** also after correction over "
        f"{counted(len(found.words), 'word')} ({found.correction}): {kept}"
    )
    if found.facts:
        f = found.facts
        yield (
            f"Correlation of d with the facts over {f.words} words: r = {f.r:.2f}, 95 % {f.low:.2f} … "
            f"{f.high:.2f}, p = {format_p(f.p_value)}; the interval is over words, with fixed attributes."
        ).replace("-", "−")
    if found.unknown:
        yield f"Unknown to the model: {', '.join(found.unknown)}"


def write_word_table(found: WordMap, path: Path) -> None:
    """Write the map as a TSV file, atomically."""
    names = ("word", "effect_size", "p_value", "p_adjusted", "fact")
    rows = [names, *([cell(getattr(word, name)) for name in names] for word in found.words)]
    try:
        write_whole(path, "".join(map(tsv_line, rows)))
    except OSError as error:
        raise output_error(path, error) from error


def save_word_map(found: WordMap, path: Path, alpha: float) -> None:
    """Write the map as a figure, in the format of the path's suffix."""
    from weatherglass.report.figures import save_figure

    kind = path.suffix.removeprefix(".").lower()
    one_of("kind of figure", kind, FIGURES)
    try:
        save_figure(word_map_figure(found, alpha), path, kind)
    except OSError as error:
        raise output_error(path, error) from error


def word_map_figure(found: WordMap, alpha: float) -> Figure:
    """Draw the effect of each word as a point, in order; with facts, also a plot of effects against facts."""
    from matplotlib.figure import Figure

    words = [word for word in found.words if word.effect_size == word.effect_size]
    facts = [word for word in words if word.fact is not None]
    figure = Figure(figsize=(8 if found.facts else 5, max(2.5, ROW * len(words) + 0.8)), layout="constrained")
    axes = figure.subplots(1, 2 if found.facts else 1, squeeze=False)[0]
    places = range(len(words))
    axes[0].axvline(0, color=LINE, linewidth=1)
    for place, word in zip(places, words, strict=True):
        colour = GREY if word.p_value > alpha else BLUE if word.effect_size > 0 else ORANGE
        axes[0].plot([0, word.effect_size], [place, place], color=colour, linewidth=0.8)
        filled = word.p_adjusted <= alpha
        axes[0].plot(
            word.effect_size, place, "o", color=colour, markersize=3.5, fillstyle="full" if filled else "none"
        )
    axes[0].set_yticks(places, [word.word for word in words], fontsize=6)
    axes[0].set_ylim(len(words) - 0.5, -0.5)
    axes[0].set_xlabel(f"d: {set_name(found.b)} ← → {set_name(found.a)}", fontsize=8, color=INK)
    if found.facts:
        axes[1].plot([w.fact for w in facts], [w.effect_size for w in facts], "o", color=BLUE, markersize=3)
        f = found.facts
        axes[1].set_title(
            f"r = {f.r:.2f} (95 % {f.low:.2f} … {f.high:.2f}), {f.words} words", fontsize=8, color=SOFT
        )
        axes[1].set_xlabel("fact", fontsize=8, color=INK)
        axes[1].set_ylabel("d", fontsize=8, color=INK)
    for one in axes:
        one.tick_params(labelsize=6, labelcolor=INK, length=2)
        one.spines[["top", "right"]].set_visible(False)
        for label in [*one.get_xticklabels(), *one.get_yticklabels()]:
            label.set_parse_math(False)
    return figure
