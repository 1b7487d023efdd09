"""The last handler of the command line: whatever goes wrong is one line on stderr and an exit code.

What nobody foresaw leaves its traceback in a log file, which the line names.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import shlex
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import typer

from weatherglass.cli.console import complain
from weatherglass.errors import WeatherglassError, has_no_room, output_error
from weatherglass.storage.printable import LONGEST_LINE, short_line

UNFORESEEN = 4
INTERRUPTED = 130
LONGEST_LOG = 1_000_000
"""Characters; a message may repeat a whole file."""
LEAST_REASON = 40
"""Characters of a message that stay, however long the path of the log is."""


def exit_code_of(app: Callable[..., Any]) -> int:
    """Run the command of `sys.argv`; the exit code that the process should end with."""
    with warnings.catch_warnings():
        warnings.showwarning = _print_warning
        try:
            code = app(standalone_mode=False)
            sys.stdout.flush()
        except WeatherglassError as error:
            complain(f"weatherglass: {error}")
            return error.exit_code
        except KeyboardInterrupt:
            return INTERRUPTED
        except SystemExit:
            raise  # a pipe that was closed, or --version
        except BaseException as error:  # a panic of a Rust library is no Exception
            return _code_of(error)
    return code if isinstance(code, int) else 0


def _code_of(error: BaseException) -> int:
    """Say in one line what went wrong."""
    if isinstance(error, typer.Abort):
        complain("Aborted!")
        return 1
    if hasattr(error, "show") and hasattr(error, "exit_code"):  # typer's own, for a wrong option
        _show_usage(error)
        return int(error.exit_code)
    if isinstance(error, BrokenPipeError):
        _discard(sys.stdout)
        return 1
    if has_no_room(error):
        _discard(sys.stdout)
        full = output_error(error.filename or "standard output or a temporary file", error)
        complain(f"weatherglass: {full}")
        return full.exit_code
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        complain(f"weatherglass: {short_line(str(error.filename), 100)}: too long for the name of a file")
        return WeatherglassError.exit_code
    complain(_line_of(error, _write_log(error)))
    return UNFORESEEN


def _show_usage(error: Any) -> None:
    """Say what is wrong with the command, as typer does; or, where no command was named, which there are."""
    if type(error).__name__ != "NoArgsIsHelpError" and isinstance(error.message, str):
        error.message = short_line(error.message)
    with contextlib.suppress(OSError):
        error.show()


def _discard(stream: TextIO) -> None:
    """Send what is left in a stream's buffer nowhere, so that the end of the process does not fail once more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _line_of(error: BaseException, log: Path | None) -> str:
    if isinstance(error, MemoryError):
        what, next_step = "not enough memory", "use a smaller model, fewer tests or fewer --jobs"
    else:
        what, next_step = "internal error, please report it", ""
    place = f"the traceback is in {log}" if log else "no log could be written"
    end = "; ".join(filter(None, [next_step, place]))
    room = LONGEST_LINE - len("weatherglass: : ; ") - len(what) - len(end)
    reason = short_line(_hidden(_described(error)), max(LEAST_REASON, room))
    return f"weatherglass: {what}: {reason}; {end}"


def _described(error: BaseException) -> str:
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _write_log(error: BaseException) -> Path | None:
    """Write the traceback whole to the user's cache folder, else to the temporary one; None where neither works."""
    from weatherglass import __version__
    from weatherglass.storage.atomic import write_whole

    now = time.gmtime()
    head = [
        f"weatherglass {__version__}, Python {platform.python_version()}, {platform.platform()}",
        time.strftime("%Y-%m-%d %H:%M:%S UTC", now),
        f"weatherglass {shlex.join(sys.argv[1:])}",
    ]
    content = _hidden("\n".join([*head, "", "".join(traceback.format_exception(error))]))
    name = f"error-{time.strftime('%Y%m%d-%H%M%S', now)}-{os.getpid()}.log"
    for folder in (_log_folder, tempfile.gettempdir):
        with contextlib.suppress(OSError, RuntimeError):  # no home folder, or a read-only one
            path = Path(folder()) / name
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(path, content[:LONGEST_LOG].encode(errors="backslashreplace"))
            return path.resolve()
    return None


def _log_folder() -> str:
    from weatherglass.storage.fingerprint import cache_folder

    return str(cache_folder() / "logs")


def _hidden(text: str) -> str:
    from weatherglass.cli.redact import without_secrets

    return without_secrets(text, sys.argv[1:], os.environ)


def _print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Without the line of code that it came from, which is not the user's."""
    del filename, lineno, line
    kind = "" if issubclass(category, UserWarning) else f"{category.__name__}: "
    text = short_line(f"warning: {kind}{message}")
    with contextlib.suppress(OSError):
        print(text, file=file or sys.stderr)
