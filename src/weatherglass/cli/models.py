"""Define `weatherglass metrics`, `models`, `try`, `encode` and `cache`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weatherglass.cli.command import CommandGroup, argument, command, file_option
from weatherglass.cli.console import print_json, say, table, width_of
from weatherglass.cli.options import MODEL, MODEL_HELP, Choice, json_option, quiet_option, repeated_tests
from weatherglass.errors import WeatherglassError
from weatherglass.storage.documents import document_text, parsed_json

if TYPE_CHECKING:
    from weatherglass.encoders import Kind
    from weatherglass.encoders.base import Asked, ModelEncoder, What
    from weatherglass.metrics.base import Count, Metric, MetricInfo

LOG_PROBABILITIES = ("log-probabilities", "unmasked-log-probabilities", "attended-log-probabilities")
NEAREST = 5
"""The number of neighbours for each text."""
AT_ONCE = 512
"""The number of texts between two updates of the progress bar."""
WHOLE_FROM = 160
"""The smallest terminal width at which all facts about the metrics are printed in one table."""

model_argument = argument("model", type=MODEL, metavar="MODEL", help=MODEL_HELP)


@command(
    "metrics", examples=("weatherglass metrics", "weatherglass run -m rnsb -m 'rnd(normalise=yes)' -t weat6")
)
@json_option
def metrics(as_json: bool) -> None:
    """List the metrics with the sets that they take, their range and their meaning.

    If a metric takes one target or attribute set and a test has more, it is run once for each set.
    """
    from weatherglass.metrics import METRICS

    rows = [row for name in METRICS.names() for row in _family(name, METRICS.get(name)([], {}))]
    if as_json:
        print_json({"metrics": rows}, indent=None)
    else:
        say(_metric_lines(rows, width_of()))


def _metric_lines(rows: Sequence[dict[str, Any]], width: int) -> Iterator[str]:
    """Yield a table of the metrics with their meaning and source, which appear below the table in a narrow
    terminal.
    """
    from weatherglass.report.layout import Column, table_lines, wrapped

    columns = [
        Column("metric", shorten="end"),
        Column("targets, attributes"),
        Column("range"),
        Column("without bias", right=True),
    ]
    cells = [
        [
            row["name"],
            f"{row['targets']}{' paired' if row['paired'] else ''}, {row['attributes']}",
            row["range"],
            f"{row['unbiased']:g}",
        ]
        for row in rows
    ]
    if width >= WHOLE_FROM:
        columns += [Column("meaning", shorten="end"), Column("source", shorten="end")]
        cells = [[*own, row["direction"], row["source"]] for own, row in zip(cells, rows, strict=True)]
        yield from table_lines(columns, cells, width)
        return
    yield from table_lines(columns, cells, width)
    yield ""
    for row in rows:
        about = f"{row['name']}: {row['direction']}" + (f"; {row['source']}" if row["source"] else "")
        yield from wrapped(about, width, further="  ")


def _family(name: str, metrics: Sequence[Metric]) -> Iterator[dict[str, Any]]:
    """Yield descriptions of the metrics with a given name; a single metric has that name."""
    for metric in metrics:
        yield _described(name if len(metrics) == 1 else metric.name, metric.info)


def _described(name: str, info: MetricInfo) -> dict[str, Any]:
    """Return the declaration of a metric."""
    return {
        "name": name,
        "summary": info.summary,
        "targets": _number(info.shape.targets),
        "attributes": _number(info.shape.attributes),
        "paired": info.shape.paired,
        "range": " … ".join(map(_end, info.bounds)),
        "unbiased": info.unbiased,
        "signed": info.signed,
        "needs": info.needs,
        "exchanges": info.exchanges,
        "contrasts": info.contrasts,
        "poolable": info.poolable,
        "direction": info.direction,
        "source": info.source,
        "caution": info.caution,
    }


def _number(count: Count) -> str:
    return str(count.least) if count.most == count.least else f"≥ {count.least}"


def _end(bound: float) -> str:
    if abs(bound) == float("inf"):
        return "∞" if bound > 0 else "−∞"
    return f"{bound:g}".replace("-", "−")


@command("models", examples=("weatherglass models",))
@json_option
def models(as_json: bool) -> None:
    """List the kinds of models, and how to install and name each."""
    from weatherglass.encoders import known_kinds
    from weatherglass.encoders.spec import FAMILIES, PRESETS

    if as_json:
        kinds = [
            {"kind": name, "summary": kind.summary, "example": kind.example, "missing": kind.missing}
            | ({"install": kind.remedy} if kind.missing else {})
            | ({"problem": kind.problem} if kind.problem else {})
            for name, kind in known_kinds().items()
        ]
        presets = {name: str(preset.spec) for name, preset in PRESETS.items()}
        print_json({"kinds": kinds, "presets": presets}, indent=None)
        return
    say([*_kind_lines(known_kinds(), width_of()), "", "Presets"])
    for name, preset in PRESETS.items():
        say([f"  {name}: {preset.spec}", f"    {preset.source}"])
    for name, preset in FAMILIES.items():
        say([f"  {name}:NAME: {str(preset.spec).replace('hf?', 'hf:NAME?')}", f"    {preset.source}"])


def _kind_lines(kinds: Mapping[str, Kind], width: int) -> Iterator[str]:
    """Yield the summary and an example of each kind, and the command that installs missing packages."""
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
    return f"{'partly; for full support' if kind.works_in_part else 'no'}: {kind.remedy}"


@command("try", examples=("weatherglass try wordllama doctor nurse 'a kind word'",))
@model_argument
@argument("texts", nargs=-1, required=True, metavar="TEXT...", help="Words or sentences.")
@json_option
def try_model(model: str, texts: Sequence[str], as_json: bool) -> None:
    """Show how a model reads texts, with their tokens, unknown words and nearest texts."""
    from weatherglass.arrays import neighbours

    encoder = _encoder(model)
    vectors = encoder.encode(list(texts))
    coverages = encoder.coverage(list(texts))
    nearest = [others[:NEAREST] for others in neighbours(vectors)]
    if as_json:
        rows = [
            {"text": text, **asdict(c), "nearest": [[texts[o], float(cosine)] for o, cosine in others]}
            for text, c, others in zip(texts, coverages, nearest, strict=True)
        ]
        facts = {"options": dict(encoder.options), "dimensions": vectors.shape[1], "notes": encoder.notes()}
        print_json({"model": encoder.name, **facts, "texts": rows})
        return
    options = "  ".join(f"{name}={value}" for name, value in encoder.options.items())
    say(filter(None, (encoder.name, options, f"{vectors.shape[1]} dimensions", *encoder.notes())))
    read = [
        [text, " ".join(coverage.tokens), " ".join(coverage.missing), coverage.note]
        for text, coverage in zip(texts, coverages, strict=True)
    ]
    say(["", *table(["text", "tokens", "missing", "remarks"], read)])
    if len(texts) > 1:
        near = [
            [
                text,
                "   ".join(f"{texts[o]} {cosine:.3f}" for o, cosine in others)
                or ("there is no vector to compare"),
            ]
            for text, others in zip(texts, nearest, strict=True)
        ]
        say(["", *table(["text", "nearest by cosine"], near)])


@command(
    "encode",
    examples=(
        "weatherglass encode hf:bert-base-uncased -t 'weat*' -o bert.npz",
        "weatherglass encode hf:gpt2 --what log-probabilities -t pairs -o gpt2.jsonl",
    ),
)
@model_argument
@file_option(
    "-o",
    "--output",
    required=True,
    help="File to write: .npz, .safetensors, .parquet or .h5 for vectors, .jsonl for log-probabilities.",
)
@repeated_tests(
    (), "Encode the texts of this test; repeat for several. By default, all 46 tests, or 'pairs' for --what."
)
@file_option(
    "--texts",
    "texts_file",
    help="Encode the texts of this file, which has one text per line or is a JSON list (.json).",
)
@click.option(
    "--what",
    type=Choice(("vectors", *LOG_PROBABILITIES)),
    default="vectors",
    help=f"What to write: vectors, {', '.join(LOG_PROBABILITIES)}. By default, vectors.",
)
@quiet_option
@json_option
def encode(
    model: str,
    output: Path,
    tests: Sequence[str],
    texts_file: Path | None,
    what: What,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the vectors of a model, or the log-probabilities of tokens, to a file that 'run' reads.

    Vectors are read as encodings:FILE, log-probabilities as scores:FILE.
    """
    import numpy as np

    from weatherglass.cli.progress import progress
    from weatherglass.encoders.encodings import format_for, write_encodings
    from weatherglass.storage.atomic import check_output

    if what != "vectors":
        _write_log_probabilities(model, output, tests, texts_file, what, quiet, as_json)
        return
    format_for(output)
    check_output(output)
    texts = _texts(tests, texts_file)
    encoder = _encoder(model)
    rows = []
    with progress(quiet or as_json) as bar:
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
    click.echo(f"{len(texts)} texts, {vectors.shape[1]} dimensions{remark}: {output}")


