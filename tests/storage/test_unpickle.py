"""The pickle reader: numbers come through, code does not run."""

from __future__ import annotations

import collections
import copyreg
import io
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.errors import UnsafeFileError, VectorFileError
from weatherglass.storage import unpickle
from weatherglass.storage.unpickle import Record, read_pickle

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Thing:
    """A class that a file may hold."""

    def __init__(self) -> None:
        self.size = 3
        self.numbers = np.arange(4.0)


class Calls:
    """Pickles to "call this with that"."""

    def __init__(self, function: Callable[..., Any], *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


THING = f"{Thing.__module__}.Thing"


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """A file that a payload would make if it ran."""
    return tmp_path / "it-ran"


def read(content: bytes, *allowed: str) -> object:
    return read_pickle(io.BytesIO(content), allowed, name="file.kv")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        np.arange(6, dtype=">i4"),
        np.arange(24).reshape(2, 3, 4)[:, ::2, ::-1],
        np.zeros((0, 3), dtype=np.float16),
        np.array(["é", "naïve"]),
        np.array([True, False]),
        np.array(3.5),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_come_through_every_protocol(array: np.ndarray[Any, Any], protocol: int) -> None:
    result = read(pickle.dumps(array, protocol=protocol))
    assert isinstance(result, np.ndarray)
    assert result.dtype.newbyteorder("=") == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(np.asarray(result), array)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plain_containers_and_scalars_come_through_every_protocol(protocol: int) -> None:
    content = {
        "a": [1, 2.5, None, True, (b"", b"\xff"), 2**80],
        "b": {1, 2},
        "c": frozenset("x"),
        "d": collections.OrderedDict(z=1, y=2),
        "e": np.float32(0.1),
        "f": np.str_("é"),
    }
    assert read(pickle.dumps(content, protocol=protocol)) == content


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_object_of_an_allowed_class_is_a_record_of_its_state(protocol: int) -> None:
    record = read(pickle.dumps(Thing(), protocol=protocol), THING)
    assert isinstance(record, Record)
    assert not isinstance(record, Thing)
    assert record.class_name == THING
    assert record.state["size"] == 3
    assert record.state["numbers"].tolist() == [0, 1, 2, 3]


def test_a_class_that_is_not_allowed_is_named_together_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "thing.kv"
    path.write_bytes(pickle.dumps(Thing()))
    with pytest.raises(UnsafeFileError, match=naming("thing.kv", THING)):
        read_pickle(path)


PAYLOADS: dict[str, Callable[[Path], object]] = {
    "os.system": lambda marker: Calls(os.system, f"touch '{marker}'"),
    "eval": lambda marker: Calls(eval, f"open({str(marker)!r}, 'w')"),
    "exec": lambda marker: Calls(exec, f"open({str(marker)!r}, 'w')"),
    "open": lambda marker: Calls(open, str(marker), "w"),
    "getattr": lambda _: Calls(getattr, Calls(__import__, "os"), "mkdir"),
    "import": lambda _: Calls(__import__, "os"),
    "mkdir": lambda marker: Calls(os.mkdir, str(marker)),
    "numpy.save": lambda marker: Calls(np.save, str(marker), 1),
    "numpy.load": lambda marker: Calls(np.load, str(marker), None, True),
    "numpy.memmap": lambda marker: Calls(np.memmap, str(marker), "u1", "w+", 0, (4,)),
    "numpy.fromfile": lambda marker: Calls(np.fromfile, str(marker)),
    "map": lambda marker: [Calls(map, os.mkdir, [str(marker)])],
    "in a container": lambda marker: {"x": [(1, Calls(os.mkdir, str(marker)))]},
    "as a state": lambda marker: Calls(copyreg._reconstructor, Thing, object, Calls(os.mkdir, str(marker))),  # type: ignore[attr-defined]
    "path": lambda marker: Calls(Path.touch, marker),
}


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_code_is_refused_and_does_not_run(payload: str, protocol: int, marker: Path) -> None:
    content = pickle.dumps(PAYLOADS[payload](marker), protocol=protocol)
    with pytest.raises(UnsafeFileError, match=r"file\.kv: .*\b(call|calls|called)\b"):
        read(content, THING)
    assert not marker.exists()
    assert not list(marker.parent.iterdir())


def global_name(module: str, attribute: str) -> bytes:
    return pickle.GLOBAL + f"{module}\n{attribute}\n".encode()


def text(value: str) -> bytes:
    return pickle.BINUNICODE + struct.pack("<I", len(value.encode())) + value.encode()


@pytest.mark.parametrize(
    "content",
    [
        pickle.PROTO
        + b"\x04"
        + text("numpy")
        + text("core.multiarray.os.system")
        + pickle.STACK_GLOBAL
        + b".",
        pickle.PROTO
        + b"\x04"
        + text("numpy.core.multiarray")
        + text("os.system")
        + pickle.STACK_GLOBAL
        + b".",
        pickle.PROTO + b"\x02(" + text("echo") + b"i" + b"os\nsystem\n.",
        pickle.PROTO + b"\x02" + global_name("posix", "system") + text("echo") + pickle.TUPLE1 + b"R.",
        pickle.PROTO + b"\x02" + global_name("operator", "attrgetter") + text("x") + pickle.TUPLE1 + b"R.",
        pickle.PROTO + b"\x02" + text("storage") + pickle.BINPERSID + b".",
    ],
    ids=["dotted numpy", "dotted multiarray", "INST", "posix", "attrgetter", "persistent id"],
)
def test_handwritten_opcodes_find_no_way_round_the_table(content: bytes) -> None:
    with pytest.raises(UnsafeFileError, match=naming("file.kv")):
        read(content)


def test_an_array_of_objects_is_refused() -> None:
    with pytest.raises(UnsafeFileError, match=naming("file.kv", "array", "'O8'")):
        read(pickle.dumps(np.array([None, "x"], dtype=object)))


def test_an_array_with_fields_is_refused() -> None:
    with pytest.raises(UnsafeFileError, match=naming("file.kv", "array")):
        read(pickle.dumps(np.zeros(2, dtype=[("a", "f4"), ("b", "O")])))


def test_a_file_cannot_change_what_the_next_file_meets() -> None:
    # BUILD with (None, {name: value}) is setattr: on a class or a function it would outlive the reading.
    state = b"N}" + text("__setstate__") + pickle.NONE + b"s" + pickle.TUPLE2 + b"b."
    for name in (tuple(THING.rsplit(".", 1)), ("numpy", "dtype"), ("builtins", "set")):
        with pytest.raises(VectorFileError, match=naming("file.kv", "damaged")):
            read(pickle.PROTO + b"\x02" + global_name(*name) + state, THING)
    record = read(pickle.dumps(Thing()), THING)
    assert isinstance(record, Record)
    assert record.state["size"] == 3


def test_an_array_whose_bytes_do_not_fill_its_shape_is_refused() -> None:
    array = pickle.dumps(np.arange(4, dtype=np.int8), protocol=2)
    assert array.count(b"K\x04\x85") == 1  # the shape (4,)
    with pytest.raises(VectorFileError, match=naming("4 bytes", "(200,)")):
        read(array.replace(b"K\x04\x85", b"K\xc8\x85"))


@pytest.mark.parametrize(
    "content", [b"", b"\x80", b"\x80\x04\x95", pickle.dumps({"a": list(range(99))})[:-40]]
)
def test_a_pickle_that_is_cut_off_is_told_in_one_line(content: bytes) -> None:
    with pytest.raises(VectorFileError, match=naming("file.kv", "damaged")) as caught:
        read(content)
    assert "\n" not in str(caught.value)


def test_every_prefix_of_a_pickle_ends_in_our_own_errors() -> None:
    content = pickle.dumps({"a": np.arange(3.0), "b": Thing()}, protocol=4)
    for length in range(len(content)):
        with pytest.raises(VectorFileError):
            read(content[:length], THING)


def test_builders_can_be_added_for_other_families_of_files() -> None:
    builders = {**unpickle.BUILDERS, "builtins.complex": lambda real, imaginary: (real, imaginary)}
    assert read_pickle(io.BytesIO(pickle.dumps(1 + 2j)), builders=builders) == (1.0, 2.0)
