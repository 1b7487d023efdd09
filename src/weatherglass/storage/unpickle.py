"""Read pickle files without running code: only numbers, arrays, containers and inert records are built.

A pickle is a program; `pickle.load` runs whatever function it names. Here a name in the file is looked up in a table
of builders and never imported. numpy arrays are rebuilt from their bytes, not by numpy's own unpickling functions, and
an object of a listed class becomes a `Record` of its name and state, without its code. Everything else is refused
before it is called. Because a pickle can also *set attributes*, the objects that a file can reach are sealed, so that
it cannot change a builder or a class for the next reader.

A small file cannot request much memory. Python's unpickler trusts two kinds of numbers: the length of a value, which
it allocates before reading it, and the index in its memo, up to which it fills memory (nine bytes can ask for 16 GB).
`check_pickle` compares both with the size of the file. It also refuses more than `MOST_TUPLES` references to tuples: a
tuple that contains the same tuple twice, forty levels deep, has 2^40 parts when it is hashed. The memory of the
objects that builders make is limited.

To read another family of files, such as torch storages, pass `builders={**BUILDERS, ...}`.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import re
import reprlib
import sys
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Never

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import UnsafeFileError, VectorFileError, WeatherglassError
from weatherglass.storage.reading import reading, short_reason, unpack_limit

Bytes = NDArray[np.uint8]

MOST_TUPLES = 40
"""The maximum number of references to tuples; 40 references multiply to at most e^(40/e) parts, 2.5 million."""

MANY = 500_000
"""The number of opcodes above which the loop is compiled; Python needs half a second for them, as long as loading
numba.
"""

FINE, CUT_OFF, TOO_LONG, TOO_FAR, TOO_SHARED, DOUBLED, UNFINISHED = range(7)
PROBLEMS = {
    CUT_OFF: "it ends early",
    TOO_LONG: "it declares more bytes than the file contains",
    TOO_FAR: "its memo has an index that only a larger file could have",
    TOO_SHARED: "its tuples contain one another too often",
    DOUBLED: "it contains an opcode that no pickle writer produces",
}

_ONE_LINE, _TWO_LINES = -1, -2
_NOTHING = 0
_UNKNOWN = -9


def _forms() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for every opcode, the number of bytes of its argument (negative for lines) and of the count before
    it.
    """
    fixed, counted = np.full(256, _UNKNOWN), np.zeros(256, dtype=np.int64)
    lines = {"stringnl_noescape_pair": _TWO_LINES}
    for opcode in pickletools.opcodes:
        code = ord(opcode.code)
        size = 0 if opcode.arg is None else opcode.arg.n
        if size >= 0:
            fixed[code] = size
        elif size == pickletools.UP_TO_NEWLINE:
            assert opcode.arg is not None
            fixed[code] = lines.get(opcode.arg.name, _ONE_LINE)
        else:
            sizes = {
                pickletools.TAKEN_FROM_ARGUMENT1: 1,
                pickletools.TAKEN_FROM_ARGUMENT4: 4,
                pickletools.TAKEN_FROM_ARGUMENT4U: 4,
                pickletools.TAKEN_FROM_ARGUMENT8U: 8,
            }
            fixed[code], counted[code] = _NOTHING, sizes[size]
    return fixed, counted


_FIXED, _COUNTED = _forms()

_PUT, _BINPUT, _LONG_BINPUT, _MEMOIZE = (ord(code) for code in "pqr\x94")
_GET, _BINGET, _LONG_BINGET = (ord(code) for code in "ghj")
_FRAME, _STOP, _DUP, _NEWLINE, _DIGIT = (ord(code) for code in "\x95.2\n0")
_ENOUGH = 2**55
_NO_TUPLES = frozenset(
    map(ord, "IJKM\x8a\x8bLFGSTUBC\x8e\x96VX\x8c\x8dN\x88\x89]l}d\x8f\x91)c\x93io\x81\x92Ras")
)
"""Opcodes that do not push a tuple of other objects, but numbers, texts, constants, containers or objects."""
_MAY_BE_TUPLES = np.array([code not in _NO_TUPLES for code in range(256)])


def check_pickle(content: Bytes, start: int = 0) -> str:
    """Return the problem of the pickle at `start`; empty if its counts fit into `content`."""
    code = _scan_in_python(content, start, MANY)
    if code == UNFINISHED:
        compiled = _compiled()
        if compiled is None:
            code = _scan_in_python(content, start, len(content))
        else:
            code = compiled(content, start, _FIXED, _COUNTED, _MAY_BE_TUPLES, MOST_TUPLES, len(content))
    return PROBLEMS.get(code, "")


def _scan_in_python(content: Bytes, start: int, most_opcodes: int) -> int:
    lists = (_FIXED.tolist(), _COUNTED.tolist(), _MAY_BE_TUPLES.tolist())
    return _scan(content.data, start, *lists, MOST_TUPLES, most_opcodes)


