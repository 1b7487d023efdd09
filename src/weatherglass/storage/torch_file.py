"""Read files that torch.save wrote, without torch and without running any code that the files name.

There are two layouts. Since torch 1.6, a file is a zip archive of a pickle and one entry per storage. Before that, it
was a sequence of pickles (a magic number, a version, the sender's machine, the object, the keys of the storages)
followed by the bytes of the storages. In both layouts the pickle refers to storages, and a tensor is a view of one.
Tensors become numpy arrays; a pickled model becomes records, from which `state_dict` takes the weights.
"""

from __future__ import annotations

import io
import math
import pickletools
import struct
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import UnsafeFileError, VectorFileError
from weatherglass.storage.reading import UnpackLimit, errors_in_one_line, reading
from weatherglass.storage.unpickle import BUILDERS, Builder, Record, check_pickle, read_pickle, shown

MAGIC: Final = 0x1950A86A20F9469CFC6C
PROTOCOL: Final = 1001
LEGACY_PICKLES: Final = 5
"""The pickles before the storages: a magic number, a version, the sender's machine, the object, the keys."""

MOST_PARAMETERS: Final = 100_000
DEEPEST_MODULE: Final = 64

_DTYPES = {
    "Float": "f4",
    "Double": "f8",
    "Half": "f2",
    "Long": "i8",
    "Int": "i4",
    "Short": "i2",
    "Char": "i1",
    "Byte": "u1",
    "Bool": "b1",
}


class Tensor(np.ndarray[Any, np.dtype[Any]]):
    """A tensor as an array, without the gradients and hooks that a pickle may contain."""

    def __setstate__(self, state: object) -> None:
        """Ignore the state: it is not needed, and numpy's own `__setstate__` trusts its input."""


def read_torch(path: Path, allowed: Collection[str] = ()) -> object:
    """Return the object that torch.save wrote to `path`, with tensors as arrays.

    Args:
        path: a file in either layout.
        allowed: classes as "module.attribute" whose objects are read as `Record`.

    Raises:
        UnsafeFileError: if a function or class is neither a torch data type nor allowed; the message names the first
            one.
        VectorFileError: if the file is cut off, or torch.save did not write it.
    """
    with reading(path), path.open("rb") as file:
        if zipfile.is_zipfile(file):
            return _read_zip(file, path, allowed)
        file.seek(0)
        return _read_legacy(file, path, allowed)


def check_torch(path: Path) -> None:
    """Refuse a file whose pickle asks for more bytes than the file has, before torch reads it.

    Raises:
        VectorFileError: if the file is cut off or asks for too many bytes; the message states what is wrong.
    """
    with reading(path), path.open("rb") as file:
        if zipfile.is_zipfile(file):
            limit = UnpackLimit(path)
            with zipfile.ZipFile(file) as archive:
                for entry in archive.infolist():
                    limit.take(entry.file_size)
                    if entry.filename.endswith("/data.pkl"):
                        content = archive.read(entry)
                        _pass_over_pickle(io.BytesIO(content), np.frombuffer(content, np.uint8))
            return
        content_of_file = np.memmap(file, np.uint8, mode="r")
        file.seek(0)
        for _ in range(LEGACY_PICKLES):
            _pass_over_pickle(file, content_of_file)


def _pass_over_pickle(file: BinaryIO, content: NDArray[np.uint8]) -> None:
    """Check a pickle, and move the file position to its end, where the next one begins."""
    if problem := check_pickle(content, file.tell()):
        raise ValueError(problem)
    for opcode, argument, _ in pickletools.genops(file):
        # The one function that torch allows and that makes any number of bytes from one number.
        if opcode.name.endswith(("GLOBAL", "UNICODE")) and str(argument).split(" ")[-1] == "bytearray":
            raise ValueError("it asks for a bytearray, which weights do not contain")


