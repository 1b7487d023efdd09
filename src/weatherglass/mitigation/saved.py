"""Read and write fitted transforms: `MODEL | saved?file=FILE`, for any model of the same width.

The file is a safetensors file with a few arrays. Its metadata contain the words that are treated separately, the
version of the format, the data that the transform was fitted on, and a checksum of the whole file. No code in the file
is executed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError, unreadable
from weatherglass.mitigation.base import Step, Steps
from weatherglass.mitigation.lists import Sides
from weatherglass.storage.atomic import write_whole

FORMAT = "weatherglass transform"
VERSION = "1"
SUFFIX = ".transform"
ARRAYS = ("shift", "mean", "left", "right")


@dataclass(frozen=True, slots=True)
class Saved:
    """A transform that was fitted earlier, perhaps on another model of the same width."""

    source: str
    steps: tuple[Step, ...]
    checksum: str
    fitted: Mapping[str, Any]
    """The record of the fit: `transforms`, `model`, `words`, `topics`, `sides`."""

    @classmethod
    def from_spec(cls, spec: Spec) -> Saved:
        """Read `saved?file=FILE`."""
        options = spec.reader()
        source = options.text("file", "")
        options.done()
        if not source:
            raise SpecError("saved: give the file, as in saved?file=gender.transform")
        return read_transform(Path(source))

    @property
    def name(self) -> str:
        return f"saved?file={self.source}"

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(self.fitted["topics"])

    @property
    def sides(self) -> Sides | None:
        sides = self.fitted["sides"]
        return (tuple(sides[0]), tuple(sides[1])) if sides else None

    def texts(self) -> tuple[str, ...]:
        """Return no texts, since the transform is already fitted."""
        return ()

    def words_seen(self) -> frozenset[str]:
        return frozenset(self.fitted["words"])

    def identity(self) -> str:
        return self.checksum

    def fit(self, vectors: Matrix) -> Steps:
        """Return the stored change; `vectors` has the width of the model, but no rows.

        Raises:
            EncoderError: if it was fitted on vectors of another width.
        """
        width = self.steps[0].width
        if vectors.shape[1] != width:
            raise EncoderError(
                f"{self.source}: fitted on vectors of {width} dimensions ({self.fitted['model']}), but the "
                f"vectors of this model have {vectors.shape[1]}"
            )
        return Steps(self.steps)


def write_transform(path: Path, steps: Sequence[Step], fitted: Mapping[str, Any]) -> None:
    """Write a transform atomically; equal content gives equal bytes.

    Args:
        path: the file.
        steps: the steps of the transform.
        fitted: `transforms`, `model`, `words`, `topics` and `sides`, for the record.
    """
    from safetensors.numpy import save

    arrays: dict[str, Any] = {}
    described = []
    for number, step in enumerate(steps):
        arrays |= {f"{number}.{name}": np.ascontiguousarray(getattr(step, name)) for name in ARRAYS}
        arrays[f"{number}.placed"] = np.array(list(step.placed.values())).reshape(-1, step.width)
        described.append({"unit": step.unit, "keep": sorted(step.keep), "placed": list(step.placed)})
    content = json.dumps({"steps": described, "fitted": dict(fitted)}, ensure_ascii=False, sort_keys=True)
    # One entry, because the library writes several in random order.
    record = {
        "format": FORMAT,
        "version": VERSION,
        "content": content,
        "checksum": _checksum(arrays, content),
    }
    write_whole(path, save(arrays, metadata={"weatherglass": json.dumps(record, ensure_ascii=False)}))


def read_transform(path: Path) -> Saved:
    """Read a transform from a file.

    Raises:
        SpecError: if the file is missing, damaged, of another version, or not a transform.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with path.open("rb"):
            pass
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            record = json.loads(metadata.get("weatherglass", "{}"))
            if record.get("format") != FORMAT:
                raise SpecError(f"{path}: not a transform file; use one written by 'weatherglass mitigate'")
            if record["version"] != VERSION:
                raise SpecError(
                    f"{path}: this transform has format {record['version']}, but this version of "
                    f"weatherglass reads format {VERSION}; write it again with 'weatherglass mitigate'"
                )
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        if record["checksum"] != _checksum(arrays, record["content"]):
            raise SpecError(f"{path}: the checksum does not match; the file is damaged or was changed")
        content = json.loads(record["content"])
        steps = tuple(_step(number, described, arrays) for number, described in enumerate(content["steps"]))
    except OSError as error:
        raise SpecError(unreadable(path, error)) from None
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SpecError(f"{path}: the transform is truncated or damaged ({error})") from None
    return Saved(str(path), steps, record["checksum"], content["fitted"])


def _step(number: int, described: Mapping[str, Any], arrays: Mapping[str, Any]) -> Step:
    placed = zip(described["placed"], arrays[f"{number}.placed"], strict=True)
    return Step(
        arrays[f"{number}.shift"],
        arrays[f"{number}.mean"],
        arrays[f"{number}.left"],
        arrays[f"{number}.right"],
        unit=described["unit"],
        keep=frozenset(described["keep"]),
        placed=dict(placed),
    )


def _checksum(arrays: Mapping[str, Any], content: str) -> str:
    digest = hashlib.sha256(content.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}:{array.dtype.str}:{array.shape}\n".encode())
        digest.update(array.data)
    return digest.hexdigest()