@cache
def _compiled() -> Callable[..., int] | None:
    """Return the compiled loop; None if numba finds no folder to cache it."""
    try:
        from numba import njit

        fast: Callable[..., int] = njit(cache=True, nogil=True)(_scan)
    except RuntimeError:
        return None
    return fast


def _scan(
    content: Sequence[int],
    place: int,
    fixed: Sequence[int],
    counted: Sequence[int],
    may_be_tuples: Sequence[bool],
    most_tuples: int,
    most_opcodes: int,
) -> int:
    """Return the number of the first problem. The compiled code runs on arrays, and plain Python on lists."""
    size = len(content)
    zero = place - place  # has 64 bits when compiled, so that sums with bytes have 64, too
    tuples = {zero - 1}
    memorised = fetched = zero
    last_is_tuple = False
    for _ in range(most_opcodes):
        if place >= size:
            return CUT_OFF
        code = content[place]
        place += 1
        if code == _STOP:
            return FINE
        if code == _DUP:
            return DOUBLED
        argument, width = fixed[code], counted[code]
        number, begin = zero, place
        if argument == _UNKNOWN:
            return FINE  # the reader itself reports which byte it is
        if argument < 0:
            for _line in range(-argument):
                while place < size and content[place] != _NEWLINE:
                    digit = zero + content[place] - _DIGIT
                    if 0 <= digit <= 9 and number < _ENOUGH:
                        number = number * 10 + digit
                    place += 1
                place += 1
        elif width or argument:
            places = width if width else argument
            if place + places > size:
                return CUT_OFF
            for offset in range(min(places, 7) - 1, -1, -1):
                number = number * 256 + content[place + offset]
            if places == 8 and content[place + 7]:
                number = zero + _ENOUGH
            place += places
        if width or code == _FRAME:
            if number > size - place:
                return TOO_LONG
            if width:
                place += number
        if place > size:
            return CUT_OFF
        if code in (_PUT, _BINPUT, _LONG_BINPUT, _MEMOIZE):
            index = memorised if code == _MEMOIZE else number
            memorised += 1
            if index > begin:
                return TOO_FAR
            if last_is_tuple:
                tuples.add(index)
            elif index in tuples:
                tuples.remove(index)
        elif code in (_GET, _BINGET, _LONG_BINGET):
            last_is_tuple = number in tuples
            fetched += last_is_tuple
            if fetched > most_tuples:
                return TOO_SHARED
        else:
            last_is_tuple = may_be_tuples[code]
    return UNFINISHED


Builder = Callable[..., object]
"""A function that returns a harmless object made from the arguments in the file; it raises TypeError or ValueError if
they are damaged.
"""

DTYPE = re.compile(r"[<>=|]?(b1|i[1248]|u[1248]|f[248]|c8|c16|[SU]\d{1,6})")
"""The plain types of numbers and texts; object, void and structured types are excluded."""


def read_pickle(
    source: Path | BinaryIO,
    allowed: Collection[str] = (),
    builders: Mapping[str, Builder] | None = None,
    name: str = "",
    persistent_load: Builder | None = None,
) -> object:
    """Return the object in a pickle file without running any code that it names.

    Args:
        source: a path, or a file open for reading bytes.
        allowed: classes as "module.attribute" whose objects are read as `Record`.
        builders: the functions for all other names; `BUILDERS` by default.
        name: the name of the file in errors; its path by default.
        persistent_load: a function that resolves references to data outside the pickle; by default they are refused.

    Raises:
        UnsafeFileError: if a function or class is not allowed and has no builder; the message names the first one.
        VectorFileError: if the file ends early or is not a pickle.
    """
    if isinstance(source, Path):
        with reading(source), source.open("rb") as file:
            return read_pickle(file, allowed, builders, name or str(source), persistent_load)
    name = name or str(getattr(source, "name", "pickle"))
    content, source = _content(source)
    budget = _Budget(len(content))
    try:
        if problem := check_pickle(content, source.tell()):
            raise ValueError(problem)
        return _Unpickler(
            source, allowed, BUILDERS if builders is None else builders, persistent_load, budget
        ).load()
    except _RefusalError as refusal:
        only = "only arrays of numbers or texts and plain records are read from pickle files"
        raise UnsafeFileError(f"{name}: refused, because {refusal}; {only}") from None
    except (WeatherglassError, OSError):
        raise
    except Exception as error:  # a damaged pickle can fail in any opcode, with any exception
        raise VectorFileError(
            f"{name}: this pickle is cut off or damaged ({short_reason(error)}); get the file again"
        ) from None


