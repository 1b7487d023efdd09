"""Show a result, a comparison and a map of words in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from weatherglass.audit.results import Result, mark_of, word_scores
from weatherglass.catalogue.names import model_name, set_name
from weatherglass.errors import WeatherglassError
from weatherglass.report.figures import figure_size, in_pyplot
from weatherglass.report.measures import BLUE, GREY, INK, LINE, ORANGE
from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.report.panels import DrawnEffect, FigureRow, Size, draw_rows
from weatherglass.report.show import html_table, to_frame
from weatherglass.report.word_map import ROW, leans_to, style_axes, word_map_figure
from weatherglass.storage.printable import one_line
from weatherglass.warnings import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weatherglass.audit.compare import Comparison, Difference
    from weatherglass.audit.word_map import WordMap
    from weatherglass.ranking.change import RankingComparison

ALPHA = 0.05
"""The significance level for a map of words, which does not record its level."""


class ValueView:
    """A title, a table, a frame and a figure of one value."""

    heads: Sequence[str]
    numbers: Sequence[int]
    """Columns of the table that are aligned to the right."""

    @property
    def title(self) -> str:
        """Return what the value is, in at most ten lines."""
        raise NotImplementedError

    def rows(self) -> Sequence[Sequence[str]]:
        """Return the cells of the table."""
        raise NotImplementedError

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of the frame."""
        raise NotImplementedError

    def figure(self, size: Size) -> Figure:
        """Draw the value."""
        raise NotImplementedError

    def html(self) -> str:
        """Return the title and the table."""
        rows = self.rows()
        table = html_table(self.heads, rows, len(rows), self.numbers)
        return f"<div><p><b>{escape(self.title)}</b></p>{table}<p>All columns: <code>.to_frame()</code></p></div>"

    def frame(self, library: str | None) -> Any:
        """Return a frame of polars or pandas."""
        return to_frame([dict(record) for record in self.records()], library)

    def plot(self, size: str | None) -> Axes:
        """Draw the value in pyplot."""
        return in_pyplot(self.figure(figure_size(size)))


class ResultView(ValueView):
    """One metric on one test and model, with the score of every target word."""

    heads = ("set", "word", "score")
    numbers = (2,)

    def __init__(self, result: Result) -> None:
        self.result = result
        self.names = dict(zip(result.roles, result.categories, strict=False))

    @property
    def title(self) -> str:
        r = self.result
        p = f", p {p_value(r.p_value)}" if not r.why_no_p else ""
        adjusted = f" (corrected {p_value(r.p_adjusted)})" if p and r.p_adjusted is not None else ""
        said = [
            f"{r.row} on {model_name(r.model)}",
            f"{r.metric} {effect(r.value)} {interval(r.ci_low, r.ci_high)}".rstrip() + p + adjusted,
            mark_of(r).words,
            *([counted(len(r.warnings), "warning")] if r.warnings else []),
        ]
        return one_line(", ".join(said))

    def _scores(self) -> list[tuple[str, str, float]]:
        return [(set_name(self.names.get(s.role, s.role)), s.name, s.score) for s in word_scores(self.result)]

    def rows(self) -> Sequence[Sequence[str]]:
        return [(name, word, f"{score:.3f}".replace("-", "−")) for name, word, score in self._scores()]

    def records(self) -> Iterator[Mapping[str, Any]]:
        for name, word, score in self._scores():
            yield {"set": name, "word": word, "score": score}

    def figure(self, size: Size) -> Figure:
        from matplotlib.figure import Figure

        scores = sorted(self._scores(), key=lambda one: -one[2])
        if not scores:
            raise WeatherglassError(f"{self.result.metric} has no score of single words; plot the run")
        sets = list(dict.fromkeys(name for name, _, _ in self._scores()))
        figure = Figure(
            figsize=(size.width or 5, size.height or max(2.5, ROW * len(scores) + 1)), layout="constrained"
        )
        axes = figure.subplots()
        axes.axvline(0, color=LINE, linewidth=1)
        colours = (BLUE, ORANGE, GREY)
        for number, name in enumerate(sets):
            own = [(place, score) for place, (other, _, score) in enumerate(scores) if other == name]
            shape: Any = {"color": colours[min(number, 2)], "marker": "os^"[min(number, 2)]}
            axes.plot(
                *([score for _, score in own], [place for place, _ in own]),
                linestyle="",
                markersize=3.5,
                **shape,
            )
            axes.lines[-1].set_label(one_line(name).lstrip("_") or "–")
        axes.set_yticks(range(len(scores)), [one_line(word) for _, word, _ in scores], fontsize=6)
        axes.set_ylim(len(scores) - 0.5, -0.5)
        named = [set_name(one) for one in self.result.attribute_categories]
        ends = f": {named[1]} ← → {named[0]}" if len(named) == 2 and self.result.signed else ""
        axes.set_xlabel(one_line(f"score of each word{ends}"), fontsize=8, color=INK, parse_math=False)
        for text in axes.legend(fontsize=7, frameon=False).get_texts():
            text.set_parse_math(False)
        style_axes([axes])
        return figure


