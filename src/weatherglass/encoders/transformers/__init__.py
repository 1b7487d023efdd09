"""`hf:` and `st:` models: files from a folder or the Hugging Face hub, tokens, hidden states, vectors."""

from __future__ import annotations

from weatherglass.encoders.transformers.encoder import TransformerEncoder as TransformerEncoder
