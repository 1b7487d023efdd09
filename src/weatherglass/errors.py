"""Define the errors that a user can cause. Each error states what is wrong, where, and what to do next."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TypeGuard

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The operating system's error numbers for a file that cannot grow: a full disk, a quota, a limit on file sizes."""


def reason_of(error: Exception) -> str:
    """Return the operating system's message without its number and path, or the text of any other error."""
    return getattr(error, "strerror", None) or str(error)


def unreadable(path: Path | str, error: Exception) -> str:
    """Return the message for a file that cannot be read.

    >>> unreadable("words.txt", FileNotFoundError(2, "No such file or directory", "words.txt"))
    'words.txt: cannot be read (No such file or directory)'
    """
    return f"{path}: cannot be read ({reason_of(error)})"


def unwritable(path: Path | str, error: Exception) -> str:
    """Return the message for a file or folder that cannot be written."""
    return f"{path}: cannot be written ({reason_of(error)})"


def output_error(path: Path | str, error: OSError, kept: str = "") -> OutputError:
    """Return the error for a file or folder that cannot be written, which is a `NoRoomError` if the disk is full.

    Args:
        kept: what is saved already, if that is known.

    >>> raise output_error("run", OSError(errno.ENOSPC, "No space left on device"))
    Traceback (most recent call last):
    weatherglass.errors.NoRoomError: run: cannot be written (No space left on device); free some space and try again
    """
    what = "; ".join([unwritable(path, error), *([kept] if kept else [])])
    if has_no_room(error):
        return NoRoomError(f"{what}; free some space and try again")
    return OutputError(what)


def has_no_room(error: BaseException | None) -> TypeGuard[OSError]:
    """Return whether the operating system refused to let a file grow."""
    return isinstance(error, OSError) and error.errno in NO_ROOM


class WeatherglassError(Exception):
    """A mistake that the user can correct; the command line prints its text without a traceback."""

    exit_code = 2


class UnknownNameError(WeatherglassError):
    """A name that is not in a registry, catalogue or folder."""


class SpecError(WeatherglassError):
    """A model spec or one of its options that cannot be understood."""


class MissingExtraError(WeatherglassError):
    """A missing optional library; the text ends with the command that installs it."""


class CatalogueError(WeatherglassError):
    """A test or word-set file that is malformed."""


class VectorFileError(WeatherglassError):
    """A file of vectors that is missing, truncated, ragged or without numbers."""


class UnsafeFileError(WeatherglassError):
    """A file that would run code when it is read."""


class CorpusError(WeatherglassError):
    """A corpus, a list of words or pairs, or a study file that cannot be used."""


class EncoderError(WeatherglassError):
    """A model that loads but cannot encode its input."""


class OutputError(WeatherglassError):
    """A result folder that cannot be used because it is read-only, full, locked or belongs to another run."""


class NoRoomError(OutputError):
    """A full disk; once there is room, the same command gives the same results."""

    exit_code = 1


class UnitError(WeatherglassError):
    """A test that cannot be computed for one model; the run continues with the others."""

    exit_code = 3


class ZeroVectorError(UnitError):
    """A zero vector where a metric needs a direction.

    The caller, which knows the texts, adds the text of the row to the message.
    """

    def __init__(self, where: str, row: int) -> None:
        super().__init__(f"row {row} of {where} is a zero vector, so its cosine is undefined")
        self.where = where
        """The set: "targets", "A" or "B", or "attributes" if it is not known which of the two."""
        self.row = row


class InterruptedRunError(WeatherglassError):
    """A run that the user stopped; finished work is saved."""

    exit_code = 3


class SignificanceError(UnitError):
    """A p-value that the chosen method cannot compute."""


class ClusterError(WeatherglassError):
    """A cluster that cannot be used: unreachable, disconnected, or without a file that it needs."""

    exit_code = 3


class GateError(WeatherglassError):
    """A gate whose expression or file cannot be understood."""


def reason(error: Exception | None) -> str:
    """Return in one line why something failed; any error that is not a WeatherglassError is reported as internal."""
    if isinstance(error, WeatherglassError):
        return str(error)
    return f"internal error, please report it: {type(error).__name__}: {error}"


class DamageWarning(UserWarning):
    """A file of weatherglass that is damaged or cannot be checked; the message states what happens to it."""
