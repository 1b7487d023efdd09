"""Define `weatherglass explore`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from weatherglass.cli.command import command, file_option, flag, option
from weatherglass.cli.options import TEST, models_argument

OTHER_RECORDS = (
    *("journal.jsonl", "results.tsv", "multiverse.json", "judgement.json", "calibration.json", "study.html"),
)
"""Files of folders that other commands write, and of unfinished runs; no model has one."""


@command(
    "explore",
    examples=(
        "weatherglass explore",
        "weatherglass explore vectors:glove.txt wordllama -t weat7",
        "weatherglass explore --no-browser",
        "weatherglass explore --export explored.html",
    ),
)
@models_argument(
    "A model, as for 'weatherglass run', or the folder of a run, whose models are explored; NAME=SPEC replaces the "
    "model of that name. At most four; by default, the embedded model."
)
@option(
    "-t",
    "--test",
    type=TEST,
    default="",
    metavar="NAME|FILE",
    help="Test to start from: a test of the catalogue, by name, or a file. By default, the first test of the run, or "
    "weat6.",
)
@file_option(
    "--export",
    default=None,
    help="Write one page with precomputed states of the given test, or of all tests of the catalogue, and start no "
    "server.",
)
@flag("--no-browser", help="Print the address without opening a browser.")
def explore(models: Sequence[str], test: str, export: Path | None, no_browser: bool) -> None:
    """Type words and watch effect size, exact p and interval change, on a page that this machine serves.

    The page is served on 127.0.0.1 under an address with a secret token, and fetches nothing from elsewhere. End it
    with Ctrl-C.
    """
    from weatherglass.audit.folder import RECORD
    from weatherglass.audit.stored import read_record
    from weatherglass.catalogue import list_tests
    from weatherglass.cli.console import say
    from weatherglass.cli.run import check_places
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.explore.engine import Engine
    from weatherglass.explore.of_run import specs_of, test_of
    from weatherglass.explore.state import start_state

    if export is not None:
        check_places(export)
    folders = [each for each in models if "\0" not in each and _has_one_of(each, (RECORD, *OTHER_RECORDS))]
    others = [each for each in models if each not in folders]
    records = [read_record(Path(folder)) for folder in folders]
    specs = [spec for record in records[1:] for spec in specs_of(record)]
    specs = specs_of(records[0], [*specs, *others]) if records else others or [DEFAULT_MODEL]
    first = test or (test_of(records[0]) if records else "weat6")
    start = start_state(first)
    engine = Engine(specs)
    if export is not None:
        from weatherglass.cli.progress import progress
        from weatherglass.explore.export import export as write_export

        with progress(False, None) as bar:
            stored = write_export(engine, export, [first] if test else (), bar)
        many = "" if len(stored) == 1 else "s"
        say([f"{export}: {len(stored)} test{many}, each with all words and without each word"])
        return
    start |= {"models": list(range(len(engine.models))), "test": first if first in list_tests() else ""}
    from weatherglass.explore.page import page
    from weatherglass.explore.server import Server

    server = Server(engine, page(engine, start))
    say(["Reading the models …"])
    engine.prepare()
    say([f"Explore: {server.address}", "Ctrl-C ends it."], whole=True)
    with nullcontext() if no_browser else server.opened_in_browser():
        server.serve()
    say(["Stopped."])


def _has_one_of(folder: str, names: Sequence[str]) -> bool:
    return any((Path(folder) / name).is_file() for name in names)
