"""Define `weatherglass explore`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weatherglass.cli.command import command, flag, option
from weatherglass.cli.options import TEST, models_argument


@command(
    "explore",
    examples=(
        "weatherglass explore",
        "weatherglass explore vectors:glove.txt wordllama -t weat7",
        "weatherglass explore --no-browser",
    ),
)
@models_argument(
    "A model, as for 'weatherglass run', or the folder of a run, whose models are explored; at most four. By default, "
    "the embedded model is used."
)
@option(
    "-t",
    "--test",
    type=TEST,
    default="weat6",
    metavar="NAME|FILE",
    help="Test to start from: a name of the catalogue, or a file.",
)
@flag("--no-browser", help="Print the address without opening a browser.")
def explore(models: Sequence[str], test: str, no_browser: bool) -> None:
    """Type words and see effect size, exact p and interval move, on a page of this machine.

    The page is served on 127.0.0.1 under an address with a secret token, and fetches nothing from elsewhere. End it
    with Ctrl-C.
    """
    from weatherglass.audit.folder import RECORD
    from weatherglass.audit.stored import read_record
    from weatherglass.catalogue import list_tests
    from weatherglass.cli.console import say
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.explore.engine import Engine
    from weatherglass.explore.page import page
    from weatherglass.explore.server import Server
    from weatherglass.explore.state import start_state

    specs: list[str] = []
    for given in models or [DEFAULT_MODEL]:
        folder = Path(given)
        of_run = "\0" not in given and (folder / RECORD).is_file()
        specs += [each["model"] for each in read_record(folder)["models"]] if of_run else [given]
    start = start_state(test)
    engine = Engine(specs)
    start |= {"models": list(range(len(engine.models))), "test": test if test in list_tests() else ""}
    server = Server(engine, page(engine, start))
    say(["Reading the models …"])
    engine.prepare()
    say([f"Explore: {server.address}", "Ctrl-C ends it."], whole=True)
    if not no_browser:
        import webbrowser

        webbrowser.open(server.address)
    server.serve()
    say(["Stopped."])
