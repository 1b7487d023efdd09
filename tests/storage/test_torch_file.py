"""Files of torch.save in both layouts, against torch itself; old pickled modules; and pickles that would run code."""

from __future__ import annotations

import pickle
import shutil
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.errors import UnsafeFileError, VectorFileError
from weatherglass.storage.torch_file import MAGIC, PROTOCOL, read_torch, state_dict
from weatherglass.storage.unpickle import Record


@pytest.fixture(params=["zip", "legacy"])
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def save(torch: Any, value: object, path: Path, layout: str) -> None:
    torch.save(value, path, _use_new_zipfile_serialization=layout == "zip")


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch writes the files of this test")


def test_a_state_dict_is_read_as_torch_reads_it(torch: Any, tmp_path: Path, layout: str) -> None:
    path = tmp_path / "weights.pt"
    module = torch.nn.LSTM(5, 4, 2, bidirectional=True)
    save(torch, module.state_dict(), path, layout)
    ours = state_dict(read_torch(path), "weights.pt")
    theirs = torch.load(path, weights_only=True)
    assert list(ours) == list(theirs)
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(ours[name], tensor.numpy())


def test_views_and_other_types_of_numbers_are_read(torch: Any, tmp_path: Path, layout: str) -> None:
    whole = torch.arange(24, dtype=torch.float64).reshape(4, 6)
    tensors = {
        "transposed": whole.T,
        "part": whole[1:3, ::2],
        "whole numbers": torch.tensor([[1, -2], [3, 4]], dtype=torch.int32),
        "half": torch.tensor([1.5, -2.0], dtype=torch.float16),
        "one number": torch.tensor(7, dtype=torch.int64),
        "nothing": torch.zeros(0, 3),
        "true": torch.tensor([True, False]),
    }
    path = tmp_path / "tensors.pt"
    save(torch, {**tensors, "plain": [1, "two", (3.0, None)]}, path, layout)
    loaded: Any = read_torch(path)
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(loaded[name], tensor.numpy())
        assert loaded[name].shape == tuple(tensor.shape)
    assert loaded["plain"] == [1, "two", (3.0, None)]


def test_a_parameter_is_its_tensor(torch: Any, tmp_path: Path, layout: str) -> None:
    path = tmp_path / "parameter.pt"
    save(torch, OrderedDict(w=torch.nn.Parameter(torch.ones(2, 2))), path, layout)
    np.testing.assert_array_equal(state_dict(read_torch(path), "p")["w"], np.ones((2, 2)))


def test_a_pickled_module_gives_its_weights_only_where_its_class_is_allowed(
    torch: Any, tmp_path: Path, layout: str
) -> None:
    module = torch.nn.GRU(3, 2, bidirectional=True)
    path = tmp_path / "module.pt"
    save(torch, module, path, layout)
    with pytest.raises(UnsafeFileError, match=naming(path, "torch.nn.modules.rnn.GRU")):
        read_torch(path)
    loaded = read_torch(path, allowed=["torch.nn.modules.rnn.GRU"])
    assert isinstance(loaded, Record)
    weights = state_dict(loaded, "module.pt")
    for name, tensor in module.state_dict().items():
        np.testing.assert_array_equal(weights[name], tensor.numpy())


class Payload:
    """Makes a file when it is unpickled by pickle itself."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return shutil.copyfile, (__file__, str(self.trace))


def test_a_payload_is_refused_by_name_and_does_not_run(torch: Any, tmp_path: Path, layout: str) -> None:
    trace = tmp_path / "trace"
    path = tmp_path / "weights.pt"
    save(torch, {"weight": torch.ones(2), "extra": Payload(trace)}, path, layout)
    with pytest.raises(UnsafeFileError, match=naming(path, "shutil.copyfile")):
        read_torch(path)
    assert not trace.exists()
    # The payload does work: it is our reader that does not run it.
    pickle.loads(pickle.dumps(Payload(trace)))
    assert trace.exists()


def legacy_file(stored: bytes, keys: list[str], storages: list[bytes]) -> bytes:
    """The old layout, written by hand: what a pickle can say does not depend on which torch is installed."""
    machine = {
        "protocol_version": PROTOCOL,
        "little_endian": True,
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    head = b"".join(pickle.dumps(part, 2) for part in (MAGIC, PROTOCOL, machine))
    return head + stored + pickle.dumps(keys, 2) + b"".join(storages)


def test_a_tensor_that_reaches_outside_its_storage_is_damage(tmp_path: Path) -> None:
    # torch._utils._rebuild_tensor(storage of 4 numbers, offset 2, shape (3,), strides (1,))
    stored = (
        b"\x80\x02ctorch._utils\n_rebuild_tensor\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000"
        b"X\x03\x00\x00\x00cpuK\x04NtQK\x02K\x03\x85K\x01\x85tR."
    )
    path = tmp_path / "reaching.pt"
    path.write_bytes(legacy_file(stored, ["0"], [struct.pack("<q4f", 4, 1, 2, 3, 4)]))
    with pytest.raises(VectorFileError, match=naming(path, "damaged")):
        read_torch(path)
    within = stored.replace(b"QK\x02K\x03", b"QK\x01K\x03")
    path.write_bytes(legacy_file(within, ["0"], [struct.pack("<q4f", 4, 1, 2, 3, 4)]))
    np.testing.assert_array_equal(np.asarray(read_torch(path)), [2, 3, 4])


def test_a_file_that_is_cut_off_says_so(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    save(torch, {"w": torch.ones(100)}, path, "legacy")
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(VectorFileError, match=naming(path, "cut off")):
        read_torch(path)


@pytest.mark.parametrize("content", [b"", b"no pickle at all", pickle.dumps({"a": 1})])
def test_another_file_is_told_apart(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.pt"
    path.write_bytes(content)
    with pytest.raises(VectorFileError, match=naming(path, "torch.save")):
        read_torch(path)


def test_something_else_than_weights_is_no_state_dict(torch: Any, tmp_path: Path, layout: str) -> None:
    path = tmp_path / "odd.pt"
    save(torch, {"w": torch.ones(2), "epoch": 3}, path, layout)
    with pytest.raises(VectorFileError, match=naming("odd.pt", "'epoch'", "tensor")):
        state_dict(read_torch(path), "odd.pt")
