"""`gguf:` models: the header of the file, and vectors by transformers' reader of it."""

from __future__ import annotations

from weatherglass.encoders.gguf.encoder import GgufEncoder as GgufEncoder
