"""`openai:` against a real HTTP server on loopback that is busy, broken, wrong, short or silent by turns."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import mentions, naming

from weatherglass.encoders import load_encoder
from weatherglass.encoders.openai import OpenAIEncoder
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError, WeatherglassError

httpx = pytest.importorskip("httpx", reason="the api extra is not installed")

KEY = "sk-test-3c1b0f7a9d2e4856"
DIMENSIONS = 4

Answer = tuple[int, dict[str, str], Any]
"""Status, headers, and the body, which is sent as JSON unless it is bytes."""


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    return [float(len(text)), *(float(ord(character)) for character in (text * dimensions)[: dimensions - 1])]


def embeddings(request: dict[str, Any]) -> Answer:
    """A right answer, its entries in the reverse order: the index counts, not the place."""
    dimensions = request.get("dimensions", DIMENSIONS)
    entries = [
        {"object": "embedding", "index": index, "embedding": vector_of(text, dimensions)}
        for index, text in enumerate(request["input"])
    ]
    return 200, {}, {"data": entries[::-1]}


@dataclass
class Server:
    """What the loopback server was asked, and what it answers next."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    script: list[Callable[[dict[str, Any]], Answer]] = field(default_factory=list)
    """One answer per request; a right one when it runs out."""


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append({"path": self.path, **request})
            state.keys.append(self.headers.get("Authorization"))
            answer = state.script.pop(0) if state.script else embeddings
            status, headers, body = answer(request)
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(sent)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    state.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield state
    http.shutdown()
    http.server_close()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The retry delays that were requested; none is waited for."""
    delays: list[float] = []
    monkeypatch.setattr("weatherglass.encoders.openai.time.sleep", delays.append)
    return delays


def encoder(server: Server, **options: str) -> OpenAIEncoder:
    return OpenAIEncoder.from_spec(Spec("openai", "some-model", (("base_url", server.url), *options.items())))


def status(code: int, message: str = "no", **headers: str) -> Callable[[dict[str, Any]], Answer]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: (code, named, {"error": {"message": message}})


TEXTS = ["a rose", "wasp", "This is a sentence.", "漢字"]


def test_vectors_come_back_in_the_order_of_the_texts(server: Server) -> None:
    vectors = encoder(server).encode(TEXTS)
    np.testing.assert_array_equal(vectors, [vector_of(text) for text in TEXTS])
    assert server.requests[0]["path"] == "/v1/embeddings"
    assert server.requests[0]["model"] == "some-model"
    assert server.keys == [f"Bearer {KEY}"]


def test_texts_are_sent_in_batches(server: Server) -> None:
    vectors = encoder(server, batch_size="3").encode(TEXTS)
    assert [len(request["input"]) for request in server.requests] == [3, 1]
    np.testing.assert_array_equal(vectors, [vector_of(text) for text in TEXTS])


def test_the_dimensions_asked_for_are_sent_and_checked(server: Server) -> None:
    assert encoder(server, dimensions="2").encode(TEXTS).shape == (4, 2)
    server.script = [lambda request: embeddings({"input": request["input"], "dimensions": 3})]
    with pytest.raises(EncoderError, match=naming(server.url, "3 dimensions", 2)):
        encoder(server, dimensions="2").encode(TEXTS)


def test_an_empty_text_is_not_sent_and_is_a_row_of_nan(server: Server) -> None:
    model = encoder(server)
    vectors = model.encode(["", "wasp", " "])
    assert server.requests[0]["input"] == ["wasp"]
    assert np.isnan(vectors[[0, 2]]).all()
    assert "tokens" in model.coverage([""])[0].note


@pytest.mark.parametrize("code", [429, 500, 502, 503])
def test_a_busy_or_failing_server_is_asked_again(server: Server, pauses: list[float], code: int) -> None:
    server.script = [status(code), status(code)]
    np.testing.assert_array_equal(encoder(server).encode(["wasp"]), [vector_of("wasp")])
    assert len(server.requests) == 3
    assert 0.25 <= pauses[0] <= 0.5 <= pauses[1] <= 1.0


def test_the_pause_that_the_server_asks_for_is_made(server: Server, pauses: list[float]) -> None:
    server.script = [
        status(429, retry_after="7"),
        status(429, retry_after="86400"),
        status(429, retry_after="soon"),
    ]
    encoder(server).encode(["wasp"])
    assert pauses[:2] == [7.0, 60.0]
    assert pauses[2] <= 2.0


@pytest.mark.parametrize("code", [429, 500])
def test_patience_has_an_end(server: Server, pauses: list[float], code: int) -> None:
    server.script = [status(code)] * 9
    with pytest.raises(EncoderError, match=naming(server.url, code, "3 attempts")):
        encoder(server, retries="2").encode(["wasp"])
    assert len(server.requests) == 3
    assert len(pauses) == 2


def test_a_refusal_is_final(server: Server, pauses: list[float]) -> None:
    server.script = [status(401, "Incorrect API key")]
    with pytest.raises(EncoderError, match=naming(server.url, "401")):
        encoder(server).encode(["wasp"])
    assert not pauses


def test_a_silent_server_is_not_waited_for_for_ever(server: Server, pauses: list[float]) -> None:
    released = threading.Event()

    def hang(request: dict[str, Any]) -> Answer:
        released.wait(30)
        return embeddings(request)

    server.script = [hang, hang]
    started = time.monotonic()
    with pytest.raises(EncoderError, match=naming(server.url, "1 s", "2 attempts")):
        encoder(server, timeout="1", retries="1").encode(["wasp"])
    released.set()
    assert time.monotonic() - started < 20
    assert len(pauses) == 1


@pytest.fixture(
    params=[
        "in the body",
        *(pytest.param(p, marks=pytest.mark.large) for p in ("in the head", "in the head of the body")),
    ]
)
def dripping(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that sends a byte now and then and never comes to an end."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()
    before = {
        "in the head": b"HTTP/1.1 200 OK\r\nX-Slow: ",
        "in the body": b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{",
        "in the head of the body": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    }[request.param]
    byte = b"1\r\nx\r\n" if "head of" in request.param else b"x"

    def drip(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            connection.sendall(before)
            while not ended.wait(0.05):
                connection.sendall(byte)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    ended.set()
    listener.close()


def test_a_server_that_drips_is_not_waited_for_for_ever(dripping: str, pauses: list[float]) -> None:
    """Each read ends in time, but not their sum: the deadline is for the request as a whole."""
    options = (("base_url", dripping), ("timeout", "1"), ("retries", "1"))
    slow = OpenAIEncoder.from_spec(Spec("openai", "m", options))
    outcome: list[BaseException] = []

    def ask() -> None:
        try:
            slow.encode(["wasp"])
        except EncoderError as error:
            outcome.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(60)
    assert outcome, "the request is still waiting"
    assert mentions(str(outcome[0]), dripping, "1 s", "2 attempts")
    assert len(pauses) == 1


def test_an_answer_without_an_end_is_not_kept(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weatherglass.encoders.openai.MAX_ANSWER", 2**20)
    packed = gzip.compress(b" " * 2**24)
    server.script = [lambda _: (200, {"Content-Encoding": "gzip"}, packed)]
    with pytest.raises(EncoderError, match=naming(server.url, "1 MiB", "batch_size=")):
        encoder(server).encode(TEXTS)


@pytest.mark.parametrize(
    "url", ["http://[", "http://[::1", "http://h:port/v1", "http://h:99999999/v1", "http://a\x00b/"]
)
def test_an_address_that_is_none_is_one_line(url: str) -> None:
    with pytest.raises(SpecError, match=naming("base_url", "https://host/v1")):
        OpenAIEncoder.from_spec(Spec("openai", "m", (("base_url", url),)))


@pytest.mark.parametrize(
    "echoed", [KEY, KEY[::-1], KEY.upper(), base64.b64encode(KEY.encode()).decode(), "no\x1b[2J\nway\u202e"]
)
def test_an_error_shows_nothing_that_the_server_wrote(server: Server, echoed: str) -> None:
    server.script = [status(400, echoed)]
    with pytest.raises(EncoderError) as caught:
        encoder(server).encode(TEXTS)
    assert str(caught.value).isprintable()
    assert " 400 " in str(caught.value)
    assert echoed not in str(caught.value)
    server.script = [lambda _: (200, {}, {"data": [{"index": echoed, "embedding": [1.0]}] * len(TEXTS)})]
    with pytest.raises(EncoderError) as caught:
        encoder(server).encode(TEXTS)
    assert echoed not in str(caught.value)


def test_no_server_is_one_clear_line(server: Server, pauses: list[float]) -> None:
    nobody = OpenAIEncoder.from_spec(
        Spec("openai", "m", (("base_url", "http://127.0.0.1:9/v1"), ("retries", "1")))
    )
    with pytest.raises(EncoderError, match=naming("127.0.0.1:9/v1", "2 attempts")):
        nobody.encode(["wasp"])
    assert not server.requests
    assert len(pauses) == 1


def fewer(request: dict[str, Any]) -> Answer:
    return embeddings({"input": request["input"][:-1]})


def twice_the_same(request: dict[str, Any]) -> Answer:
    _, _, body = embeddings(request)
    return 200, {}, {"data": [body["data"][0]] * len(request["input"])}


def ragged(request: dict[str, Any]) -> Answer:
    _, _, body = embeddings(request)
    body["data"][0]["embedding"].append(0.0)
    return 200, {}, body


def not_a_number(request: dict[str, Any]) -> Answer:
    _, _, body = embeddings(request)
    body["data"][0]["embedding"][0] = float("nan")
    return 200, {}, body


def with_entry(entry: object) -> Callable[[dict[str, Any]], Answer]:
    """An answer with something else in place of a number."""

    def answer(request: dict[str, Any]) -> Answer:
        _, _, body = embeddings(request)
        body["data"][0]["embedding"][1] = entry
        return 200, {}, body

    return answer


def with_index(index: object) -> Callable[[dict[str, Any]], Answer]:
    """An answer with something else in place of the number of a text."""

    def answer(request: dict[str, Any]) -> Answer:
        _, _, body = embeddings(request)
        body["data"][-1] = {"embedding": body["data"][-1]["embedding"]}
        if index is not None:
            body["data"][-1]["index"] = index
        return 200, {}, body

    return answer


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        (fewer, [4, 3]),
        (twice_the_same, [4, "each text"]),
        (ragged, ["dimensions", 4, 5]),
        (not_a_number, ["finite"]),
        (lambda _: (200, {}, {"data": [{"embedding": "AAAA"}]}), ["list"]),
        (lambda _: (200, {}, {"objects": []}), ["list"]),
        (lambda _: (200, {}, b"<html>"), ["list"]),
        (lambda _: (200, {}, {"data": {"0": 1}}), ["list"]),
        (lambda _: (200, {}, {"data": [3, 4, 5, 6]}), ["list"]),
        (lambda _: (200, {}, b"[" * 100_000), ["list"]),
        (lambda _: (200, {}, b'{"data": [' + b"9" * 5000 + b"]}"), ["list"]),
        (lambda _: (200, {}, b"\xff\xfe\xff"), ["list"]),
        (with_entry("0.5"), ["entry", "text"]),
        (with_entry(True), ["entry", "true or false"]),
        (with_entry(None), ["entry", "missing"]),
        (with_entry([1.0]), ["entry", "list"]),
        (with_entry("x" * 1000), ["entry", "text"]),
        (with_entry(float("inf")), ["finite"]),
        (with_entry(10**400), ["finite"]),
        (with_index(0.0), ["index", "decimals"]),
        (with_index(0.5), ["index", "decimals"]),
        (with_index("0"), ["index", "text"]),
        (with_index(True), ["index", "true or false"]),
        (with_index(None), ["index", "missing"]),
        (with_index(-1), [4, "each text"]),
        (with_index(4), [4, "each text"]),
        (lambda _: (302, {"Location": "http://127.0.0.1:9/"}, b""), [302]),
    ],
)
def test_a_wrong_answer_is_an_error_that_says_what_is_wrong(
    server: Server, answer: Callable[[dict[str, Any]], Answer], facts: list[object]
) -> None:
    server.script = [answer]
    with pytest.raises(EncoderError, match=r"^[^\n]*$") as caught:
        encoder(server).encode(TEXTS)
    assert mentions(str(caught.value), server.url, *facts)
    assert len(server.requests) == 1


def test_vectors_of_two_widths_in_two_batches_are_an_error(server: Server) -> None:
    server.script = [embeddings, lambda request: embeddings({**request, "dimensions": 3})]
    with pytest.raises(EncoderError, match=naming(server.url, 3, 4, "dimensions")):
        encoder(server, batch_size="2").encode(TEXTS)


def test_the_key_appears_nowhere(
    server: Server,
    pauses: list[float],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Every file, stream, log, error and attribute is searched, with a server that repeats the key wherever it can."""
    log = tmp_path / "everything.log"
    handler = logging.FileHandler(log)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        server.script = [status(500, f"bad key {KEY}"), embeddings, status(401, f"Incorrect API key: {KEY}")]
        spec = f"openai:some-model?base_url={server.url}"
        model = load_encoder(spec)
        model.encode(TEXTS)
        with pytest.raises(EncoderError) as caught:
            load_encoder(spec).encode(["another text"])
    finally:
        logging.getLogger().setLevel(logging.WARNING)
        logging.getLogger().removeHandler(handler)
        handler.close()
    shown = [str(caught.value), repr(caught.value), repr(caught.value.__cause__)]
    shown += [model.name, str(dict(model.options)), model.identity(), *model.notes(), repr(vars(model))]
    shown += [*capfd.readouterr()]
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert "Incorrect" not in shown[0]
    assert len(written) >= 2  # the log and the cache
    assert log.stat().st_size > 0
    assert not [text for text in shown if KEY in text]
    assert not [content for content in written if KEY.encode() in content]
    assert pauses


