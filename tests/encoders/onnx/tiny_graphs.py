"""Small ONNX files: a tiny BERT as exporters write it, and graphs by hand for what exporters rarely write."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from proofs.neural import export
from tests.encoders.transformers.tiny_models import SIZE

MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]


def build(tiny_bert: Path, folder: Path) -> Path:
    """The folder of a sentence model: graph, tokenizer, mean pooling, unit length."""
    shutil.copytree(tiny_bert, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    export(tiny_bert, folder / "model.onnx")
    (folder / "1_Pooling").mkdir()
    pooling = {
        "word_embedding_dimension": SIZE,
        "pooling_mode_mean_tokens": True,
        "pooling_mode_cls_token": False,
    }
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "modules.json").write_text(json.dumps(MODULES))
    return folder


def lookup(vocabulary: int, domain: str = "", output: str = "last_hidden_state") -> Any:
    """input_ids → rows of a table, as a graph with the table's values in it."""
    from onnx import TensorProto, helper, numpy_helper

    table = np.random.default_rng(0).normal(size=(vocabulary, SIZE)).astype(np.float32)
    operator = "Gather" if not domain else "Own"
    graph = helper.make_graph(
        [helper.make_node(operator, ["table", "input_ids"], [output], domain=domain)],
        "lookup",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT32, ["batch", "sequence"])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", "sequence", SIZE])],
        [numpy_helper.from_array(table, "table")],
    )
    operators = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=operators, ir_version=8)