def _content(source: BinaryIO) -> tuple[NDArray[np.uint8], BinaryIO]:
    """Return the bytes and a file object of them: a memory map for a file, a copy in memory for a stream."""
    if not isinstance(source, io.BufferedReader):
        loaded = source.read()
        return np.frombuffer(loaded, np.uint8), io.BytesIO(loaded)
    place = source.tell()
    if source.seek(0, io.SEEK_END) == 0:
        return np.empty(0, np.uint8), source
    content = np.memmap(source, np.uint8, mode="r")
    source.seek(place)
    return content, source


def shown(value: object) -> str:
    """Return a shortened value from a file for a message; nested lists may have any length."""
    short = reprlib.Repr()
    short.maxlevel, short.maxother, short.maxlong = 2, 60, 60
    return short.repr(value)


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name[:100])


class _Budget:
    """A limit on the memory of objects that builders make; a pickle can contain bytes once and use them a million
    times.
    """

    def __init__(self, size: int) -> None:
        self._left = unpack_limit(size)

    def take(self, made: object) -> None:
        self._left -= sys.getsizeof(made)
        if self._left < 0:
            raise MemoryError("its objects would need far more memory than the file has bytes")


class _RefusalError(Exception):
    """An unsafe request of a pickle; the message completes "refused, because …"."""


class _Sealed(type):
    """Classes that a pickle can name but not change."""

    def __setattr__(cls, name: str, value: object) -> Never:
        raise TypeError(f"a pickle may not set {name} of a class")


class Record(metaclass=_Sealed):
    """An object of an allowed class, which has the state in the file, but not the code of the class."""

    __slots__ = ("arguments", "state")

    class_name: ClassVar[str] = ""
    """The class as "module.attribute"; it is never imported."""
    arguments: tuple[object, ...]
    """The arguments of the object's constructor."""
    state: dict[str, Any]
    """The attributes of the object."""

    def __new__(cls, *arguments: object) -> Record:
        record = super().__new__(cls)
        record.arguments = arguments
        record.state = {}
        return record

    def __init__(self, *arguments: object) -> None:
        """Do nothing, since `__new__` keeps the arguments, and most opcodes call only `__new__`."""

    def __setstate__(self, state: object) -> None:
        parts = state if isinstance(state, tuple) else (state,)  # (attributes, slots) or just attributes
        for part in parts:
            if part is not None:
                if not isinstance(part, dict):
                    raise TypeError(f"the state of {self.class_name} is not a dict")
                self.state |= part


class _Name:
    """A name in the file: a callable that runs its builder and cannot be changed."""

    __slots__ = ("_budget", "_build")

    def __init__(self, build: Builder, budget: _Budget) -> None:
        object.__setattr__(self, "_build", build)
        object.__setattr__(self, "_budget", budget)

    def __call__(self, *arguments: object) -> object:
        build: Builder = object.__getattribute__(self, "_build")
        budget: _Budget = object.__getattribute__(self, "_budget")
        made = build(*arguments)
        if isinstance(made, PickledArray):
            made.budget = budget
        budget.take(made)
        return made

    def __setattr__(self, name: str, value: object) -> Never:
        raise TypeError(f"a pickle may not set {name} of a function")

    def __setstate__(self, state: object) -> Never:
        raise TypeError("a pickle may not set the state of a function")


class _Unpickler(pickle.Unpickler):
    """An unpickler that looks up every name in a table of builders."""

    def __init__(
        self,
        file: BinaryIO,
        allowed: Collection[str],
        builders: Mapping[str, Builder],
        persistent_load: Builder | None,
        budget: _Budget,
    ) -> None:
        # Python 2 wrote texts as bytes; its arrays can be read only as latin-1.
        super().__init__(file, fix_imports=False, encoding="latin1")
        self._allowed = frozenset(allowed)
        self._builders = builders
        self._persistent_load = persistent_load
        self._budget = budget
        self._resolved: dict[str, object] = {}

    def find_class(self, module: str, attribute: str) -> Any:
        name = f"{module}.{attribute}"
        if name not in self._resolved:
            if name in self._allowed:
                self._resolved[name] = _Sealed(attribute, (Record,), {"__slots__": (), "class_name": name})
            elif name in self._builders:
                self._resolved[name] = _Name(self._builders[name], self._budget)
            else:
                raise _RefusalError(f"reading this pickle would call {_printable(name)}")
        return self._resolved[name]

    def persistent_load(self, pid: object) -> Any:
        if self._persistent_load is not None:
            return self._persistent_load(pid)
        raise _RefusalError(f"this pickle refers to data outside itself ({shown(pid)})")


