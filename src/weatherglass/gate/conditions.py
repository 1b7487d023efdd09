"""Parse conditions on results, such as `abs(effect_size) > 0.8 and p_adjusted < 0.01`, with `ast`; nothing is
executed.

This module splits the text into tokens, so that Python sees only names, operators, parentheses and a 0 for each number
and 'text', and only determines the precedence. The tree becomes steps on a stack, so that there is no recursion. A
comparison with a value that a row does not have is undecided, unless the other side of an `and` or `or` decides it
(Kleene's three-valued logic).
"""

from __future__ import annotations

import ast
import functools
import itertools
import keyword
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from weatherglass.errors import GateError
from weatherglass.registry import did_you_mean, suggestion
from weatherglass.storage.printable import one_line

LONGEST = 1000
"""The maximum number of characters of an expression."""
SHOWN = 100
"""The maximum number of characters of the expression in an error message."""
DEEPEST = 30
"""The largest nesting depth of parentheses, signs and negations."""

SYMBOLS = {"d": "effect_size"}
"""Symbols that stand for columns."""
CHOICES = {"p": "p_adjusted (corrected for the number of tests) or p_value"}
"""Symbols that can mean several columns."""

Value = float | str | bool | None
"""A value; None if the row does not have the number or text, or the condition cannot be decided."""
Row = Mapping[str, object]

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<text>'[^'\n]*'|\"[^\"\n]*\")"
    r"|(?P<operator>==|!=|<=|>=|[<>+\-()]|\*(?!\*)|/(?!/))"
    r"|(?P<other>\*\*|//|(?u:\S))",
    re.ASCII,
)
_WORDS = ("and", "or", "not")
_FUNCTIONS = ("abs", "known")
_ADVICE = {
    "**": "powers are not supported",
    ".": "attributes are not supported",
    "[": "indexing is not supported",
    "=": "write == for equal",
    "is": "write == for equal",
    "in": "'in' is not supported; join comparisons with 'or'",
    "None": "use known(column) to test whether a row has a value",
    "&": "write 'and'",
    "|": "write 'or'",
    "!": "write 'not'",
    "'": "a quote is not closed",
    '"': "a quote is not closed",
}
"""Advice for symbols and words of Python and other languages."""
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OPERATIONS: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CALCULATE: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


