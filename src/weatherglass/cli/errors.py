"""Report the errors of a command in one line on stderr, and return the exit code.

An unexpected error also writes its traceback, without secrets, to a log file that the line names.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import platform
import re
import shlex
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import click

from weatherglass.cli.console import complain
from weatherglass.errors import OutputError, WeatherglassError, has_no_room, output_error
from weatherglass.storage.printable import LONGEST_LINE, short_line

EXIT_CODES: Mapping[int, str] = {
    0: "done",
    1: "a gate failed, the disk is full, or the output was closed",
    2: "an error in the command or its files, described in one line on stderr",
    3: "a part of the work failed or was stopped; the same command does the rest",
    4: "an internal error; the line on stderr names the log with the traceback",
}
UNFORESEEN = 4
INTERRUPTED = 130
LONGEST_LOG = 1_000_000
"""The maximum number of characters of a message, which may contain a whole file."""
LEAST_REASON = 40
"""The number of characters of a message that are always shown, even if the path of the log is long."""
LAST_SECOND = 253_402_300_799
"""The end of the year 9999, the last time that Python can represent."""
HIDDEN = "***"
SHORTEST_SECRET = 8
"""The smallest length of a secret in characters; shorter values are switches, such as TOKENIZERS_PARALLELISM=false."""
_SECRET_NAME = re.compile("key|token|secret|passw|auth|credential", re.IGNORECASE)
_OPTION = re.compile(r"([\w.-]+)[=:]([^\s&|?;,'\"]+)")
_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_BEARER = re.compile(r"(?<=Bearer )\S+", re.IGNORECASE)


def exit_code_of(app: Callable[..., Any]) -> int:
    """Run the command of `sys.argv`, and return the exit code of the process."""
    has_output = _open_streams()
    with warnings.catch_warnings():
        warnings.showwarning = _print_warning
        try:
            _check_environment(has_output)
            code = app(prog_name="weatherglass", standalone_mode=False)  # also for python -m weatherglass
            sys.stdout.flush()
        except WeatherglassError as error:
            complain(f"weatherglass: {error}")
            return error.exit_code
        except (KeyboardInterrupt, click.Abort):  # click converts the first into the second
            return INTERRUPTED
        except SystemExit:
            raise  # a closed pipe, or --version
        except BaseException as error:  # a panic of a Rust library is not an Exception
            return _code_of(error)
    return code if isinstance(code, int) else 0


def _open_streams() -> bool:
    """Open closed standard streams on the null device, and return whether standard output was open.

    Otherwise the first file that the process opens would get the stream's descriptor, and text would be written to it.
    A character that the encoding of a stream lacks is replaced by its escape.
    """
    was_open = sys.stdout is not None
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            if number:  # a command that reads standard input reports that there is none
                setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
        elif number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return was_open


def _check_environment(has_output: bool) -> None:
    """Refuse an environment in which a library would fail with an obscure error.

    Raises:
        OutputError: if standard output is closed.
        WeatherglassError: if SOURCE_DATE_EPOCH, which numpy and matplotlib read, is not a time.
    """
    if not has_output:
        raise OutputError("standard output is closed; use '> /dev/null' to discard the output")
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is not None and not (epoch.isdecimal() and int(epoch[:20]) <= LAST_SECOND):
        raise WeatherglassError(
            f"SOURCE_DATE_EPOCH={epoch!a} is not a number of seconds since 1970; unset it"
        )


def _code_of(error: BaseException) -> int:
    """Print an error in one line, and return the exit code."""
    if isinstance(error, click.ClickException):  # a wrong option
        _print_usage(error)
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        _discard(sys.stdout)
        return 1
    if has_no_room(error):
        _discard(sys.stdout)
        full = output_error(error.filename or "standard output or a temporary file", error)
        complain(f"weatherglass: {full}")
        return full.exit_code
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        complain(
            f"weatherglass: {short_line(str(error.filename), 100)}: this is too long for the name of a file"
        )
        return WeatherglassError.exit_code
    complain(_line_of(error, _write_log(error)))
    return UNFORESEEN


def _print_usage(error: click.ClickException) -> None:
    """Print the mistake in the command in one line, or the help if no command was given."""
    context = getattr(error, "ctx", None)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        with contextlib.suppress(OSError):
            error.show()
        return
    path = context.command_path if context else "weatherglass"
    message = short_line(error.format_message(), LONGEST_LINE - 2 * len(path) - len(": ; see ' --help'"))
    complain(f"{path}: {message.rstrip('.')}; see '{path} --help'")


def _discard(stream: TextIO) -> None:
    """Drop the buffer of a stream, so that the process does not fail again at its end."""
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
    """Write the traceback to the cache folder or the temporary folder, and return the path if that worked."""
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
        with contextlib.suppress(OSError, WeatherglassError):  # no home folder, or a read-only one
            path = Path(folder()) / name
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(path, content[:LONGEST_LOG].encode(errors="backslashreplace"))
            return path.resolve()
    return None


def _log_folder() -> str:
    from weatherglass.storage.checksum import cache_folder

    return str(cache_folder() / "logs")


def _hidden(text: str) -> str:
    return without_secrets(text, sys.argv[1:], os.environ)


def _print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning without its line of code, which does not belong to the user."""
    del filename, lineno, line, file
    kind = "" if issubclass(category, UserWarning) else f"{category.__name__}: "
    complain(f"warning: {kind}{message}")


def without_secrets(text: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the text with *** for every secret in the arguments or the environment.

    >>> without_secrets("KeyError: 'sk-123456'", [], {"OPENAI_API_KEY": "sk-123456"})
    "KeyError: '***'"
    """
    for secret in sorted({*_secrets(arguments, environment)}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _BEARER.sub(HIDDEN, _IN_ADDRESS.sub(HIDDEN, text))


def _secrets(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if _SECRET_NAME.search(name) and len(value.strip()) >= SHORTEST_SECRET:
            yield value.strip()
    for name, value in (option for argument in arguments for option in _OPTION.findall(argument)):
        if name == "key_env":
            if secret := environment.get(value, "").strip():
                yield secret
        elif _SECRET_NAME.search(name):
            yield value
