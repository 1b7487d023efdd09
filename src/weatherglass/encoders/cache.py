"""Cache encodings on disk, so that a model encodes each input only once, and is not loaded if all inputs are cached.

The cache is one sqlite file in the cache folder. Its keys consist of the identity of the model, the kind of
observation and the input. An error in the cache costs time, but never changes a result. Every entry has a checksum; an
entry that does not match is removed and encoded again. A damaged file is renamed and replaced. If the file cannot be
written, the run continues without a cache.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self, TypeVar

import numpy as np
from filelock import FileLock

from weatherglass.arrays import AnyMatrix, AnyVector
from weatherglass.encoders.base import (
    PER_TOKEN,
    Asked,
    Coverage,
    Encoder,
    Encoding,
    ModelEncoder,
    Observations,
    What,
    check_asked,
    plain,
)
from weatherglass.encoders.spec import Spec
from weatherglass.errors import DamageWarning, EncoderError
from weatherglass.storage.checksum import DAMAGED, cache_folder
from weatherglass.warnings import Warning

T = TypeVar("T")

VERSION = 3
"""The version of the tables; a file of another version is renamed and replaced. In version 1, the checksum omitted
text and dtype; version 2 had only vectors of plain texts.
"""

OLD = ".old"
"""The suffix that is added to the name of a file of an earlier version."""

LOCK_TIMEOUT = 60.0
"""Seconds to wait while other processes write."""

INPUTS_PER_QUERY = 500

DAMAGE_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_SCHEMA)

TABLES = """
CREATE TABLE encoders (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL
);
CREATE TABLE encodings (
    encoder INTEGER NOT NULL REFERENCES encoders (id),
    what TEXT NOT NULL,
    input BLOB NOT NULL,
    dtype TEXT NOT NULL,
    content BLOB NOT NULL,
    coverage TEXT NOT NULL,
    checksum BLOB NOT NULL,
    PRIMARY KEY (encoder, what, input)
);
"""


@dataclass(frozen=True, slots=True)
class CachedModel:
    """The size of the cache for one model."""

    name: str
    texts: int
    bytes: int


class DamagedCacheError(Exception):
    """An error for a file that is not a valid cache of this version; the caller replaces the file."""

    is_old = False


class OldCacheError(DamagedCacheError):
    """An error for a valid cache file of an earlier version."""

    is_old = True


class EncodingCache:
    """Encodings on disk, shared by all processes of a user.

    A connection is opened for each call and closed after it, so that threads and forks can share an object.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "encodings.sqlite"
        self._lock = FileLock(f"{self.path}.lock", timeout=LOCK_TIMEOUT)
        self.problems: list[str] = []
        """Problems with the file, which are written into the record of the run."""

    def get(self, identity: str, inputs: Sequence[Asked], what: What = "vectors") -> dict[Asked, Encoding]:
        """Return the cached encodings by input."""
        if not self.path.exists():
            return {}

        def select(connection: sqlite3.Connection) -> dict[Asked, Encoding]:
            encodings, damaged = _select(connection, identity, inputs, what)
            if damaged:
                self._warn(
                    f"the cache of encodings {self.path} had {len(damaged)} damaged "
                    f"entr{('y' if len(damaged) == 1 else 'ies')} (wrong checksum), which were removed and "
                    "encoded again"
                )
                connection.executemany("DELETE FROM encodings WHERE rowid = ?", damaged)
            return encodings

        return self._attempt(select, {})

    def put(
        self, identity: str, name: str, encodings: Mapping[Asked, Encoding], what: What = "vectors"
    ) -> None:
        """Store encodings by input; several processes may store at the same time."""
        self._attempt(lambda connection: _insert(connection, identity, name, what, encodings), None)

    def models(self) -> list[CachedModel]:
        """Return the size of the cache for each model."""
        query = (
            "SELECT name, count(*), sum(length(content) + length(input) + length(coverage))"
            " FROM encodings JOIN encoders ON encoders.id = encodings.encoder GROUP BY encoders.id ORDER BY name"
        )
        if not self.path.exists():
            return []
        return self._attempt(lambda connection: [CachedModel(*row) for row in connection.execute(query)], [])

    def size(self) -> int:
        """Return the number of bytes on disk, including the log of recent writes."""
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
        """Return the result of `work`, after replacing a damaged file if needed; return `default` after any other
        error.
        """
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
        # Damaged text is read and then rejected row by row, instead of failing the whole query.
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        try:
            if _version(connection) == 0:
                self._create_tables(connection)
            if (version := _version(connection)) != VERSION:
                kind = OldCacheError if 0 < version < VERSION else DamagedCacheError
                raise kind(f"of version {version}, but this version of weatherglass reads version {VERSION}")
            yield connection
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in DAMAGE_CODES or "no such table" in str(error):
                raise DamagedCacheError(str(error)) from error
            raise
        except UnicodeDecodeError as error:  # the message of sqlite quotes the damaged text
            raise DamagedCacheError("its tables are not readable") from error
        finally:
            connection.close()

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        # A lock is needed, since changing to write-ahead logging does not wait for other connections.
        with self._lock:
            if _version(connection) == 0:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT")

    def _replace_damaged(self, damage: DamagedCacheError) -> None:
        """Rename the file, unless another process has already replaced it."""
        with self._lock:
            try:
                with self._connection() as connection:
                    connection.execute("SELECT 1 FROM encodings, encoders LIMIT 1")
                    (result,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
                if result == "ok":
                    return
            except DamagedCacheError:
                pass
            aside = self.path.with_name(self.path.name + (OLD if damage.is_old else DAMAGED))
            self.path.replace(aside)
            for suffix in ("-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        if damage.is_old:
            self._warn(
                f"the cache of encodings is {damage}; it is not used and was renamed to {aside}, which you can delete"
            )
            return
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
    connection: sqlite3.Connection, identity: str, inputs: Sequence[Asked], what: What
) -> tuple[dict[Asked, Encoding], list[tuple[int]]]:
    """Return the encodings by input, and the numbers of damaged rows."""
    encodings: dict[Asked, Encoding] = {}
    damaged: list[tuple[int]] = []
    for start in range(0, len(inputs), INPUTS_PER_QUERY):
        batch = {_key(asked): asked for asked in inputs[start : start + INPUTS_PER_QUERY]}
        marks = ",".join("?" * len(batch))
        rows = connection.execute(
            "SELECT rowid, input, dtype, content, coverage, checksum FROM encodings"
            f" WHERE encoder = (SELECT id FROM encoders WHERE identity = ?) AND what = ? AND input IN ({marks})",
            (identity, what, *batch),
        )
        for number, key, *entry, checksum in rows:
            if _checksum(identity, what, key, *entry) != checksum or key not in batch:
                damaged.append((number,))
                continue
            dtype, values, coverage = entry
            tokens, missing, note = json.loads(coverage)
            encodings[batch[key]] = Encoding(
                np.frombuffer(values, dtype=dtype), Coverage(tuple(tokens), tuple(missing), note)
            )
    return encodings, damaged


def _insert(
    connection: sqlite3.Connection,
    identity: str,
    name: str,
    what: What,
    encodings: Mapping[Asked, Encoding],
) -> None:
    rows = []
    for asked, encoding in encodings.items():
        values = np.ascontiguousarray(encoding.values)
        covered = encoding.coverage
        coverage = json.dumps([covered.tokens, covered.missing, covered.note])
        row = (what, _key(asked), values.dtype.str, values.tobytes(), coverage)
        rows.append((*row, _checksum(identity, *row)))
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT OR IGNORE INTO encoders (identity, name) VALUES (?, ?)", (identity, name))
    (encoder,) = connection.execute("SELECT id FROM encoders WHERE identity = ?", (identity,)).fetchone()
    connection.executemany(
        "INSERT OR REPLACE INTO encodings VALUES (?, ?, ?, ?, ?, ?, ?)", ((encoder, *row) for row in rows)
    )
    connection.execute("COMMIT")


def _key(asked: Asked) -> bytes:
    """Return the key of an input: 0 and the plain text; 1, the kind, the span and the text; or 2 if a word is
    masked.
    """
    if isinstance(asked, str):
        return b"\0" + asked.encode("utf-8", "surrogatepass")
    if asked.hidden:
        key = f"\2{asked.kind} {asked.span} {asked.hidden} {asked.text}"
        return key.encode("utf-8", "surrogatepass")
    return f"\1{asked.kind} {asked.span} {asked.text}".encode("utf-8", "surrogatepass")


def _checksum(*parts: object) -> bytes:
    """Return the checksum of an entry; it covers the type and length of each part, since sqlite may return any
    type.
    """
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        digest.update(f"{type(part).__name__}:{len(content)}:".encode())
        digest.update(content)
    return digest.digest()


WRITE_EVERY = 1024
"""The number of inputs after which observations are written, so that an interrupted run loses little."""


class CachedEncoder(Encoder):
    """A model that returns the observations of `inner`, from the cache if possible."""

    costly: ClassVar[bool] = True

    def __init__(self, inner: ModelEncoder, cache: EncodingCache | None = None) -> None:
        self.inner = inner
        self.cache = cache or EncodingCache()

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        from weatherglass.encoders import ENCODERS

        return cls(ENCODERS.get(spec.kind).from_spec(spec))

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def options(self) -> Mapping[str, str]:
        return self.inner.options

    def identity(self) -> str:
        return self._identity

    @cached_property
    def _identity(self) -> str:
        return self.inner.identity()

    def notes(self) -> list[str]:
        return [*self.inner.notes(), *self.cache.problems]

    def warnings(self) -> Sequence[Warning | str]:
        return self.inner.warnings()

    @property
    def gives(self) -> frozenset[What]:
        return self.inner.gives

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        check_asked(self, inputs, what)
        keys = [plain(asked) for asked in inputs]
        distinct = list(dict.fromkeys(keys))
        known = self.lookup(distinct, what)
        missing = [asked for asked in distinct if asked not in known]
        for start in range(0, len(missing), WRITE_EVERY):
            known |= self.store(self.inner.observe(missing[start : start + WRITE_EVERY], what))
        return self.joined(inputs, what, [known[key] for key in keys])

    def joined(self, inputs: Sequence[Asked], what: What, rows: Sequence[Encoding]) -> Observations:
        """Return cached encodings as observations of their inputs."""
        arrays = [row.values for row in rows]
        values = arrays if what in PER_TOKEN else self.stacked(arrays)
        return Observations(inputs, what, values, [row.coverage for row in rows])

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        return self.observe(texts).matrix

    def lookup(self, inputs: Sequence[Asked], what: What = "vectors") -> dict[Asked, Encoding]:
        """Return the cached encodings by input without loading the model."""
        return self.cache.get(self._identity, inputs, what)

    def store(self, fresh: Observations) -> dict[Asked, Encoding]:
        """Write observations, possibly from another process, to the cache, and return them by input."""
        encodings = fresh.by_input()
        self.cache.put(self._identity, self.name, encodings, fresh.what)
        return encodings

    def stacked(self, rows: Sequence[AnyVector]) -> AnyMatrix:
        """Return cached vectors as a matrix; the row of a text that the model could not read is NaN."""
        if not rows:
            return np.empty((0, 0))
        readable = {len(row) for row in rows if not np.isnan(row).all()}
        if len(readable) > 1:
            raise EncoderError(
                f"'{self.name}': the cache contains vectors of {min(readable)} and of {max(readable)} dimensions,"
                " because the model changed but kept its name; run: weatherglass cache clear"
            )
        # An unreadable text may have been cached before the width was known.
        width = max(readable, default=max(map(len, rows)))
        unread = np.full(width, np.nan, dtype=rows[0].dtype)
        return np.stack([row if len(row) == width else unread for row in rows])

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        cached = self.lookup(list(dict.fromkeys(texts)))
        missing = [text for text in dict.fromkeys(texts) if text not in cached]
        fresh = dict(zip(missing, self.inner.coverage(missing), strict=True)) if missing else {}
        return [cached[text].coverage if text in cached else fresh[text] for text in texts]
