"""Audit rankings: whether the same text ranks the same under another name (docs/methods 15)."""
