"""Serve the page on this machine only, at one address with a secret token, and refuse requests without the token."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import secrets
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.errors import MissingExtraError, OutputError, WeatherglassError
from weatherglass.explore.answers import answers
from weatherglass.explore.engine import Engine
from weatherglass.explore.words import StaleError
from weatherglass.registry import shown

if TYPE_CHECKING:
    import uvicorn
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
LARGEST_BODY = 256 * 1024
"""The maximum number of bytes of a request, enough for 800 words of 300 bytes."""
MOST_CONNECTIONS = 40
SECONDS_FOR_REQUEST = 5
SECONDS_TO_CLOSE = 2
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src '{hash}'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Guard:
    """Refuse every request that does not come from the page: wrong host, origin, token, or too large a body."""

    def __init__(self, app: ASGIApp, port: int, token: str, policy: str) -> None:
        self.app = app
        self.token = token
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        self.origins = {f"http://{host}" for host in self.hosts}
        self.headers = [
            (name.lower().encode(), value.encode())
            for name, value in {**HEADERS, "Content-Security-Policy": policy}.items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets
        headers = [
            (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]
        ]
        status = self._refusal(scope, headers)
        if status:
            await self._plain(send, status)
            return
        body = await _body(receive)
        if body is None:
            await self._plain(send, 413)
            return
        started = False

        async def given() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        try:
            await self.app(scope, given, guarded)
        except Exception as error:
            sys.stderr.write(f"weatherglass explore: {type(error).__name__} while answering a request\n")
            if not started:
                await self._plain(send, 500)

    def _refusal(self, scope: Scope, headers: list[tuple[str, str]]) -> int:
        """Return the status of a refused request; 0 if it is accepted."""
        hosts = [value for name, value in headers if name == "host"]
        origins = [value for name, value in headers if name == "origin"]
        sites = [value for name, value in headers if name == "sec-fetch-site"]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return 403
        if any(origin not in self.origins for origin in origins):
            return 403
        # The file that leads the user's browser to the page is another site; it has the token.
        opening = scope["method"] == "GET" and ("sec-fetch-mode", "navigate") in headers
        if any(site not in ("same-origin", "none") for site in sites) and not opening:
            return 403
        if scope["method"] == "POST" and not origins:
            return 403
        lengths = [value for name, value in headers if name == "content-length"]
        if any(not length.isdecimal() or int(length) > LARGEST_BODY for length in lengths):
            return 413
        token = scope["path"].split("/")[1] if scope["path"].startswith("/") else ""
        return 0 if hmac.compare_digest(token.encode(), self.token.encode()) else 404

    async def _plain(self, send: Send, status: int) -> None:
        """Answer with a status and no text, so that a stranger learns nothing."""
        headers = [*self.headers, (b"content-length", b"0"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request; None if it is too large."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


class Server:
    """A local web server that serves an engine's page on a free port."""

    def __init__(self, engine: Engine, html: str) -> None:
        """Take a free port and a token.

        Raises:
            MissingExtraError: if starlette or uvicorn is not installed.
        """
        try:
            import starlette  # noqa: F401
            import uvicorn  # noqa: F401
        except ImportError:
            raise MissingExtraError(
                "explore needs starlette and uvicorn; run: pip install 'weatherglass[explore]'"
            ) from None
        self.engine = engine
        self.token = secrets.token_urlsafe(24)
        self._socket = socket.socket(
            socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
        )  # asyncio sets TCP_NODELAY
        try:
            self._socket.bind((HOST, 0))
            self._socket.listen()
        except OSError as error:
            raise OutputError(f"cannot open a port on {HOST}: {error.strerror}") from None
        self.port = int(self._socket.getsockname()[1])
        script = re.search(r"script-src '(sha256-[^']+)'", html)
        policy = POLICY.format(hash=script[1] if script else "none")
        self.app = Guard(_routes(engine, html, self.token), self.port, self.token, policy)

    @property
    def address(self) -> str:
        """Return the address of the page, which contains the token."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def configuration(self) -> uvicorn.Config:
        """Return how uvicorn serves the page: quietly, without web sockets, and to few connections at once."""
        import uvicorn

        return uvicorn.Config(
            self.app,
            http=_few_connections(),
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            ws="none",
            timeout_keep_alive=10,
            timeout_graceful_shutdown=SECONDS_TO_CLOSE,
        )

    @contextmanager
    def opened_in_browser(self) -> Iterator[None]:
        """Open the page in the user's browser; the block serves it.

        Other users of the machine see the arguments of a browser, so it opens a file that only this user can read,
        which leads to the address.
        """
        import webbrowser

        with tempfile.TemporaryDirectory(prefix="weatherglass-") as folder:  # of mode 700
            path = Path(folder, "explore.html")
            path.write_text(f'<meta http-equiv="refresh" content="0;url={self.address}">\n', encoding="utf-8")
            webbrowser.open(path.as_uri())
            yield

    def serve(self) -> None:
        """Answer requests until Ctrl-C."""
        import uvicorn

        server = uvicorn.Server(self.configuration())
        whole = server.handle_exit

        def end(*given: Any) -> None:
            self.engine.closed = True  # stops encoding between two texts
            whole(*given)

        server.handle_exit = end  # type: ignore[method-assign, assignment]
        try:
            server.run(sockets=[self._socket])
        except KeyboardInterrupt:
            pass  # how a user ends it
        finally:
            self.engine.closed = True
            self._socket.close()


def _few_connections() -> type[asyncio.Protocol]:
    """Return a protocol that closes connections above the limit, and those that send no request in time."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class FewConnections(H11Protocol):
        """HTTP/1.1 for few connections at once."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Accept a connection, or close it at once."""
            super().connection_made(transport)
            if len(self.connections) > MOST_CONNECTIONS:
                transport.abort()
            else:
                self.loop.call_later(SECONDS_FOR_REQUEST, self.end_if_silent)

        def end_if_silent(self) -> None:
            """Close a connection on which no request has come."""
            if self.cycle is None and not self.transport.is_closing():
                self.transport.abort()

    return FewConnections


def _routes(engine: Engine, html: str, token: str) -> ASGIApp:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import HTMLResponse, JSONResponse
    from starlette.responses import Response as Plain
    from starlette.routing import Route

    def page(_: Request) -> Response:
        return HTMLResponse(html)

    def answering(answer: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                return Plain(status_code=415)
            try:
                given = json.loads(await request.body())
            except (ValueError, RecursionError):
                return JSONResponse({"error": "the request is not JSON"}, 400)
            if not isinstance(given, dict):
                return JSONResponse({"error": "the request is not an object"}, 400)
            try:
                return JSONResponse(await run_in_threadpool(answer, given))
            except StaleError:
                return Plain(status_code=409)
            except WeatherglassError as error:
                return JSONResponse({"error": shown(str(error))}, 400)
            except MemoryError:
                return JSONResponse({"error": "not enough memory for this question"}, 400)

        return endpoint

    asked = answers(engine)
    routes = [Route(f"/{token}/", page, methods=["GET"])]
    routes += [
        Route(f"/{token}/api/{name}", answering(answer), methods=["POST"]) for name, answer in asked.items()
    ]
    return Starlette(routes=routes)
