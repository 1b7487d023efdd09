"""Conditions on results, such as `abs(effect_size) > 0.8 and p_adjusted < 0.01`: read by us, never run as Python.

The grammar, from loosest to tightest: or, and, not, one comparison, + and -, * and /, sign, then numbers, 'texts',
columns, abs(number) and known(column). A value that a row does not have makes a comparison undecided, and what is
undecided stays so unless the other side of an `and` or `or` settles it (Kleene's three values).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from weatherglass import missing
from weatherglass.errors import GateError
from weatherglass.registry import suggestion

LONGEST = 1000
"""Characters that an expression may have."""
SHOWN = 100
"""Characters of it that an error repeats."""
DEEPEST = 30
"""How deep parentheses, signs and negations may be nested."""

Value = float | str | bool | None
"""None is a number or a text that the row does not have, or a condition that cannot be decided."""
Row = Mapping[str, object]

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<text>'[^'\n]*'|\"[^\"\n]*\")"
    r"|(?P<operator>\*\*|//|==|!=|<=|>=|[<>+\-*/()])",
    re.ASCII,
)
_FUNCTIONS = ("abs", "known")
_WORDS = ("and", "or", "not")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an expression: what it gives, and how it is had from a row."""

    kind: str
    """number, text or condition."""
    value: Callable[[Row], Value]


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression that is true, false or undecided for a row."""

    source: str
    columns: tuple[str, ...]
    """The columns that it names, each once."""
    _whole: Part

    def decide(self, row: Row) -> bool | None:
        """Whether it holds for this row; None if a value that matters is missing."""
        return missing.truth(self._whole.value(row))


def parse(source: str, columns: Mapping[str, str]) -> Condition:
    """Read an expression over `columns`, which maps each name to "number" or "text".

    Raises:
        GateError: saying what is wrong, and where.
    """
    if len(source) > LONGEST:
        raise GateError(f"the expression has {len(source)} characters; {LONGEST} are allowed")
    parser = _Parser(source, columns)
    whole = parser.either()
    parser.end()
    if whole.kind != "condition":
        raise GateError(
            f"in {_quoted(source)}: this is a {whole.kind}; write a condition, such as effect_size > 0.8"
        )
    return Condition(source, tuple(dict.fromkeys(parser.named)), whole)


class _Parser:
    """Recursive descent; one method per level of the grammar."""

    def __init__(self, source: str, columns: Mapping[str, str]) -> None:
        self._source = source
        self._columns = columns
        self._tokens = list(self._split())
        self._next = 0
        self._depth = 0
        self.named: list[str] = []

    def either(self) -> Part:
        left = self._both()
        while self._accept("or"):
            left = self._joined(left, self._both(), "or", missing.either)
        return left

    def end(self) -> None:
        if self._next < len(self._tokens):
            if self._peek() in missing.COMPARISONS:
                raise self._wrong("comparisons cannot be chained; join them with 'and'")
            raise self._wrong(f"'{self._peek()}' is not expected here")

    def _both(self) -> Part:
        left = self._negated()
        while self._accept("and"):
            left = self._joined(left, self._negated(), "and", missing.both)
        return left

    def _negated(self) -> Part:
        if not self._accept("not"):
            return self._comparison()
        part = self._nested(self._negated)
        self._expect_kind(part, "condition", "not")
        return Part("condition", lambda row: missing.negation(missing.truth(part.value(row))))

    def _comparison(self) -> Part:
        left = self._sum()
        symbol = self._peek()
        if symbol not in missing.COMPARISONS:
            return left
        self._next += 1
        right = self._sum()
        if left.kind != right.kind or left.kind == "condition":
            raise self._wrong(f"'{symbol}' compares a {left.kind} with a {right.kind}")
        if left.kind == "text" and symbol not in ("==", "!="):
            raise self._wrong(f"texts have no '{symbol}'; use == or !=")
        return Part("condition", lambda row: missing.compared(symbol, left.value(row), right.value(row)))

    def _sum(self) -> Part:
        left = self._product()
        while (symbol := self._peek()) in ("+", "-"):
            self._next += 1
            left = self._calculated(left, self._product(), symbol)
        return left

    def _product(self) -> Part:
        left = self._signed()
        while (symbol := self._peek()) in ("*", "/"):
            self._next += 1
            left = self._calculated(left, self._signed(), symbol)
        return left

    def _signed(self) -> Part:
        if not (negative := self._accept("-")) and not self._accept("+"):
            return self._atom()
        part = self._nested(self._signed)
        self._expect_kind(part, "number", "a sign")
        return (
            Part("number", lambda row: missing.applied(operator.neg, missing.number(part.value(row))))
            if negative
            else part
        )

    def _atom(self) -> Part:
        if self._accept("("):
            part = self._nested(self.either)
            self._close()
            return part
        if self._next == len(self._tokens):
            raise self._wrong("something is missing at the end")
        kind, text, _ = self._tokens[self._next]
        self._next += 1
        if kind == "number":
            return self._constant(text)
        if kind == "text":
            return Part("text", lambda row: text[1:-1])  # noqa: ARG005
        if kind == "name" and text not in _WORDS:
            return self._call(text) if self._peek() == "(" else self._column(text)
        self._next -= 1
        raise self._wrong(f"'{text}' is not expected here")

    def _constant(self, text: str) -> Part:
        number = float(text)
        if not math.isfinite(number):
            self._next -= 1
            raise self._wrong(f"the number {text} is too large")
        return Part("number", lambda row: number)  # noqa: ARG005

    def _call(self, name: str) -> Part:
        if name not in _FUNCTIONS:
            self._next -= 1
            raise self._wrong(f"'{name}' cannot be called; only {' and '.join(_FUNCTIONS)} can")
        self._next += 1
        part = self._nested(self._sum)
        self._close()
        if name == "known":
            if part.kind == "condition":
                raise self._wrong("known() asks whether a row has a value, not whether a condition holds")
            return Part("condition", lambda row: part.value(row) is not None)
        self._expect_kind(part, "number", "abs")
        return Part("number", lambda row: missing.applied(abs, missing.number(part.value(row))))

    def _column(self, name: str) -> Part:
        if name not in self._columns:
            self._next -= 1
            raise self._wrong(f"unknown column '{name}'{suggestion(name, self._columns)}")
        self.named.append(name)
        kind = self._columns[name]
        if kind == "number":
            return Part(kind, lambda row: missing.number(row.get(name)))
        return Part(kind, lambda row: str(row[name]) if row.get(name) is not None else None)

    def _joined(
        self,
        left: Part,
        right: Part,
        word: str,
        join: Callable[[bool | None, bool | None], bool | None],
    ) -> Part:
        for part in (left, right):
            self._expect_kind(part, "condition", word)
        return Part(
            "condition", lambda row: join(missing.truth(left.value(row)), missing.truth(right.value(row)))
        )

    def _calculated(self, left: Part, right: Part, symbol: str) -> Part:
        for part in (left, right):
            self._expect_kind(part, "number", symbol)
        return Part(
            "number",
            lambda row: missing.calculated(
                symbol, missing.number(left.value(row)), missing.number(right.value(row))
            ),
        )

    def _nested(self, level: Callable[[], Part]) -> Part:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._wrong(f"nested more than {DEEPEST} deep")
        part = level()
        self._depth -= 1
        return part

    def _expect_kind(self, part: Part, kind: str, where: str) -> None:
        if part.kind != kind:
            raise self._wrong(f"{where} needs a {kind}, but has a {part.kind}")

    def _close(self) -> None:
        if not self._accept(")"):
            raise self._wrong("a ')' is missing")

    def _accept(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self._next += 1
        return True

    def _peek(self) -> str:
        """The next token, or nothing at the end; a quoted text keeps its quotes, so it is no operator."""
        return self._tokens[self._next][1] if self._next < len(self._tokens) else ""

    def _split(self) -> list[tuple[str, str, int]]:
        tokens = []
        place = 0
        while place < len(self._source):
            if self._source[place].isspace():
                place += 1
                continue
            match = _TOKEN.match(self._source, place)
            if match is None:
                raise self._unreadable(self._source[place], place)
            if match.group() in ("**", "//"):
                raise self._unreadable(match.group(), place)
            tokens.append((str(match.lastgroup), match.group(), place))
            place = match.end()
        return tokens

    def _unreadable(self, symbol: str, place: int) -> GateError:
        reasons = {
            "**": "there are no powers",
            ".": "there are no attributes",
            "[": "there is no indexing",
            "=": "write == for equal",
            "'": "a quote is not closed",
            '"': "a quote is not closed",
        }
        reason = reasons.get(symbol, f"'{symbol}' means nothing here")
        return GateError(f"in {_quoted(self._source)}, column {place + 1}: {reason}")

    def _wrong(self, reason: str) -> GateError:
        place = self._tokens[self._next][2] if self._next < len(self._tokens) else len(self._source)
        return GateError(f"in {_quoted(self._source)}, column {place + 1}: {reason}")


def _quoted(source: str) -> str:
    """The expression on one line, cut where it is long."""
    line = " ".join(source.split())
    return f"'{line if len(line) <= SHOWN else line[:SHOWN] + '…'}'"