def _write_log_probabilities(
    model: str,
    output: Path,
    tests: Sequence[str],
    texts_file: Path | None,
    what: What,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write what the metrics of sentence pairs ask a model about tests, or the log-probabilities of texts."""
    from weatherglass.audit.encode import observe
    from weatherglass.audit.pairs import inputs_of
    from weatherglass.catalogue import load_tests
    from weatherglass.cli.progress import progress
    from weatherglass.encoders.base import check_asked, is_causal
    from weatherglass.encoders.scores import write_log_probabilities
    from weatherglass.parallel import InProcess
    from weatherglass.storage.atomic import check_output

    if output.suffix.lower() != ".jsonl":
        raise WeatherglassError(f"{output}: log-probabilities are written as .jsonl")
    check_output(output)
    encoder = _encoder(model)
    check_asked(encoder, (), what)
    causal = is_causal(encoder)
    inputs: list[Asked] = []
    if texts_file:
        inputs += _texts(tests, texts_file)
    else:
        inputs += [each for test in load_tests(tests or ["pairs"]) for each in inputs_of(test, what, causal)]
    with progress(quiet or as_json) as bar:
        observed = observe(encoder, inputs, what, InProcess(), bar)
    write_log_probabilities(output, observed, encoder.name, "causal" if causal else "masked")
    unreadable = sum(not len(values) for values in observed.values)
    if as_json:
        counts = {"inputs": len(observed.inputs), "without_tokens": unreadable}
        print_json({"model": encoder.name, "what": what, **counts, "written": [output]})
        return
    remark = f", {unreadable} of them without tokens" if unreadable else ""
    click.echo(f"{what} of {len(observed.inputs)} inputs{remark}: {output}")


def _texts(tests: Sequence[str] | None, file: Path | None) -> list[str]:
    """Return the distinct texts to encode, in order."""
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


cache = CommandGroup("cache", help="Show or clear the cache of encodings.")


@cache.command("info", examples=("weatherglass cache info",))
@json_option
def cache_info(as_json: bool) -> None:
    """Show the path and the size of the cache, and its models."""
    from weatherglass.encoders.cache import EncodingCache

    store = EncodingCache()
    cached, size = store.models(), store.size()
    if as_json:
        print_json(
            {"path": store.path, "bytes": size, "models": [asdict(model) for model in cached]}, indent=None
        )
        return
    say([f"{store.path}: {size / 1e6:.1f} MB"], whole=True)
    rows = [[model.name, str(model.texts), f"{model.bytes / 1e6:.1f}"] for model in cached]
    say(table(["model", "texts", "MB"], rows) if rows else [])


@cache.command("clear", examples=("weatherglass cache clear",))
@json_option
def cache_clear(as_json: bool) -> None:
    """Delete all cached encodings; they are computed again when needed."""
    from weatherglass.encoders.cache import EncodingCache
    from weatherglass.report.numbers import counted

    store = EncodingCache()
    count = sum(model.texts for model in store.models())
    store.clear()
    if as_json:
        print_json({"path": store.path, "removed": count})
    else:
        click.echo(f"{counted(count, 'encoding')} removed from {store.path}")


def _encoder(text: str) -> ModelEncoder:
    """Return the encoder of a model; a NAME= before the model is ignored.

    Raises:
        SpecError: if the model has a transform, which these commands do not apply.
    """
    from weatherglass.encoders import load_encoder
    from weatherglass.errors import SpecError
    from weatherglass.mitigation import read_model

    spelling = read_model(text)
    if spelling.transforms:
        raise SpecError(f"'{text}': this command shows the model itself; remove the transforms after '|'")
    return load_encoder(spelling.spec)
