"""`weatherglass mitigate`: change a model's vectors, write them, and ask whether the cure worked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Fit transforms on named words, and write the changed word vectors or a file that wraps an encoder.

    Transforms: hard-debias, double-hard, mean-difference, inlp, leace, sentence-debias, centre, all-but-the-top, saved.
    """
    from weatherglass.api.mitigation import mitigate as fit
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.console import print_json
    from weatherglass.errors import WeatherglassError

    if output is None:
        raise WeatherglassError("nothing to do: name a file with -o FILE")
    with Bar(quiet or as_json) as bar:
        written = fit(model, transforms or (), progress=bar).write(output)
    if as_json:
        print_json(written.to_json())
        return
    for note in written.notes:
        typer.echo(f"note: {note}", err=True)
    what = f"{written.words} words of {written.width} dimensions" if written.words else "a fitted transform"
    typer.echo(f"{written.path}: {what}, {written.format}")
    if not written.words:
        typer.echo(
            f"Use it behind any model of {written.width} dimensions: MODEL | saved?file={written.path}"
        )
