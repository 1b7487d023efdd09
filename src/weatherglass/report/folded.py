"""Many warnings in few lines: one line per kind, with how often it was given and the first examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len

from weatherglass.report.layout import shortened
from weatherglass.runs.results import Run

_QUOTED = re.compile(r"'[^']*'")
_NUMBER = re.compile(r"(?<![\w.])[−-]?\d+(?:\.\d+)?(?:e[−-]?\d+)?(?![\w])")
_COMMAND = "run: "
"""What a command to be copied follows: it is never cut."""
SHORTER: Sequence[tuple[str, str]] = (
    ("significant only if the sentences of a word count as independent", "significant by sentences only"),
    (
        "with these attribute words; not shown for others",
        "with these attribute words; not shown for others like them",
    ),
    ("significance hangs on the template", "hangs on one template"),
    ("significance hangs on", "hangs on one word"),
)
"""What a kind of warning begins with, and how one line says it."""


@dataclass
class Kind:
    """Warnings that differ in names and numbers only."""

    text: str
    """In short, or the first of them."""
    count: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Placed:
    """A warning and what it is about; nothing for one about the whole run."""

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.where else self.text


def placed_warnings(run: Run) -> list[Placed]:
    """Those of the run as a whole, then those of its results, which the record has collected by text."""
    several = len({(result.model, result.options) for result in run.results}) > 1
    own = [
        Placed(f"{result.test} ({result.model})" if several else result.test, text)
        for result in run.results
        for text in result.warnings
    ]
    ends = tuple({f": {warning.text}" for warning in own})
    return [*(Placed("", text) for text in run.warnings if not text.endswith(ends)), *own]


def folded(warnings: Sequence[Placed]) -> list[Kind]:
    """The kinds of warnings, the most frequent first.

    >>> [(kind.count, kind.text, kind.examples) for kind in folded([
    ...     Placed("weat5b", "significance hangs on 'love': without it p is 0.14"),
    ...     Placed("weat6", "significance hangs on 'management': without it p is 0.2"),
    ... ])]
    [(2, 'hangs on one word', ["weat5b 'love'", "weat6 'management'"])]
    """
    kinds: dict[str, Kind] = {}
    for warning in warnings:
        text = warning.text
        short = next((said for start, said in SHORTER if text.startswith(start)), "")
        key = short or _NUMBER.sub("#", _QUOTED.sub("'…'", text))
        kind = kinds.setdefault(key, Kind(short or text))
        if kind.text != text and not short:
            kind.text = key.replace("#", "…")
        kind.count += 1
        quoted = _QUOTED.search(text)
        if warning.where:
            kind.examples.append(f"{warning.where} {quoted[0]}" if quoted and short else warning.where)
    for kind in kinds.values():
        kind.examples = list(dict.fromkeys(kind.examples))
    return sorted(kinds.values(), key=lambda kind: -kind.count)


def warning_lines(
    warnings: Sequence[Placed],
    width: int,
    *,
    in_full: Sequence[str] | None = None,
    noun: str = "warning",
    where: str = "in the page and with --verbose",
) -> Iterator[str]:
    """One line per kind; where there is but one warning, that one.

    Args:
        in_full: all of them, to be printed instead.
        noun: what they are.
        where: they all are.
    """
    if in_full is not None or len(warnings) == 1:
        yield from (f"{noun}: {warning}" for warning in (warnings if in_full is None else in_full))
        return
    kinds = folded(warnings)
    if kinds:
        yield f"{len(warnings)} {noun}s of {len(kinds)} kind{'s' if len(kinds) > 1 else ''}; all of them {where}"
    for kind in kinds:
        yield _kind_line(kind, width)


def _kind_line(kind: Kind, width: int) -> str:
    """The count, what it says, and as many examples as the line has room for; with a command to run, all of it."""
    line = f"{kind.count:5}  {kind.text}"
    if _COMMAND in kind.text:
        return line
    if not kind.examples or cell_len(line) + 12 > width:
        return shortened(line, width)
    separator = ": "
    for place, example in enumerate(kind.examples):
        more = ", …" if place + 1 < len(kind.examples) else ""
        if cell_len(line + separator + example + more) > width:
            return shortened(line + (", …" if place else f": {example}"), width)
        line, separator = line + separator + example, ", "
    return line
