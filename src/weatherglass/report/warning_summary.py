"""Summarise warnings, failures or notes with one line per kind, its count and the first examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from weatherglass.report.layout import shortened
from weatherglass.storage.printable import cell_len
from weatherglass.warnings import Warning, count_line, counted, folded

_QUOTED = re.compile(r"'[^']*'")
_NUMBER = re.compile(r"(?<![\w.])[−-]?\d+(?:\.\d+)?(?:e[−-]?\d+)?(?![\w])")
_COMMAND = "run: "
"""The text before a command to copy; the command is never cut."""
MARGIN = " " * 7
"""An indentation as wide as the count before a text."""
ON_PAGE = "in the page and with --verbose"


@dataclass
class Line:
    """A group of texts that are shown in one line."""

    text: str
    count: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Placed:
    """A failure or a note, which has no kind, with its subject."""

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.where else self.text


def warning_lines(
    warnings: Sequence[Warning], width: int, *, verbose: bool = False, where: str = ON_PAGE
) -> Iterator[str]:
    """Yield a line per kind, the most severe first; with `verbose`, or if there is only one, every warning in full.

    Args:
        warnings: the warnings of a run or a study.
        width: the width of the terminal.
        verbose: whether to show each warning with its kind. where: the place where all warnings are shown.
    """
    kinds = folded(warnings)
    if verbose or len(warnings) == 1:
        yield from (in_full(warning) for kind in kinds for warning in kind.warnings)
        return
    if kinds:
        yield f"{count_line(kinds)}; all are shown {where}"
    for kind in kinds:
        examples = list(kind.examples)
        whole = f"{MARGIN}{kind.text}: {examples[0] if examples else ''}"
        yield _shown(
            Line(kind.text if cell_len(whole) <= width else kind.summary, kind.count, examples), width
        )


def warning_line(warnings: Sequence[Warning], width: int) -> Iterator[str]:
    """Yield one line for all warnings with the kinds that fit, followed by the texts that name a command to run."""
    kinds = folded(warnings)
    if not kinds:
        return
    line, end = count_line(kinds), "; texts: --verbose"
    for place, kind in enumerate(kinds):
        more = f"{', ' if place else ': '}{kind.count} {kind.kind}"
        if cell_len(line + more + end) > width:
            break
        line += more
    yield shortened(line + end, width)
    yield from (kind.text for kind in kinds if _COMMAND in kind.text)


def in_full(warning: Warning) -> str:
    """Return the line of one warning, with its kind in brackets if the manual explains it."""
    return f"warning: {warning} [{warning.anchor}]" if warning.anchor else f"warning: {warning}"


def text_lines(
    texts: Sequence[Placed], width: int, *, noun: str, verbose: bool = False, where: str = ON_PAGE
) -> Iterator[str]:
    """Yield a line for texts that differ only in names and numbers; with `verbose`, or if there is only one, every
    text.
    """
    if verbose or len(texts) == 1:
        yield from (f"{noun}: {text}" for text in texts)
        return
    lines = alike(texts)
    if lines:
        yield f"{counted(len(texts), noun)} of {counted(len(lines), 'kind')}; all are shown {where}"
    for line in lines:
        yield _shown(line, width)


def alike(texts: Sequence[Placed]) -> list[Line]:
    """Merge texts that differ only in names and numbers, and return them with their counts, starting with the most
    frequent.

    >>> [(line.count, line.text, line.examples) for line in alike([
    ...     Placed("weat1", "X has 3 known words"), Placed("weat2", "X has 5 known words")])]
    [(2, 'X has … known words', ['weat1', 'weat2'])]
    """
    lines: dict[str, Line] = {}
    for each in texts:
        key = _NUMBER.sub("…", _QUOTED.sub("'…'", each.text))
        line = lines.setdefault(key, Line(each.text))
        line.text = each.text if line.text == each.text else key
        line.count += 1
        if each.where and each.where not in line.examples:
            line.examples.append(each.where)
    return sorted(lines.values(), key=lambda line: -line.count)


def _shown(line: Line, width: int) -> str:
    """Return the count, the text, and as many examples as fit; the text is not cut."""
    shown = f"{line.count:5}  {line.text}"
    if _COMMAND in line.text or not line.examples or cell_len(shown) + 12 > width:
        return shown  # the terminal breaks it
    separator = ": "
    for place, example in enumerate(line.examples):
        more = ", …" if place + 1 < len(line.examples) else ""
        if cell_len(shown + separator + example + more) > width:
            return shortened(shown + (", …" if place else f": {example}"), width)
        shown, separator = shown + separator + example, ", "
    return shown