class Dtype:
    """A numpy dtype under construction; numpy's own `__setstate__` is not used, since it trusts its input."""

    __slots__ = ("_code", "_order")

    def __init__(self, code: object, _align: object = False, _copy: object = False) -> None:
        if not isinstance(code, str) or not DTYPE.fullmatch(code):
            raise _RefusalError(f"this pickle contains an array of type {shown(code)}")
        self._code = code.lstrip("<>=|")
        self._order = code[0] if code[0] in "<>=|" else "="

    def __setstate__(self, state: object) -> None:
        # (version, byte order, subarray, names, fields, ...): only the byte order is needed.
        if not isinstance(state, tuple) or len(state) < 5 or state[2:5] != (None, None, None):
            raise _RefusalError("this pickle contains an array with fields")
        if state[1] not in ("<", ">", "=", "|"):
            raise TypeError(f"{shown(state[1])} is not a byte order")
        self._order = state[1]

    @property
    def numpy(self) -> np.dtype[Any]:
        """Return the numpy dtype."""
        return np.dtype(self._order + self._code)


class PickledArray(np.ndarray[Any, np.dtype[Any]]):
    """An array that is filled from its bytes after a check of its size; `np.asarray` makes it a plain array."""

    budget: _Budget | None = None

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, tuple) or len(state) not in (4, 5):
            raise TypeError("the state of an array has five parts")
        shape, dtype, fortran, data = state[-4:]
        checked = array_from_bytes(data, dtype, shape)
        content = data if isinstance(data, bytes) else bytes(checked.data)
        if self.budget is not None:  # numpy copies them if it must swap their byte order
            self.budget.take(content)
        # numpy's stub declares np.bool, but numpy itself expects bool.
        super().__setstate__((1, checked.shape, checked.dtype, bool(fortran), content))  # type: ignore[arg-type]


def array_from_bytes(data: object, dtype: object, shape: object, order: object = "C") -> NDArray[Any]:
    """Return the array of this shape whose memory is `data`.

    Raises:
        TypeError, ValueError: if the parts have wrong types or do not fit together.
    """
    if isinstance(data, str):  # Python 2, read as latin-1
        data = data.encode("latin1")
    if not isinstance(dtype, Dtype) or not isinstance(data, bytes | bytearray):
        raise TypeError("an array needs a dtype and bytes")
    if not isinstance(shape, tuple) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise TypeError(f"{shown(shape)} is not a shape of an array")
    if order not in ("C", "F") or math.prod(shape) * dtype.numpy.itemsize != len(data):
        raise ValueError(f"{len(data)} bytes do not fill an array of shape {shape}")
    if not data:
        if 0 not in shape:
            raise ValueError(f"an array of {dtype.numpy} without bytes")
        return np.zeros(shape, dtype.numpy)
    return np.frombuffer(data, dtype.numpy).reshape(shape, order="F" if order == "F" else "C")


def _empty_array(_type: object, _shape: object, _code: object) -> PickledArray:
    return PickledArray((0,), np.int8)


def _scalar(dtype: object, data: object = b"") -> object:
    return array_from_bytes(data, dtype, ()).item()


def _latin1_bytes(text: object, encoding: object) -> bytes:
    """Return bytes from the form in which protocol 2 writes them."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise TypeError("bytes are written as latin-1 text")
    return text.encode("latin1")


def _no_bytes() -> bytes:
    """Return empty bytes, which protocols 0 to 2 write as `bytes()`."""
    return b""


def _plain_object(cls: object, base: object, state: object) -> Record:
    """Return an object that protocols 0 and 1 write as `copyreg._reconstructor(cls, object, None)`."""
    if not isinstance(cls, type) or not issubclass(cls, Record) or state is not None:
        raise TypeError(f"{shown(cls)} on {shown(base)} is not a plain object")
    return cls()


def _no_call(*_: object) -> Never:
    raise TypeError("the file names a class, not an object of it")


# numpy.core and __builtin__ were renamed; a pickle contains the name of its time.
BUILDERS: Mapping[str, Builder] = {
    **{f"numpy.{core}.multiarray._reconstruct": _empty_array for core in ("core", "_core")},
    **{f"numpy.{core}.multiarray.scalar": _scalar for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": array_from_bytes for core in ("core", "_core")},
    "numpy.dtype": Dtype,
    **{f"numpy.{name}": _no_call for name in ("ndarray", "float32", "float64")},
    **{f"{builtins}.set": set for builtins in ("builtins", "__builtin__")},
    **{f"{builtins}.frozenset": frozenset for builtins in ("builtins", "__builtin__")},
    **{f"{builtins}.bytes": _no_bytes for builtins in ("builtins", "__builtin__")},
    **{f"{builtins}.object": _no_call for builtins in ("builtins", "__builtin__")},
    "collections.OrderedDict": OrderedDict,
    "_codecs.encode": _latin1_bytes,
    "copyreg._reconstructor": _plain_object,
    "copy_reg._reconstructor": _plain_object,
}
"""Names that every pickle of numbers may contain, as "module.attribute"."""
