"""Dictionaries and queries in a Python file, read as text: literals only, nothing is imported or called."""

from __future__ import annotations

import ast
from typing import Any

from weatherglass.catalogue.checks import Source
from weatherglass.errors import CatalogueError

QUERY_ARGUMENTS = ("target_sets", "attribute_sets", "target_sets_names", "attribute_sets_names")


def literals(source: Source) -> dict[str, Any]:
    """The literal values of a file by the names they are assigned to; a single expression goes by the file's name.

    Lists may be joined, cut and named, as published code does; a call of `Query` becomes the dictionary of its
    arguments. Anything else is passed over: it would have to be run.

    Raises:
        CatalogueError: if the file is not Python.
    """
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise CatalogueError(
            f"{source.path}, line {line}: not Python ({getattr(error, 'msg', error)})"
        ) from None
    known: dict[str, Any] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case ast.Expr(value=value):
                name = source.path.stem
            case _:
                continue
        try:
            known[name] = _value(source, value, known)
        except (
            ValueError,
            TypeError,
            RecursionError,
        ):  # no literal, or a slice by something else than numbers
            continue
    return known


def _value(source: Source, node: ast.expr, known: dict[str, Any]) -> Any:
    match node:
        case ast.Call(func=ast.Name(id="Query") | ast.Attribute(attr="Query"), args=args, keywords=keywords):
            given = {
                **dict(zip(QUERY_ARGUMENTS, args, strict=False)),
                **{k.arg: k.value for k in keywords if k.arg},
            }
            try:
                return {key: _part(value, known) for key, value in given.items()}
            except (ValueError, TypeError, RecursionError):
                raise CatalogueError(
                    f"{source.path}, line {node.lineno}: Query takes a value that is no literal of this file; "
                    "files are not run, so write its lists out"
                ) from None
        case _:
            return _part(node, known)


def _part(node: ast.expr, known: dict[str, Any]) -> Any:
    match node:
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_part(element, known) for element in elements]
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)) if key in known.get(
            name, ()
        ):
            return known[name][key]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _list(left, known) + _list(right, known)
        case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=None)):
            ends = (None if end is None else ast.literal_eval(end) for end in (lower, upper))
            return _list(value, known)[slice(*ends)]
        case _:
            return ast.literal_eval(node)


def _list(node: ast.expr, known: dict[str, Any]) -> list[Any]:
    value = _part(node, known)
    if not isinstance(value, list):
        raise ValueError("no list")
    return value
