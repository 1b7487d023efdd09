"""What the server refuses: strangers, other sites, large bodies; and that Ctrl-C ends it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn")

from weatherglass.errors import WeatherglassError
from weatherglass.explore.engine import Engine
from weatherglass.explore.server import Server
from weatherglass.explore.state import start_state

HOSTILE = "</script><img src=x onerror='window.hacked = 1'>"


def ask(
    server: Server, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
) -> tuple[int, str, dict[str, str]]:
    own = {"Host": f"127.0.0.1:{server.port}"}
    if method == "POST":
        own |= {"Origin": f"http://127.0.0.1:{server.port}", "Content-Type": "application/json"}
    sent = {name: value for name, value in {**own, **(headers or {})}.items() if value}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
    try:
        connection.request(method, path, content, sent)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), {k.lower(): v for k, v in answer.getheaders()}
    finally:
        connection.close()


def test_the_page_and_its_answers(server: Server) -> None:
    status, html, headers = ask(server, "GET", f"/{server.token}/")
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert server.token not in html
    status, text, _ = ask(server, "POST", f"/{server.token}/api/state", start_state("weat6"))
    assert status == 200
    assert json.loads(text)["answers"][0]["p_value"] > 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_other_sites_are_refused(server: Server, headers: dict[str, str]) -> None:
    status, text, _ = ask(server, "POST", f"/{server.token}/api/state", start_state("weat6"), headers)
    assert (status, text) == (403, "")


@pytest.mark.parametrize(
    "path", ["/", "/api/state", "/wrong/", "/wrong/api/state", "/../../etc/passwd", "/%2e%2e/etc/passwd"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nothing_is_told_without_the_token(server: Server, path: str, method: str) -> None:
    status, text, _ = ask(server, method, path, start_state("weat6") if method == "POST" else None)
    assert (status, text) == (404, "")


@pytest.mark.parametrize("path", ["../../etc/passwd", "%2e%2e%2f%2e%2e%2fetc/passwd", "templates/explore.js"])
def test_the_token_opens_no_file(server: Server, path: str) -> None:
    assert ask(server, "GET", f"/{server.token}/{path}")[0] == 404


@pytest.mark.parametrize("name", ["/etc/passwd", "../pyproject.toml", "*", HOSTILE])
def test_a_test_is_named_only_by_the_catalogue(server: Server, name: str) -> None:
    status, text, _ = ask(server, "POST", f"/{server.token}/api/test", {"name": name})
    assert status == 400
    assert "Traceback" not in text


def test_a_body_of_ten_megabytes_is_refused(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as stream:
        head = (
            f"POST /{server.token}/api/state HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Origin: http://127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
        )
        stream.sendall(f"{head}Content-Length: 10000000\r\n\r\n".encode())
        assert b" 413 " in stream.recv(200)
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as stream:
        stream.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        try:
            for _ in range(40):
                stream.sendall(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
        except OSError:
            pass
        assert b" 413 " in stream.recv(200)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 100_000, b"\xff\xfe", b'{"sets": 1}', b"null"])
def test_a_body_that_is_no_state_is_refused_without_a_traceback(server: Server, body: bytes) -> None:
    status, text, _ = ask(server, "POST", f"/{server.token}/api/state", body)
    assert status == 400
    assert "Traceback" not in text
    assert ".py" not in text


def test_a_form_of_another_type_is_refused(server: Server) -> None:
    headers = {"Content-Type": "text/plain"}
    assert ask(server, "POST", f"/{server.token}/api/state", {}, headers)[0] == 415


def test_hostile_words_come_back_as_data(server: Server) -> None:
    state = start_state("weat6")
    state["sets"]["X"] = {"name": HOSTILE, "words": [*state["sets"]["X"]["words"], HOSTILE]}
    status, text, headers = ask(server, "POST", f"/{server.token}/api/state", {**state, "place": [HOSTILE]})
    assert status == 200
    assert headers["content-type"] == "application/json"
    assert headers["x-content-type-options"] == "nosniff"
    assert json.loads(text)["answers"][0]["placed"][0]["word"] == HOSTILE


def test_of_a_hundred_held_connections_most_are_closed_and_the_page_answers_again(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weatherglass.explore.server.SECONDS_FOR_REQUEST", 1)
    streams = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(100)]
    try:
        for stream in streams:  # each is closed, at once or because it sends no request
            assert _closed(stream)
    finally:
        for stream in streams:
            stream.close()
    assert ask(server, "GET", f"/{server.token}/")[0] == 200


def _closed(stream: socket.socket) -> bool:
    try:
        return stream.recv(10) == b""
    except ConnectionResetError:
        return True


def test_a_page_is_opened_by_a_navigation_and_asked_by_no_other_site(server: Server) -> None:
    opening = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert ask(server, "GET", f"/{server.token}/", None, opening)[0] == 200
    assert ask(server, "GET", f"/{server.token}/", None, {**opening, "Sec-Fetch-Mode": "no-cors"})[0] == 403
    state = start_state("weat6")
    assert ask(server, "POST", f"/{server.token}/api/state", state, opening)[0] == 403


def test_other_users_do_not_see_the_token_in_the_arguments_of_the_browser(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(
        "webbrowser.open", lambda address: opened.append(Path(address.removeprefix("file://")))
    )
    with server.opened_in_browser():
        (path,) = opened
        assert server.token not in str(path)
        assert path.parent.stat().st_mode & 0o077 == 0
        assert server.address in path.read_text()
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("file", {"name": "../../etc/passwd", "content": ""}),
        ("file", {"name": "/etc/passwd.toml", "content": "WA=="}),
        ("file", {"name": "x.toml", "content": "no base64"}),
        ("file", {"name": "x.xlsx", "content": "AAAA"}),
        ("ranking", {"queries": ["a"], "passages": ["{name}"], "groups": "/etc/passwd"}),
        ("ranking", {"queries": ["a"], "passages": ["no slot"], "groups": "race"}),
        ("ranking", {"queries": [], "passages": ["{name}"], "groups": "race"}),
        ("ranking", {"queries": ["a"], "passages": ["{name}"], "groups": "race", "models": [-1]}),
        ("multiverse", {"sets": {}}),
        ("suggest", {"prefix": 7}),
        ("suggest", {"prefix": "a", "model": "0"}),
        ("neighbours", {"word": "x" * 10_000}),
        ("copies", {"sets": HOSTILE}),
    ],
)
def test_a_wrong_question_is_one_line(server: Server, name: str, given: dict[str, Any]) -> None:
    status, text, _ = ask(server, "POST", f"/{server.token}/api/{name}", given)
    assert status == 400
    assert set(json.loads(text)) == {"error"}
    assert not any(leak in text for leak in ("Traceback", "/tmp", "root:"))


@pytest.mark.parametrize("spec", [f"vectors:{HOSTILE}", "../../etc/passwd", "hf:\x1b[2J", "=", "|"])
def test_a_hostile_model_is_one_line(spec: str) -> None:
    with pytest.raises(WeatherglassError) as refused:
        Engine([spec])
    assert "\n" not in str(refused.value)


def _explore(
    folder: Path, start: Sequence[str] = ("-m", "weatherglass"), given: Sequence[str] = ("--no-browser",)
) -> subprocess.Popen[str]:
    command = [sys.executable, *start, "explore", *given]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": str(folder), "BROWSER": "true"}
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, env=environment, **pipes)


def test_ctrl_c_ends_the_command_cleanly(tmp_path: Path) -> None:
    with _explore(tmp_path) as process:
        assert process.stdout is not None
        address = next(line for line in process.stdout if "http://" in line).split()[-1]
        port = int(address.split(":")[2].split("/")[0])
        process.stdout.readline()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/")
        assert connection.getresponse().status == 404
        connection.close()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors == ""
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose vectors are kept on disk."""
    from benchmarks.explore import write_vectors

    path = tmp_path_factory.mktemp("vectors") / "large.bin"
    write_vectors(path, 40_000, 300)
    return path


@pytest.mark.large
@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        *(("page", seconds) for seconds in (0.4, 0.8, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0)),
        *((given, seconds) for given in ("browser", "export", "vectors") for seconds in (1.0, 2.5, 5.0)),
    ],
)
def test_ctrl_c_at_any_time_leaves_nothing(tmp_path: Path, vectors: Path, given: str, seconds: float) -> None:
    options = {"page": ["--no-browser"], "browser": [], "export": ["--export", "page.html"]}
    # The seconds count from the first line of the command: Python's own start is not ours.
    started = "from weatherglass.__main__ import main; print('started', flush=True); main()"
    arguments = options.get(given, ["--no-browser", f"vectors:{vectors}"])
    with _explore(tmp_path, ("-c", started), arguments) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert "Traceback" not in errors
    assert [path.name for path in tmp_path.iterdir() if path.name != "page.html"] == []
    if (page := tmp_path / "page.html").exists():  # the export was complete
        assert process.returncode == 0
        assert page.read_text().endswith("</html>\n")
