"""Numbers that others have published, where several tests hold ours against them."""

from __future__ import annotations

NEWS_EFFECT_SIZES = {
    "weat1": 1.539,
    "weat2": 1.628,
    "weat3": 0.584,
    "weat4": 1.242,
    "weat6": 1.890,
    "weat7": 0.966,
    "weat8": 1.244,
}
"""docs/methods 8: word2vec GoogleNews, published lists, sd with n - 1; of weat2, the vectors at hand lack "axe"."""
