"""The options that say where a command computes, defined once for all commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WHERE = "Where it runs"
"""Their group in the help."""

Jobs = Annotated[int, typer.Option("--jobs", help="Processes to use.", min=1, rich_help_panel=WHERE)]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        help="A Dask cluster: tcp://HOST:PORT or a scheduler file; or ENGINE:ADDRESS of another package.",
        metavar="ADDRESS",
        show_default=False,
        rich_help_panel=WHERE,
    ),
]
SharedDir = Annotated[
    Path | None,
    typer.Option(
        "--shared-dir",
        help="A folder that all machines of the cluster see.",
        metavar="DIR",
        show_default=False,
        rich_help_panel=WHERE,
    ),
]
