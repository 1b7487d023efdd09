"""The command that adds an extra names the place that this copy came from."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from weatherglass.storage import installed
from weatherglass.storage.installed import install_command, installed_version

DIRECT = [
    (None, "pip install 'weatherglass[onnx]'"),
    ({"url": "file:///a%20b/repo", "dir_info": {}}, "pip install '/a b/repo[onnx]'"),
    ({"url": "file:///repo", "dir_info": {"editable": True}}, "pip install -e '/repo[onnx]'"),
    (
        {"url": "file:///w/weatherglass-1-py3-none-any.whl", "archive_info": {}},
        "pip install 'weatherglass[onnx] @ file:///w/weatherglass-1-py3-none-any.whl'",
    ),
    (
        {"url": "https://host/repo", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
        "pip install 'weatherglass[onnx] @ git+https://host/repo@abc'",
    ),
]


@pytest.mark.parametrize(("origin", "command"), DIRECT)
def test_the_command_follows_the_record_of_the_install(
    origin: dict[str, Any] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "installed_from", lambda: origin)
    assert install_command("onnx") == command


def test_without_an_extra_it_is_the_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "installed_from", lambda: None)
    assert install_command("") == "pip install weatherglass"


@pytest.mark.parametrize("origin", [origin for origin, _ in DIRECT if origin])
def test_pip_understands_the_requirement(origin: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """By the library that pip parses requirements with (PEP 508), or as a path with an extra."""
    from packaging.requirements import Requirement

    monkeypatch.setattr(installed, "installed_from", lambda: origin)
    *_, requirement = shlex.split(install_command("onnx"))
    if "@" in requirement:
        parsed = Requirement(requirement)
        assert (parsed.name, parsed.extras) == ("weatherglass", {"onnx"})
    else:
        assert Path(requirement.removesuffix("[onnx]")).is_absolute()


def test_a_damaged_record_counts_as_none(tmp_path: Path) -> None:
    """In a process of its own, whose path has the damaged copy first."""
    information = tmp_path / "weatherglass-0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: weatherglass\nVersion: 0\n")
    source = str(Path(installed.__file__).parents[2])
    code = (
        "from weatherglass.storage.installed import installed_from as f; import json; print(json.dumps(f()))"
    )
    for content, expected in (("{", None), ("[]", None), ('{"url": "file:///x"}', {"url": "file:///x"})):
        (information / "direct_url.json").write_text(content)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), source])}
        printed = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
        assert json.loads(printed) == expected


@pytest.mark.parametrize("package", ["numpy", "scipy", "click", "wordllama", "tokenizers", "no-such-package"])
def test_a_version_is_that_of_importlib(package: str) -> None:
    try:
        expected = version(package)
    except PackageNotFoundError:
        expected = None
    assert installed_version(package) == expected