class RankingComparisonView(ValueView):
    """The changes of the differences between groups, from one ranking audit to another."""

    heads = ("topic", "X", "Y", "before", "after", "change", "interval of the change", "p", "corrected p", "")
    numbers = (3, 4, 5, 7, 8)

    def __init__(self, comparison: RankingComparison) -> None:
        self.found = comparison

    @property
    def title(self) -> str:
        models = dict.fromkeys(
            " → ".join(dict.fromkeys(map(model_name, one.models))) for one in self.found.changes
        )
        pairs = counted(len(self.found.overall), "difference")
        return one_line(f"{', '.join(models)}: {pairs} between groups, {len(self.found.worse)} worse")

    def rows(self) -> Sequence[Sequence[str]]:
        return [
            [
                *(one.topic, one.x, one.y, effect(one.before), effect(one.after), effect(one.change)),
                *(interval(one.low, one.high), p_value(one.p), p_value(one.p_adjusted)),
                "worse" if one.grew(self.found.alpha) else "",
            ]
            for one in self.found.changes
        ]

    def records(self) -> Iterator[Mapping[str, Any]]:
        for row in self.found.to_json()["changes"]:
            before, after = row.pop("models")
            yield {"model_before": before, "model_after": after, **row}

    def figure(self, size: Size) -> Figure:
        from matplotlib.figure import Figure

        rows = self.found.changes
        figure = Figure(
            figsize=(size.width or 6.4, size.height or 1.0 + 0.28 * len(rows)), layout="constrained"
        )
        axes = figure.subplots()
        axes.axvline(0, color=LINE, linewidth=1)
        for place, one in enumerate(rows):
            colour = GREY if one.p_adjusted > self.found.alpha else BLUE if one.change > 0 else ORANGE
            axes.plot([one.low, one.high], [place, place], color=colour, linewidth=2)
            axes.plot([one.change], [place], "o", color=colour)
        names = [one_line(f"{one.topic}: {one.x}, {one.y}") for one in rows]
        axes.set_yticks(range(len(rows)), names, fontsize=7)
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("change of the difference of mean ranks, X minus Y", fontsize=8, color=INK)
        style_axes([axes])
        return figure


