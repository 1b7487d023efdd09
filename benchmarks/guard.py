"""Time encoding by guarded models against the same without the guard: `python -m benchmarks guard`.

A graph and a tokenizer are proven in a child process once; afterwards only the shape of each batch is checked. The
graph and the tables are small, so that the check has the largest share that it can have.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np
from benchmarks._rows import Options, Row, cpu_by_turns

T = TypeVar("T")
WORDS, WIDTH = 20_000, 64


def rows(options: Options) -> Iterator[Row]:
    """Yield the throughput of both kinds of models, and the cost of reading a tokenizer that is proven."""
    from weatherglass.encoders import load_encoder
    from weatherglass.encoders.model_files import read_tokenizer

    count, repeats = (500, 3) if options.quick else (4000, 15)
    texts = [f"word{n % WORDS} word{n * 7 % WORDS} word{n * 11 % WORDS}" for n in range(count)]
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, WEATHERGLASS_CACHE=f"{name}/cache"):
        folder = _model(Path(name) / "model")
        path = folder / "tokenizer.json"
        for kind in ("model2vec", "onnx"):
            encode = load_encoder(f"{kind}:{folder}", cache=False).encode
            free = _free(load_encoder(f"{kind}:{folder}", cache=False).encode)
            equal = bool((encode(texts) == free(texts)).all())
            spent = cpu_by_turns({"ours": partial(encode, texts), "free": partial(free, texts)}, repeats)
            yield Row(f"{kind}, guarded", spent["ours"], "without the guard", spent["free"], equal)

        def read(path: Path) -> Any:
            return read_tokenizer(path, "this tokenizer")

        free_read = _free(read)
        spent = cpu_by_turns({"ours": partial(read, path), "free": partial(free_read, path)}, repeats)
        yield Row("tokenizer, guarded", spent["ours"], "without the guard", spent["free"])


@contextmanager
def _unguarded() -> Iterator[None]:
    """Within, the guard does nothing."""

    def nothing(*_: object) -> None:
        """Prove and check nothing."""

    with (
        patch("weatherglass.encoders.onnx.prove", nothing),
        patch("weatherglass.encoders.onnx.OnnxEncoder._check_shape", nothing),
        patch("weatherglass.encoders.model_files.prove_tokenizer", nothing),
    ):
        yield


def _free(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Return the function without the guard."""

    def called(argument: Any) -> T:
        with _unguarded():
            return function(argument)

    return called


def _model(folder: Path) -> Path:
    """Write a tokenizer of whole words, a static model, and a graph that averages rows of a table."""
    from onnx import TensorProto, helper, numpy_helper
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir()
    words = ["[UNK]", *(f"word{n}" for n in range(WORDS))]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.random.default_rng(0).normal(size=(len(words), WIDTH)).astype(np.float32)
    save_file({"embeddings": table}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec"}), encoding="utf-8")
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
            helper.make_node("ReduceMean", ["rows"], ["sentence_embedding"], axes=[1], keepdims=0),
        ],
        "means",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])],
        [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["texts", WIDTH])],
        [numpy_helper.from_array(table, "table")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    return folder
