"""Encode with `openai:MODEL?base_url=…`, which is any OpenAI-compatible embeddings endpoint.

The key is read from the environment for each request and never stored. It does not appear in a file, an error or a
log, even if the server sends it back.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import urlsplit

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage, Encoder
from weatherglass.encoders.spec import OptionReader, Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.installed import require
from weatherglass.storage.printable import one_line

if TYPE_CHECKING:
    import httpx

OPENAI = "https://api.openai.com/v1"

FIRST_DELAY = 0.5
"""Seconds before the first retry; each further delay is doubled, with jitter to spread the clients."""

MAX_DELAY = 60.0
"""The longest delay in seconds, even if the server's Retry-After is longer."""

MAX_ANSWER = 256 * 2**20
"""The maximum number of bytes of an uncompressed answer; 1000 vectors of 4096 numbers need a third of it."""


class TooLateError(Exception):
    """An error for an answer that was not complete at the deadline."""


class TooLargeError(Exception):
    """An error for an answer that exceeds `MAX_ANSWER`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of the server."""

    status: int
    retry_after: str
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The model, its address and the limits of a request."""

    model: str
    base_url: str
    dimensions: int
    """The number of dimensions to request; 0 for the model's default."""
    batch_size: int
    timeout: int
    """The number of seconds for a whole request, from the host lookup to the last byte."""
    retries: int
    key_env: str
    """The name of the environment variable that contains the key."""

    @classmethod
    def from_spec(cls, spec: Spec) -> Endpoint:
        options = spec.reader()
        key_env = _key_env(spec, options)
        endpoint = cls(
            spec.target,
            _base_url(options),
            options.integer("dimensions", 0, least=0),
            options.integer("batch_size", 128),
            options.integer("timeout", 60),
            options.integer("retries", 5, least=0),
            key_env,
        )
        options.done()
        if not endpoint.model:
            raise SpecError(f"'{spec}': name a model, such as openai:text-embedding-3-small")
        return endpoint


def _key_env(spec: Spec, options: OptionReader) -> str:
    """Return the name of the environment variable; refuse a key in the spec without showing it."""
    name = options.text("key_env", "OPENAI_API_KEY")
    suspects = [
        option for option, _ in spec.options if option != "key_env" and re.search("key|token|auth", option)
    ]
    if suspects or not name.isidentifier():
        raise SpecError(
            "openai: a spec must not contain a key; put the key into the environment variable OPENAI_API_KEY,"
            " or into another one and name it with key_env="
        )
    return name


def _base_url(options: OptionReader) -> str:
    import httpx

    url = options.text("base_url", OPENAI).rstrip("/")
    wrong = SpecError(f"openai: base_url={url} should be an address like https://host/v1")
    try:
        parts = urlsplit(url)
        _ = parts.port, httpx.URL(url)  # each refuses what the other accepts
    except (ValueError, httpx.InvalidURL):
        raise wrong from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise wrong
    if parts.username or parts.password or parts.query:
        raise SpecError(
            "openai: base_url= must not contain a user, password or query; put the key into the environment"
        )
    return url


