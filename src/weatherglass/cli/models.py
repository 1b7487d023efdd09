"""`weatherglass models`, `try`, `encode` and `cache`: list, try and run encoders; show and clear the cache."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weatherglass.cli.command_line import App, Group
from weatherglass.cli.completion import complete_model, complete_test
from weatherglass.cli.console import plain_table, print_json, say, screen, width_of
from weatherglass.errors import WeatherglassError
from weatherglass.storage.documents import document_text, parsed_json

if TYPE_CHECKING:
    from weatherglass.encoders.base import ModelEncoder
    from weatherglass.encoders.kinds import Kind

cache_app = App(cls=Group, no_args_is_help=True, help="The cache of encodings: show it or clear it.")

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="As in 'run': a path, a preset or kind:target?option=value.",
        autocompletion=complete_model,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

NEAREST = 5
"""Neighbours shown for each text."""

AT_ONCE = 512
"""Texts encoded between two updates of the progress bar."""


def models(as_json: AsJson = False) -> None:
    """List every kind of model: what it is, whether it is installed, how to install it, and an example."""
    from weatherglass.encoders.kinds import known_kinds
    from weatherglass.encoders.presets import FAMILIES, PRESETS

    if as_json:
        kinds = [
            {"kind": name, "summary": kind.summary, "example": kind.example, "missing": kind.missing}
            | ({"install": kind.remedy} if kind.missing else {})
            | ({"problem": kind.problem} if kind.problem else {})
            for name, kind in known_kinds().items()
        ]
        typer.echo(
            json.dumps({"kinds": kinds, "presets": {name: str(p.spec) for name, p in PRESETS.items()}})
        )
        return
    say(_kind_lines(known_kinds(), width_of()))
    presets = [(name, str(preset.spec), preset.source) for name, preset in PRESETS.items()]
    presets += [
        (f"{name}:NAME", str(preset.spec).replace("hf?", "hf:NAME?"), preset.source)
        for name, preset in FAMILIES.items()
    ]
    say(["", "Presets"])
    for name, spec, source in presets:
        say([f"  {name}: {spec}", f"    {source}"])


def _kind_lines(kinds: Mapping[str, Kind], width: int) -> Iterator[str]:
    """A line each, then how it is spelt and, where something is missing, the command that installs it."""
    from weatherglass.report.layout import wrapped

    longest = max(map(len, kinds))
    for name, kind in kinds.items():
        indent = " " * (longest + 2)
        yield from wrapped(f"{name:{longest}}  {kind.summary}", width, further=indent)
        yield f"{indent}{kind.example}"
        yield f"{indent}installed: {_status(kind)}"


def _status(kind: Kind) -> str:
    if kind.problem:
        return f"no: {kind.problem}"
    if not kind.missing:
        return "yes"
    return f"{'in part; for the rest' if kind.works_in_part else 'no'}: {kind.remedy}"


def try_model(
    model: Model,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT…", help="Words or sentences.")],
    as_json: AsJson = False,
) -> None:
    """Show how a model reads texts: tokens, out-of-vocabulary words, and which texts are near each other."""
    from weatherglass.encoders.neighbours import neighbours

    encoder = _encoder(model)
    vectors = encoder.encode(texts)
    coverages = encoder.coverage(texts)
    if as_json:
        read = zip(texts, coverages, neighbours(vectors), strict=True)
        rows = [
            {
                "text": text,
                **asdict(c),
                "nearest": [[texts[o], float(cosine)] for o, cosine in others[:NEAREST]],
            }
            for text, c, others in read
        ]
        facts = {"options": dict(encoder.options), "dimensions": vectors.shape[1], "notes": encoder.notes()}
        print_json({"model": encoder.name, **facts, "texts": rows})
        return
    tokens = plain_table("text", "tokens", "missing", "remarks")
    for text, coverage in zip(texts, coverages, strict=True):
        tokens.add_row(text, " ".join(coverage.tokens), " ".join(coverage.missing), coverage.note)
    near = plain_table("text", "nearest by cosine")
    for text, others in zip(texts, neighbours(vectors), strict=True):
        neighbour_list = "   ".join(f"{texts[other]} {cosine:.3f}" for other, cosine in others[:NEAREST])
        near.add_row(text, neighbour_list or "no vector to compare")
    console = screen()
    options = "  ".join(f"{name}={value}" for name, value in encoder.options.items())
    for line in (encoder.name, options, f"{vectors.shape[1]} dimensions", *encoder.notes()):
        if line:
            console.print(line, soft_wrap=True)
    console.print()
    console.print(tokens)
    if len(texts) > 1:
        console.print()
        console.print(near)


def encode(
    model: Model,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help="File to write: .npz, .safetensors, .parquet or .h5."
        ),
    ],
    tests: Annotated[
        list[str] | None,
        typer.Option(
            "-t",
            "--test",
            metavar="TEST",
            help="Encode the texts of these tests. Default: all tests.",
            autocompletion=complete_test,
        ),
    ] = None,
    texts_file: Annotated[
        Path | None,
        typer.Option(
            "--texts",
            metavar="FILE",
            help="Encode the texts of this file: one per line, or a JSON list (.json).",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a model's vectors to a file, to use as `encodings:FILE`, also on another machine."""
    import numpy as np

    from weatherglass.cli.bar import Bar
    from weatherglass.encoders.encoding_files import format_for, write_encodings
    from weatherglass.storage.atomic import check_output

    format_for(output)
    check_output(output)
    texts = _texts(tests, texts_file)
    encoder = _encoder(model)
    rows = []
    with Bar(quiet or as_json) as bar:
        bar.stage(f"encoding with {encoder.name}", len(texts))
        for start in range(0, len(texts), AT_ONCE):
            batch = texts[start : start + AT_ONCE]
            rows.append(encoder.encode(batch))
            bar.advance(len(batch))
    vectors = np.concatenate(rows)
    write_encodings(output, texts, vectors, encoder.name)
    unreadable = int(np.isnan(vectors).all(axis=1).sum())
    if as_json:
        size = {"texts": len(texts), "dimensions": vectors.shape[1], "not_encoded": unreadable}
        print_json({"model": encoder.name, **size, "written": [output]})
        return
    remark = f"; {unreadable} of them could not be encoded and are rows of NaN" if unreadable else ""
    typer.echo(f"{len(texts)} texts, {vectors.shape[1]} dimensions{remark}: {output}")


