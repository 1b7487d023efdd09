"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from weatherglass.errors import OutputError


def write_text(path: str | Path, text: str) -> None:
    """Write a temporary file beside `path` and rename it, so that a reader never sees half of it.

    Raises:
        OutputError: if the folder is missing, read-only or full.
    """
    path = Path(path)
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from None


def _umask() -> int:
    # the only way to read it is to set it; a temporary file is private, the finished one should not be
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
