"""Tests assert what a message is about, not its sentences, so that a message can be reworded without editing tests.

A test may ask for names, paths, numbers, values, options and suggestions, and for a textbook term of one or two words;
tests/messages.py finds them in any order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

DATA: Mapping[str, frozenset[str]] = {
    "catalogue/test_templates.py": frozenset(
        {
            "A man is at work.",
            "The men are at home.",
            "The men are at school.",
            "The wars are at home.",
            "The wars are at school.",
        }
    ),
    "cli/test_errors.py": frozenset(
        {
            "Traceback (most recent call last)",
            "/data/x.*(No space left on device|Disk quota exceeded)",
        }
    ),
    "docs/test_blocks.py": frozenset({"it needs a cluster"}),
    "hostile/test_fuzz.py": frozenset({"code run or leak"}),
    "languages/en/test_sentences.py": frozenset({"a woman of color, women of color"}),
    "languages/test_french.py": frozenset(
        {"Une personne est une personne.", "Une abeille est une chose.", "Le sujet, ce sont les vacances."}
    ),
    "languages/test_spanish.py": frozenset(
        {
            "El tema son las gafas.",
            "Se trata de los jardines.",
            "Se trata de una abeja.",
            "Se trata de una persona.",
            "Una abeja es una cosa.",
            "Una persona es una persona.",
        }
    ),
    "reliability/regression/test_study.py": frozenset({"edited by the user\n"}),
    "report/test_command.py": frozenset({"the page is broken"}),
    "test_messages.py": frozenset(
        {
            "in 'x (y', column 3: '(' is not expected here",
            "in 'x (y', column 13: '(' is not expected here",
        }
    ),
    "test_no_sentences.py": frozenset({"the file is cut off"}),
    "test_skips.py": frozenset({"test_one\\.py.*: CI .*\\bthe library is not installed\\b"}),
    "vectors/test_spacy.py": frozenset({"a rather long word of the vocabulary"}),
}
"""Literals by file that are not messages of ours: template sentences, names of counts, words that a test put in."""

SENTENCE = re.compile(r"(?<![\w'-])[a-z]+(?: [a-z]+){3,}(?![\w'-])")
"""Four lower-case words or more, with single blanks between."""

CHECKS = ("startswith", "endswith", "search", "match", "fullmatch", "mentions")
"""Functions and methods whose arguments are compared with a text."""

PATTERNS = ("escape", "compile", "naming", "in_order", "at_column", "frozenset", "set", "list", "tuple")
"""Functions whose arguments are a part of what they return; those of others, such as `run`, are input."""

Values = Mapping[str, Sequence[ast.expr]]
"""What a name can stand for."""


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the literal of every sentence that the tests in a file assert."""
    module = ast.parse(source)
    constants = _assigned(module.body)
    bodies = [module.body, *(node.body for node in module.body if isinstance(node, ast.ClassDef))]
    for function in (node for body in bodies for node in body if isinstance(node, ast.FunctionDef)):
        values = {**constants, **_assigned(function.body), **_parametrised(function)}
        for literal in _asserted(function, values):
            if SENTENCE.search(str(literal.value)):
                yield literal.lineno, str(literal.value)


def _assigned(body: Sequence[ast.stmt]) -> dict[str, list[ast.expr]]:
    """Return what is assigned to each name."""
    found: dict[str, list[ast.expr]] = {}
    for node in body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            found.setdefault(node.target.id, []).append(node.value)
    return found