class ComparisonView(ValueView):
    """The changes of effects from one run to another, or from the first model of a run to the others."""

    heads = ("test", "model", "before", "after", "change", "interval of the change", "p", "corrected p", "")
    numbers = (2, 3, 4, 6, 7)

    def __init__(self, comparison: Comparison) -> None:
        self.found = comparison

    @property
    def title(self) -> str:
        found = self.found
        changed = sum(bool(row.changed) for row in found.differences)
        named = " → ".join(map(model_name, found.folders))
        if found.folders[0] == found.folders[1]:
            pairs = [tuple(map(model_name, row.models)) for row in found.differences]
            named = (
                ", ".join(dict.fromkeys(after for _, after in pairs)) + " against " + pairs[0][0]
                if pairs
                else ""
            )
        apart = f"; {len(found.incomparable)} without a counterpart" if found.incomparable else ""
        return one_line(
            f"{named}: {counted(len(found.differences), 'effect')}, {changed} changed, {len(found.worse)} worse{apart}"
        )

    def _test(self, row: Difference) -> str:
        several = len({one.metric for one in self.found.differences}) > 1
        return f"{row.test} ({row.metric})" if several else row.test

    def _model(self, row: Difference) -> str:
        return " → ".join(dict.fromkeys(map(model_name, row.models)))

    def _said(self, row: Difference) -> str:
        if row.is_worse(self.found.alpha):
            return "worse"
        return "not tested" if not row.tested else "changed" if row.changed else ""

    def rows(self) -> Sequence[Sequence[str]]:
        return [
            [
                *(
                    self._test(row),
                    self._model(row),
                    effect(row.before),
                    effect(row.after),
                    effect(row.change),
                ),
                *(
                    interval(row.low, row.high),
                    p_value(row.p_value),
                    p_value(row.p_adjusted),
                    self._said(row),
                ),
            ]
            for row in self.found.differences
        ] + [[row.test, model_name(row.model), *[""] * 6, row.reason] for row in self.found.incomparable]

    def records(self) -> Iterator[Mapping[str, Any]]:
        for row in self.found.to_json()["differences"]:
            (before, after), (x, y) = row.pop("models"), row.pop("units")
            notes = "; ".join(row.pop("notes"))
            own = {"test": row.pop("test"), "metric": row.pop("metric")}
            yield {
                **own,
                "model_before": before,
                "model_after": after,
                **row,
                "units_x": x,
                "units_y": y,
                "notes": notes,
            }

    def figure(self, size: Size) -> Figure:
        rows = self.found.differences
        if not rows:
            raise WeatherglassError("the comparison has no change to plot; no effect has a counterpart")
        models = list(dict.fromkeys(map(self._model, rows)))
        cells: dict[str, list[DrawnEffect | None]] = {}
        for row in rows:
            own = cells.setdefault(self._test(row), [None] * len(models))
            sign = (1 if row.change > 0 else -1) if row.changed else 0
            mark = "robust" if row.changed else "unconfirmed"
            own[models.index(self._model(row))] = DrawnEffect(row.change, row.low, row.high, mark, sign)
        note = (
            f"Change of the effect with its {percent(1 - self.found.alpha)} interval, dashed where it contains 0; "
            "filled: the interval excludes 0, before correction for multiple tests."
        )
        drawn = [FigureRow(name, "", tuple(own)) for name, own in cells.items()]
        return draw_rows(drawn, models, note, ("lower than before", "higher than before"), size)


class WordMapView(ValueView):
    """A map of words, which shows to which of two attribute sets each word leans."""

    heads = ("word", "d", "p", "corrected p", "leans to")
    numbers = (1, 2, 3)

    def __init__(self, found: WordMap) -> None:
        self.found = found

    @property
    def title(self) -> str:
        found, (a, b) = self.found, (set_name(self.found.a), set_name(self.found.b))
        words = [word.word for word in found.words]
        unknown = f"; {len(found.unknown)} unknown to the model" if found.unknown else ""
        ends = f", from {words[0]} to {words[-1]}" if len(words) > 1 else ""
        return one_line(
            f"{counted(len(words), 'word')} on {model_name(found.model)}, {a} – {b}{ends}{unknown}"
        )

    def rows(self) -> Sequence[Sequence[str]]:
        return [
            [
                *(word.word, effect(word.effect_size), p_value(word.p_value), p_value(word.p_adjusted)),
                leans_to(self.found, word, ALPHA),
            ]
            for word in self.found.words
        ]

    def records(self) -> Iterator[Mapping[str, Any]]:
        for record in self.found.to_json()["words"]:
            if self.found.facts is None and all(word.fact is None for word in self.found.words):
                record.pop("fact")
            yield record

    def figure(self, size: Size) -> Figure:
        return word_map_figure(self.found, ALPHA, size)
