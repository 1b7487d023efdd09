"""Small files of models that hold something else: configurations, headers of GGUF and ONNX, options of ELMo."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

JSON = {
    "deep": "[" * 100_000,
    "deep tables": '{"a":' * 100_000,
    "cut off": '{"a": 1',
    "digits": f'{{"num_hidden_layers": {"9" * 5000}}}',
    "no UTF-8": '{"a": "\udcff"}',
    "empty": "",
}
"""Texts where a JSON file should be; surrogates stand for bytes."""

CONFIGURATIONS = {
    "10^12 layers": {"model_type": "bert", "num_hidden_layers": 10**12},
    "layers below zero": {"model_type": "bert", "num_hidden_layers": -3},
    "padding that is text": {"model_type": "roberta", "max_position_embeddings": 10, "pad_token_id": "x"},
    "a list for the type": {"model_type": ["bert"], "max_position_embeddings": 10},
}


def gguf(tensors: int = 0, entries: int = 0, more: bytes = b"", version: int = 3) -> bytes:
    """A GGUF file with these numbers in its header."""
    return b"GGUF" + struct.pack("<IQQ", version, tensors, entries) + more


def _key(key: bytes, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(key)) + key + struct.pack("<I", kind) + value


GGUF = {
    "2^63 tensors": gguf(
        tensors=2**63, entries=1, more=_key(b"general.architecture", 8, struct.pack("<Q", 1) + b"x")
    ),
    "2^26 entries": gguf(entries=2**26),
    "2^63 entries": gguf(entries=2**63),
    "a text of 2^60 bytes": gguf(entries=1, more=_key(b"a", 8, struct.pack("<Q", 2**60))),
    "an array of 2^25 texts": gguf(entries=1, more=_key(b"a", 9, struct.pack("<IQ", 8, 2**25))),
    "an array of arrays": gguf(entries=1, more=_key(b"a", 9, struct.pack("<IQ", 9, 2**25))),
    "an unknown type": gguf(entries=1, more=_key(b"a", 99, b"")),
    "an unknown version": gguf(version=77),
    "cut off": b"GGUF\x03",
}


def _field(number: int, content: bytes) -> bytes:
    size, length = b"", len(content)
    while length > 127:
        size, length = size + bytes([length % 128 + 128]), length // 128
    return bytes([number * 8 + 2]) + size + bytes([length]) + content


def _nested(levels: int) -> bytes:
    graph = b""
    for _ in range(levels):
        graph = _field(1, _field(5, _field(6, graph)))
    return _field(7, graph + _field(12, _field(1, b"out")))


_OUTPUT = _field(12, _field(1, b"out"))
ONNX = {
    "graphs in graphs": _nested(3000),
    "a field past its end": b"\x3a\xff\xff\xff\xff\x0f",
    "an endless number": b"\xff" * 100,
    "no graph": _field(8, b"x"),
    "a place without a name": _field(
        7, _OUTPUT + _field(5, _field(13, _field(1, b"location") + _field(2, b"")))
    ),
    "a place that no file has": _field(
        7, _OUTPUT + _field(5, _field(13, _field(1, b"location") + _field(2, b"x" * 300)))
    ),
    "names that are no text": _field(7, _field(12, _field(1, b"\xff\xfe"))),
}


def elmo(**changes: object) -> str:
    """options.json of an ELMo, with changes such as lstm__n_layers=10**9."""
    options: dict[str, dict[str, object]] = {
        "lstm": {"n_layers": 2, "cell_clip": 3, "proj_clip": 3, "use_skip_connections": True},
        "char_cnn": {
            "filters": [[1, 4]],
            "n_highway": 1,
            "activation": "relu",
            "max_characters_per_token": 50,
        },
    }
    for name, value in changes.items():
        group, _, key = name.partition("__")
        options[group][key] = value
    return json.dumps(options)


ELMO = {
    "10^9 layers": elmo(lstm__n_layers=10**9),
    "10^9 highways": elmo(char_cnn__n_highway=10**9),
    "words of 10^9 characters": elmo(char_cnn__max_characters_per_token=10**9),
    "filters that are a text": elmo(char_cnn__filters="x" * 100_000),
    "a clip that is no number": elmo(lstm__cell_clip=float("nan")),
    "layers that are a list": elmo(lstm__n_layers=[1]),
    "no groups": "[1, 2]",
}


def _repeat(count: int) -> dict[str, Any]:
    """A normaliser that makes sixteen of each letter a, so many times in turn."""
    step = {"type": "Replace", "pattern": {"String": "a"}, "content": 16 * "a"}
    return {"type": "Sequence", "normalizers": [step] * count}


TOKENIZERS: dict[str, dict[str, Any]] = {
    "a normaliser that multiplies": {"normalizer": _repeat(8)},
    "a token with a number of 2^31": {
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "rose": 2**31}, "unk_token": "[UNK]"}
    },
}
"""Components of a tokenizer.json of a kilobyte which the library takes gigabytes to use."""


def tokenizer(**components: Any) -> dict[str, Any]:
    """A tokenizer.json that knows a, b and nothing else, with other components."""
    vocabulary = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "b": 2}, "unk_token": "[UNK]"}
    names = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    empty = dict.fromkeys(names)
    split = {"type": "Whitespace"}
    return {
        "version": "1.0",
        "added_tokens": [],
        **empty,
        "pre_tokenizer": split,
        "model": vocabulary,
        **components,
    }


def write_onnx(folder: Path, graph: str, **components: Any) -> Path:
    """A folder with a graph of `graphs` and a tokenizer."""
    folder.mkdir()
    (folder / "model.onnx").write_bytes(graphs()[graph])
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(**components)))
    return folder


def graphs() -> dict[str, bytes]:
    """Graphs of a few hundred bytes from input_ids to sentence_embedding, as an author can write them by hand."""
    from onnx import TensorProto, helper, numpy_helper

    node, info, array = helper.make_node, helper.make_tensor_value_info, numpy_helper.from_array
    read = node("Cast", ["input_ids"], ["read"], to=TensorProto.FLOAT)
    mean = node("ReduceMean", ["read"], ["mean"], axes=[1], keepdims=1)
    double = node("Concat", ["mean", "mean"], ["sentence_embedding"], axis=1)

    def model(*nodes: Any, **constants: Any) -> bytes:
        graph = helper.make_graph(
            [read, *nodes],
            "g",
            [info("input_ids", TensorProto.INT64, ["texts", "tokens"])],
            [info("sentence_embedding", TensorProto.FLOAT, ["texts", "width"])],
            [array(np.array(value), name) for name, value in constants.items()],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return bytes(made.SerializeToString())

    body = helper.make_graph(
        [node("Identity", ["again"], ["still"]), node("Identity", ["value"], ["same"])],
        "body",
        [info("round", TensorProto.INT64, []), info("again", TensorProto.BOOL, []), info("value", 1, None)],
        [info("still", TensorProto.BOOL, []), info("same", 1, None)],
    )
    grow = [
        node("Expand", ["mean", "size"], ["large"]),
        node("ReduceSum", ["large"], ["sum"], keepdims=1),
        node("Add", ["mean", "sum"], ["added"]),
        node("Concat", ["added", "added"], ["sentence_embedding"], axis=1),
    ]
    of_all = node("ReduceMean", ["read"], ["mean"], axes=[0, 1], keepdims=1)
    return {
        "good": model(mean, double),
        "a loop without an end": model(
            node("Loop", ["", "yes", "read"], ["sentence_embedding"], body=body), yes=True
        ),
        "an array of 3.6 GB": model(mean, *grow, size=[30_000, 1, 30_000]),
        "one row for all texts": model(of_all, double),
    }