@pytest.mark.parametrize(
    "options",
    [
        {"key_env": KEY},
        {"api_key": KEY},
        {"base_url": f"https://user:{KEY}@host/v1"},
        {"base_url": f"https://h?k={KEY}"},
    ],
)
def test_a_key_in_the_spec_is_refused_without_being_repeated(options: dict[str, str]) -> None:
    with pytest.raises(SpecError) as caught:
        OpenAIEncoder.from_spec(Spec("openai", "m", tuple(options.items())))
    assert KEY not in str(caught.value)
    assert "environment" in str(caught.value)


def test_without_a_key_openai_itself_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(WeatherglassError, match=naming("text-embedding-3-small", "OPENAI_API_KEY")):
        OpenAIEncoder.from_spec(Spec("openai", "text-embedding-3-small")).encode(["wasp"])


def test_another_endpoint_needs_no_key_and_may_have_one_of_its_own(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    encoder(server).encode(["wasp"])
    monkeypatch.setenv("OTHER_KEY", "another")
    encoder(server, key_env="OTHER_KEY").encode(["wasp"])
    assert server.keys == [None, "Bearer another"]


def test_identity_is_model_address_and_dimensions(server: Server) -> None:
    first = encoder(server).identity()
    assert encoder(server, batch_size="3", timeout="9").identity() == first
    assert encoder(server, dimensions="2").identity() != first
    assert mentions(encoder(server).notes()[0], "openai:some-model", "hashed")