def _parametrised(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Return the values that pytest.mark.parametrize gives to each parameter."""
    found: dict[str, list[ast.expr]] = {}
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and _name(decorator.func) == "parametrize":
            names, rows = decorator.args[:2]
            columns = [str(part.value) for part in ast.walk(names) if isinstance(part, ast.Constant)]
            if isinstance(names, ast.Constant):
                columns = columns[0].replace(",", " ").split()
            for row in getattr(rows, "elts", []):
                values = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [])
                for column, value in zip(columns, values if len(columns) > 1 else [row], strict=False):
                    found.setdefault(column, []).append(value)
    return found


def _asserted(function: ast.FunctionDef, values: Values) -> Iterator[ast.Constant]:
    """Yield the literals with which a function compares what it gets."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _name(node.func) in ("raises", "warns"):
            for keyword in node.keywords:
                if keyword.arg == "match":
                    yield from _literals(keyword.value, values)
        elif isinstance(node, ast.Assert):
            for part in ast.walk(node.test):
                if isinstance(part, ast.Compare):
                    for side in (part.left, *part.comparators):
                        yield from _literals(side, values)
                elif isinstance(part, ast.Call) and _name(part.func) in CHECKS:
                    for argument in part.args:
                        yield from _literals(argument, values)


def _literals(node: ast.expr, values: Values) -> Iterator[ast.Constant]:
    """Yield the texts that an expression consists of, also behind names."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node
    elif isinstance(node, ast.Name):
        others = {name: value for name, value in values.items() if name != node.id}
        for value in values.get(node.id, ()):
            yield from _literals(value, others)
    elif not isinstance(node, ast.Call) or _name(node.func) in PATTERNS:
        inside = (ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.Starred, ast.Call)
        if isinstance(node, inside):
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    yield from _literals(part, values)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def places(folder: Path, root: Path = TESTS) -> list[str]:
    """Return "file:line: literal" for every sentence in a folder that is not in `DATA`."""
    found = {
        (path.relative_to(root).as_posix(), line, literal)
        for path in folder.rglob("*.py")
        for line, literal in sentences(path.read_text(encoding="utf-8"))
    }
    return [
        f"{file}:{line}: {literal!r}"
        for file, line, literal in sorted(found)
        if literal not in DATA.get(file, ())
    ]


def test_tests_assert_no_sentences() -> None:
    found = places(TESTS)
    assert not found, "assert names, numbers and values instead (tests/messages.py):\n" + "\n".join(found)


def test_what_is_allowed_is_still_there() -> None:
    for file, literals in DATA.items():
        found = {literal for _, literal in sentences((TESTS / file).read_text(encoding="utf-8"))}
        assert literals <= found, file


PROSE = "the file is cut off"


@pytest.mark.parametrize(
    "test",
    [
        f"with pytest.raises(ValueError, match={PROSE!r}): read()",
        f"with pytest.warns(UserWarning, match='v.txt: ' + {PROSE!r}): read()",
        f"with pytest.raises(ValueError, match=re.escape(f'{{path}}: {PROSE}')): read()",
        f"assert {PROSE!r} in str(caught.value)",
        f"assert {PROSE!r} not in done.output",
        f"assert warning.message == {PROSE!r}",
        f"assert notes() == [{PROSE!r}, '']",
        f"assert any({PROSE!r} in line for line in lines)",
        f"assert said.startswith({PROSE!r})",
        f"assert mentions(said, {PROSE!r}, 7)",
        f"expected = {PROSE!r}\n    assert said == expected",
    ],
)
def test_a_sentence_is_found_wherever_a_test_compares_it(test: str) -> None:
    (found,) = sentences(f"def test():\n    {test}\n")
    assert PROSE in found[1]


def test_a_sentence_is_found_behind_a_parameter_and_a_constant() -> None:
    for names, rows in [("'said'", f"[{PROSE!r}]"), ("('n', 'said')", f"[(1, {PROSE!r}), (2, 'v.txt')]")]:
        source = f"@pytest.mark.parametrize({names}, {rows})\ndef test(said):\n    assert said in text\n"
        assert list(sentences(source)) == [(1, PROSE)]
    assert list(sentences(f"SAID = {PROSE!r}\ndef test():\n    assert SAID in text\n")) == [(1, PROSE)]


@pytest.mark.parametrize(
    "test",
    [
        "assert 'cut off' in str(caught.value)",
        "assert said == 'v.txt, line 7: 3 numbers'",
        f"assert read({PROSE!r}) == 3",
        f"assert read() == 3, {PROSE!r}",
        f"write({PROSE!r})",
    ],
)
def test_terms_input_and_explanations_are_no_sentences(test: str) -> None:
    assert list(sentences(f"def test():\n    {test}\n")) == []
