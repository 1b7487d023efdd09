"""docs/api has every public name in an example; each can be imported, and importing a package imports none of them."""

from __future__ import annotations

import ast
import json
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import weatherglass

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "api"
NAMES = re.compile(r"^<!-- made: names ([\w.]+) -->$", re.MULTILINE)
SOURCE = ROOT / "src" / "weatherglass"
OF_OTHERS = {"weatherglass.encoders.in_memory"}
"""Its `model` is `weatherglass.model`."""


def hook() -> ModuleType:
    """docs/hooks/names.py, which is in no package."""
    spec = spec_from_file_location("names", ROOT / "docs" / "hooks" / "names.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages_by_package() -> dict[str, str]:
    """Package -> the page of docs/api that has its names."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))]
    return {package: text for text in texts for package in NAMES.findall(text)}


def packages_with_public_names() -> list[str]:
    below = pkgutil.walk_packages(weatherglass.__path__, "weatherglass.")
    names = ["weatherglass", *(found.name for found in below if found.ispkg)]
    return [name for name in names if hasattr(import_module(name), "__all__") and name not in OF_OTHERS]


def lazy_packages() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("__init__.py") if "= lazy_names(" in path.read_text("utf-8"))


def test_every_package_with_public_names_has_a_page() -> None:
    listed = set(pages_by_package())
    assert set(packages_with_public_names()) <= listed
    assert listed - set(packages_with_public_names()) == {"weatherglass.errors", "weatherglass.progress"}


@pytest.mark.parametrize("package", pages_by_package())
def test_every_public_name_is_used_in_an_example_of_its_page(package: str) -> None:
    """tests/docs runs the examples."""
    examples = "\n".join(re.findall(r"^(?:>>>|\.\.\.) (.*)$", pages_by_package()[package], re.MULTILINE))
    names = hook().public_names(import_module(package))
    assert [name for name in names if not re.search(rf"\b{name}\b", examples)] == []


@pytest.mark.parametrize("package", pages_by_package())
def test_every_public_name_is_described(package: str) -> None:
    described = hook().reference(package)
    for name in hook().public_names(import_module(package)):
        assert re.search(rf"^(      heading: {name}|### `{name}` .*)$", described, re.MULTILINE)


@pytest.mark.parametrize("package", packages_with_public_names())
def test_every_public_name_can_be_imported_and_is_found_by_dir(package: str) -> None:
    module = import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        assert not isinstance(value, ModuleType), f"{package}.{name} is a module, not what the page describes"
        assert name in dir(module)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name


def test_a_name_that_its_module_shares_is_the_function_whichever_was_imported_first() -> None:
    code = (
        "import weatherglass.reliability.regression.explain\n"
        "from weatherglass.reliability.regression import explain\n"
        "print(callable(explain))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\n"


@pytest.mark.parametrize("path", lazy_packages(), ids=lambda path: path.parent.name)
def test_type_checkers_see_the_names_that_are_imported_lazily(path: Path) -> None:
    """A name in the table alone has no type; one under TYPE_CHECKING alone cannot be imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    blocks = [
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    typed = {
        (alias.asname or alias.name).removeprefix("_"): (node.module, alias.name)
        for node in imports
        for alias in node.names
    }
    package = ".".join(("weatherglass", *path.parent.relative_to(SOURCE).parts))
    places = import_module(package)._PLACES
    named = {
        name: (f"{package}.{place.partition(':')[0]}", place.partition(":")[2] or name)
        for name, place in places.items()
    }
    assert typed == named


def test_importing_weatherglass_imports_no_room() -> None:
    code = (
        "import json, sys, weatherglass; print(json.dumps([m for m in sys.modules if 'weatherglass' in m]))"
    )
    loaded = json.loads(subprocess.check_output([sys.executable, "-c", code]))
    assert set(loaded) == {"weatherglass", "weatherglass.lazy"}