def _texts(tests: Sequence[str] | None, file: Path | None) -> list[str]:
    """The distinct texts to encode, in order."""
    if file is None:
        from weatherglass.catalogue import load_tests

        return list(dict.fromkeys(text for test in load_tests(tests or ["*"]) for text in test.texts))
    if tests:
        raise WeatherglassError("use either -t or --texts, not both")
    try:
        content = document_text(file, WeatherglassError)
        lines = parsed_json(content) if file.suffix == ".json" else content.splitlines()
    except (ValueError, WeatherglassError) as error:
        raise WeatherglassError(f"{file}: cannot be read as texts ({error})") from None
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise WeatherglassError(f"{file}: should be a JSON list of strings")
    texts = list(dict.fromkeys(line for line in lines if line.strip()))
    if not texts:
        raise WeatherglassError(f"{file}: this file has no texts")
    return texts


@cache_app.command("info")
def cache_info(as_json: AsJson = False) -> None:
    """Show where the cache is, its size, and its models."""
    from weatherglass.encoders.cache.store import EncodingCache

    cache = EncodingCache()
    cached = cache.models()
    size = cache.size()
    if as_json:
        content = {"path": str(cache.path), "bytes": size, "models": [asdict(model) for model in cached]}
        typer.echo(json.dumps(content))
        return
    console = screen()
    console.print(f"{cache.path}: {size / 1e6:.1f} MB", soft_wrap=True)
    if cached:
        table = plain_table("model", "texts", "MB")
        for model in cached:
            table.add_row(model.name, str(model.texts), f"{model.bytes / 1e6:.1f}")
        console.print(table)


@cache_app.command("clear")
def cache_clear(as_json: AsJson = False) -> None:
    """Delete all cached encodings; they are computed again when they are needed."""
    from weatherglass.encoders.cache.store import EncodingCache

    cache = EncodingCache()
    count = sum(model.texts for model in cache.models())
    cache.clear()
    if as_json:
        print_json({"path": cache.path, "removed": count})
        return
    typer.echo(f"{count} encoding{'s' if count != 1 else ''} removed from {cache.path}")


def _encoder(text: str) -> ModelEncoder:
    """The encoder of a model as the user spells it; a name in front of it changes nothing here.

    Raises:
        SpecError: for a transform behind it: what is shown is the model itself.
    """
    from weatherglass.encoders import load_encoder
    from weatherglass.errors import SpecError
    from weatherglass.mitigation import read_model

    spelling = read_model(text)
    if spelling.transforms:
        raise SpecError(f"'{text}': this command shows the model itself; leave out what stands behind '|'")
    return load_encoder(spelling.spec)
