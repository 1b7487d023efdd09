"""What stands on the command line: models and transforms, tests, conditions, and whole commands."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.hostile.mutations import of_json
from tests.hostile.target import Reading, Sample, Target

SPECS = (
    b"glove=vectors:v.txt?case=lower&tokens=mean | centre?on=catalogue | hard-debias?pairs=gender&components=1",
    b"encodings:e.npz", b"openai:text-embedding-3-small?base_url=http://[::1]:9/v1&dim=256&batch=8",
    b"infersent:i.pkl?glove=v.txt&version=1", b"elmo:folder?pooling=mean&layers=sum", b"wordllama?dim=64",
    b"hf:bert-base-cased?pooling=cls&layers=-1&revision=main", b"./v.txt", b"gensen:.?glove=v.txt",
    b"m=wordllama | leace?classes=male_terms,female_terms | saved?file=x.transform", b"st:a/b?prompt=query: ",
    b"wordllama | double-hard | inlp?classes=gender&rounds=3 | sentence-debias | all-but-the-top?components=2",
)  # fmt: skip
LOADED = ("vectors", "encodings", "openai", "infersent", "gensen", "elmo", "wordllama")
"""Kinds whose spec is read to the end; others would look for a model on a hub."""
CONDITIONS = (
    b"abs(effect_size) > 0.8 and p_adjusted < 0.01", b"not known(p_value) or verdict == 'robust'",
    b"-(effect_size + 1) * 2 / ci_low >= 1e-3 and test != \"weat6\"", b"topic == 'a' or topic_ci_low > 0.2",
)  # fmt: skip
NAMES = (
    b"weat6",
    b"sent-*",
    b"fields",
    b"gender and career",
    b"[a-",
    b"./own.toml",
    b"~nobody/x.jsonl",
    b"weat[1-3]",
)
COMMANDS = (
    ["tests", "show", "weat6", "--json"], ["tests", "list", "sent-*", "--topic", "age"], ["metrics", "--json"],
    ["docs", "units"], ["verdict", "run", "--multiverse", "m.json"], ["compare", "run", "run", "--fail-if", "worse"],
    ["explain", "run", "weat6", "--model", "m"], ["models", "--json"], ["report", "run", "--format", "md"],
    ["reliability", "word", "study", "nurse", "--json"], ["tests", "sets", "--json"], ["words", "no-such", "--json"],
    ["run", "no-such", "-t", "no-test", "--alpha", "0.05", "--fail-if", "p_value < 0.05", "--seed", "1"],
)  # fmt: skip


UNEXPECTED = 4
"""The exit code of the last handler: an error that no boundary caught."""


def _text(path: Path) -> str:
    """An argument as the shell would hand it over: no NUL, bytes that are no text as half characters."""
    return path.read_bytes().replace(b"\0", b"\1").decode("utf-8", "surrogateescape")


def _spec(path: Path) -> Reading:
    from weatherglass.encoders import load_encoder, resolve_spec
    from weatherglass.mitigation import read_model

    spelling = read_model(_text(path))
    spec = resolve_spec(spelling.spec)
    if spec.kind in LOADED:
        load_encoder(spec, cache=False)
    return Reading((spelling.name, str(spec), [each.name for each in spelling.transforms]))


def _spelling(path: Path) -> Reading:
    """As `_spec`, of a sample that names files which are not there: the refusal is its reading."""
    from weatherglass.errors import WeatherglassError

    try:
        return _spec(path)
    except WeatherglassError as error:
        return Reading(str(error))


def _condition(path: Path) -> Reading:
    from weatherglass.gate.rules import gate_of

    gate = gate_of([_text(path)], None)
    row = {"effect_size": 1.0, "p_adjusted": 0.001, "test": "weat6", "ci_low": 0.0}
    return Reading(gate and gate.rules[0].condition.decide(row))


def _names(path: Path) -> Reading:
    from weatherglass.catalogue.select import load_tests
    from weatherglass.errors import WeatherglassError

    try:
        return Reading([test.name for test in load_tests([_text(path)])])
    except WeatherglassError as error:
        return Reading(str(error))


def _command(path: Path) -> Reading:
    from weatherglass.cli import main

    try:
        words = json.loads(_text(path))
        arguments = (
            [str(word).replace("\0", "") for word in words] if isinstance(words, list) else [str(words)]
        )
    except (ValueError, RecursionError):  # not of our making: the shell splits words
        arguments = _text(path)[:1000].split()
    before, sys.argv = sys.argv, ["weatherglass", *arguments]
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as error:
            if error.code == UNEXPECTED:
                raise AssertionError(err.getvalue()) from error
        finally:
            sys.argv = before
    return Reading(out.getvalue() + err.getvalue())


ARGUMENTS = (
    Target("models and transforms", lambda _: [Sample({"spec": spec}) for spec in SPECS], _spelling),
    Target("conditions of gates", lambda _: [Sample({"condition": each}) for each in CONDITIONS], _condition),
    Target("names of tests", lambda _: [Sample({"name": name}) for name in NAMES], _names),
    Target(
        "commands",
        lambda _: [
            Sample({"c.json": json.dumps(each).encode()}, {"c.json": of_json(each)}) for each in COMMANDS
        ],
        _command,
    ),
)
