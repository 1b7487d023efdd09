"""The cache of encodings: nothing is encoded twice, nothing is lost, and no trouble with it stops a run."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

import numpy as np
import pytest
from tests.messages import mentions, naming

from weatherglass.arrays import AnyMatrix, AnyVector
from weatherglass.encoders import load_encoder
from weatherglass.encoders.base import (
    PER_TOKEN,
    Asked,
    Coverage,
    Encoder,
    Encoding,
    Input,
    Observations,
    What,
)
from weatherglass.encoders.cache import CachedEncoder, EncodingCache
from weatherglass.encoders.spec import Spec
from weatherglass.errors import DamageWarning, EncoderError

TEXTS = ["a rose", "wasp", "café 漢字", "", "a\x00b", "half a surrogate \ud83d", 'quote " and \\']


class CountingEncoder(Encoder):
    """Remembers what it was asked to encode."""

    costly: ClassVar[bool] = True

    def __init__(self, identity: str = "one", dtype: Any = np.float32, width: int = 5) -> None:
        self._identity = identity
        self._dtype = dtype
        self._width = width
        self.encoded: list[str] = []

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        raise NotImplementedError

    @property
    def name(self) -> str:
        return "counting"

    @property
    def options(self) -> Mapping[str, str]:
        return {}

    def identity(self) -> str:
        return self._identity

    def notes(self) -> list[str]:
        return ["a note"]

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        self.encoded += texts
        rows = [np.random.default_rng(list(map(ord, text))).normal(size=self._width) for text in texts]
        return np.array(
            [row if text else row * np.nan for text, row in zip(texts, rows, strict=True)], self._dtype
        )

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return [Coverage(tuple(text.split()), ("lost",), f"note on {text!r}") for text in texts]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_was_encoded_once_comes_back_to_the_last_bit_without_the_model(dtype: Any) -> None:
    first = CountingEncoder(dtype=dtype)
    vectors = CachedEncoder(first).encode(TEXTS)
    np.testing.assert_array_equal(vectors, first.encode(TEXTS))

    second = CountingEncoder(dtype=dtype)
    again = CachedEncoder(second).encode(TEXTS)
    assert again.dtype == dtype
    np.testing.assert_array_equal(again, vectors)
    assert CachedEncoder(second).coverage(TEXTS) == first.coverage(TEXTS)
    assert second.encoded == []


def test_a_text_is_encoded_once_however_often_it_is_asked_for() -> None:
    inner = CountingEncoder()
    cached = CachedEncoder(inner)
    vectors = cached.encode(["wasp", "a rose", "wasp"])
    cached.encode(["a rose", "bee"])
    assert inner.encoded == ["wasp", "a rose", "bee"]
    np.testing.assert_array_equal(vectors[0], vectors[2])


class SayingEncoder(CountingEncoder):
    """Gives everything, all of it read off the input and of what is asked for."""

    @property
    def gives(self) -> frozenset[What]:
        return frozenset(get_args(What))

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        self.encoded += [f"{what} {asked}" for asked in inputs]
        rows: list[AnyVector] = [
            np.array([len(what), *map(ord, repr(asked))], np.float64) for asked in inputs
        ]
        coverage = [Coverage((str(asked),), note=what) for asked in inputs]
        if what in PER_TOKEN:
            return Observations(inputs, what, rows, coverage)
        return Observations(inputs, what, np.stack([row[-8:] * row[0] for row in rows]), coverage)


INPUTS: list[Asked] = [
    "a nurse",
    Input("a nurse", (2, 7)),
    Input("a nurse", (0, 1)),
    Input("a nurse", kind="query"),
    Input("a nurse", (2, 7), "query"),
    Input("a nurse", (2, 7), hidden=(0, 1)),
    Input("a nurse", (0, 1), hidden=(2, 7)),
    "\x01text (2, 7) a nurse",
    "text (2, 7) a nurse",
]


@pytest.mark.parametrize("what", get_args(What))
def test_observations_come_back_equal_without_the_model(what: What) -> None:
    inputs = [asked for asked in INPUTS if what != "token-vectors" or getattr(asked, "span", None)]
    first, second = SayingEncoder(), SayingEncoder()
    fresh = first.observe(inputs, what)
    stored = CachedEncoder(SayingEncoder()).observe(inputs, what)
    again = CachedEncoder(second).observe(inputs, what)
    assert second.encoded == []
    for found in (stored, again):
        assert (found.inputs, found.what, found.coverage) == (inputs, what, fresh.coverage)
        for row, expected in zip(found.values, fresh.values, strict=True):
            np.testing.assert_array_equal(row, expected)


def test_what_was_asked_for_is_a_part_of_the_key() -> None:
    inner = SayingEncoder()
    word = Input("a nurse", (2, 7))
    lengths = [len(CachedEncoder(inner).observe([word], what).values[0]) for what in get_args(What)]
    assert inner.encoded == [f"{what} {word}" for what in get_args(What)]
    assert lengths[0] == lengths[1] == 8 < lengths[2]


def test_a_text_and_an_input_of_that_text_are_one_entry() -> None:
    inner = SayingEncoder()
    CachedEncoder(inner).observe(["a nurse"])
    CachedEncoder(inner).observe([Input("a nurse"), "a nurse"])
    assert inner.encoded == ["vectors a nurse"]


def test_what_a_model_does_not_give_is_refused_before_the_cache_is_read(own_cache: Path) -> None:
    with pytest.raises(EncoderError, match=naming("counting", "log-probabilities", "vectors")):
        CachedEncoder(CountingEncoder()).observe(["wasp"], "log-probabilities")
    assert not own_cache.exists()


def test_another_identity_finds_nothing() -> None:
    CachedEncoder(CountingEncoder("one")).encode(TEXTS)
    other = CountingEncoder("two")
    CachedEncoder(other).encode(TEXTS)
    assert other.encoded == TEXTS


def test_coverage_may_be_asked_before_anything_is_encoded() -> None:
    inner = CountingEncoder()
    assert CachedEncoder(inner).coverage(TEXTS) == inner.coverage(TEXTS)


def test_name_options_notes_and_identity_are_the_models() -> None:
    cached = CachedEncoder(CountingEncoder())
    assert (cached.name, cached.options, cached.notes(), cached.identity()) == (
        "counting",
        {},
        ["a note"],
        "one",
    )


def test_no_texts_are_no_rows() -> None:
    assert len(CachedEncoder(CountingEncoder()).encode([])) == 0


def test_an_unreadable_text_takes_the_width_of_the_others() -> None:
    cache = EncodingCache()
    cache.put("one", "counting", {"": Encoding(np.full(0, np.nan), Coverage(()))})
    vectors = CachedEncoder(CountingEncoder(), cache).encode(["", "wasp"])
    assert vectors.shape == (2, 5)
    assert np.isnan(vectors[0]).all()


def test_a_model_that_changed_its_width_under_its_name_is_told() -> None:
    CachedEncoder(CountingEncoder(width=5)).encode(["wasp"])
    with pytest.raises(EncoderError, match=naming(4, 5, "weatherglass cache clear")):
        CachedEncoder(CountingEncoder(width=4)).encode(["wasp", "bee"])


def write_many(path: Path, process: int, start: Any) -> None:
    """Write 40 batches of 25 texts; half of all texts are written by every process."""
    cache = EncodingCache(path)
    start.wait()
    for batch in range(40):
        names = [f"{'shared' if n % 2 else process} {batch} {n}" for n in range(25)]
        cache.put(
            "one", "counting", {name: Encoding(np.full(8, len(name)), Coverage((name,))) for name in names}
        )
    if cache.problems:
        raise SystemExit(1)


@pytest.mark.large
def test_four_processes_writing_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "encodings.sqlite"
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(4)
    writers = [context.Process(target=write_many, args=(path, number, start)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0] * 4
    names = [f"{owner} {batch} {n}" for owner in (0, 1, 2, 3) for batch in range(40) for n in range(0, 25, 2)]
    names += [f"shared {batch} {n}" for batch in range(40) for n in range(1, 25, 2)]
    encodings = EncodingCache(path).get("one", names)
    assert set(encodings) == set(names)
    assert all(
        (encodings[name].values == len(name)).all() and encodings[name].coverage.tokens == (name,)
        for name in names
    )


def spoil(path: Path, how: str) -> None:
    if how == "other bytes":
        path.write_bytes(b"this is no database" * 1000)
    elif how == "cut short":
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
    elif how == "overwritten within":
        content = path.read_bytes()
        path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    elif how == "another version":
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    elif how == "without tables":
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE encodings")
        connection.close()


@pytest.mark.parametrize(
    "how", ["other bytes", "cut short", "overwritten within", "another version", "without tables"]
)
def test_a_damaged_file_is_renamed_with_a_warning(own_cache: Path, how: str) -> None:
    many = [f"text {number}" for number in range(300)]
    vectors = CachedEncoder(CountingEncoder()).encode(many)
    path = own_cache / "encodings.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    spoil(path, how)
    spoilt = path.read_bytes()
    inner = CountingEncoder()
    cached = CachedEncoder(inner)
    with pytest.warns(DamageWarning, match=naming(f"{path}.damaged")):
        np.testing.assert_array_equal(cached.encode(many), vectors)
    assert inner.encoded == many
    (renamed,) = own_cache.glob("encodings.sqlite.damaged")
    assert renamed.read_bytes()[4096:] == spoilt[4096:]
    assert mentions(cached.notes()[-1], renamed)

    third = CountingEncoder()
    np.testing.assert_array_equal(CachedEncoder(third).encode(many), vectors)
    assert third.encoded == []


def test_a_vector_whose_bytes_changed_on_disk_is_encoded_anew(own_cache: Path) -> None:
    vectors = CachedEncoder(CountingEncoder()).encode(["wasp", "bee"])
    with sqlite3.connect(own_cache / "encodings.sqlite") as connection:
        connection.execute(
            "UPDATE encodings SET content = zeroblob(length(content)) WHERE input = ?", (b"\0wasp",)
        )
    connection.close()
    inner = CountingEncoder()
    np.testing.assert_array_equal(CachedEncoder(inner).encode(["wasp", "bee"]), vectors)
    assert inner.encoded == ["wasp"]
    CachedEncoder(inner).encode(["wasp"])
    assert inner.encoded == ["wasp"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ("dtype = '<i4'", "one byte of '<f4'"),
        ("input = x'0077617371'", "an edited text"),
        ("coverage = replace(coverage, 'lost', 'lose')", "coverage"),
        ("coverage = CAST(coverage AS BLOB)", "the type of a column"),
        ("content = CAST(content AS TEXT)", "the type of another"),
    ],
)
def test_whatever_changes_of_an_entry_is_noticed_and_encoded_anew(
    own_cache: Path, change: str, where: str
) -> None:
    """Another dtype makes 4.6e-41 of 1.0; an edited text would get another's vector."""
    vectors = CachedEncoder(CountingEncoder()).encode(["wasp", "bee"])
    with sqlite3.connect(own_cache / "encodings.sqlite") as connection:
        connection.execute(f"UPDATE encodings SET {change} WHERE input = ?", (b"\0wasp",))
    connection.close()
    inner = CountingEncoder()
    asked = ["wasp", "wasq", "bee"]
    expected = CountingEncoder().encode(asked)
    with pytest.warns(DamageWarning, match=naming(own_cache / "encodings.sqlite", 1, "checksum")):
        np.testing.assert_array_equal(CachedEncoder(inner).encode(asked), expected)
    np.testing.assert_array_equal(expected[[0, 2]], vectors)
    assert inner.encoded == ["wasp", "wasq"], where
    third = CountingEncoder()
    CachedEncoder(third).encode(asked)
    assert third.encoded == []


