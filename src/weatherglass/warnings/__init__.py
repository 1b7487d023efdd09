"""Define warnings as values: a kind, a subject, numbers and words. The kind determines the text and the order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import Any, Literal, Self

OTHER = "other"
"""The kind of a plain text, for example one that a user's encoder returns."""
SHOWN = 5
"""The maximum number of words that a warning lists."""

About = Literal["run", "test", "model", "row"]
"""The possible subjects of a warning about a result: its test, the test on one model, or the row of one metric."""
Severity = Literal["damage", "limit", "note"]
"""Severities, in the order in which warnings are shown: numbers may be wrong or missing, a conclusion is limited, good
to know.
"""
SEVERITIES: tuple[Severity, ...] = ("damage", "limit", "note")


@dataclass(frozen=True, slots=True)
class Warning:
    """A fact that a reader should know before quoting a number.

    >>> warning = Warning.of("broken-pairs", count=3).about("weat6")
    >>> print(warning)
    weat6: 3 pairs dropped: the model lacks one of the two words
    >>> Warning.from_json(warning.to_json()) == warning
    True
    """

    kind: str
    """The name of the kind in `warnings.kinds.WARNINGS`."""
    subject: str = ""
    """The test, row, model or file that the warning is about; empty if it is the object that has the warning."""
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Numbers, words and names, as JSON-serialisable values."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", {str(name): _plain(value) for name, value in self.values.items()})

    @classmethod
    def of(cls, kind: str, /, **values: Any) -> Self:
        """Return a warning of this kind with the given values."""
        return cls(kind, "", values)

    def about(self, subject: str) -> Self:
        """Return the same warning about this subject, followed by its earlier subject if it has one."""
        return replace(self, subject=", ".join(filter(None, (subject, self.subject))))

    @property
    def text(self) -> str:
        """Return the sentence without its subject."""
        return _text(self)

    @property
    def anchor(self) -> str | None:
        """Return the section of docs/warnings.md that explains the warning; None if it has no section."""
        return self.kind if kind_of(self.kind).section else None

    def __str__(self) -> str:
        return f"{self.subject}: {self.text}" if self.subject else self.text

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the journal and run.json."""
        return {"kind": self.kind, "subject": self.subject, "values": dict(self.values)}

    def described(self) -> dict[str, Any]:
        """Return plain values, including the text, for --json and the page."""
        return {**self.to_json(), "text": self.text}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Return the warning that `to_json` stored.

        Raises:
            KeyError, TypeError: if the record is of another version or damaged.
        """
        kind, subject, values = record["kind"], record["subject"], record["values"]
        if not (isinstance(kind, str) and isinstance(subject, str) and isinstance(values, Mapping)):
            raise TypeError("not a warning")
        return cls(kind, subject, values)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of warning, which determines its text, order and summary.

    A template contains the names of values in braces. A colon is followed by a format, or by a singular and a plural
    noun, so that `{words:word is|words are}` gives the count and the noun. A list of words is shortened to the first
    five.
    """

    text: str | Callable[[Mapping[str, Any]], str]
    """The template of the sentence, or a function of the values that returns it."""
    example: Mapping[str, Any]
    """Example values for the manual."""
    summary: str = ""
    """The text of one line that summarises several different warnings; if it is empty, the line has the first
    warning's text.
    """
    detail: str = ""
    """A template of the text that follows the subject of each of several warnings."""
    words: str = ""
    """The value that is a list of words; a line for several warnings merges their lists."""
    about: About = "row"
    severity: Severity = "limit"
    section: bool = True
    """Whether docs/warnings.md has a section of this name."""
    by_text: bool = False
    """Whether several warnings share one line only if their texts are equal."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Warnings of one kind that are shown in one line."""

    kind: str
    text: str
    """The text, if all warnings have the same one; otherwise the summary of the kind."""
    summary: str
    """A shorter text, if the kind has one."""
    examples: tuple[str, ...]
    """The subjects of the warnings, without repeats."""
    warnings: tuple[Warning, ...]

    @property
    def count(self) -> int:
        """Return the number of warnings."""
        return len(self.warnings)


def as_warning(value: object) -> Warning:
    """Return a warning: unchanged, restored from its stored form, or made from the text of any other object."""
    if isinstance(value, Warning):
        return value
    if isinstance(value, Mapping):
        try:
            return Warning.from_json(value)
        except (KeyError, TypeError):
            pass
    return Warning.of(OTHER, text=str(value))


