"""Evaluate a mitigation: compare a model before and after a transform on held-out words, and measure the cost."""
