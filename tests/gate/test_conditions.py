"""Conditions against an independent evaluator, and what hostile or careless authors write."""

from __future__ import annotations

import math
import operator
import sys
import time
from collections.abc import Callable
from typing import Any, Never

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import at_column, mentions, naming

from weatherglass.errors import GateError
from weatherglass.gate.conditions import DEEPEST, LONGEST, parse

COLUMNS = {"x": "number", "y": "number", "effect_size": "number", "test": "text", "model": "text"}

Tree = tuple[object, ...]
"""An operator and its operands; a leaf is ("number", 1.5), ("text", "a") or ("column", "x")."""

BINDS = {"or": 1, "and": 2, "not": 3} | dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 4)
BINDS |= {"+": 5, "-": 5, "*": 6, "/": 6, "minus": 7}
"""How tightly each operator binds; leaves and calls bind tightest."""


def rendered(tree: Tree, tightly: int = 0) -> str:
    """The tree as text, with no parentheses but those it needs."""
    binds = BINDS.get(str(tree[0]), 8)
    match tree:
        case ("number", float(value)):
            return repr(value)
        case ("text", str(value)):
            return f"'{value}'"
        case ("column", str(name)):
            return name
        case ("abs" | "known" as name, tuple(operand)):
            return f"{name}({rendered(operand)})"
        case ("not" | "minus" as word, tuple(operand)):
            text = ("not " if word == "not" else "-") + rendered(operand, binds)
        case (str(word), tuple(left), tuple(right)):
            # One comparison has no other as its left side, where + and the others may have themselves.
            text = f"{rendered(left, binds + (binds == 4))} {word} {rendered(right, binds + 1)}"
        case _:
            raise AssertionError(tree)
    return f"({text})" if binds < tightly else text


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def number(tree: Tree, row: dict[str, float | str | None]) -> float:
    """The value of a tree of numbers; NaN, which spreads by itself, is what is missing."""
    match tree:
        case ("number", float(value)):
            return value
        case ("column", str(name)):
            cell = row[name]
            return cell if isinstance(cell, float) else math.nan
        case ("abs", tuple(operand)):
            return abs(number(operand, row))
        case ("minus", tuple(operand)):
            return -number(operand, row)
        case (str(symbol), tuple(left), tuple(right)):
            a, b = number(left, row), number(right, row)
            if symbol == "/":
                return a / b if b else math.nan
            return {"+": a + b, "-": a - b, "*": a * b}[symbol]
    raise AssertionError(tree)


def truth(tree: Tree, row: dict[str, float | str | None]) -> float:
    """0 false, 1 true, 1/2 undecided: then `and` is the minimum, `or` the maximum and `not` 1 - x (Kleene 1952)."""
    match tree:
        case ("and", tuple(left), tuple(right)):
            return min(truth(left, row), truth(right, row))
        case ("or", tuple(left), tuple(right)):
            return max(truth(left, row), truth(right, row))
        case ("not", tuple(operand)):
            return 1 - truth(operand, row)
        case ("known", ("column", "test" | "model" as name)):
            return float(row[name] is not None)
        case ("known", tuple(operand)):
            return float(not math.isnan(number(operand, row)))
        case (str(symbol), ("column", "test" | "model" as name), ("text", str(text))):
            return 0.5 if row[name] is None else float(COMPARE[symbol](row[name], text))
        case (str(symbol), tuple(left), tuple(right)):
            a, b = number(left, row), number(right, row)
            return 0.5 if math.isnan(a) or math.isnan(b) else float(COMPARE[symbol](a, b))
    raise AssertionError(tree)


texts = st.text(alphabet="ab\\é(#\t", max_size=3)
text_columns = st.tuples(st.just("column"), st.sampled_from(["test", "model"]))
finite = st.sampled_from([0.0, 0.5, 1.0, 2.0]) | st.floats(min_value=0, allow_infinity=False)


def numbers(depth: int) -> st.SearchStrategy[Tree]:
    leaf: st.SearchStrategy[Tree] = st.tuples(st.just("number"), finite) | st.tuples(
        st.just("column"), st.sampled_from(["x", "y"])
    )
    if depth == 0:
        return leaf
    inner = numbers(depth - 1)
    return (
        leaf
        | st.tuples(st.sampled_from(["abs", "minus"]), inner)
        | st.tuples(st.sampled_from("+-*/"), inner, inner)
    )