def state_dict(loaded: object, source: str) -> dict[str, NDArray[Any]]:
    """Return the weights by name from the result of `read_torch`: a state dict, or a pickled module.

    Raises:
        VectorFileError: if the loaded object is neither a state dict nor a module with weights.
    """
    with errors_in_one_line(source, "the module in it is damaged", "get the file again", VectorFileError):
        weights = _all_parameters(loaded) if isinstance(loaded, Record) else loaded
    if not isinstance(weights, Mapping) or not weights:
        raise VectorFileError(f"{source}: contains neither a state dict nor a module with weights")
    arrays = {str(name): np.asarray(value) for name, value in weights.items() if isinstance(value, Tensor)}
    if len(arrays) < len(weights):
        other = next(str(name) for name, value in weights.items() if not isinstance(value, Tensor))
        raise VectorFileError(f"{source}: '{other}' is not a tensor, so this is not a state dict")
    return arrays


def _all_parameters(module: Record) -> dict[str, object]:
    """Return the parameters of a module and its submodules; a module may contain itself, or contain another one many
    times.
    """
    parameters: dict[str, object] = {}
    for number, (name, value) in enumerate(_parameters(module, "", 0)):
        if number == MOST_PARAMETERS:
            raise ValueError(f"a module with more than {MOST_PARAMETERS} parameters")
        if value is not None:
            parameters[name] = value
    return parameters