def described(warnings: Iterable[Warning]) -> list[dict[str, Any]]:
    """Return warnings as plain values with their texts, for --json."""
    return [warning.described() for warning in warnings]


def kind_of(name: str) -> Kind:
    """Return the kind with this name; for an unknown name, return a kind that lists the values."""
    from weatherglass.warnings.kinds import UNKNOWN, WARNINGS

    return WARNINGS.get(name) if name in WARNINGS else UNKNOWN


def folded(warnings: Iterable[Warning]) -> list[Folded]:
    """Return the warnings grouped by kind, the most severe first, then the most frequent.

    >>> several = [Warning.of("fragile", unit="word", name=name, p=p, lifting=1, alpha=0.05).about(test)
    ...            for test, name, p in (("weat5b", "love", 0.14), ("weat6", "family", 0.2))]
    >>> [(each.kind, each.count, each.examples) for each in folded(several)]
    [('fragile', 2, ('weat5b "love"', 'weat6 "family"'))]
    """
    groups: dict[tuple[str, str], list[Warning]] = {}
    for warning in warnings:
        same = warning.text if kind_of(warning.kind).by_text else ""
        groups.setdefault((warning.kind, same), []).append(warning)
    lines = [_folded(kind, group) for (kind, _), group in groups.items()]
    return sorted(lines, key=lambda line: (SEVERITIES.index(kind_of(line.kind).severity), -line.count))


def count_line(lines: Sequence[Folded], noun: str = "warning") -> str:
    """Return a phrase that states how many warnings of how many kinds there are, for the terminal and the page."""
    return f"{counted(sum(line.count for line in lines), noun)} of {counted(len(lines), 'kind')}"


def counted(number: int, noun: str) -> str:
    """Return the number and the noun, in the plural unless the number is 1.

    >>> counted(1, "kind"), counted(2, "kind")
    ('1 kind', '2 kinds')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shortened_list(texts: Sequence[object], most: int = SHOWN) -> str:
    """Return the first texts and the number of texts left out."""
    shown = ", ".join(map(str, texts[:most]))
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"


def _folded(kind: str, group: Sequence[Warning]) -> Folded:
    rules = kind_of(kind)
    text = group[0].text
    if rules.summary and any(warning.text != text for warning in group):
        text = rules.summary
        if rules.words:
            lists = (warning.values.get(rules.words) or [] for warning in group)
            merged = dict.fromkeys(str(word) for each in lists if isinstance(each, list) for word in each)
            text = f"{text} ({shortened_list(list(merged))})"
    examples = dict.fromkeys(filter(None, (_example(rules, warning) for warning in group)))
    return Folded(kind, text, rules.summary or text, tuple(examples), tuple(group))


def _example(rules: Kind, warning: Warning) -> str:
    try:
        detail = _filled(rules.detail, warning.values)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError):  # values that were edited
        detail = ""
    return " ".join(filter(None, (warning.subject, detail)))


def _text(warning: Warning) -> str:
    """Return the filled template; if the values of a stored warning do not fit it, return a list of them."""
    from weatherglass.warnings.kinds import UNKNOWN

    rules = kind_of(warning.kind)
    template = rules.text
    try:
        if rules is UNKNOWN:
            return _listed(warning)
        return _filled(template, warning.values) if isinstance(template, str) else template(warning.values)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError):
        return _listed(warning)


def _listed(warning: Warning) -> str:
    """Return the kind and the values of a warning that has no matching template."""
    values = ", ".join(
        f"{name}: {_FORMATTER.format_field(value, '')}" for name, value in warning.values.items()
    )
    return f"{warning.kind} ({values})" if values else warning.kind


class _Formatter(Formatter):
    """A formatter that fills the templates of warnings."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None:
            return "unknown"
        if "|" in format_spec:
            count = len(value) if isinstance(value, list) else value
            singular, _, plural = format_spec.partition("|")
            return f"{count} {singular if count == 1 else plural}"
        if isinstance(value, list):
            return shortened_list(value)
        return format(value, format_spec)


_FORMATTER = _Formatter()


def _filled(template: str, values: Mapping[str, Any]) -> str:
    return _FORMATTER.vformat(template, (), values)


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template with values, for kinds whose text is a function."""
    return _filled(template, values)


def _plain(value: Any) -> Any:
    """Return a JSON-serialisable value; a non-finite number becomes None."""
    if hasattr(value, "item") and not isinstance(value, str | list | tuple):  # a number of numpy
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return str(value)