def test_an_entry_of_one_model_is_not_taken_for_that_of_another(own_cache: Path) -> None:
    """As a changed number in the column `encoder` would have it."""
    CachedEncoder(CountingEncoder("one")).encode(["wasp"])
    CachedEncoder(CountingEncoder("other")).encode(["bee"])
    with sqlite3.connect(own_cache / "encodings.sqlite") as connection:
        connection.execute("UPDATE encodings SET encoder = 2 WHERE input = ?", (b"\0wasp",))
    connection.close()
    inner = CountingEncoder("other")
    with pytest.warns(DamageWarning, match=naming(own_cache / "encodings.sqlite", 1, "checksum")):
        CachedEncoder(inner).encode(["wasp"])
    assert inner.encoded == ["wasp"]


def test_a_cache_that_cannot_be_written_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("where a folder should be")
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "file" / "cache"))
    inner = CountingEncoder()
    with pytest.warns(DamageWarning, match=naming(tmp_path / "file" / "cache", "Not a directory")):
        vectors = CachedEncoder(inner).encode(TEXTS)
    np.testing.assert_array_equal(vectors, CountingEncoder().encode(TEXTS))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache_is_a_warning(own_cache: Path) -> None:
    own_cache.mkdir()
    own_cache.chmod(0o500)
    with pytest.warns(DamageWarning, match=naming(own_cache / "encodings.sqlite")):
        assert len(CachedEncoder(CountingEncoder()).encode(TEXTS)) == len(TEXTS)


