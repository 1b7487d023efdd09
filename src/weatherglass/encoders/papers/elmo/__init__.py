"""ELMo (Peters et al. 2018): a bidirectional language model over characters, from its original files."""

from __future__ import annotations

from weatherglass.encoders.papers.elmo.encoder import ElmoEncoder

__all__ = ["ElmoEncoder"]