def conditions(depth: int) -> st.SearchStrategy[Tree]:
    leaf: st.SearchStrategy[Tree] = (
        st.tuples(st.sampled_from(list(COMPARE)), numbers(2), numbers(2))
        | st.tuples(st.sampled_from(["==", "!="]), text_columns, st.tuples(st.just("text"), texts))
        | st.tuples(st.just("known"), numbers(1) | text_columns)
    )
    if depth == 0:
        return leaf
    inner = conditions(depth - 1)
    return leaf | st.tuples(st.just("not"), inner) | st.tuples(st.sampled_from(["and", "or"]), inner, inner)


rows = st.fixed_dictionaries(
    {
        "x": st.none() | st.just(math.nan) | finite,
        "y": st.none() | finite.map(operator.neg),
        "test": st.none() | texts,
        "model": st.none() | texts,
    }
)


@given(conditions(3), rows)
def test_three_valued_evaluation_matches_an_independent_evaluator(
    tree: Tree, row: dict[str, float | str | None]
) -> None:
    text = rendered(tree)
    if len(text) > LONGEST:
        return
    expected = {0.0: False, 0.5: None, 1.0: True}[truth(tree, row)]
    assert parse(text, COLUMNS).decide(row) is expected


@given(numbers(3), rows)
def test_arithmetic_equals_the_value_of_an_independent_evaluator(
    tree: Tree, row: dict[str, float | str | None]
) -> None:
    value = number(tree, row)
    if math.isinf(value):  # which cannot be written down
        return
    expected = None if math.isnan(value) else True
    right = "x" if expected is None else repr(value)
    assert parse(f"{rendered(tree, BINDS['+'])} == {right}", COLUMNS).decide(row) is expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("(" * 100_000 + "x > 1" + ")" * 100_000, naming(200005, LONGEST)),
        ("(" * (LONGEST - 1) + "x", at_column(DEEPEST + 1, "nested", DEEPEST)),
        ("-(not" * 199, naming("nested", DEEPEST)),
        ("abs(" * 199 + "x" + ")" * 199, naming("nested", DEEPEST)),
        ("x > " + "9" * (LONGEST - 4), at_column(5, "number", "large")),
        ("x ** 2 > 1", at_column(3, "powers")),
        ("abs(**x) > 1", at_column(5, "powers")),
        ("abs(*x) > 1", at_column(5, "'*'")),
        ("(lambda: x)() > 1", at_column(2, "'lambda'")),
        ("x.real > 1", at_column(2, "attributes")),
        ("'{0.__class__}'.format(x) == 'a'", at_column(16, "attributes")),
        ("f'{x}' == test", at_column(2, "'{x}'")),
        ("rb'a' == test", at_column(3, "'a'")),
        ("'''a''' == test", at_column(3, "'a'")),
        ("'a' 'b' == test", at_column(5, "'b'")),
        ("(y := x) > 1", at_column(4, "':'")),
        ("[x for x in test] == 1", at_column(1, "indexing")),
        ("(x for x in test) == 1", at_column(4, "'for'")),
        ("{x} == 1", at_column(1, "'{'")),
        ("x if x > 1 else y", at_column(3, "'if'")),
        ("(yield x) > 1", at_column(2, "'yield'")),
        ("await x > 1", at_column(1, "'await'")),
        ("__builtins__ > 1", at_column(1, "'__builtins__'", *COLUMNS)),
        ("__class__(x) > 1", at_column(1, "'__class__'", "abs", "known")),
        ("abs(abs)(x) > 1", at_column(9, "'('")),
        ("'a'(x) > 1", at_column(4, "'('")),
        ("() == ()", at_column(2, "')'")),
        ("True or x > 1", at_column(1, "'True'")),
        ("x > 0x10", at_column(6, "'x10'")),
        ("x > 1_000", at_column(6, "'_000'")),
        ("x > 1j", at_column(6, "'j'")),
        ("x > 1 # y", at_column(7, "'#'")),
        ("x > \\\n1", at_column(5, r"'\'")),
        ("x > 1\u2028\x1b[2J", at_column(7, r"'\x1b'")),
        ("\ud800 > 1", at_column(1, r"'\ud800'")),
        ("x >> 1", at_column(4, "'>'")),
        ("x <> 1", at_column(4, "'>'")),
        ("x -> 1", at_column(4, "'>'")),
        ("x > not y", at_column(5, "'not'")),
        ("(x > 1 not y > 1)", at_column(8, "'not'")),
        ("(x > 1 y > 1)", at_column(8, "'y'")),
        ("x > 1) or (y > 1", at_column(6, "')'")),
        ("x > 1 and or y > 1", at_column(11, "'or'")),
        ("* x > 1", at_column(1, "'*'")),
    ],
)
def test_hostile_text_is_refused_in_one_printable_line(expression: str, message: str) -> None:
    started = time.process_time()
    with pytest.raises(GateError, match=message) as caught:
        parse(expression, COLUMNS)
    assert time.process_time() - started < 1
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("offset", "column"),
    [(None, 1), (-1, 1), (0, 1), (1, 1), (3, 2), (4, 2), (99, 9)],
    ids=["none", "negative", "zero", "first token", "second token", "between tokens", "after the end"],
)
def test_a_syntax_error_anywhere_is_one_line_about_the_token_there(
    offset: int | None, column: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions of Python differ in the offset of a SyntaxError; it need not be the start of a token."""

    def refuse(*_: object, **__: object) -> Never:
        raise SyntaxError("invalid syntax", ("<unknown>", 1, offset, ""))

    monkeypatch.setattr("weatherglass.gate.conditions.ast.parse", refuse)
    token = {1: "'x'", 2: "'>='", 9: "'y'"}[column]
    with pytest.raises(GateError, match=at_column(column, token)) as refused:
        parse("x>=1 or y", COLUMNS)
    assert mentions(str(refused.value), "'x>=1 or y'")
    assert "\n" not in str(refused.value)


def test_d_is_the_effect_size_unless_a_column_has_that_name() -> None:
    symbol = parse("abs(d) > 1 and y < 2", COLUMNS)
    assert symbol.columns == ("effect_size", "y")
    assert [symbol.decide({"effect_size": d, "y": 1}) for d in (-1.5, 0.5, None)] == [True, False, None]
    assert parse("d > 1", {**COLUMNS, "d": "number"}).columns == ("d",)
    with pytest.raises(GateError, match=at_column(11, "'z'")):
        parse("d > 1 and z > 2", COLUMNS)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("test in ('a', 'b')", at_column(6, "'in'", suggesting="or")),
        ("test is 'a'", at_column(6, "==")),
        ("x == None", at_column(6, "known(column)")),
        ("x > 1 && y > 1", at_column(7, suggesting="and")),
        ("x > 1 || y > 1", at_column(7, suggesting="or")),
        ("!known(x)", at_column(1, suggesting="not")),
        ("x > 1 and efect_size > 2", at_column(11, "'efect_size'", suggesting="effect_size")),
        ("x > 1 and p < 0.05", at_column(11, "'p'", "p_adjusted", "p_value")),
        ("bas(x) > 1", at_column(1, "'bas'", "known", suggesting="abs")),
        ("x > 1 and (test or y > 2)", at_column(12, "or", "condition", "text")),
        ("test == 'é' and x + test > 1", at_column(21, "+", "number", "text")),
        ("(x > 1) == (y > 1)", at_column(1, "'=='", "condition")),
    ],
)
def test_a_mistake_is_shown_where_it_is_and_with_what_to_write(expression: str, message: str) -> None:
    with pytest.raises(GateError, match=message):
        parse(expression, COLUMNS)


@pytest.mark.parametrize(
    "expression",
    [
        r"model == 'C:\new\vectors\'",  # no escapes: a path is written as it is
        'model == "C:\\new\\vectors\\"',
        "\n  x\n>\t0.5\n",  # a text of several lines in TOML
        "x\N{NO-BREAK SPACE}> 0.5",
        "x > 007 or 1 > 0or x < 0",
        "-" * (DEEPEST - 1) + "(x) > 0 or " + "(" * DEEPEST + "x" + ")" * DEEPEST + " > 0",
    ],
)
def test_what_python_would_read_otherwise_is_read_as_written(
    expression: str, recwarn: pytest.WarningsRecorder
) -> None:
    assert parse(expression, COLUMNS).decide({"x": 1.0, "model": "C:\\new\\vectors\\"}) is True
    assert not recwarn.list


def test_a_long_condition_is_decided_with_few_frames_left() -> None:
    condition = parse("+".join("1" * 499) + ">1", COLUMNS)

    def decided_below(frames: int) -> bool | None:
        return condition.decide({}) if frames == 0 else decided_below(frames - 1)

    here = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        here, frame = here + 1, frame.f_back
    assert decided_below(sys.getrecursionlimit() - here - 30) is True


def test_columns_are_those_named_and_not_those_in_quotes() -> None:
    assert parse("test == 'x' or y > 1 or y < effect_size", COLUMNS).columns == ("test", "y", "effect_size")
