"""The examples in docstrings are run, so that what a reader copies works."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from tests.registries import registries_restored

import weatherglass

PACKAGE = Path(weatherglass.__file__).parent


def modules_with_examples() -> list[str]:
    paths = (path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))
    dotted = (".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths)
    return sorted(name.removesuffix(".__init__") for name in dotted)


@pytest.fixture(autouse=True, scope="module")  # once: it looks through all objects of the process
def forget_registrations() -> Iterator[None]:
    with registries_restored():
        yield


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_print_what_they_say(name: str) -> None:
    failed, _ = doctest.testmod(import_module(name))
    assert failed == 0, f"{failed} examples of {name} fail; they are printed above"
