"""The version is written once, in `weatherglass/__init__.py`; what cannot read it there must agree with it.

The versions of other packages that CI installs, requirements.lock, agree with pyproject.toml.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from proofs import lock

import weatherglass

ROOT = Path(__file__).resolve().parents[1]


def test_the_package_takes_its_version_from_the_source() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in settings["project"]["dynamic"]
    source = ROOT / settings["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{weatherglass.__version__}"' in source.read_text(encoding="utf-8")


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [weatherglass.__version__]


def test_the_changelog_has_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert weatherglass.__version__ in re.findall(r"^## ([^\s,]+)", changelog, re.MULTILINE)


LINUX = {"sys_platform": "linux", "python_version": "3.11", "platform_machine": "x86_64"}


def test_the_lock_has_a_hash_for_all_that_is_required_and_names_no_place() -> None:
    text = lock.LOCK.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(lock.LINE.fullmatch(line) for line in lines)
    assert "://" not in text
    versions = lock.locked(text)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    asked = {Requirement(line) for line in (*project["dependencies"], *settings["dependency-groups"]["dev"])}
    of_all = next(each for line in extras if (each := Requirement(line)).name == "weatherglass")
    for extra in of_all.extras:
        asked |= {Requirement(line) for line in project["optional-dependencies"][extra]}
    asked |= {Requirement(line) for line in (*settings["build-system"]["requires"], *lock.TOOLS)}
    for each in asked:
        if not lock.NOT_LOCKED.fullmatch(each.name) and (not each.marker or each.marker.evaluate(LINUX)):
            assert each.specifier.contains(versions[lock.normal(each.name)]), each
    assert len(asked) > 40


def test_the_lock_takes_no_local_file_and_no_cuda_build() -> None:
    def install(name: str, version: str, url: str) -> dict[str, object]:
        download = {"url": url, "archive_info": {"hashes": {"sha256": "0" * 64}}}
        return {"metadata": {"name": name, "version": version}, "download_info": download}

    cpu = install("torch", "2.13.0+cpu", "file:///wheels/torch.whl")
    good = install("Zope_x", "1.0", "https://example.org/x.whl")
    assert lock.lines_of({"install": [good, cpu]}) == [f"zope-x==1.0 --hash=sha256:{'0' * 64}"]
    for bad in (install("a", "1", "file:///a.whl"), install("torch", "2.13.0", "https://example.org/t.whl")):
        with pytest.raises(SystemExit, match="make lock: "):
            lock.lines_of({"install": [bad]})


def test_what_is_installed_besides_the_lock_is_named() -> None:
    installed = {"a": "1", "b": "2", "torch": "2.13.0", "nvidia-cublas": "1"}
    assert lock.differences(installed, {"a": "1", "b": "2"}) == []
    (line,) = lock.differences(installed, {"a": "1", "b": "3"})
    assert line.startswith("b 2 ")