class Operation(NamedTuple):
    """One operation on the stack, which replaces its operands by the result."""

    kind: str
    """The kind of the result: number, text or condition."""
    takes: int
    """The number of operands."""
    value: Callable[..., Value]
    """A function that is called with the row and the operands."""


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression that is true, false or undecided for a row."""

    source: str
    columns: tuple[str, ...]
    """The columns that the condition names, without repeats."""
    texts: tuple[str, ...]
    """The texts that the condition compares with, without their quotes."""
    _steps: tuple[Operation, ...]

    def decide(self, row: Row) -> bool | None:
        """Return whether the condition is true for this row; None if a value that matters is missing."""
        stack: list[Value] = []
        for step in self._steps:
            first = len(stack) - step.takes
            stack[first:] = [step.value(row, *stack[first:])]
        return _truth(stack[-1])


def parse(
    source: str, columns: Mapping[str, str], words: Mapping[str, Collection[str]] | None = None
) -> Condition:
    """Read an expression over columns.

    Args:
        source: the expression.
        columns: each name and whether it is a "number" or a "text".
        words: the texts that a column can have, for columns with a fixed list. A comparison with any other text is
            refused, since it would never be true, and the gate would always pass.

    Raises:
        GateError: if the expression is invalid; the message states the error and its position.
    """
    if len(source) > LONGEST:
        raise GateError(f"the expression has {len(source)} characters, but only {LONGEST} are allowed")
    tokens = [token if token.text in columns else _column_of(token) for token in _tokens(source)]
    _check_shape(source, tokens)
    steps = _Translation(source, tokens, columns, words or {}).steps()
    if steps[-1].kind != "condition":
        raise GateError(
            f"in {_quoted(source)}: this is a {steps[-1].kind}, not a condition; write one, such as "
            "effect_size > 0.8"
        )
    named = dict.fromkeys(token.text for token in tokens if token.kind == "name" and token.text in columns)
    texts = tuple(token.text[1:-1] for token in tokens if token.kind == "text")
    return Condition(source, tuple(named), texts, tuple(steps))


class _Token(NamedTuple):
    kind: str
    """The kind of the token: number, name, text or operator; `and`, `or`, `not` and parentheses are operators."""
    text: str
    place: int

    @property
    def begins_operand(self) -> bool:
        return self.kind != "operator" or self.text in ("not", "(")

    @property
    def ends_operand(self) -> bool:
        return self.kind != "operator" or self.text == ")"


def _column_of(token: _Token) -> _Token:
    """Return the token with the name of a column instead of its symbol."""
    known = token.kind == "name" and token.text in SYMBOLS
    return token._replace(text=SYMBOLS[token.text]) if known else token


def _tokens(source: str) -> list[_Token]:
    """Return the tokens; refuse a token that the language does not have."""
    tokens = []
    for match in _TOKEN.finditer(source):
        kind, text = str(match.lastgroup), match.group()
        if text in _WORDS:
            kind = "operator"
        elif kind == "other" or keyword.iskeyword(text):
            raise _error(source, _ADVICE.get(text, f"'{text}' is not understood here"), match.start())
        tokens.append(_Token(kind, text, match.start()))
    return tokens


def _check_shape(source: str, tokens: Sequence[_Token]) -> None:
    """Check that parentheses match, nesting is bounded, and an operator is between any two operands.

    Python would detect most of these errors, but not always at the wrong token, and only after recursing as deep as the
    text.
    """
    levels = [0]  # the depth inside each open parenthesis
    depth = 0
    before = _Token("operator", "", 0)
    for token in tokens:
        call = token.text == "(" and before.kind == "name"
        if before.ends_operand and token.begins_operand and not call:
            raise _unexpected(source, token)
        if token.text == "(" or (token.text in ("+", "-", "not") and not before.ends_operand):
            depth += 1
        if depth > DEEPEST:
            raise _error(source, f"nested more than {DEEPEST} deep", token.place)
        if token.text == "(":
            levels.append(depth)
        elif token.text == ")":
            levels.pop()
            if not levels or before.text == "(":
                raise _unexpected(source, token)
        if token.ends_operand:
            depth = levels[-1]
        before = token
    if not before.ends_operand:
        raise _error(source, "something is missing at the end", len(source))
    if len(levels) > 1:
        raise _error(source, "a ')' is missing", len(source))


class _Translation:
    """A translation of tokens into steps, which refuses any node of the tree that it does not name."""

    def __init__(
        self,
        source: str,
        tokens: Sequence[_Token],
        columns: Mapping[str, str],
        words: Mapping[str, Collection[str]],
    ) -> None:
        self._source = source
        self._columns = columns
        self._words = words
        seen = ["0" if token.kind in ("number", "text") else token.text for token in tokens]
        starts = itertools.accumulate((len(word) + 1 for word in seen), initial=0)
        self._token_at = dict(zip(starts, tokens, strict=False))
        try:
            self._tree = ast.parse(" ".join(seen), mode="eval").body
        except SyntaxError as error:
            raise _unexpected(source, self._token_near(error.offset)) from None

    def steps(self) -> list[Operation]:
        """Return the steps in order: operands from left to right, followed by the operation that joins them."""
        waiting, nodes = [self._tree], []
        while waiting:
            nodes.append(node := waiting.pop())
            waiting += _operands(node)
        steps: list[Operation] = []
        kinds: list[str] = []
        for node in reversed(nodes):
            first = len(kinds) - len(_operands(node))
            steps.append(self._step(node, kinds[first:]))
            kinds[first:] = [steps[-1].kind]
        return steps

    def _step(self, node: ast.expr, kinds: Sequence[str]) -> Operation:
        """Return the step for one node, whose operands have the given kinds."""
        match node:
            case ast.Constant():
                return self._constant(self._token(node))
            case ast.Name(id=name):
                return self._column(node, name)
            case ast.BoolOp(op=op):
                word, join = ("and", _both) if isinstance(op, ast.And) else ("or", _either)
                self._expect(node, kinds, "condition", word)
                return Operation("condition", len(kinds), lambda _, *values: functools.reduce(join, values))
            case ast.UnaryOp(op=ast.Not()):
                self._expect(node, kinds, "condition", "not")
                return Operation("condition", 1, lambda _, value: _negation(value))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op):
                self._expect(node, kinds, "number", "a sign")
                sign = operator.neg if isinstance(op, ast.USub) else operator.pos
                return Operation("number", 1, lambda _, value: _applied(sign, value))
            case ast.BinOp(op=op) if type(op) in _OPERATIONS:
                symbol = _OPERATIONS[type(op)]
                self._expect(node, kinds, "number", symbol)
                return Operation("number", 2, lambda _, left, right: _calculated(symbol, left, right))
            case ast.Compare(ops=ops) if all(type(op) in _COMPARISONS for op in ops):
                return self._comparison(node, [_COMPARISONS[type(op)] for op in ops], kinds)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
                return self._call(node, name, argument, kinds)
            case _:
                raise _unexpected(self._source, self._token(node))

    def _constant(self, token: _Token) -> Operation:
        if token.kind == "text":
            return Operation("text", 0, lambda _: token.text[1:-1])
        number = float(token.text)
        if not math.isfinite(number):
            raise _error(self._source, f"the number {token.text} is too large", token.place)
        return Operation("number", 0, lambda _: number)

    def _column(self, node: ast.Name, name: str) -> Operation:
        if name not in self._columns:
            if name in CHOICES:
                raise self._wrong(node, f"'{name}' can be {CHOICES[name]}; write one of these columns")
            raise self._wrong(node, f"unknown column '{name}'{suggestion(name, self._columns)}")
        if self._columns[name] == "number":
            return Operation("number", 0, lambda row: _as_number(row.get(name)))
        return Operation("text", 0, lambda row: None if row.get(name) is None else str(row[name]))

    def _comparison(self, node: ast.Compare, symbols: Sequence[str], kinds: Sequence[str]) -> Operation:
        if len(symbols) > 1:
            raise self._wrong(node.comparators[1], "comparisons cannot be chained; join them with 'and'")
        (symbol,), (left, right) = symbols, kinds
        if left != right or left == "condition":
            raise self._wrong(node, f"'{symbol}' compares a {left} with a {right}")
        if left == "text" and symbol not in ("==", "!="):
            raise self._wrong(node, f"'{symbol}' does not compare texts; use == or !=")
        self._check_word(node.left, node.comparators[0])
        self._check_word(node.comparators[0], node.left)
        return Operation("condition", 2, lambda _, left, right: _compared(symbol, left, right))

    def _check_word(self, column: ast.expr, text: ast.expr) -> None:
        """Refuse a text that the column cannot have."""
        if isinstance(column, ast.Name) and column.id in self._words and isinstance(text, ast.Constant):
            word, known = self._token(text).text[1:-1], self._words[column.id]
            if word not in known:
                raise self._wrong(text, f"unknown {column.id} '{word}'{suggestion(word, known)}")

    def _call(self, node: ast.Call, name: str, argument: ast.expr, kinds: Sequence[str]) -> Operation:
        if name == "abs":
            self._expect(node, kinds, "number", "abs")
            return Operation("number", 1, lambda _, value: _applied(abs, value))
        if name == "known":
            if kinds[0] == "condition":
                raise self._wrong(argument, "known() takes a column, not a condition")
            return Operation("condition", 1, lambda _, value: value is not None)
        hint = did_you_mean(name, _FUNCTIONS)
        raise self._wrong(node, f"'{name}' cannot be called; only {' and '.join(_FUNCTIONS)} can{hint}")

    def _expect(self, node: ast.expr, kinds: Sequence[str], kind: str, where: str) -> None:
        for operand, its_kind in zip(_operands(node), kinds, strict=True):
            if its_kind != kind:
                raise self._wrong(operand, f"{where} needs a {kind}, but has a {its_kind}")

    def _token_near(self, offset: int | None) -> _Token:
        """Return the last token at or before a 1-based offset, since offsets differ between versions of Python."""
        position = (offset or 1) - 1
        start = max((start for start in self._token_at if start <= position), default=0)
        return self._token_at[start]

    def _token(self, node: ast.expr) -> _Token:
        """Return the token that a node begins with."""
        return self._token_at[node.col_offset]

    def _wrong(self, node: ast.expr, reason: str) -> GateError:
        return _error(self._source, reason, self._token(node).place)


def _operands(node: ast.expr) -> list[ast.expr]:
    """Return the operands of a node; the name of a function is not an operand."""
    if isinstance(node, ast.Call):
        return node.args
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]


def _unexpected(source: str, token: _Token) -> GateError:
    shown = token.text if token.kind == "text" else f"'{token.text}'"
    return _error(source, f"{shown} is not expected here", token.place)


def _error(source: str, reason: str, place: int) -> GateError:
    return GateError(f"in {_quoted(source)}, column {place + 1}: {one_line(reason)}")


def _quoted(source: str) -> str:
    """Return the expression on one line, shortened if it is long."""
    line = one_line(" ".join(source.split()))
    return f"'{line if len(line) <= SHOWN else line[:SHOWN] + '…'}'"


def _as_number(value: object) -> float | None:
    """Return a number that can be compared, or None if there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return None if math.isnan(value) else float(value)


def _truth(value: object) -> bool | None:
    """Return a truth value, or None."""
    return value if isinstance(value, bool) else None


def _compared(symbol: str, left: object, right: object) -> bool | None:
    """Return whether the comparison is true; None if a side is missing."""
    return None if left is None or right is None else _COMPARE[symbol](left, right)


def _both(left: bool | None, right: bool | None) -> bool | None:
    """Return the conjunction, which is False if either side is false."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _either(left: bool | None, right: bool | None) -> bool | None:
    """Return the disjunction, which is True if either side is true."""
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _negation(value: bool | None) -> bool | None:
    """Return the negation; the negation of None is None."""
    return None if value is None else not value


def _applied(function: Callable[[float], float], value: float | None) -> float | None:
    """Return the function of a number, or None."""
    return None if value is None else function(value)


def _calculated(symbol: str, left: float | None, right: float | None) -> float | None:
    """Return the result; None if a side is missing, a divisor is 0, or the result is not a number."""
    if left is None or right is None or (symbol == "/" and right == 0):
        return None
    return _as_number(_CALCULATE[symbol](left, right))