class OpenAIEncoder(Encoder):
    """An encoder that gets vectors from an HTTP endpoint in batches, with a limited number of retries."""

    costly: ClassVar[bool] = True

    def __init__(self, spec: Spec, endpoint: Endpoint) -> None:
        self._spec = spec
        self._endpoint = endpoint

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Check the spec; nothing is sent, and no key is needed if all texts are cached."""
        require(str(spec), ("httpx",), "api")
        return cls(spec, Endpoint.from_spec(spec))

    @property
    def name(self) -> str:
        return str(self._spec)

    @property
    def options(self) -> Mapping[str, str]:
        choices = asdict(self._endpoint)
        del choices["model"]
        return {name: str(value) for name, value in choices.items() if value != 0}

    def identity(self) -> str:
        endpoint = self._endpoint
        content = ["openai", endpoint.model, endpoint.base_url, endpoint.dimensions]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def notes(self) -> list[str]:
        return [
            f"'{self.name}': the weights are on a server and cannot be hashed;"
            " the model is identified by its name and address, and may change without notice"
        ]

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return each text as one token, since the server does not report its tokens."""
        return [Coverage((text,)) if text.strip() else Coverage((), note="no tokens") for text in texts]

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        import httpx

        # Endpoints refuse empty texts, which have nothing to encode.
        positions = [position for position, text in enumerate(texts) if text.strip()]
        if not positions:
            return np.full((len(texts), self._endpoint.dimensions), np.nan)
        # Redirects are not followed, since the key is for the address that the user named.
        with httpx.Client(timeout=self._endpoint.timeout, follow_redirects=False) as client:
            rows = [
                row for batch in self._batches(texts, positions) for row in self._embeddings(client, batch)
            ]
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            raise self._error(
                f"sent vectors of {min(widths)} and of {max(widths)} dimensions; set dimensions="
            )
        vectors = np.full((len(texts), widths.pop()), np.nan)
        vectors[positions] = rows
        return vectors

    def _batches(self, texts: Sequence[str], positions: Sequence[int]) -> Iterator[list[str]]:
        size = self._endpoint.batch_size
        for start in range(0, len(positions), size):
            yield [texts[position] for position in positions[start : start + size]]

    def _embeddings(self, client: httpx.Client, texts: list[str]) -> list[list[float]]:
        request: dict[str, Any] = {"model": self._endpoint.model, "input": texts, "encoding_format": "float"}
        if self._endpoint.dimensions:
            request["dimensions"] = self._endpoint.dimensions
        return self._vectors(self._post(client, request), len(texts))

    def _post(self, client: httpx.Client, request: Mapping[str, Any]) -> bytes:
        """Return the server's answer, with up to `retries` retries if the server is busy, failing or silent."""
        import httpx

        attempts = self._endpoint.retries + 1
        for attempt in range(attempts):
            retry_after = ""
            try:
                answer = self._answer(client, request)
                if answer.is_success:
                    return answer.content
                reason = f"answered {answer.status}{_size_and_hash(answer.content)}"
                retry_after = answer.retry_after
                if answer.status != 429 and answer.status < 500:
                    raise self._error(reason)
            except (TooLateError, httpx.TimeoutException):
                reason = f"gave no answer within {self._endpoint.timeout} s"
            except TooLargeError:
                raise self._error(f"sent more than {MAX_ANSWER >> 20} MiB; lower batch_size=") from None
            except httpx.HTTPError as error:
                reason = f"cannot be reached ({one_line(self._without_key(str(error)))})"
            if attempt + 1 < attempts:
                time.sleep(_retry_delay(attempt, retry_after))
        raise self._error(f"{reason}; given up after {attempts} attempts")

    def _answer(self, client: httpx.Client, request: Mapping[str, Any]) -> Answer:
        """Send one request and return its answer if it is complete by the deadline.

        httpx limits each read and not their sum, so that a server could send single bytes for ever. The request
        therefore runs in a thread, which is abandoned at the deadline and ends when the client is closed.
        """
        deadline = time.monotonic() + self._endpoint.timeout
        address, headers = f"{self._endpoint.base_url}/embeddings", self._headers()
        outcome: list[Answer | BaseException] = []

        def ask() -> None:
            try:
                with client.stream("POST", address, json=request, headers=headers) as response:
                    content = _read(response, deadline)
                    after = response.headers.get("retry-after", "")
                    outcome.append(Answer(response.status_code, after, content))
            except BaseException as error:
                outcome.append(error)

        thread = threading.Thread(target=ask, name="weatherglass-request", daemon=True)
        thread.start()
        thread.join(max(0.0, deadline - time.monotonic()))
        if not outcome:
            raise TooLateError
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    def _vectors(self, content: bytes, count: int) -> list[list[float]]:
        """Return the vectors of an API response in the order of the texts, after checking each vector."""
        try:
            entries = json.loads(content)["data"]
            if not isinstance(entries, list):
                raise TypeError
            found = [(entry.get("index"), entry["embedding"]) for entry in entries]
            if not all(isinstance(vector, list) for _, vector in found):
                raise TypeError
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._error("sent something that is not a list of embeddings") from None
        if len(found) != count:
            raise self._error(f"was asked for {count} vectors and sent {len(found)}")
        for index, _ in found:
            if type(index) is not int:
                raise self._error(
                    f"sent a vector whose index is {_kind(index)}; expected the number of a text"
                )
        by_index = dict(found)
        if sorted(by_index) != list(range(count)):
            raise self._error(f"was asked for {count} vectors and sent {count}, but not one for each text")
        rows = [by_index[position] for position in range(count)]
        width = self._endpoint.dimensions or len(rows[0])
        for row in rows:
            if len(row) != width or not row:
                raise self._error(f"sent a vector of {len(row)} dimensions, but {width} were expected")
        return [[self._number(entry) for entry in row] for row in rows]

    def _number(self, entry: object) -> float:
        """Return a number; "0.5" and true are refused, although Python would convert them."""
        if type(entry) is not float and type(entry) is not int:
            raise self._error(f"sent a vector with an entry that is {_kind(entry)}, not a number")
        try:
            number = float(entry)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self._error("sent a vector with entries that are not finite")
        return number

    def _key(self) -> str:
        key = os.environ.get(self._endpoint.key_env, "").strip()
        if not key and self._endpoint.base_url == OPENAI:
            raise EncoderError(
                f"'{self.name}' needs a key; put it into the environment variable {self._endpoint.key_env}"
            )
        if not key.isascii() or not key.isprintable():
            raise EncoderError(
                f"the key in {self._endpoint.key_env} contains characters that are not allowed in a key"
            )
        return key

    def _headers(self) -> dict[str, str]:
        key = self._key()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _without_key(self, text: str) -> str:
        key = os.environ.get(self._endpoint.key_env, "").strip()
        return text.replace(key, "***") if key else text

    def _error(self, what: str) -> EncoderError:
        return EncoderError(f"'{self.name}': {self._endpoint.base_url} {what}")


def _read(response: httpx.Response, deadline: float) -> bytes:
    """Return the content, read in pieces, so that a slow or endless answer is stopped."""
    parts, size = [], 0
    for part in response.iter_bytes():
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER:
            raise TooLargeError
        if time.monotonic() > deadline:
            raise TooLateError
    return b"".join(parts)


def _size_and_hash(content: bytes) -> str:
    """Return the size and hash of an answer for an error message; the content could echo the key in an unknown
    form.
    """
    if not content:
        return ""
    return f" with {len(content)} bytes (not shown, SHA-256 {hashlib.sha256(content).hexdigest()[:12]})"


def _kind(value: object) -> str:
    """Return the JSON name of a value's type."""
    kinds = {type(None): "missing", str: "a text", bool: "true or false", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number with decimals")


def _retry_delay(attempt: int, retry_after: str) -> float:
    """Return the number of seconds before a retry: the server's Retry-After, or exponential backoff with jitter."""
    try:
        seconds = float(retry_after)
    except ValueError:
        seconds = math.nan
    if math.isfinite(seconds) and seconds >= 0:
        return min(seconds, MAX_DELAY)
    return float(min(FIRST_DELAY * 2**attempt, MAX_DELAY)) * random.uniform(0.5, 1.0)
