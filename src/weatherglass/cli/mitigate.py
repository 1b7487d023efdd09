"""`weatherglass mitigate`: change a model's vectors, write them, and ask whether the cure worked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weatherglass.cli.study_output import interruptible
from weatherglass.cli.worker_options import Jobs, Scheduler, SharedDir

if TYPE_CHECKING:
    from weatherglass.api.mitigation import Written

DEFAULT_FOLDER = Path("weatherglass-mitigation")


def mitigate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="As in 'weatherglass run'; it may have transforms behind it.",
            show_default=False,
        ),
    ],
    transforms: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="TRANSFORM",
            help="Such as 'hard-debias?pairs=gender' or 'leace?classes=FILE'; repeat for several in a row.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write word vectors (.safetensors, .txt, .vec, .bin), or NAME.transform, which wraps any encoder: "
            "'MODEL | saved?file=NAME.transform'.",
            show_default=False,
        ),
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Judge whether the cure worked, and write one page about it.")
    ] = False,
    folder: Annotated[
        Path, typer.Option(help="Folder for the page and the numbers of --judge.", metavar="DIR")
    ] = DEFAULT_FOLDER,
    tests: Annotated[
        list[str] | None,
        typer.Option(
            "-t",
            "--test",
            metavar="TOPIC|TEST",
            help="What to judge by; default: the topics that the lists are about. Repeat.",
            show_default=False,
        ),
    ] = None,
    pairs: Annotated[
        str,
        typer.Option(
            help="Pairs whose direction is to be recovered; default: the transform's.", metavar="LIST"
        ),
    ] = "",
    neutral: Annotated[
        str, typer.Option(help="Words without the attribute: a file, one a line.", metavar="LIST")
    ] = "neutral",
    similarity: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Pairs of words or sentences (STS) with a score, tabs between; default: those of gensim. Repeat.",
            show_default=False,
        ),
    ] = None,
    analogies: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Analogies, four words a line; likewise.", show_default=False),
    ] = None,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    shared_dir: SharedDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Fit transforms on named words; write the changed vectors, and judge whether the cure worked.

    Transforms: hard-debias, double-hard, mean-difference, inlp, leace, sentence-debias, centre, all-but-the-top, saved.
    """
    from weatherglass.api.mitigation import mitigate as fit
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.console import print_json, say
    from weatherglass.errors import WeatherglassError

    if output is None and not judge:
        raise WeatherglassError("nothing to do: name a file with -o FILE, or add --judge")
    with Bar(quiet or as_json) as bar:
        mitigation = fit(
            model, transforms or (), jobs=jobs, scheduler=scheduler, shared_dir=shared_dir, progress=bar
        )
        written = mitigation.write(output) if output is not None else None
        judgement = None
        if judge:
            with interruptible(folder):
                judgement = mitigation.judge(
                    tests=tests or (),
                    pairs=pairs,
                    neutral=neutral,
                    similarity=similarity or (),
                    analogies=analogies or (),
                    jobs=jobs,
                    scheduler=scheduler,
                    shared_dir=shared_dir,
                    folder=folder,
                    progress=bar,
                )
    if as_json:
        print_json(
            {
                **({"written": [written.path], "vectors": written.to_json()} if written else {}),
                **({"judgement": judgement.to_json()} if judgement else {}),
            }
        )
        return
    if written:
        _print_written(written)
    if judgement:
        from weatherglass.report.cure.terminal import lines_of

        say(lines_of(judgement.to_json()), whole=True)
        say([f"Page and numbers: {folder}"], whole=True)


def _print_written(written: Written) -> None:
    from weatherglass.cli.console import complain, say

    for note in written.notes:
        complain(f"note: {note}")
    what = f"{written.words} words of {written.width} dimensions" if written.words else "a fitted transform"
    say([f"{written.path}: {what}, {written.format}"], whole=True)
    if not written.words:
        say(
            [f"Use it behind any model of {written.width} dimensions: MODEL | saved?file={written.path}"],
            whole=True,
        )
