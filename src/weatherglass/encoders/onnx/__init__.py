"""`onnx:` models: what a graph says of itself, the files around it, and its vectors by onnxruntime."""

from __future__ import annotations

from weatherglass.encoders.onnx.encoder import OnnxEncoder as OnnxEncoder
