"""What is around the files: requests of the explorer, places to write to, the environment, objects in memory."""

from __future__ import annotations

import io
import json
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.hostile.mutations import as_json, of_json
from tests.hostile.target import Reading, Sample, Target

UNEXPECTED = 4
"""The exit code of an error that no boundary caught."""

WORDS = {role: {"name": role, "words": words} for role, words in zip(
    "XYAB", (["rose", "lily"], ["ant", "wasp"], ["love", "joy"], ["war", "filth"]), strict=True
)}  # fmt: skip
REQUESTS: dict[str, Any] = {
    "state": {"sets": WORDS, "metric": "cosine/mean", "models": [0], "place": ["nurse"]},
    "suggest": {"prefix": "nur", "model": 0},
    "neighbours": {"word": "nurse", "model": 0},
    "test": {"name": "weat6"},
    "copies": {"sets": WORDS, "metric": "cosine/mean", "models": [0]},
}


@cache
def _app() -> Any:
    from weatherglass.explore.engine import Engine
    from weatherglass.explore.server import Server

    return Server(Engine(["wordllama"]), "<p>")


def _request(path: Path) -> Reading:
    """The body of a request to the route that the file is named after, through the guard, without a connection."""
    import asyncio

    from weatherglass.errors import WeatherglassError

    served, body = _app(), path.read_bytes()
    host = f"127.0.0.1:{served.port}".encode()
    headers = [(b"host", host), (b"origin", b"http://" + host), (b"content-type", b"application/json")]
    scope = {
        "type": "http", "method": "POST", "path": f"/{served.token}/api/{path.stem}", "raw_path": b"",
        "query_string": b"", "headers": headers, "scheme": "http", "http_version": "1.1", "root_path": "",
        "server": ("127.0.0.1", served.port), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    with redirect_stderr(io.StringIO()) as errors:
        asyncio.run(served.app(scope, receive, send))
    assert not errors.getvalue(), errors.getvalue()
    content = b"".join(each.get("body", b"") for each in sent[1:])
    if sent[0]["status"] != 200:
        assert sent[0]["status"] in (400, 409, 413), sent[0]
        raise WeatherglassError(content.decode())
    return Reading(content)


NAMES = (
    b"a.csv",
    b"folder",
    b"folder/b.csv",
    b"link",
    b"circle",
    b"nowhere",
    b"fifo",
    b"socket",
    b"deep/er/c.csv",
)


def _output(path: Path) -> Reading:
    """Write to the place that the file names, which never leaves the folder; what is there and no file stays."""
    from weatherglass.errors import WeatherglassError
    from weatherglass.storage.atomic import check_output, write_whole, writing_into

    name = path.read_bytes().replace(b"\0", b"\1").replace(b"..", b"._").decode("utf-8", "surrogateescape")
    place = path.parent / "places"
    (place / "folder").mkdir(parents=True, exist_ok=True)
    for link, leads_to in (("link", "a.csv"), ("circle", "circle"), ("nowhere", "no/such")):
        if not (place / link).is_symlink():
            (place / link).symlink_to(leads_to)
    if not (place / "fifo").exists():
        os.mkfifo(place / "fifo")
    if not (place / "socket").exists():
        with suppress(OSError), socket.socket(socket.AF_UNIX) as made:  # the path may be too long
            made.bind(str(place / "socket"))
    target = Path(f"{place}/{name}")
    try:
        with writing_into(place):
            check_output(target)
            write_whole(target, "text")
    except WeatherglassError as error:
        return Reading(str(error))
    assert (place / "folder").is_dir()
    assert (place / "fifo").is_fifo()
    assert (place / "link").is_symlink()
    assert not list(place.rglob(".weatherglass-*"))
    return Reading(target.read_text())


ENVIRONMENT = {
    "WEATHERGLASS_CACHE": "cache", "WEATHERGLASS_MAX_UNPACKED": "8G", "SOURCE_DATE_EPOCH": "1700000000",
    "COLUMNS": "80", "NO_COLOR": "1", "LANG": "C.UTF-8", "XDG_CACHE_HOME": "/nonexistent", "TERM": "dumb",
    "FORCE_COLOR": "1", "HF_HUB_OFFLINE": "1", "WEATHERGLASS_JOBS": "1", "LINES": "24",
}  # fmt: skip
ASKED = (["tests", "show", "weat6"], ["cache", "info"], ["run", "wordllama", "-t", "weat6", "-q", "--json"])


def _environment(path: Path) -> Reading:
    """Three commands under an environment; the cache stays below the folder."""
    from weatherglass.cli import main

    try:
        given = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return Reading("")
    if not isinstance(given, dict):
        return Reading("")
    texts = {
        str(name).replace("\0", "").replace("=", "").encode("utf-8", "replace"): str(value)
        .replace("\0", "").encode("utf-8", "replace")
        for name, value in given.items()
    }  # fmt: skip
    for name in (b"WEATHERGLASS_CACHE", b"XDG_CACHE_HOME"):
        if name in texts:
            texts[name] = texts[name].lstrip(b"/").replace(b"..", b"._")[:100]
    texts.pop(b"", None)
    printed = ""
    for words in ASKED:
        with (
            redirect_stdout(io.StringIO()) as out,
            redirect_stderr(io.StringIO()) as err,
            patch.dict(os.environb, texts),
            patch.object(sys, "argv", ["weatherglass", *words]),
        ):
            try:
                main()
            except SystemExit as error:
                if error.code == UNEXPECTED:
                    raise AssertionError(err.getvalue()) from error
        printed += out.getvalue()
    return Reading(printed)


OBJECTS: tuple[Any, ...] = (
    {"rose": [1.0, 0.5], "ant": [0.5, -1.0], "love": [1.0, 0.0], "war": [0.0, -1.0]},
    [{"rose": [1.0, 0.5], "ant": [0.5, -1.0], "love": [1.0, 0.0], "war": [0.0, -1.0]}, "wordllama"],
    {"X": {"a": ["rose"]}, "Y": {"b": ["ant"]}, "A": {"c": ["love"]}, "B": {"d": ["war"]}},
    {
        "vectors": {"rose": [1, 2], "ant": [2, 1]},
        "name": "m",
        "identity": "1",
        "case": "lower",
        "tokens": "words",
    },
)


def _object(path: Path) -> Reading:
    """What a notebook may hand over: vectors as a dict, several models, the sets of a test, a name and options."""
    from weatherglass.catalogue.from_words import make_test
    from weatherglass.encoders.in_memory import model, models_in

    try:
        given = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return Reading("")
    if path.stem in "01":
        models = models_in(given)
        return Reading([each if isinstance(each, str) else each.name for each in models])
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        return Reading("")
    if path.stem == "2":
        known = {name: given[name] for name in "XYAB" if name in given}
        return Reading(make_test(**known, name="own").name if len(known) == 4 else "")
    vectors = given.pop("vectors", None)
    found = model(
        vectors, **{name: given[name] for name in given if name in ("name", "identity", "case", "tokens")}
    )
    return Reading(found.name)


def _samples(trees: Mapping[str, Any]) -> list[Sample]:
    return [
        Sample({f"{name}.json": as_json(one)}, {f"{name}.json": of_json(one)}) for name, one in trees.items()
    ]


SURROUNDINGS = (
    Target(
        "requests of the explorer", lambda _: _samples(REQUESTS), _request, group="surroundings", weight=2
    ),
    Target(
        "places to write to", lambda _: [Sample({"name": name}) for name in NAMES], _output,
        group="surroundings",
    ),
    Target(
        "environments", lambda _: _samples({"e": ENVIRONMENT}), _environment, group="surroundings", weight=2
    ),
    Target(
        "objects in memory", lambda _: _samples({str(n): one for n, one in enumerate(OBJECTS)}), _object,
        group="surroundings",
    ),
)  # fmt: skip