def test_a_full_disk_is_a_warning_and_what_was_cached_stays(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    CachedEncoder(CountingEncoder()).encode(["wasp"])
    connect = sqlite3.connect

    def small_disk(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr("weatherglass.encoders.cache.sqlite3.connect", small_disk)
    many = [f"text {number}" for number in range(2000)]
    with pytest.warns(DamageWarning, match=naming(own_cache / "encodings.sqlite", "full")):
        assert len(CachedEncoder(CountingEncoder()).encode(many)) == 2000
    monkeypatch.undo()
    os.environ["WEATHERGLASS_CACHE"] = str(own_cache)
    assert set(EncodingCache(own_cache / "encodings.sqlite").get("one", ["wasp"])) == {"wasp"}


def test_what_is_cached_is_listed_and_can_be_cleared() -> None:
    cache = EncodingCache()
    assert cache.models() == []
    CachedEncoder(CountingEncoder()).encode(TEXTS)
    (model,) = cache.models()
    assert (model.name, model.texts) == ("counting", len(TEXTS))
    assert model.bytes > 5 * 4 * len(TEXTS)
    cache.clear()
    assert cache.models() == []
    inner = CountingEncoder()
    CachedEncoder(inner).encode(["wasp"])
    assert inner.encoded == ["wasp"]


@pytest.mark.large
def test_a_second_run_loads_no_model(tiny_model: Callable[[str], Path]) -> None:
    """In a process of its own, so that nothing else can have loaded torch."""
    program = (
        "import sys; from weatherglass.encoders import load_encoder;"
        f"e = load_encoder('hf:{tiny_model('bert')}?pooling=mean'); e.encode(['a rose', 'wasp']);"
        "e.coverage(['wasp']); e.notes(); e.options;"
        "print(*[name for name in ('torch', 'transformers', 'tokenizers') if name in sys.modules])"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert runs == ["torch transformers tokenizers\n", "\n"]


def test_a_changed_option_or_weight_file_misses(tiny_model: Callable[[str], Path], tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "model")
    cache = EncodingCache()

    def kept() -> int:
        return sum(model.texts for model in cache.models())

    load_encoder(f"hf:{folder}").encode(["wasp"])
    load_encoder(f"hf:{folder}").encode(["wasp"])
    assert kept() == 1
    load_encoder(f"hf:{folder}?layers=0").encode(["wasp"])
    assert kept() == 2
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    load_encoder(f"hf:{folder}").encode(["wasp"])
    assert kept() == 3


def test_cheap_models_are_not_cached(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", texts=np.array(["wasp"]), vectors=np.ones((1, 3)))
    load_encoder(f"encodings:{tmp_path / 'a.npz'}").encode(["wasp"])
    assert not EncodingCache().path.exists()


def test_the_cache_can_be_done_without(tiny_model: Callable[[str], Path]) -> None:
    load_encoder(f"hf:{tiny_model('bert')}", cache=False).encode(["wasp"])
    assert not EncodingCache().path.exists()
