"""Names of other packages: found through entry points, never in place of ours, and broken ones are said in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.messages import in_order, mentions, naming

from weatherglass.encoders import ENCODERS, KINDS, known_kinds
from weatherglass.errors import UnknownNameError, WeatherglassError
from weatherglass.languages import LANGUAGES
from weatherglass.metrics import METRICS
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS
from weatherglass.metrics.weat.covariance import ESTIMATORS
from weatherglass.mitigation.spelling import TRANSFORMS
from weatherglass.parallel import ENGINES
from weatherglass.registry import Registry

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a package `other` with one module and one entry point."""

    def write(group: str, point: str, module: str = "") -> None:
        information = tmp_path / "other-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(f"[{group}]\n{point}\n")
        (tmp_path / "other_of_a_test.py").write_text(module)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(__import__("sys").modules, "other_of_a_test", raising=False)

    return write


def numbers() -> Registry[int]:
    return Registry("number", {"pi": "math:pi"}, entry_points="tests.numbers")


def test_another_package_adds_a_name(install: Install) -> None:
    install("tests.numbers", "seven = other_of_a_test:Values.seven", "class Values:\n    seven = 7\n")
    assert numbers().names() == ["pi", "seven"]
    assert "seven" in numbers()
    assert numbers().get("seven") == 7


def test_a_name_of_ours_cannot_be_taken(install: Install) -> None:
    install("tests.numbers", "pi = other_of_a_test:pi", "pi = 3\n")
    assert numbers().names() == ["pi"]
    assert numbers().get("pi") == pytest.approx(3.14159, abs=1e-5)


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("", "AttributeError: module 'other_of_a_test' has no attribute 'seven'"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("seven = 7 / 0", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError"),
    ],
)
def test_a_broken_entry_point_is_one_line_that_names_its_module(
    install: Install, module: str, reason: str
) -> None:
    install("tests.numbers", "seven = other_of_a_test:seven", module)
    with pytest.raises(WeatherglassError) as caught:
        numbers().get("seven")
    message = str(caught.value)
    assert re.search(in_order("number", "'seven'", "other_of_a_test:seven"), message)
    assert reason in message
    assert "\n" not in message


def test_an_unknown_name_is_told_the_names_of_other_packages(install: Install) -> None:
    install("tests.numbers", "seven = other_of_a_test:seven")
    with pytest.raises(UnknownNameError, match=naming("sevn", "pi, seven", suggesting="seven")):
        numbers().get("sevn")


def test_a_broken_kind_of_model_does_not_spoil_the_list(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("weatherglass.encoders", "broken = other_of_a_test:Encoder")
    monkeypatch.delitem(ENCODERS.__dict__, "_locations", raising=False)
    kinds = known_kinds()
    monkeypatch.delitem(ENCODERS.__dict__, "_locations")
    assert list(kinds) == [*KINDS, "broken"]
    assert mentions(kinds["broken"].problem, "other_of_a_test:Encoder")


def test_every_table_of_names_is_a_group_of_entry_points() -> None:
    doors = (ENCODERS, ENGINES, ESTIMATORS, LANGUAGES, METRICS, SIMILARITIES, STATISTICS, TRANSFORMS)
    assert sorted(registry.group or "" for registry in doors) == [
        "weatherglass.covariances",
        "weatherglass.encoders",
        "weatherglass.engines",
        "weatherglass.languages",
        "weatherglass.metrics",
        "weatherglass.similarities",
        "weatherglass.statistics",
        "weatherglass.transforms",
    ]
