"""The cache of encodings on disk: a text that a model has encoded once is not encoded again.

One sqlite file in the cache folder, keyed by the encoder's identity and the text. An error in it costs
time, never a result: every entry has a checksum over all that is used of it, and one that does not match is removed and
encoded again; a damaged file is set aside and replaced, and without a writable file the run goes on uncached.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from filelock import FileLock

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage
from weatherglass.errors import DamageWarning
from weatherglass.storage.checksum import DAMAGED
from weatherglass.storage.fingerprint import cache_folder

T = TypeVar("T")

VERSION = 2
"""Of the tables; a file of another version is set aside and replaced. In 1 the checksum left out text and dtype."""

LOCK_TIMEOUT = 60.0
"""Seconds to wait while other processes write."""

TEXTS_PER_QUERY = 500

DAMAGE_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_SCHEMA)

TABLES = """
CREATE TABLE encoders (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL
);
CREATE TABLE encodings (
    encoder INTEGER NOT NULL REFERENCES encoders (id),
    text BLOB NOT NULL,
    dtype TEXT NOT NULL,
    vector BLOB NOT NULL,
    coverage TEXT NOT NULL,
    checksum BLOB NOT NULL,
    PRIMARY KEY (encoder, text)
);
"""


@dataclass(frozen=True, slots=True)
class Encoding:
    """One text as one encoder reads it."""

    vector: AnyMatrix
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class CachedModel:
    """How much the cache holds for one encoder."""

    name: str
    texts: int
    bytes: int


class DamagedCacheError(Exception):
    """The file is not, or no longer, a cache of this version; the caller replaces it."""


class EncodingCache:
    """Encodings on disk, shared by all processes of a user.

    A connection is opened for each call and closed after it, so that an object may go to threads and forks.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "encodings.sqlite"
        self._lock = FileLock(f"{self.path}.lock", timeout=LOCK_TIMEOUT)
        self.problems: list[str] = []
        """What went wrong with the file, for the record of the run."""

    def get(self, identity: str, texts: Sequence[str]) -> dict[str, Encoding]:
        """The encodings that are cached, by text."""
        if not self.path.exists():
            return {}

        def select(connection: sqlite3.Connection) -> dict[str, Encoding]:
            encodings, damaged = _select(connection, identity, texts)
            if damaged:
                self._warn(
                    f"the cache of encodings {self.path} had {len(damaged)} damaged entr"
                    f"{'y' if len(damaged) == 1 else 'ies'} (the checksum does not match); removed, and encoded again"
                )
                connection.executemany("DELETE FROM encodings WHERE rowid = ?", damaged)
            return encodings

        return self._attempt(select, {})

    def put(self, identity: str, name: str, encodings: Mapping[str, Encoding]) -> None:
        """Store encodings; several processes may do so at once."""
        self._attempt(lambda connection: _insert(connection, identity, name, encodings), None)

    def models(self) -> list[CachedModel]:
        """What is cached, by encoder."""
        query = (
            "SELECT name, count(*), sum(length(vector) + length(text) + length(coverage))"
            " FROM encodings JOIN encoders ON encoders.id = encodings.encoder GROUP BY encoders.id ORDER BY name"
        )
        if not self.path.exists():
            return []
        return self._attempt(lambda connection: [CachedModel(*row) for row in connection.execute(query)], [])

    def size(self) -> int:
        """Bytes on disk, the log of recent writes included."""
        files = (Path(f"{self.path}{suffix}") for suffix in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.is_file())

    def clear(self) -> None:
        """Delete all encodings."""

        def delete_all(connection: sqlite3.Connection) -> None:
            connection.executescript(
                "BEGIN IMMEDIATE; DELETE FROM encodings; DELETE FROM encoders; COMMIT; VACUUM"
            )

        if self.path.exists():
            self._attempt(delete_all, None)

    def _attempt(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """The result of `work`, a damaged file being replaced by an empty one; after any other error, `default`."""
        try:
            try:
                with self._connection() as connection:
                    return work(connection)
            except DamagedCacheError as damage:
                self._replace_damaged(damage)
                with self._connection() as connection:
                    return work(connection)
        except (sqlite3.Error, OSError, DamagedCacheError) as error:
            self._warn(
                f"the cache of encodings {self.path} cannot be used ({error}); the run continues without it"
            )
            return default

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=LOCK_TIMEOUT, isolation_level=None)
        # Damaged text is read and found wanting row by row, instead of being an error of the whole query.
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        try:
            if _version(connection) == 0:
                self._create_tables(connection)
            if (version := _version(connection)) != VERSION:
                raise DamagedCacheError(f"of version {version}, where this one reads {VERSION}")
            yield connection
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in DAMAGE_CODES or "no such table" in str(error):
                raise DamagedCacheError(str(error)) from error
            raise
        except UnicodeDecodeError as error:  # sqlite's own message quotes what is damaged
            raise DamagedCacheError("its tables are not readable") from error
        finally:
            connection.close()

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        # Under a lock, since changing to write-ahead logging does not wait for other connections.
        with self._lock:
            if _version(connection) == 0:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT")

    def _replace_damaged(self, damage: DamagedCacheError) -> None:
        """Set the file aside, unless another process has already done so and begun a new one."""
        with self._lock:
            try:
                with self._connection() as connection:
                    connection.execute("SELECT 1 FROM encodings, encoders LIMIT 1")
                    (result,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
                if result == "ok":
                    return
            except DamagedCacheError:
                pass
            aside = self.path.with_name(self.path.name + DAMAGED)
            self.path.replace(aside)
            for suffix in ("-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self._warn(
            f"the cache of encodings ({damage}) was damaged; it was renamed to {aside} and a new one was created"
        )

    def _warn(self, message: str) -> None:
        if message not in self.problems:
            self.problems.append(message)
            warnings.warn(message, DamageWarning, stacklevel=2)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _select(
    connection: sqlite3.Connection, identity: str, texts: Sequence[str]
) -> tuple[dict[str, Encoding], list[tuple[int]]]:
    """The encodings by text, and the rows that are not as they were written."""
    encodings: dict[str, Encoding] = {}
    damaged: list[tuple[int]] = []
    for start in range(0, len(texts), TEXTS_PER_QUERY):
        batch = texts[start : start + TEXTS_PER_QUERY]
        marks = ",".join("?" * len(batch))
        rows = connection.execute(
            "SELECT rowid, text, dtype, vector, coverage, checksum FROM encodings"
            f" WHERE encoder = (SELECT id FROM encoders WHERE identity = ?) AND text IN ({marks})",
            (identity, *map(_key, batch)),
        )
        for number, text, *content, checksum in rows:
            if _checksum(identity, text, *content) != checksum:
                damaged.append((number,))
                continue
            dtype, vector, coverage = content
            tokens, missing, note = json.loads(coverage)
            encodings[text.decode("utf-8", "surrogatepass")] = Encoding(
                np.frombuffer(vector, dtype=dtype), Coverage(tuple(tokens), tuple(missing), note)
            )
    return encodings, damaged


def _insert(
    connection: sqlite3.Connection, identity: str, name: str, encodings: Mapping[str, Encoding]
) -> None:
    rows = []
    for text, encoding in encodings.items():
        vector = np.ascontiguousarray(encoding.vector)
        covered = encoding.coverage
        coverage = json.dumps([covered.tokens, covered.missing, covered.note])
        row = (_key(text), vector.dtype.str, vector.tobytes(), coverage)
        rows.append((*row, _checksum(identity, *row)))
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT OR IGNORE INTO encoders (identity, name) VALUES (?, ?)", (identity, name))
    (encoder,) = connection.execute("SELECT id FROM encoders WHERE identity = ?", (identity,)).fetchone()
    connection.executemany(
        "INSERT OR REPLACE INTO encodings VALUES (?, ?, ?, ?, ?, ?)", ((encoder, *row) for row in rows)
    )
    connection.execute("COMMIT")


def _key(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _checksum(*parts: object) -> bytes:
    """Over all that is used of an entry: each part with its type and length, since sqlite may return any type."""
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        digest.update(f"{type(part).__name__}:{len(content)}:".encode())
        digest.update(content)
    return digest.digest()
