"""A tiny LLaMA as a GGUF file, written as llama.cpp's converter does, and the torch model that it was made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

SIZE, HEADS, LAYERS, POSITIONS = 16, 2, 3, 40

TENSORS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def build(tokenizer_folder: Path, file: Path) -> Any:
    """Write `file` with the byte-level tokenizer of a tiny GPT-2; the model that was written."""
    import torch
    from gguf import GGUFWriter
    from transformers import LlamaConfig, LlamaModel

    vocabulary = json.loads((tokenizer_folder / "tokenizer.json").read_text())["model"]
    tokens = sorted(vocabulary["vocab"], key=vocabulary["vocab"].__getitem__)
    torch.manual_seed(0)
    model = LlamaModel(
        LlamaConfig(
            vocab_size=len(tokens),
            hidden_size=SIZE,
            intermediate_size=24,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            max_position_embeddings=POSITIONS,
            initializer_range=0.5,
        )
    ).eval()
    writer = GGUFWriter(file, "llama")
    writer.add_context_length(POSITIONS)
    writer.add_embedding_length(SIZE)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(24)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(model.config.rms_norm_eps)
    writer.add_rope_dimension_count(SIZE // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * len(tokens))
    writer.add_token_merges([" ".join(pair) for pair in vocabulary["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    for name, tensor in model.state_dict().items():
        writer.add_tensor(_gguf_name(name), _as_written(name, tensor.numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def _gguf_name(name: str) -> str:
    if name == "embed_tokens.weight":
        return "token_embd.weight"
    if name == "norm.weight":
        return "output_norm.weight"
    _, layer, rest = name.split(".", 2)
    return f"blk.{layer}.{TENSORS[rest.removesuffix('.weight')]}.weight"


def _as_written(name: str, weights: Any) -> Any:
    """llama.cpp rotates pairs of dimensions, transformers halves: rows of queries and keys change places."""
    if "q_proj" in name or "k_proj" in name:
        halves = weights.reshape(HEADS, 2, len(weights) // HEADS // 2, *weights.shape[1:])
        weights = halves.swapaxes(1, 2).reshape(weights.shape)
    return np.ascontiguousarray(weights, dtype=np.float32)