def _parameters(module: Record, prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    """Yield parameters and buffers under the names of Module.state_dict, and None for every module."""
    if depth > DEEPEST_MODULE:
        raise ValueError(f"modules nested more than {DEEPEST_MODULE} deep")
    yield prefix, None
    for kind in ("_parameters", "_buffers"):
        for name, value in dict(module.state.get(kind) or {}).items():
            yield f"{prefix}{name}", value
    for name, child in dict(module.state.get("_modules") or {}).items():
        if isinstance(child, Record):
            yield from _parameters(child, f"{prefix}{name}.", depth + 1)


@dataclass(slots=True)
class _Storages:
    """The flat arrays that a pickle refers to, by their keys."""

    read: Callable[[str, np.dtype[Any], int], NDArray[Any]]
    """A function that returns the content of a storage of this key, type and length, or zeros that are filled
    later.
    """
    order: str = "<"
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def refer(self, reference: object) -> object:
        """Return the target of a reference in the pickle: a storage, or (in pickled modules) a class."""
        match reference:
            case ("storage", kind, str(key), str(), int(length)) if callable(kind):
                return self._get(key, kind, length)
            case ("storage", kind, str(key), str(), int(length), None) if callable(kind):
                return self._get(key, kind, length)
            case ("storage", kind, str(key), str(), int(length), (_, int(start), int(size))) if callable(
                kind
            ):
                return self._get(key, kind, length)[start : start + size]
            case ("module", module, _, _):  # its source code follows, which is not needed
                return module
        raise ValueError(f"an unknown reference {shown(reference)}")

    def _get(self, key: str, kind: Callable[[], str], length: int) -> NDArray[Any]:
        if key not in self.arrays:
            dtype = np.dtype(self.order + kind())
            if length < 0:
                raise ValueError(f"storage {key} has the length {length}")
            self.arrays[key] = self.read(key, dtype, length).view(Tensor)
        return self.arrays[key]


def _read_zip(file: BinaryIO, path: Path, allowed: Collection[str]) -> object:
    limit = UnpackLimit(path)

    def unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
        limit.take(archive.getinfo(name).file_size)
        return archive.read(name)

    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        pickles = [name for name in names if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise VectorFileError(f"{path}: a zip archive, but not one that torch.save wrote")
        folder = pickles[0].removesuffix("data.pkl")
        big = f"{folder}byteorder" in names and unpacked(archive, f"{folder}byteorder") == b"big"

        def read(key: str, dtype: np.dtype[Any], length: int) -> NDArray[Any]:
            stored = archive.getinfo(f"{folder}data/{key}").file_size
            if stored != length * dtype.itemsize:
                raise ValueError(f"storage {key} has {stored} bytes, not {length * dtype.itemsize}")
            return np.frombuffer(unpacked(archive, f"{folder}data/{key}"), dtype)

        storages = _Storages(read, ">" if big else "<")
        pickled = io.BytesIO(unpacked(archive, pickles[0]))
        return read_pickle(pickled, allowed, _builders(), str(path), storages.refer)


def _read_legacy(file: BinaryIO, path: Path, allowed: Collection[str]) -> object:
    left = path.stat().st_size

    def reserve(key: str, dtype: np.dtype[Any], length: int) -> NDArray[Any]:
        nonlocal left
        left -= length * dtype.itemsize
        if left < 0:
            raise ValueError(f"with storage {key}, the tensors are larger than the file")
        return np.zeros(length, dtype)

    storages = _Storages(reserve)
    _check_head(file, path)
    loaded = read_pickle(file, allowed, _builders(), str(path), storages.refer)
    keys = read_pickle(file, name=str(path))
    if not isinstance(keys, list) or set(keys) != set(storages.arrays):
        raise VectorFileError(f"{path}: the list of storages does not fit the tensors; get the file again")
    for key in keys:
        storage = storages.arrays[key]
        (length,) = struct.unpack("<q", file.read(8).ljust(8, b"\xff"))
        content = file.read(storage.nbytes)
        if length != len(storage) or len(content) != storage.nbytes:
            raise VectorFileError(f"{path}: cut off in the middle of a tensor; get the file again")
        storage[:] = np.frombuffer(content, storage.dtype)
    return loaded


def _check_head(file: BinaryIO, path: Path) -> None:
    """Check the three pickles before the object: a magic number, a version, and the sender's machine."""
    try:
        head = [read_pickle(file, name=str(path)) for _ in range(3)]
    except (UnsafeFileError, VectorFileError):
        raise VectorFileError(f"{path}: not a file that torch.save wrote") from None
    machine = head[2]
    if head[:2] != [MAGIC, PROTOCOL] or not isinstance(machine, dict):
        raise VectorFileError(f"{path}: not a file that torch.save wrote")
    if not machine.get("little_endian", True):
        raise VectorFileError(f"{path}: written on a big-endian machine, which is not supported")


def _tensor(storage: object, offset: object, shape: object, strides: object, *_: object) -> Tensor:
    """Return a view of a storage; numpy refuses a view that would reach outside the storage."""
    if not isinstance(storage, np.ndarray) or not isinstance(offset, int) or offset < 0:
        raise TypeError("a tensor needs a storage and an offset")
    if not isinstance(shape, tuple) or not isinstance(strides, tuple):
        raise TypeError("a tensor needs a shape and strides")
    size = storage.dtype.itemsize
    if 0 in shape:
        return Tensor(shape, storage.dtype)
    if math.prod(shape) > storage.size:  # strides of zero can repeat a number any number of times
        raise ValueError(
            f"a tensor of shape {shape} needs more numbers than its storage contains ({storage.size})"
        )
    steps = tuple(step * size for step in strides)
    return Tensor(shape, storage.dtype, storage, offset * size, steps)


def _parameter(data: object = None, *_: object) -> object:
    """Return the tensor of a Parameter or Variable."""
    if not isinstance(data, Tensor):
        raise TypeError("a parameter needs a tensor")
    return data


def _nothing(*_: object) -> None:
    """Ignore a function that an old module contains."""


def _builders() -> Mapping[str, Builder]:
    storages: dict[str, Builder] = {}
    for name, code in _DTYPES.items():
        for package in ("torch", "torch.cuda"):
            storages[f"{package}.{name}Storage"] = lambda code=code: code
    return {
        **BUILDERS,
        **storages,
        "torch._utils._rebuild_tensor": _tensor,
        "torch._utils._rebuild_tensor_v2": _tensor,
        "torch._utils._rebuild_parameter": _parameter,
        "torch.nn.parameter.Parameter": _parameter,
        "torch.autograd.variable.Variable": _parameter,
        "torch.nn.backends.thnn._get_thnn_function_backend": _nothing,
    }
