"""GenSen (Subramanian et al. 2018): the last states of bidirectional GRUs, trained on many tasks at once.

The paper speaks of BiLSTMs; the published checkpoints are GRUs, of one or two layers, and so are these.
"""

from __future__ import annotations

from weatherglass.encoders.papers.gensen.encoder import GenSenEncoder

__all__ = ["GenSenEncoder"]
