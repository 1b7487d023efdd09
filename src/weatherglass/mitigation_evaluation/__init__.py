"""Evaluate a mitigation: a model before and after a transform, on held-out words, with its cost."""
