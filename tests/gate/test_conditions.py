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
        ("(" * 100_000 + "x > 1" + ")" * 100_000, "has 200005 characters; 1000 are allowed"),
        ("(" * (LONGEST - 1) + "x", f"column {DEEPEST + 1}: nested more than {DEEPEST} deep"),
        ("-(not" * 199, f"nested more than {DEEPEST} deep"),
        ("abs(" * 199 + "x" + ")" * 199, f"nested more than {DEEPEST} deep"),
        ("x > " + "9" * (LONGEST - 4), "column 5: the number 9+ is too large"),
        ("x ** 2 > 1", "column 3: there are no powers"),
        ("abs(**x) > 1", "column 5: there are no powers"),
        ("abs(*x) > 1", r"column 5: '\*' is not expected here"),
        ("(lambda: x)() > 1", "column 2: 'lambda' means nothing here"),
        ("x.real > 1", "column 2: there are no attributes"),
        ("'{0.__class__}'.format(x) == 'a'", "column 16: there are no attributes"),
        ("f'{x}' == test", "column 2: '{x}' is not expected here"),
        ("rb'a' == test", "column 3: 'a' is not expected here"),
        ("'''a''' == test", "column 3: 'a' is not expected here"),
        ("'a' 'b' == test", "column 5: 'b' is not expected here"),
        ("(y := x) > 1", "column 4: ':' means nothing here"),
        ("[x for x in test] == 1", "column 1: there is no indexing"),
        ("(x for x in test) == 1", "column 4: 'for' means nothing here"),
        ("{x} == 1", "column 1: '{' means nothing here"),
        ("x if x > 1 else y", "column 3: 'if' means nothing here"),
        ("(yield x) > 1", "column 2: 'yield' means nothing here"),
        ("await x > 1", "column 1: 'await' means nothing here"),
        ("__builtins__ > 1", "column 1: unknown column '__builtins__'"),
        ("__class__(x) > 1", "column 1: '__class__' cannot be called; only abs and known can"),
        ("abs(abs)(x) > 1", r"column 9: '\(' is not expected here"),
        ("'a'(x) > 1", r"column 4: '\(' is not expected here"),
        ("() == ()", r"column 2: '\)' is not expected here"),
        ("True or x > 1", "column 1: 'True' means nothing here"),
        ("x > 0x10", "column 6: 'x10' is not expected here"),
        ("x > 1_000", "column 6: '_000' is not expected here"),
        ("x > 1j", "column 6: 'j' is not expected here"),
        ("x > 1 # y", "column 7: '#' means nothing here"),
        ("x > \\\n1", r"column 5: '\\' means nothing here"),
        ("x > 1\u2028\x1b[2J", r"column 7: '\\x1b' means nothing here"),
        ("\ud800 > 1", r"column 1: '\\ud800' means nothing here"),
        ("x >> 1", "column 4: '>' is not expected here"),
        ("x <> 1", "column 4: '>' is not expected here"),
        ("x -> 1", "column 4: '>' is not expected here"),
        ("x > not y", "column 5: 'not' is not expected here"),
        ("(x > 1 not y > 1)", "column 8: 'not' is not expected here"),
        ("(x > 1 y > 1)", "column 8: 'y' is not expected here"),
        ("x > 1) or (y > 1", r"column 6: '\)' is not expected here"),
        ("x > 1 and or y > 1", "column 11: 'or' is not expected here"),
        ("* x > 1", r"column 1: '\*' is not expected here"),
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
    with pytest.raises(GateError, match=rf"^in 'x>=1 or y', column {column}: \S+ is not expected here$"):
        parse("x>=1 or y", COLUMNS)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("test in ('a', 'b')", "column 6: there is no 'in'; join comparisons with 'or'"),
        ("test is 'a'", "column 6: write == for equal"),
        ("x == None", r"column 6: ask known\(column\)"),
        ("x > 1 && y > 1", "column 7: write 'and'"),
        ("x > 1 || y > 1", "column 7: write 'or'"),
        ("!known(x)", "column 1: write 'not'"),
        ("x > 1 and efect_size > 2", "column 11: unknown column 'efect_size'; did you mean 'effect_size'"),
        ("bas(x) > 1", "only abs and known can; did you mean 'abs'"),
        ("x > 1 and (test or y > 2)", "column 12: or needs a condition, but has a text"),
        ("test == 'é' and x + test > 1", r"column 21: \+ needs a number, but has a text"),
        ("(x > 1) == (y > 1)", "'==' compares a condition with a condition"),
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
